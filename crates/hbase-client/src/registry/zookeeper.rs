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
//! ```

use bytes::{BufMut, Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};

use super::node::{answer_data, node_place};
use super::wanted::Wanted;
use crate::address::Address;
use crate::error::Error;
use crate::frame::take_frame;

/// The most bytes of an answer of ZooKeeper; its own default is the same.
const ANSWER_BYTES_MAX: usize = 1 << 20;
const SESSION_MS: u32 = 10_000;
const READ: u32 = 4;
const CLOSE: u64 = 0xffff_fff5;
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
    node_place(data, wanted).map_err(damaged)
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
