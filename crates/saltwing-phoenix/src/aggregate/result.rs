//! Results of aggregates.
//!
//! ```text
//! [counts] [other results that are not NULL] [a bit for each of the others: whether it is not NULL]
//! ```
//! A result of fixed width is as it is, others have their length before them. 16 bits or fewer are a number of two bytes;
//! more are numbers of eight bytes, and two bytes with how many these are.

use saltwing_types::{SqlType, Value};

use super::scan::AggregateScan;
use crate::error::shown_bytes;
use crate::writable::read_number;
use crate::{CellCodec, PhoenixError};

/// As many results have their bits in two bytes.
const SHORT_BITS: usize = 16;
const WORD_BYTES: usize = 8;
const WORD_BITS: usize = 64;

impl AggregateScan {
    /// The results in the value of a cell that the scan gave, in the order of the aggregates.
    ///
    /// # Errors
    /// [`PhoenixError::CorruptAggregates`] for bytes that are no results of this scan.
    pub fn read(&self, stored: &[u8]) -> Result<Vec<Value>, PhoenixError> {
        self.results(stored).ok_or_else(|| PhoenixError::CorruptAggregates { cell: shown_bytes(stored) })
    }

    fn results(&self, stored: &[u8]) -> Option<Vec<Value>> {
        let counts = self.count_of_counts();
        let (mut rest, present) = split_bits(stored, self.aggregates.len().checked_sub(counts)?)?;
        let mut results = vec![Value::Null; self.aggregates.len()];
        for (wire, place) in self.order.iter().enumerate() {
            let is_present = match wire.checked_sub(counts) {
                Some(bit) => present.has(bit),
                None => true,
            };
            if is_present {
                let ty = self.aggregates.get(*place)?.result_type();
                let (value, after) = read_value(rest, ty)?;
                *results.get_mut(*place)? = value;
                rest = after;
            }
        }
        rest.is_empty().then_some(results)
    }
}

fn read_value(bytes: &[u8], ty: SqlType) -> Option<(Value, &[u8])> {
    let (length, rest) = match ty.fixed_key_bytes() {
        Some(width) => (width, bytes),
        None => {
            let (length, rest) = read_number(bytes)?;
            (usize::try_from(length).ok().filter(|length| *length > 0)?, rest)
        }
    };
    let (value, rest) = rest.split_at_checked(length)?;
    Some((CellCodec::new(ty).ok()?.decode(value).ok()?, rest))
}

/// Which results are not NULL.
struct Present<'a> {
    /// Two bytes, or words of eight; within a word the first bit is the lowest.
    bytes: &'a [u8],
    word_bytes: usize,
}

impl Present<'_> {
    fn has(&self, bit: usize) -> bool {
        let word = self.bytes.chunks_exact(self.word_bytes).nth(bit / WORD_BITS);
        // The last byte has the lowest bits.
        let byte = word.and_then(|word| word.iter().nth_back(bit % WORD_BITS / 8));
        byte.is_some_and(|byte| byte >> (bit % 8) & 1 == 1)
    }
}

/// The values, and the bits behind them.
fn split_bits(stored: &[u8], bits: usize) -> Option<(&[u8], Present<'_>)> {
    if bits == 0 {
        return Some((stored, Present { bytes: &[], word_bytes: 2 }));
    }
    let (rest, last) = stored.split_last_chunk::<2>()?;
    if bits <= SHORT_BITS {
        let (values, bytes) = stored.split_at_checked(rest.len())?;
        return Some((values, Present { bytes, word_bytes: 2 }));
    }
    let length = usize::from(u16::from_be_bytes(*last)).checked_mul(WORD_BYTES)?;
    let (values, bytes) = rest.split_at_checked(rest.len().checked_sub(length)?)?;
    Some((values, Present { bytes, word_bytes: WORD_BYTES }))
}
