//! Lengths and counts beyond the bytes that are there: an error, and next to no memory.

use bytes::{BufMut, Bytes, BytesMut};
use prost::Message;

use super::damage::{HOSTILE_LENGTHS, varint};
use super::decoders::{Decoder, FRAMES, MESSAGES};
use super::memory::bytes_taken;
use crate::cell::{Cell, CellKind, CellParts};
use crate::frame::{CellBlock, FRAME_BYTES_MAX, take_frame};
use crate::proto::{CellBlockMeta, ResponseHeader, RowResult, ScanResponse};
use crate::registry::answer_data;
use crate::row::{pieces_of, row_of};

/// What a refusal may take: the error, and the names of the fields around it.
const REFUSAL_BYTES_MAX: u64 = 1 << 10;

fn bytes_of(run: impl FnOnce()) -> u64 {
    allocation_counter::measure(run).bytes_max
}

fn frame_decoder(name: &str) -> &'static Decoder {
    FRAMES.iter().find(|decoder| decoder.name == name).unwrap()
}

fn takes_nothing(name: &str, bytes: Vec<u8>) {
    let bytes = Bytes::from(bytes);
    let taken = bytes_taken(frame_decoder(name), &bytes);
    assert!(taken <= REFUSAL_BYTES_MAX, "{name} takes {taken} bytes for {bytes:?}");
}

/// The lengths that four bytes hold.
fn four_bytes() -> impl Iterator<Item = u32> {
    HOSTILE_LENGTHS.into_iter().filter_map(|length| u32::try_from(length).ok())
}

#[test]
fn the_length_of_a_frame_takes_nothing() {
    for length in four_bytes() {
        let mut received = BytesMut::with_capacity(64);
        received.put_u32(length);
        received.put_slice(b"beginning");
        let taken = bytes_of(|| assert_ne!(take_frame(&mut received, FRAME_BYTES_MAX), Ok(Some(Bytes::new()))));
        assert_eq!((taken, received.capacity()), (0, 64), "{length}");
    }
}

#[test]
fn lengths_within_a_frame_take_nothing() {
    let header = |meta: Option<u32>| {
        let cell_block_meta = meta.map(|length| CellBlockMeta { length: Some(length) });
        let header = ResponseHeader { call_id: Some(1), cell_block_meta, ..ResponseHeader::default() };
        header.encode_length_delimited_to_vec()
    };
    for length in HOSTILE_LENGTHS {
        for name in ["response", "request"] {
            takes_nothing(name, varint(length));
            takes_nothing(name, [varint(length), vec![8, 1]].concat());
            takes_nothing(name, [header(None), varint(length), vec![0; 8]].concat());
        }
    }
    for length in four_bytes() {
        takes_nothing("response", [header(Some(length)), vec![0], vec![0; 30]].concat());
        let preamble = [&b"HBas\0\x50"[..], &length.to_be_bytes()].concat();
        takes_nothing("preamble", preamble);
    }
}

/// The lengths of a cell: the whole, the key, the value, the row and the family.
#[test]
fn lengths_within_a_cell_take_nothing() {
    let parts =
        CellParts { row: b"row", family: b"f", qualifier: b"q", timestamp: 1, kind: CellKind::PUT, value: b"value" };
    let cell = Cell::new(parts).unwrap();
    let block = [&(cell.key_value().len() as u32).to_be_bytes(), &cell.key_value()[..]].concat();
    assert_eq!(CellBlock::new(block.clone().into()).take(1), Ok(vec![cell]));
    for length in four_bytes() {
        for at in [0, 4, 8] {
            let mut hostile = block.clone();
            hostile[at..at + 4].copy_from_slice(&length.to_be_bytes());
            assert!(CellBlock::new(hostile.clone().into()).take(1).is_err(), "{length} at {at}");
            takes_nothing("cell block", hostile);
        }
    }
    for (at, byte) in [(12, 0xff), (12, 0x7f), (17, 0xff), (17, 0x7f)] {
        let mut hostile = block.clone();
        hostile[at] = byte;
        assert!(CellBlock::new(hostile.clone().into()).take(1).is_err(), "{byte} at {at}");
        takes_nothing("cell block", hostile);
    }
}

/// Every field of every message, and every field within such a field: a length beyond the bytes takes nothing.
#[test]
fn lengths_within_messages_take_nothing() {
    // Fields with a length, and packed numbers, have the wire type 2; a group, which nothing has, 3.
    let tags = |number: u64| [varint(number << 3 | 2), varint(number << 3 | 3)];
    for decoder in MESSAGES {
        for length in HOSTILE_LENGTHS {
            let outer = (1..40_u64).flat_map(tags).map(|tag| [tag, varint(length), vec![0; 3]].concat());
            for hostile in outer {
                for number in 1..20 {
                    let inner = [varint(number << 3 | 2), varint(hostile.len() as u64), hostile.clone()].concat();
                    refuses(decoder, inner);
                }
                refuses(decoder, hostile);
            }
        }
    }
}

fn refuses(decoder: &Decoder, bytes: Vec<u8>) {
    let bytes = Bytes::from(bytes);
    let taken = bytes_taken(decoder, &bytes);
    assert!(taken <= REFUSAL_BYTES_MAX, "{} takes {taken} bytes for {bytes:?}", decoder.name);
}

/// Messages in messages: the decoder's stack has a bound.
#[test]
fn deep_messages_end() {
    for decoder in MESSAGES {
        for tag in [0x0a_u8, 0x12, 0x1a, 0x22, 0x0b] {
            let mut nested = Vec::new();
            for _ in 0..2_000 {
                nested = [vec![tag], varint(nested.len() as u64), nested].concat();
            }
            (decoder.decode)(nested.into());
        }
    }
}

#[test]
fn counts_of_cells_take_nothing() {
    for count in [1, i32::MAX as u32, u32::MAX] {
        let response = ScanResponse { cells_per_result: vec![count], ..ScanResponse::default() };
        let taken = bytes_of(|| assert!(pieces_of(&response, Bytes::new()).is_err()));
        assert!(taken <= REFUSAL_BYTES_MAX, "{taken}");
        let result = RowResult { associated_cell_count: Some(count as i32), ..RowResult::default() };
        let taken = bytes_of(|| drop(row_of(&result, &mut CellBlock::new(Bytes::new()))));
        assert!(taken <= REFUSAL_BYTES_MAX, "{taken}");
    }
}

#[test]
fn lengths_in_answers_of_zookeeper_take_nothing() {
    for length in four_bytes() {
        let data = [&[0; 16][..], &length.to_be_bytes(), &[0xff; 20]].concat();
        assert!(answer_data(data.clone().into()).is_err());
        takes_nothing("ZooKeeper's answer", data);
        // The magic before the message, and the name of the host within it.
        let magic = [&[0xff][..], &length.to_be_bytes(), b"magic"].concat();
        takes_nothing("ZooKeeper's answer", magic);
        let host = [&b"\xff\0\0\0\x01mPBUF\x0a\x7f\x0a"[..], &varint(u64::from(length)), b"host"].concat();
        takes_nothing("ZooKeeper's answer", host);
    }
}
