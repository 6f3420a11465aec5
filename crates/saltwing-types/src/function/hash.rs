//! Hashes and digests.

use md5::{Digest, Md5};
use sha2::Sha256;

use super::signature::of_kind;
use super::text::OF_TEXT;
use super::{Evaluation, KeyPart, ParameterKind, ResultType, ScalarFunction, Signature};
use crate::hash::hash;
use crate::text::hex;
use crate::{SqlType, Value};

pub(super) static ALL: &[&ScalarFunction] = &[&HASH, &MD5, &SHA256];

static HASH: ScalarFunction = ScalarFunction {
    name: "HASH",
    signatures: &[Signature::new(&[of_kind("value", ParameterKind::Any)], ResultType::Is(SqlType::BigInt))],
    evaluation: Evaluation::Values(|args| Ok(hash(args.value(0)?).map_or(Value::Null, Value::Int))),
    key_part: KeyPart::Allowed,
    description: "A number of 63 bits, the same for equal values and in every version, to spread rows by.",
    example: ("HASH('a')", "189900332573052507"),
    ..ScalarFunction::DEFAULT
};

static MD5: ScalarFunction = ScalarFunction {
    name: "MD5",
    signatures: OF_TEXT,
    evaluation: Evaluation::Values(|args| Ok(Value::Text(hex(&Md5::digest(args.text(0)?))))),
    key_part: KeyPart::Chars(32),
    description: "The MD5 digest of the text, in 32 hexadecimal digits.",
    example: ("MD5('abc')", "900150983cd24fb0d6963f7d28e17f72"),
    ..ScalarFunction::DEFAULT
};

static SHA256: ScalarFunction = ScalarFunction {
    name: "SHA256",
    signatures: OF_TEXT,
    evaluation: Evaluation::Values(|args| Ok(Value::Text(hex(&Sha256::digest(args.text(0)?))))),
    key_part: KeyPart::Chars(64),
    description: "The SHA-256 digest of the text, in 64 hexadecimal digits.",
    example: ("SHA256('abc')", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    ..ScalarFunction::DEFAULT
};
