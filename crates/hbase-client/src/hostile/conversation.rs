//! What `examples/first_steps` and a cluster of HBase 2.6.1 said to each other.
//!
//! ```text
//! record   kind  [length] bytes
//! kinds    0 request, 1 response to the request before it, 2 to ZooKeeper, 3 of ZooKeeper, 4 first bytes of a connection
//! ```

use bytes::{Buf, Bytes};

const FIRST_STEPS: &[u8] = include_bytes!("../../tests/conversations/first_steps.bin");

/// Who said something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Request,
    Response,
    ToZooKeeper,
    OfZooKeeper,
    Preamble,
}

/// A frame without its length, or the first bytes of a connection.
pub(super) struct Record {
    pub(super) kind: Kind,
    pub(super) bytes: Bytes,
}

/// The records in their order.
pub(super) fn records() -> Vec<Record> {
    let (mut rest, mut records) = (Bytes::from_static(FIRST_STEPS), Vec::new());
    while rest.has_remaining() {
        let kind = match rest.get_u8() {
            0 => Kind::Request,
            1 => Kind::Response,
            2 => Kind::ToZooKeeper,
            3 => Kind::OfZooKeeper,
            4 => Kind::Preamble,
            other => panic!("{other} is no kind of a record"),
        };
        let length = rest.get_u32() as usize;
        records.push(Record { kind, bytes: rest.split_to(length) });
    }
    records
}
