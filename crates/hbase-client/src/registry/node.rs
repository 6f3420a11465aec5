//! Answers of ZooKeeper, and the servers that its nodes name.
//!
//! ```text
//! answer           call, id, error; the data and the node's attributes
//! the node's data  FF, length of the magic that follows it, magic, PBUF, message
//! ```

use bytes::{Buf, Bytes};
use prost::Message;

use super::wanted::Wanted;
use crate::address::Address;
use crate::proto::{Master, MetaRegionServer};
use crate::wire_error::WireError;

const NO_NODE: i32 = -101;

/// The server that the data of a node names; `None` if its port is not one.
pub(crate) fn node_place(data: Bytes, wanted: Wanted) -> Result<Option<Address>, WireError> {
    let message = node_message(data)?;
    let decoded = match wanted {
        Wanted::Meta => MetaRegionServer::decode(message).map(|node| node.server),
        Wanted::Master => Master::decode(message).map(|node| node.master),
    };
    let server = decoded.map_err(|source| WireError::Message { message: "node", source })?;
    Ok(Address::of_server(&server))
}

/// The data of a node in an answer; `None` if there is no such node.
pub(crate) fn answer_data(mut answer: Bytes) -> Result<Option<Bytes>, WireError> {
    let truncated = WireError::Truncated { part: "header" };
    if answer.len() < 16 {
        return Err(truncated);
    }
    answer.advance(12);
    match answer.get_i32() {
        0 => {}
        NO_NODE => return Ok(None),
        _ => return Err(WireError::Truncated { part: "node" }),
    }
    if answer.len() < 4 {
        return Err(truncated);
    }
    let length = answer.get_u32() as usize;
    if length > answer.len() {
        return Err(WireError::Truncated { part: "node" });
    }
    Ok(Some(answer.split_to(length)))
}

/// The message in the data of a node.
fn node_message(mut data: Bytes) -> Result<Bytes, WireError> {
    let truncated = || WireError::Truncated { part: "node" };
    if data.first() == Some(&0xff) {
        let Some(Ok(length)) = data.get(1..5).map(<[u8; 4]>::try_from) else { return Err(truncated()) };
        let skipped = (u32::from_be_bytes(length) as usize).checked_add(5).filter(|end| *end <= data.len());
        data.advance(skipped.ok_or_else(truncated)?);
    }
    if !data.starts_with(b"PBUF") {
        return Err(truncated());
    }
    Ok(data.slice(4..))
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_node_is_its_message() {
        let data = b"\xff\0\0\0\x03abcPBUF\x0a\x01";
        assert_eq!(node_message(Bytes::from_static(data)), Ok(Bytes::from_static(b"\x0a\x01")));
        assert!(node_message(Bytes::from_static(b"\xff\xff\xff\xff\xffPBUF")).is_err());
        assert!(node_message(Bytes::from_static(b"")).is_err());
    }

    #[test]
    fn a_node_that_is_not_there_is_none() {
        let mut answer = vec![0; 12];
        answer.extend_from_slice(&NO_NODE.to_be_bytes());
        assert_eq!(answer_data(answer.into()), Ok(None));
    }

    proptest! {
        #[test]
        fn random_answers_do_no_harm(bytes in vec(any::<u8>(), 0..64)) {
            let _ = node_message(Bytes::from(bytes.clone()));
            if let Ok(Some(data)) = answer_data(Bytes::from(bytes)) {
                let _ = node_message(data);
            }
        }
    }
}
