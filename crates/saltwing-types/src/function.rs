//! The functions of the expression language.

use serde::{Deserialize, Serialize};

/// A deterministic function of its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Function {
    /// `ABS(n)`.
    Abs,
    /// `COALESCE(a, b, ..)`: the first that is not NULL.
    Coalesce,
    /// `a || b`, `CONCAT(a, ..)`: NULL when any part is NULL.
    Concat,
    /// `LEFT(text, n)`.
    Left,
    /// `LENGTH(text)`: in characters; of binary, in bytes.
    Length,
    /// `LOWER(text)`.
    Lower,
    /// `MD5(text)`: lower-case hex text.
    Md5,
    /// `NULLIF(a, b)`.
    NullIf,
    /// `REVERSE(text)`: by characters.
    Reverse,
    /// `SHA256(text)`: lower-case hex text.
    Sha256,
    /// `STARTS_WITH(text, prefix)`.
    StartsWith,
    /// `SUBSTR(text, from [, count])`: in characters, from 1; a negative `from` counts from the end, as in Phoenix.
    Substr,
    /// `TO_DATE(text)`.
    ToDate,
    /// `TO_TIME(text)`.
    ToTime,
    /// `TO_TIMESTAMP(text)`: to the millisecond, as in Phoenix.
    ToTimestamp,
    /// `TRIM(text)`: blanks at both ends.
    Trim,
    /// `UPPER(text)`.
    Upper,
}

impl Function {
    /// The function of this name, in any case.
    pub fn by_name(name: &str) -> Option<Self> {
        use Function::*;
        Some(match name.to_ascii_uppercase().as_str() {
            "ABS" => Abs,
            "COALESCE" => Coalesce,
            "CONCAT" => Concat,
            "LEFT" => Left,
            "LENGTH" | "CHAR_LENGTH" | "CHARACTER_LENGTH" => Length,
            "LOWER" => Lower,
            "MD5" => Md5,
            "NULLIF" => NullIf,
            "REVERSE" => Reverse,
            "SHA256" => Sha256,
            "STARTS_WITH" => StartsWith,
            "SUBSTR" | "SUBSTRING" => Substr,
            "TO_DATE" => ToDate,
            "TO_TIME" => ToTime,
            "TO_TIMESTAMP" => ToTimestamp,
            "TRIM" | "BTRIM" => Trim,
            "UPPER" => Upper,
            _ => return None,
        })
    }

    /// The name in upper case.
    pub fn name(self) -> &'static str {
        use Function::*;
        match self {
            Abs => "ABS",
            Coalesce => "COALESCE",
            Concat => "CONCAT",
            Left => "LEFT",
            Length => "LENGTH",
            Lower => "LOWER",
            Md5 => "MD5",
            NullIf => "NULLIF",
            Reverse => "REVERSE",
            Sha256 => "SHA256",
            StartsWith => "STARTS_WITH",
            Substr => "SUBSTR",
            ToDate => "TO_DATE",
            ToTime => "TO_TIME",
            ToTimestamp => "TO_TIMESTAMP",
            Trim => "TRIM",
            Upper => "UPPER",
        }
    }
}
