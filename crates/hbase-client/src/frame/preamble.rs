//! The first bytes of a connection.

use bytes::{Buf, BufMut, BytesMut};
use prost::Message;

use crate::proto::ConnectionHeader;
use crate::wire_error::WireError;

/// The authentication SIMPLE: the server believes the name of the user.
pub const AUTH_SIMPLE: u8 = 80;
/// The most bytes of a connection's header that [`take_preamble`] takes.
pub const PREAMBLE_BYTES_MAX: usize = 64 << 10;

const MAGIC: &[u8; 4] = b"HBas";
const VERSION: u8 = 0;
/// Magic, version and authentication, then the length of the header.
const FIXED_BYTES: usize = 4 + 1 + 1 + 4;

/// Appends the first bytes of a connection.
pub fn put_preamble(header: &ConnectionHeader, out: &mut BytesMut) {
    out.put_slice(MAGIC);
    out.put_u8(VERSION);
    out.put_u8(AUTH_SIMPLE);
    let message = header.encode_to_vec();
    out.put_u32(message.len() as u32);
    out.put_slice(&message);
}

/// Takes the first bytes of a connection off `received`; `None` if they are not all there.
///
/// # Errors
/// [`WireError::Preamble`], [`WireError::Authentication`], [`WireError::FrameTooLarge`] beyond [`PREAMBLE_BYTES_MAX`],
/// [`WireError::Message`]. Other bytes than HBase's are refused before the preamble is complete.
pub fn take_preamble(received: &mut BytesMut) -> Result<Option<ConnectionHeader>, WireError> {
    let expected = MAGIC.iter().copied().chain([VERSION]);
    if received.iter().zip(expected).any(|(is, wanted)| *is != wanted) {
        return Err(WireError::Preamble);
    }
    match received.get(5) {
        Some(&AUTH_SIMPLE) | None => {}
        Some(&auth_method) => return Err(WireError::Authentication { auth_method }),
    }
    let Some(Ok(length)) = received.get(6..FIXED_BYTES).map(<[u8; 4]>::try_from) else { return Ok(None) };
    let header_bytes = u32::from_be_bytes(length) as usize;
    if header_bytes > PREAMBLE_BYTES_MAX {
        let (frame_bytes, frame_bytes_max) = (header_bytes as u64, PREAMBLE_BYTES_MAX as u64);
        return Err(WireError::FrameTooLarge { frame_bytes, frame_bytes_max });
    }
    if received.len() < FIXED_BYTES + header_bytes {
        return Ok(None);
    }
    received.advance(FIXED_BYTES);
    let header = ConnectionHeader::decode(received.split_to(header_bytes).freeze());
    header.map(Some).map_err(|source| WireError::Message { message: "ConnectionHeader", source })
}
