//! Arrays whose bytes count as memory of their statement.

use arrow::array::{Array, ArrayData, ArrayRef, make_array};
use arrow::buffer::Buffer;
use bytes::Bytes;
use datafusion::common::Result;
use saltwing_access::Reservation;

/// A buffer whose bytes count as memory while it lives.
struct Counted {
    buffer: Buffer,
    _reservation: Reservation,
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        self.buffer.as_slice()
    }
}

/// The array, whose largest part holds the reservation.
pub(crate) fn counted(array: &dyn Array, reservation: Reservation) -> Result<ArrayRef> {
    Ok(make_array(counted_data(array.to_data(), reservation)?))
}

fn counted_data(data: ArrayData, reservation: Reservation) -> Result<ArrayData> {
    let mut children = data.child_data().to_vec();
    if !children.is_empty() {
        let child = children.remove(0);
        children.insert(0, counted_data(child, reservation)?);
        return Ok(data.into_builder().child_data(children).build()?);
    }
    let mut buffers = data.buffers().to_vec();
    if let Some(buffer) = buffers.pop() {
        let counted = Counted { buffer, _reservation: reservation };
        buffers.push(Buffer::from(Bytes::from_owner(counted)));
    }
    Ok(data.into_builder().buffers(buffers).build()?)
}
