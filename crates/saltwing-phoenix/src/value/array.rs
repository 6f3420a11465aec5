//! Arrays whose elements vary in width.
//!
//! ```text
//! [data] [an offset for each element] [start of the offsets] [count] [01]
//!           2 or 4 bytes each               4                   4
//!
//! data: each element and 00 | before an element, NULLs as 00, a 01 for each 255 of them, and the rest from FF downwards | 00 00
//! ```
//! A key finds the end of an element by the 00 after it; a cell finds it by the next offset, as Phoenix does. So only the
//! first byte of an element tells it from NULL: Phoenix reads an element that begins with 00 or FF as NULL.

use saltwing_rowkey::ValueCodec;
use saltwing_types::{SortOrder, SqlType, Value};

use super::error::{BadCell, CellValueError};
use crate::offsets::{self, OffsetForm, Offsets};

/// Data ends with two separators after that of the last element.
const END_BYTES: usize = 2;
/// NULLs that one byte stands for.
const NULLS_MAX: usize = 255;

/// The codec of arrays of one type; their elements vary in width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ArrayCodec {
    ty: SqlType,
    element: ValueCodec,
}

/// Whether Phoenix reads an element that begins with this byte as NULL.
fn is_null_mark(first: u8) -> bool {
    first == 0 || first == 0xff
}

impl ArrayCodec {
    pub(crate) fn new(ty: SqlType, element: SqlType) -> Self {
        Self { ty, element: ValueCodec::new(element, SortOrder::Asc) }
    }

    pub(crate) fn encode(&self, value: &Value, out: &mut Vec<u8>) -> Result<(), CellValueError> {
        let Value::Array(elements) = value else {
            // The codec of keys tells what is wrong with it; it takes no other kind of value.
            return Ok(ValueCodec::new(self.ty, SortOrder::Asc).encode(value, out)?);
        };
        if elements.is_empty() {
            return Ok(());
        }
        let start = out.len();
        let mut places = Vec::with_capacity(elements.len());
        let mut nulls = 0;
        for element in elements {
            if element.is_null() {
                places.push(out.len() - start);
                nulls += 1;
                continue;
            }
            write_nulls(std::mem::take(&mut nulls), out);
            places.push(out.len() - start);
            self.encode_element(element, out)?;
        }
        out.extend([0; END_BYTES]);
        let places = places.into_iter().map(|place| i32::try_from(place).ok()).collect::<Option<Vec<_>>>();
        let written = places.and_then(|places| offsets::write(start, &places, OffsetForm::Array, out));
        written.ok_or(CellValueError::Element { ty: self.ty, reason: "an array of 2 GiB or more has no offsets" })
    }

    fn encode_element(&self, element: &Value, out: &mut Vec<u8>) -> Result<(), CellValueError> {
        let at = out.len();
        self.element.encode(element, out)?;
        let refused = |reason| Err(CellValueError::Element { ty: self.ty, reason });
        match out.get(at) {
            None => refused("an empty element is NULL there"),
            Some(first) if is_null_mark(*first) => refused("one that begins with 00 or FF is NULL there"),
            Some(_) => {
                out.push(0);
                Ok(())
            }
        }
    }

    pub(crate) fn decode(&self, stored: &[u8]) -> Result<Value, BadCell> {
        let offsets = Offsets::read(stored, OffsetForm::Array).ok_or(BadCell::Array)?;
        let data = offsets.data();
        let end = data.len().checked_sub(END_BYTES).ok_or(BadCell::Array)?;
        let place = |index| usize::try_from(offsets.get(index)?).ok();
        let element = |index: usize| {
            let from = place(index).ok_or(BadCell::Array)?;
            let first = data.get(from).ok_or(BadCell::Array)?;
            if is_null_mark(*first) {
                return Ok(Value::Null);
            }
            let next = if index + 1 == offsets.len() { Some(end) } else { place(index + 1) };
            // Without the separator.
            let to = next.and_then(|next| next.checked_sub(1)).ok_or(BadCell::Array)?;
            match data.get(from..to) {
                None | Some([]) => Err(BadCell::Array),
                Some(element) => Ok(self.element.decode(element)?),
            }
        };
        (0..offsets.len()).map(element).collect::<Result<_, _>>().map(Value::Array)
    }
}

fn write_nulls(count: usize, out: &mut Vec<u8>) {
    if count > 0 {
        out.push(0);
        out.extend(std::iter::repeat_n(1, count / NULLS_MAX));
        out.extend((count % NULLS_MAX).checked_sub(1).map(|rest| !(rest as u8)));
    }
}
