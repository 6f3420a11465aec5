//! Hashes and digests.

use md5::{Digest, Md5};
use sha1::Sha1;
use sha2::{Sha224, Sha256, Sha384, Sha512};

use super::signature::{VARCHAR, integer, of_kind, text};
use super::{Args, KeyPart, ParameterKind, ResultType, ScalarFunction, Signature};
use crate::hash::{hash, hash_int};
use crate::text::hex;
use crate::{SqlType, Value, ValueError};

pub(super) static ALL: &[&ScalarFunction] = &[&HASH, &MD5, &RAND, &SHA1, &SHA224, &SHA256, &SHA384, &SHA512];

static HASH: ScalarFunction = ScalarFunction::new(
    "HASH",
    &[Signature::new(&[of_kind("value", ParameterKind::Any)], ResultType::Is(SqlType::BigInt))],
    |args| Ok(hash(args.value(0)?).map_or(Value::Null, Value::Int)),
)
.key_part(KeyPart::Allowed)
.gives("A number of 63 bits, the same for equal values and in every version, to spread rows by.")
.example("HASH('a')", "189900332573052507");

static MD5: ScalarFunction = digest("MD5", |args| Ok(Value::Text(hex(&Md5::digest(args.bytes(0)?)))), 32)
    .gives("The MD5 digest of the text or binary value, in 32 hexadecimal digits.")
    .example("MD5('abc')", "900150983cd24fb0d6963f7d28e17f72");

pub(super) static RAND: ScalarFunction =
    ScalarFunction::new("RAND", &[Signature::new(&[integer("seed")], ResultType::Is(SqlType::Double))], |args| {
        // A DOUBLE holds 53 bits exactly.
        Ok(Value::Double((hash_int(args.int(0)?) >> 10) as f64 / (1u64 << 53) as f64))
    })
    .gives(
        "A number from 0 to below 1 that looks random, the same for equal seeds; without a seed another one each time.",
    )
    .example("RAND(42)", "0.7821633689756541");

static SHA1: ScalarFunction = digest("SHA1", |args| Ok(Value::Text(hex(&Sha1::digest(args.bytes(0)?)))), 40)
    .gives("The SHA-1 digest of the text or binary value, in 40 hexadecimal digits.")
    .example("SHA1('abc')", "a9993e364706816aba3e25717850c26c9cd0d89d");

static SHA224: ScalarFunction = digest("SHA224", |args| Ok(Value::Text(hex(&Sha224::digest(args.bytes(0)?)))), 56)
    .gives("The SHA-224 digest of the text or binary value, in 56 hexadecimal digits.")
    .example("SHA224('abc')", "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7");

static SHA256: ScalarFunction = digest("SHA256", |args| Ok(Value::Text(hex(&Sha256::digest(args.bytes(0)?)))), 64)
    .gives("The SHA-256 digest of the text or binary value, in 64 hexadecimal digits.")
    .example("SHA256('abc')", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");

static SHA384: ScalarFunction = digest("SHA384", |args| Ok(Value::Text(hex(&Sha384::digest(args.bytes(0)?)))), 96)
    .gives("The SHA-384 digest of the text or binary value, in 96 hexadecimal digits.")
    .example(
        "SHA384('abc')",
        "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7",
    );

static SHA512: ScalarFunction = digest("SHA512", |args| Ok(Value::Text(hex(&Sha512::digest(args.bytes(0)?)))), 128)
    .gives("The SHA-512 digest of the text or binary value, in 128 hexadecimal digits.")
    .example(
        "SHA512('abc')",
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
         2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
    );

/// The entry of a digest of so many hexadecimal digits.
const fn digest(
    name: &'static str,
    compute: fn(&Args<'_>) -> Result<Value, ValueError>,
    digits: u32,
) -> ScalarFunction {
    ScalarFunction::new(name, TEXT_OR_BINARY, compute).key_part(KeyPart::Chars(digits))
}

const TEXT_OR_BINARY: &[Signature] =
    &[Signature::new(&[text("text")], VARCHAR), Signature::new(&[of_kind("binary", ParameterKind::Bytes)], VARCHAR)];
