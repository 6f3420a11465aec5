//! Arrays: Phoenix's form, for the last column of a key and for cells.
//!
//! ```text
//! elements of fixed width      one after the other, nothing else
//! VARCHAR, DECIMAL             data | offset of each element, 2 or 4 | offset of the offsets 4 | count 4 | version 1, 01
//!   data                       elements, each with a separator after it; NULLs before an element; two separators
//!   NULLs before an element    00 | a 01 for each 255 of them | the rest, from FF for one downwards
//! ```
//! Numbers are big endian. Short offsets are less by 32,767, and long ones have a negative count. DESC inverts the elements;
//! the separator is then FF, and all else is as it is. NULLs at the end stand in the offsets alone. An array without
//! elements has no bytes.

use saltwing_types::{SqlType, Value};

use crate::error::shown;
use crate::{BadBytes, KeyValueError};

const VERSION: u8 = 1;
const SHORT_OFFSET_MAX: usize = 65_534;
const SHORT_OFFSET_BASE: i32 = 32_767;
/// NULLs that one byte stands for.
const NULLS_MAX: usize = 255;
/// Two separators end the data.
const END_BYTES: usize = 2;
pub(crate) const BAD: BadBytes = BadBytes("not the bytes of an array");

/// The codec of the elements: arrays know no other type's bytes.
pub(crate) trait ElementCodec {
    fn sql_type(&self) -> SqlType;
    /// 00 for ASC, FF for DESC: the separator.
    fn separator(&self) -> u8;
    fn encode(&self, element: &Value, out: &mut Vec<u8>) -> Result<(), KeyValueError>;
    fn decode(&self, stored: &[u8]) -> Result<Value, BadBytes>;
}

/// Appends the stored bytes of an array.
pub(crate) fn write(elements: &[Value], codec: &impl ElementCodec, out: &mut Vec<u8>) -> Result<(), KeyValueError> {
    let refused = |element: &Value, reason| {
        let (element, ty) = (shown(element, codec.sql_type()), codec.sql_type());
        Err(KeyValueError::ArrayElement { element, ty, reason })
    };
    if codec.sql_type().fixed_key_bytes().is_some() {
        for element in elements {
            match element {
                Value::Null => return refused(element, "elements of fixed width have no form for NULL"),
                element => codec.encode(element, out)?,
            }
        }
        return Ok(());
    }
    if elements.is_empty() {
        return Ok(());
    }
    let (start, separator) = (out.len(), codec.separator());
    let mut offsets = Vec::with_capacity(elements.len());
    let mut nulls = 0;
    for element in elements {
        if element.is_null() {
            offsets.push(out.len() - start);
            nulls += 1;
            continue;
        }
        write_nulls(std::mem::take(&mut nulls), out);
        let at = out.len();
        offsets.push(at - start);
        codec.encode(element, out)?;
        match out.get(at..) {
            Some([]) => return refused(element, "an empty element is NULL there"),
            Some(stored) if stored.first() != Some(&0) && !stored.contains(&separator) => out.push(separator),
            _ => return refused(element, "its bytes hold a separator"),
        }
    }
    out.extend([separator; END_BYTES]);
    let table = out.len() - start;
    let is_short = offsets.last().is_none_or(|last| *last <= SHORT_OFFSET_MAX);
    for offset in offsets {
        match is_short {
            true => out.extend((offset as i32 - SHORT_OFFSET_BASE).to_be_bytes().iter().skip(2)),
            false => out.extend((offset as u32).to_be_bytes()),
        }
    }
    let count = elements.len() as i32;
    out.extend((table as u32).to_be_bytes());
    out.extend(if is_short { count } else { -count }.to_be_bytes());
    out.push(VERSION);
    Ok(())
}

fn write_nulls(count: usize, out: &mut Vec<u8>) {
    if count > 0 {
        out.push(0);
        out.extend(std::iter::repeat_n(1, count / NULLS_MAX));
        out.extend((count % NULLS_MAX).checked_sub(1).map(|rest| !(rest as u8)));
    }
}

/// The elements of an array.
pub(crate) fn read(stored: &[u8], codec: &impl ElementCodec) -> Result<Vec<Value>, BadBytes> {
    if let Some(width) = codec.sql_type().fixed_key_bytes() {
        let elements = stored.chunks_exact(width.max(1));
        return if elements.remainder().is_empty() {
            elements.map(|bytes| codec.decode(bytes)).collect()
        } else {
            Err(BAD)
        };
    }
    if stored.is_empty() {
        return Ok(Vec::new());
    }
    let (body, [a, b, c, d, count @ .., VERSION]) = stored.split_last_chunk::<9>().ok_or(BAD)? else { return Err(BAD) };
    let (data, offsets) = body.split_at_checked(u32::from_be_bytes([*a, *b, *c, *d]) as usize).ok_or(BAD)?;
    let count = i32::from_be_bytes(*count);
    let width = if count < 0 { 4 } else { 2 };
    if offsets.len() as u64 != u64::from(count.unsigned_abs()) * width {
        return Err(BAD);
    }
    let places = offsets.chunks_exact(width as usize).map(|bytes| place(bytes).filter(|at| *at < data.len()));
    let places: Vec<usize> = places.collect::<Option<_>>().ok_or(BAD)?;
    let end = data.len().checked_sub(END_BYTES).ok_or(BAD)?;
    let nexts = places.iter().skip(1).copied().chain([end]);
    places.iter().zip(nexts).map(|(at, next)| read_element(data, *at, next, codec)).collect()
}

/// Where an element begins.
fn place(offset: &[u8]) -> Option<usize> {
    let offset = match *offset {
        [a, b] => i32::from(i16::from_be_bytes([a, b])) + SHORT_OFFSET_BASE,
        [a, b, c, d] => i32::from_be_bytes([a, b, c, d]),
        _ => return None,
    };
    usize::try_from(offset).ok()
}

/// The element that begins at `at` and has a separator before `next`. Phoenix writes elements with a separator in them, so that only the place of
/// the next one tells where an element ends.
fn read_element(data: &[u8], at: usize, next: usize, codec: &impl ElementCodec) -> Result<Value, BadBytes> {
    match data.get(at) {
        None => return Err(BAD),
        Some(first) if *first == 0 || *first == codec.separator() => return Ok(Value::Null),
        Some(_) => {}
    }
    match data.get(at..next) {
        Some([element @ .., last]) if *last == codec.separator() && !element.is_empty() => codec.decode(element),
        _ => Err(BAD),
    }
}
