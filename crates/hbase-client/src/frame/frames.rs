//! Requests and responses as frames.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use prost::Message;

use crate::proto::{CellBlockMeta, RequestHeader, ResponseHeader};
use crate::wire_error::WireError;

/// The most bytes of a frame, by default. HBase's own limit for requests is 256 MiB; responses of scans have a few MiB.
pub const FRAME_BYTES_MAX: usize = 256 << 20;

/// Takes a frame off `received`, without its length; `None` if it is not all there. It reserves nothing: the caller's buffer grows with
/// the bytes that come.
///
/// # Errors
/// [`WireError::FrameTooLarge`], as soon as the length is there.
pub fn take_frame(received: &mut BytesMut, frame_bytes_max: usize) -> Result<Option<Bytes>, WireError> {
    let Some(Ok(length)) = received.get(..4).map(<[u8; 4]>::try_from) else { return Ok(None) };
    let frame_bytes = u32::from_be_bytes(length) as usize;
    if frame_bytes > frame_bytes_max {
        let (frame_bytes, frame_bytes_max) = (frame_bytes as u64, frame_bytes_max as u64);
        return Err(WireError::FrameTooLarge { frame_bytes, frame_bytes_max });
    }
    if received.len() - 4 < frame_bytes {
        return Ok(None);
    }
    received.advance(4);
    Ok(Some(received.split_to(frame_bytes).freeze()))
}

/// A request: what a client sends.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Call id, name of the method, time-out. Its `cell_block_meta` is set by [`Request::put`].
    pub header: RequestHeader,
    /// The bytes of the message; the method says of which type.
    pub message: Bytes,
    /// The cell block, see [`CellBlock`](super::CellBlock).
    pub cells: Bytes,
}

impl Request {
    /// The request that a frame holds.
    ///
    /// # Errors
    /// [`WireError::Truncated`], [`WireError::Surplus`], [`WireError::Message`].
    pub fn decode(mut frame: Bytes) -> Result<Self, WireError> {
        let header = take_delimited(&mut frame, "header")?;
        let header =
            RequestHeader::decode(header).map_err(|source| WireError::Message { message: "RequestHeader", source })?;
        // A request without a parameter has no message.
        let message =
            if header.request_param == Some(false) { Bytes::new() } else { take_delimited(&mut frame, "message")? };
        let cells = take_cells(&mut frame, header.cell_block_meta.as_ref())?;
        Ok(Self { header, message, cells })
    }

    /// Appends the request as a frame.
    ///
    /// # Errors
    /// [`WireError::FrameTooLarge`] if the length does not fit its four bytes as Java reads them.
    pub fn put(mut self, out: &mut BytesMut) -> Result<(), WireError> {
        self.header.cell_block_meta = cell_block_meta(&self.cells);
        let has_message = self.header.request_param != Some(false);
        put_frame(&self.header, has_message.then_some(&self.message), &self.cells, out)
    }
}

/// A response: what a server sends.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// Call id, and the exception if the call failed. Its `cell_block_meta` is set by [`Response::put`].
    pub header: ResponseHeader,
    /// The bytes of the message; the request's method says of which type. Empty if the call failed.
    pub message: Bytes,
    /// The cell block, see [`CellBlock`](super::CellBlock).
    pub cells: Bytes,
}

impl Response {
    /// The response that a frame holds.
    ///
    /// # Errors
    /// [`WireError::Truncated`], [`WireError::Surplus`], [`WireError::Message`].
    pub fn decode(mut frame: Bytes) -> Result<Self, WireError> {
        let header = take_delimited(&mut frame, "header")?;
        let header = ResponseHeader::decode(header)
            .map_err(|source| WireError::Message { message: "ResponseHeader", source })?;
        // A failed call has no message.
        let is_short = header.exception.is_some() && frame.is_empty();
        let message = if is_short { Bytes::new() } else { take_delimited(&mut frame, "message")? };
        let cells = take_cells(&mut frame, header.cell_block_meta.as_ref())?;
        Ok(Self { header, message, cells })
    }

    /// Appends the response as a frame. A response with an exception has neither message nor cells.
    ///
    /// # Errors
    /// [`WireError::FrameTooLarge`] if the length does not fit its four bytes as Java reads them.
    pub fn put(mut self, out: &mut BytesMut) -> Result<(), WireError> {
        if self.header.exception.is_some() {
            self.header.cell_block_meta = None;
            return put_frame(&self.header, None, &Bytes::new(), out);
        }
        self.header.cell_block_meta = cell_block_meta(&self.cells);
        put_frame(&self.header, Some(&self.message), &self.cells, out)
    }
}

fn cell_block_meta(cells: &Bytes) -> Option<CellBlockMeta> {
    (!cells.is_empty()).then(|| CellBlockMeta { length: u32::try_from(cells.len()).ok() })
}

fn put_frame(
    header: &impl Message,
    message: Option<&Bytes>,
    cells: &Bytes,
    out: &mut BytesMut,
) -> Result<(), WireError> {
    let header_bytes = header.encoded_len();
    let message_bytes = message.map_or(0, |message| prost::length_delimiter_len(message.len()) + message.len());
    let frame_bytes = prost::length_delimiter_len(header_bytes) + header_bytes + message_bytes + cells.len();
    if i32::try_from(frame_bytes).is_err() {
        let (frame_bytes, frame_bytes_max) = (frame_bytes as u64, i32::MAX as u64);
        return Err(WireError::FrameTooLarge { frame_bytes, frame_bytes_max });
    }
    out.reserve(4 + frame_bytes);
    out.put_u32(frame_bytes as u32);
    put_varint(header_bytes as u64, out);
    out.put_slice(&header.encode_to_vec());
    if let Some(message) = message {
        put_varint(message.len() as u64, out);
        out.put_slice(message);
    }
    out.put_slice(cells);
    Ok(())
}

fn put_varint(mut number: u64, out: &mut BytesMut) {
    while number >= 0x80 {
        out.put_u8(number as u8 | 0x80);
        number >>= 7;
    }
    out.put_u8(number as u8);
}

/// Takes a part with its length before it.
fn take_delimited(frame: &mut Bytes, part: &'static str) -> Result<Bytes, WireError> {
    let length = prost::decode_length_delimiter(&mut *frame).map_err(|_| WireError::Truncated { part })?;
    if length > frame.len() {
        return Err(WireError::Truncated { part });
    }
    Ok(frame.split_to(length))
}

/// Takes the cell block, which is the rest of the frame.
fn take_cells(frame: &mut Bytes, meta: Option<&CellBlockMeta>) -> Result<Bytes, WireError> {
    let length = meta.and_then(|meta| meta.length).unwrap_or(0) as usize;
    if length > frame.len() {
        return Err(WireError::Truncated { part: "cell block" });
    }
    let cells = frame.split_to(length);
    if !frame.is_empty() {
        return Err(WireError::Surplus { surplus_bytes: frame.len() });
    }
    Ok(cells)
}
