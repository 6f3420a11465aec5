//! How many parts a message has: values, rows of a batch, texts of a list.
//!
//! A part takes two bytes on the wire and more than a hundred in memory, so that a limit of bytes alone would let a small body become a large
//! message. The parts are counted before anything is decoded.

use crate::error::AvaticaError;

/// The fields of a message that are messages themselves.
#[derive(Clone, Copy)]
pub(crate) struct Shape(&'static [(u64, &'static Shape)]);

/// A message whose fields are no messages.
pub(crate) const FLAT: Shape = Shape(&[]);
/// `TypedValue`: an array has values.
static VALUE: Shape = Shape(&[(8, &VALUE)]);
static UPDATE: Shape = Shape(&[(1, &VALUE)]);
static STATE: Shape = Shape(&[(4, &Shape(&[]))]);
static HANDLE: Shape = Shape(&[(3, &Shape(&[]))]);
/// `ExecuteRequest`.
pub(crate) const EXECUTE: Shape = Shape(&[(1, &HANDLE), (2, &VALUE)]);
/// `ExecuteBatchRequest`.
pub(crate) const EXECUTE_BATCH: Shape = Shape(&[(3, &UPDATE)]);
/// `SyncResultsRequest`.
pub(crate) const SYNC_RESULTS: Shape = Shape(&[(3, &STATE)]);

/// Messages in messages that are looked into. The decoder refuses deeper ones.
const DEPTH_MAX: u32 = 100;

/// Checks that a message has at most so many parts. The decoder reports malformed messages.
///
/// # Errors
/// [`AvaticaError::TooManyParts`].
pub(crate) fn check_parts(message: &[u8], shape: &Shape, max: usize) -> Result<(), AvaticaError> {
    let mut left = max;
    match count(message, shape, 0, &mut left) {
        Some(()) => Ok(()),
        None => Err(AvaticaError::TooManyParts { max }),
    }
}

/// Takes the parts from `left`; `None` if they are more.
fn count(mut bytes: &[u8], Shape(fields): &Shape, depth: u32, left: &mut usize) -> Option<()> {
    while let Some(key) = varint(&mut bytes) {
        match key & 7 {
            0 => drop(varint(&mut bytes)),
            1 => drop(bytes.split_off(..8)),
            5 => drop(bytes.split_off(..4)),
            2 => {
                *left = left.checked_sub(1)?;
                let length = varint(&mut bytes).and_then(|length| usize::try_from(length).ok());
                let Some(inner) = length.and_then(|length| bytes.split_off(..length)) else { return Some(()) };
                let field = fields.iter().find(|(tag, _)| *tag == key >> 3);
                if let Some((_, shape)) = field.filter(|_| depth < DEPTH_MAX) {
                    count(inner, shape, depth.saturating_add(1), left)?;
                }
            }
            // The beginning and the end of a group, whose fields stand between them.
            3 | 4 => {}
            _ => return Some(()),
        }
    }
    Some(())
}

/// A number of seven bits a byte, the lowest first; `None` at the end, and for one that is too long.
fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.split_off_first()?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use prost::Message;

    use super::{EXECUTE_BATCH, FLAT, check_parts};
    use crate::messages::{ExecuteBatchRequest, PrepareAndExecuteBatchRequest, TypedValue, UpdateBatch};

    fn batch(rows: usize, values: usize, elements: usize) -> Vec<u8> {
        let value = TypedValue { array_value: vec![TypedValue::default(); elements], ..TypedValue::default() };
        let row = UpdateBatch { parameter_values: vec![value; values] };
        let request =
            ExecuteBatchRequest { connection_id: String::new(), statement_id: 1 << 20, updates: vec![row; rows] };
        request.encode_to_vec()
    }

    proptest! {
        /// Rows, their values and the elements of these are parts, and nothing else of a batch is.
        #[test]
        fn each_row_value_and_element_is_a_part(rows in 0..6_usize, values in 0..6_usize, elements in 0..6_usize) {
            let (bytes, parts) = (batch(rows, values, elements), rows + rows * values + rows * values * elements);
            prop_assert!(check_parts(&bytes, &EXECUTE_BATCH, parts).is_ok());
            prop_assert!(parts == 0 || check_parts(&bytes, &EXECUTE_BATCH, parts - 1).is_err());
        }

        #[test]
        fn texts_of_a_list_are_parts(texts in proptest::collection::vec(".{0,3}", 1..20)) {
            let request = PrepareAndExecuteBatchRequest { sql_commands: texts.clone(), ..Default::default() };
            let bytes = request.encode_to_vec();
            prop_assert!(check_parts(&bytes, &FLAT, texts.len()).is_ok());
            prop_assert!(check_parts(&bytes, &FLAT, texts.len() - 1).is_err());
        }

        #[test]
        fn any_bytes_are_counted(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = check_parts(&bytes, &EXECUTE_BATCH, 10);
            prop_assert!(check_parts(&bytes, &EXECUTE_BATCH, 200).is_ok());
        }
    }
}
