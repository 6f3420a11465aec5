//! Reads the parts of a message.

use bytes::{Buf, Bytes};

use super::malformed::MalformedMessage;

/// The rest of a message's body. Every read checks the length first: the bytes are the client's.
pub(super) struct Cursor {
    rest: Bytes,
}

impl Cursor {
    pub(super) fn new(body: Bytes) -> Self {
        Self { rest: body }
    }

    fn need(&self, bytes: usize) -> Result<(), MalformedMessage> {
        if self.rest.len() < bytes { Err(MalformedMessage::Truncated) } else { Ok(()) }
    }

    pub(super) fn u8(&mut self) -> Result<u8, MalformedMessage> {
        self.need(1)?;
        Ok(self.rest.get_u8())
    }

    pub(super) fn u16(&mut self) -> Result<u16, MalformedMessage> {
        self.need(2)?;
        Ok(self.rest.get_u16())
    }

    pub(super) fn i16(&mut self) -> Result<i16, MalformedMessage> {
        self.need(2)?;
        Ok(self.rest.get_i16())
    }

    pub(super) fn u32(&mut self) -> Result<u32, MalformedMessage> {
        self.need(4)?;
        Ok(self.rest.get_u32())
    }

    pub(super) fn i32(&mut self) -> Result<i32, MalformedMessage> {
        self.need(4)?;
        Ok(self.rest.get_i32())
    }

    pub(super) fn bytes(&mut self, length: usize) -> Result<Bytes, MalformedMessage> {
        self.need(length)?;
        Ok(self.rest.split_to(length))
    }

    /// All bytes that are left.
    pub(super) fn rest(&mut self) -> Bytes {
        std::mem::take(&mut self.rest)
    }

    /// A text that ends with a zero byte.
    pub(super) fn text(&mut self) -> Result<String, MalformedMessage> {
        let end = self.rest.iter().position(|byte| *byte == 0).ok_or(MalformedMessage::Truncated)?;
        let text = self.bytes(end)?;
        self.rest.advance(1);
        std::str::from_utf8(&text).map(str::to_owned).map_err(|_| MalformedMessage::NotUtf8)
    }

    /// Values of one length each, after their number, which is checked before anything is allocated.
    pub(super) fn list<T>(
        &mut self,
        least_bytes: usize,
        mut read: impl FnMut(&mut Self) -> Result<T, MalformedMessage>,
    ) -> Result<Vec<T>, MalformedMessage> {
        let count = usize::from(self.u16()?);
        self.need(count.saturating_mul(least_bytes))?;
        (0..count).map(|_| read(self)).collect()
    }

    /// Checks that the message has no more bytes.
    pub(super) fn end(&self) -> Result<(), MalformedMessage> {
        if self.rest.is_empty() { Ok(()) } else { Err(MalformedMessage::TooMuch) }
    }
}
