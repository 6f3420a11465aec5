//! Hashes and digests.

use md5::{Digest, Md5};
use sha2::Sha256;

use super::signature::of_kind;
use super::text::OF_TEXT;
use super::{KeyPart, ParameterKind, ResultType, ScalarFunction, Signature};
use crate::hash::hash;
use crate::text::hex;
use crate::{SqlType, Value};

pub(super) static ALL: &[&ScalarFunction] = &[&HASH, &MD5, &SHA256];

static HASH: ScalarFunction = ScalarFunction::new(
    "HASH",
    &[Signature::new(&[of_kind("value", ParameterKind::Any)], ResultType::Is(SqlType::BigInt))],
    |args| Ok(hash(args.value(0)?).map_or(Value::Null, Value::Int)),
)
.key_part(KeyPart::Allowed)
.gives("A number of 63 bits, the same for equal values and in every version, to spread rows by.")
.example("HASH('a')", "189900332573052507");

static MD5: ScalarFunction =
    ScalarFunction::new("MD5", OF_TEXT, |args| Ok(Value::Text(hex(&Md5::digest(args.text(0)?)))))
        .key_part(KeyPart::Chars(32))
        .gives("The MD5 digest of the text, in 32 hexadecimal digits.")
        .example("MD5('abc')", "900150983cd24fb0d6963f7d28e17f72");

static SHA256: ScalarFunction =
    ScalarFunction::new("SHA256", OF_TEXT, |args| Ok(Value::Text(hex(&Sha256::digest(args.text(0)?)))))
        .key_part(KeyPart::Chars(64))
        .gives("The SHA-256 digest of the text, in 64 hexadecimal digits.")
        .example("SHA256('abc')", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
