//! The functions of the expression language.

use crate::ValueError;
use crate::calendar::DateField;

/// A deterministic function of its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Function {
    /// `ABS(n)`.
    Abs,
    /// `CEIL(number [, places])`, `CEIL(instant, unit [, count])`.
    Ceil,
    /// `COALESCE(a, b, ..)`: the first that is not NULL.
    Coalesce,
    /// `a || b`, `CONCAT(a, ..)`: NULL when any part is NULL.
    Concat,
    /// `DATE_BIN(stride, instant [, origin])`: the start of the bin that holds the instant; bins count from 1970.
    DateBin,
    /// `DATE_TRUNC(unit, instant)`: the start of the unit that holds the instant.
    DateTrunc,
    /// `YEAR(instant)`, `EXTRACT(YEAR FROM instant)` and its kin.
    Extract(DateField),
    /// `FLOOR(number [, places])`, `FLOOR(instant, unit [, count])`.
    Floor,
    /// `HASH(value)`: a number of 63 bits; [`crate::hash`] says which.
    Hash,
    /// `LEFT(text, n)`.
    Left,
    /// `LENGTH(text)`: in characters; of binary, in bytes.
    Length,
    /// `LOWER(text)`.
    Lower,
    /// `MD5(text)`: lower-case hex text.
    Md5,
    /// `MOD(a, b)`: [`crate::typing::call`] makes `a % b` of it.
    Mod,
    /// `NULLIF(a, b)`: [`crate::typing::call`] makes a CASE of it.
    NullIf,
    /// `text ~ pattern`, `REGEXP_LIKE(text, pattern [, flags])`: whether a regular expression matches somewhere in the text.
    RegexpLike,
    /// `REVERSE(text)`: by characters.
    Reverse,
    /// `ROUND(number [, places])`, halves away from zero; `ROUND(instant, unit [, count])`, halves to the later.
    Round,
    /// `SHA256(text)`: lower-case hex text.
    Sha256,
    /// `SIGN(number)`, as -1, 0 or 1: [`crate::typing::call`] makes a CASE of it.
    Sign,
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
    /// `TRUNC(number [, places])`, toward zero; `TRUNC(instant, unit [, count])`, to the earlier.
    Trunc,
    /// `UPPER(text)`.
    Upper,
}

impl Function {
    /// The function of this name, in any case.
    pub fn by_name(name: &str) -> Option<Self> {
        use Function::*;
        Some(match name.to_ascii_uppercase().as_str() {
            "ABS" => Abs,
            "CEIL" | "CEILING" => Ceil,
            "COALESCE" => Coalesce,
            "CONCAT" => Concat,
            "DATE_BIN" => DateBin,
            "DATE_TRUNC" => DateTrunc,
            "FLOOR" => Floor,
            "HASH" => Hash,
            "LEFT" => Left,
            "LENGTH" | "CHAR_LENGTH" | "CHARACTER_LENGTH" => Length,
            "LOWER" => Lower,
            "MD5" => Md5,
            "MOD" => Mod,
            "NULLIF" => NullIf,
            "REGEXP_LIKE" => RegexpLike,
            "REVERSE" => Reverse,
            "ROUND" => Round,
            "SHA256" => Sha256,
            "SIGN" => Sign,
            "STARTS_WITH" => StartsWith,
            "SUBSTR" | "SUBSTRING" => Substr,
            "TO_DATE" => ToDate,
            "TO_TIME" => ToTime,
            "TO_TIMESTAMP" => ToTimestamp,
            "TRIM" | "BTRIM" => Trim,
            "TRUNC" => Trunc,
            "UPPER" => Upper,
            name => return DateField::by_function_name(name).map(Extract),
        })
    }

    /// The name in upper case.
    pub fn name(self) -> &'static str {
        use Function::*;
        match self {
            Abs => "ABS",
            Ceil => "CEIL",
            Coalesce => "COALESCE",
            Concat => "CONCAT",
            DateBin => "DATE_BIN",
            DateTrunc => "DATE_TRUNC",
            Extract(field) => field.function_name(),
            Floor => "FLOOR",
            Hash => "HASH",
            Left => "LEFT",
            Length => "LENGTH",
            Lower => "LOWER",
            Md5 => "MD5",
            Mod => "MOD",
            NullIf => "NULLIF",
            RegexpLike => "REGEXP_LIKE",
            Reverse => "REVERSE",
            Round => "ROUND",
            Sha256 => "SHA256",
            Sign => "SIGN",
            StartsWith => "STARTS_WITH",
            Substr => "SUBSTR",
            ToDate => "TO_DATE",
            ToTime => "TO_TIME",
            ToTimestamp => "TO_TIMESTAMP",
            Trim => "TRIM",
            Trunc => "TRUNC",
            Upper => "UPPER",
        }
    }

    /// Whether the flags of [`Function::RegexpLike`] say that case does not count: `i` does, `c` does not.
    ///
    /// # Errors
    /// [`ValueError::BadArgument`] for other flags.
    pub fn regexp_ignores_case(flags: &str) -> Result<bool, ValueError> {
        match flags {
            "" | "c" => Ok(false),
            "i" => Ok(true),
            other => {
                Err(ValueError::BadArgument(format!("'{other}': 'i' and 'c' are the flags of a regular expression")))
            }
        }
    }
}
