//! What the rows of a worker must be.

use std::collections::BTreeMap;

use hbase_client::{Put, Row};

use crate::AnyError;

pub(crate) const FAMILY: &[u8] = b"f";
pub(crate) const VALUE: &[u8] = b"v";
pub(crate) const COUNTER: &[u8] = b"c";
/// A row has four long values besides, so that scans get it in pieces.
const LONG_VALUES: u64 = 4;
const LONG_BYTES: usize = 300;
/// A worker has 400 row keys.
pub(crate) const ROWS: u64 = 400;

/// The beginning of a worker's row keys.
pub(crate) fn prefix(worker: u64) -> Vec<u8> {
    format!("{worker:02}-").into_bytes()
}

pub(crate) fn key(worker: u64, row: u64) -> Vec<u8> {
    [prefix(worker), format!("{row:04}").into_bytes()].concat()
}

/// A row: the value that was written last, and the counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) value: Option<u64>,
    pub(crate) counter: Option<i64>,
}

impl State {
    pub(crate) fn is_absent(self) -> bool {
        self == Self::default()
    }
}

/// The rows that are there, by their keys.
pub(crate) type Model = BTreeMap<Vec<u8>, State>;

/// A put of a value with all that belongs to it.
pub(crate) fn put(key: &[u8], value: u64) -> Result<Put, AnyError> {
    let mut put = Put::new(key.to_vec())?.column(FAMILY, VALUE, &value.to_be_bytes())?;
    for number in 0..LONG_VALUES {
        put = put.column(FAMILY, &[b'x', number as u8], &long_value(value, number))?;
    }
    Ok(put)
}

fn long_value(value: u64, number: u64) -> Vec<u8> {
    vec![(value.wrapping_mul(31).wrapping_add(number)) as u8; LONG_BYTES]
}

/// The state that a row has; an error if its parts do not belong together.
pub(crate) fn state_of(row: &Row) -> Result<State, AnyError> {
    let eight = |qualifier: &[u8]| -> Option<[u8; 8]> { row.value(FAMILY, qualifier)?.try_into().ok() };
    let value = eight(VALUE).map(u64::from_be_bytes);
    let counter = eight(COUNTER).map(i64::from_be_bytes);
    let mut cells = usize::from(value.is_some()) + usize::from(counter.is_some());
    if let Some(value) = value {
        for number in 0..LONG_VALUES {
            if row.value(FAMILY, &[b'x', number as u8]) != Some(&long_value(value, number)[..]) {
                return Err(format!("the row {} has parts of two values", row.key().escape_ascii()).into());
            }
            cells += 1;
        }
    }
    if cells != row.cells().len() {
        return Err(format!("the row {} has {} cells", row.key().escape_ascii(), row.cells().len()).into());
    }
    Ok(State { value, counter })
}
