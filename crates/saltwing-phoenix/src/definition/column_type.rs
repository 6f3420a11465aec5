//! Types by the names that Phoenix's catalog has for them.

use std::num::NonZeroU32;

use saltwing_types::SqlType;
use saltwing_types::sql_type::DECIMAL_PRECISION_MAX;

use super::message::PColumn;

/// What follows the name of an array's element.
const ARRAY: &str = " ARRAY";

/// The type of a column.
///
/// # Errors
/// What is not understood, as part of a sentence.
pub(super) fn column_type(column: &PColumn) -> Result<SqlType, String> {
    let Some(name) = column.data_type.as_deref() else { return Err("a column without a type".into()) };
    let Some(element) = name.strip_suffix(ARRAY) else { return single(name, column) };
    let element = single(element, column)?;
    let length = column.array_size.map(|size| u32::try_from(size).map_err(|_| format!("an array of size {size}")));
    match SqlType::array(element) {
        Some(SqlType::Array(element, _)) => Ok(SqlType::Array(element, length.transpose()?.and_then(NonZeroU32::new))),
        _ => Err(format!("arrays of {element}")),
    }
}

fn single(name: &str, column: &PColumn) -> Result<SqlType, String> {
    let length = |what: i32| u32::try_from(what).map_err(|_| format!("{name} of length {what}"));
    let limit = column.max_length.map(length).transpose()?;
    let width = || limit.filter(|width| *width > 0).ok_or_else(|| format!("{name} without a length"));
    Ok(match name {
        "CHAR" => SqlType::Char(width()?),
        "BINARY" => SqlType::Binary(width()?),
        "VARCHAR" => SqlType::Varchar(limit),
        "DECIMAL" => SqlType::Decimal(precision_and_scale(limit, column.scale)?),
        // Types of ours that Phoenix has not, and might have one day with other bytes.
        "NULL" | "UUID" | "INTERVAL" => return Err(format!("type {name}")),
        // Names alone: a length would be part of the text.
        _ if name.contains(['(', ' ']) => return Err(format!("type {name}")),
        _ => name.parse().map_err(|_| format!("type {name}"))?,
    })
}

fn precision_and_scale(precision: Option<u32>, scale: Option<i32>) -> Result<Option<(u8, u8)>, String> {
    let Some(precision) = precision else { return Ok(None) };
    let scale = scale.unwrap_or(0);
    let known = match (u8::try_from(precision), u8::try_from(scale)) {
        (Ok(precision), Ok(scale)) if (1..=DECIMAL_PRECISION_MAX).contains(&precision) && scale <= precision => {
            Some((precision, scale))
        }
        _ => None,
    };
    known.map(Some).ok_or_else(|| format!("DECIMAL({precision},{scale})"))
}
