//! The registry that ZooKeeper keeps: two nodes.
//!
//! Reading a node takes two exchanges, opening a session and one read, so this module does it itself: the client for ZooKeeper
//! that is there brings a second runtime for sockets, and a hundred crates.
//!
//! ```text
//! frame            [length] ..                      all numbers are big-endian
//! open a session   version 0, last id 0, time-out ms, session 0, password of 16 zeros
//! opened           version, time-out ms, session, password
//! read             call 1, operation 4, path, no watch
//! answer           call, id, error; the data and the node's attributes
//! the node's data  FF, length of the magic that follows it, magic, PBUF, message
//! ```

use bytes::{Buf, BufMut, Bytes, BytesMut};
use prost::Message;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};

use super::wanted::Wanted;
use crate::address::Address;
use crate::error::Error;
use crate::frame::take_frame;
use crate::proto::{Master, MetaRegionServer};
use crate::wire_error::WireError;

/// The most bytes of an answer of ZooKeeper; its own default is the same.
const ANSWER_BYTES_MAX: usize = 1 << 20;
const SESSION_MS: u32 = 10_000;
const READ: u32 = 4;
const CLOSE: u64 = 0xffff_fff5;
const NO_NODE: i32 = -101;
/// The method of errors.
const METHOD: &str = "ZooKeeper's getData";

/// Reads a node of one server of the quorum; `None` if there is no such node.
pub(super) async fn find(
    address: &Address,
    root: &str,
    wanted: Wanted,
    until: Instant,
) -> Result<Option<Address>, Error> {
    let node = match wanted {
        Wanted::Meta => "meta-region-server",
        Wanted::Master => "master",
    };
    let path = format!("{}/{node}", root.trim_end_matches('/'));
    let reading = timeout_at(until, read_node(address, &path));
    let late = |_| Error::NoAnswer { server: address.clone(), method: METHOD, sent: false };
    let Some(data) = reading.await.map_err(late)?? else { return Ok(None) };
    let damaged = |source| Error::Answer { server: address.clone(), method: METHOD, source };
    let message = node_message(data).map_err(damaged)?;
    let decoded = match wanted {
        Wanted::Meta => MetaRegionServer::decode(message).map(|node| node.server),
        Wanted::Master => Master::decode(message).map(|node| node.master),
    };
    let server = decoded.map_err(|source| damaged(WireError::Message { message: "node", source }))?;
    Ok(Address::of_server(&server))
}

async fn read_node(address: &Address, path: &str) -> Result<Option<Bytes>, Error> {
    let failed = |error: std::io::Error| Error::Connect { server: address.clone(), reason: error.to_string() };
    let damaged = |source| Error::Answer { server: address.clone(), method: METHOD, source };
    let mut socket = TcpStream::connect((&*address.host, address.port)).await.map_err(failed)?;
    let mut received = BytesMut::new();
    socket.write_all(&framed(&open_session())).await.map_err(failed)?;
    next_frame(&mut socket, &mut received, address).await?;
    socket.write_all(&framed(&read_request(path))).await.map_err(failed)?;
    let answer = next_frame(&mut socket, &mut received, address).await?;
    let data = answer_data(answer).map_err(damaged)?;
    // The session ends at once, and not at its time-out. If this fails, it ends then.
    let _ = socket.write_all(&framed(&(2_u64 << 32 | CLOSE).to_be_bytes())).await;
    Ok(data)
}

async fn next_frame(socket: &mut TcpStream, received: &mut BytesMut, address: &Address) -> Result<Bytes, Error> {
    loop {
        let damaged = |source| Error::Answer { server: address.clone(), method: METHOD, source };
        if let Some(frame) = take_frame(received, ANSWER_BYTES_MAX).map_err(damaged)? {
            return Ok(frame);
        }
        let ended = |reason: String| Error::Disconnected { server: address.clone(), sent: false, reason };
        match socket.read_buf(received).await {
            Ok(0) => return Err(ended("the server closed it".to_owned())),
            Ok(_) => {}
            Err(error) => return Err(ended(error.to_string())),
        }
    }
}

fn framed(body: &[u8]) -> Vec<u8> {
    [&(body.len() as u32).to_be_bytes(), body].concat()
}

fn open_session() -> Vec<u8> {
    let mut body = Vec::new();
    body.put_u32(0);
    body.put_u64(0);
    body.put_u32(SESSION_MS);
    body.put_u64(0);
    body.put_u32(16);
    body.put_slice(&[0; 16]);
    body
}

fn read_request(path: &str) -> Vec<u8> {
    let mut body = Vec::new();
    body.put_u32(1);
    body.put_u32(READ);
    body.put_u32(path.len() as u32);
    body.put_slice(path.as_bytes());
    body.put_u8(0);
    body
}

/// The data of a node in an answer; `None` if there is no such node.
fn answer_data(mut answer: Bytes) -> Result<Option<Bytes>, WireError> {
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
