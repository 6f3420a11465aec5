//! Frames of both sides: round trips, and hostile bytes.

use bytes::{Bytes, BytesMut};
use proptest::collection::vec;
use proptest::prelude::*;
use prost::Message;

use super::*;
use crate::cell::{Cell, CellKind, CellParts};
use crate::proto::{
    ConnectionHeader, ExceptionResponse, GetRequest, MultiRequest, MultiResponse, RequestHeader, ResponseHeader,
    ScanRequest, ScanResponse, UserInformation,
};
use crate::wire_error::WireError;

fn cells() -> impl Strategy<Value = Vec<Cell>> {
    let cell = (vec(any::<u8>(), 1..10), any::<u64>(), vec(any::<u8>(), 0..20)).prop_map(|(row, timestamp, value)| {
        let (family, qualifier) = (&b"f"[..], &b"q"[..]);
        let parts = CellParts { row: &row, family, qualifier, timestamp, kind: CellKind::PUT, value: &value };
        Cell::new(parts).unwrap()
    });
    vec(cell, 0..10)
}

fn request() -> impl Strategy<Value = Request> {
    (any::<u32>(), any::<u32>(), vec(any::<u8>(), 0..200), cells()).prop_map(|(id, timeout, message, cells)| {
        let header = RequestHeader {
            call_id: Some(id),
            method_name: Some("Multi".into()),
            request_param: Some(true),
            timeout: Some(timeout),
            ..RequestHeader::default()
        };
        Request { header, message: message.into(), cells: cell_block(&cells) }
    })
}

fn response() -> impl Strategy<Value = Response> {
    let failed = any::<bool>();
    (any::<u32>(), failed, vec(any::<u8>(), 0..200), cells()).prop_map(|(id, failed, message, cells)| {
        let exception = failed
            .then(|| ExceptionResponse { exception_class_name: Some("E".into()), ..ExceptionResponse::default() });
        let header = ResponseHeader { call_id: Some(id), exception, cell_block_meta: None };
        let (message, cells) = if failed { Default::default() } else { (message.into(), cell_block(&cells)) };
        Response { header, message, cells }
    })
}

fn header() -> ConnectionHeader {
    ConnectionHeader {
        user_info: Some(UserInformation { effective_user: "me".into(), real_user: None }),
        service_name: Some("ClientService".into()),
        cell_block_codec_class: Some(CELL_CODEC.into()),
        ..ConnectionHeader::default()
    }
}

/// The parts of a frame lie within it, and decoding them as any message ends.
fn is_within(frame: &Bytes) {
    if let Ok(request) = Request::decode(frame.clone()) {
        assert!(request.message.len() + request.cells.len() <= frame.len());
        let _ = (GetRequest::decode(request.message.clone()), ScanRequest::decode(request.message.clone()));
        let _ = MultiRequest::decode(request.message);
        let mut block = CellBlock::new(request.cells);
        while let Ok(Some(_)) = block.next_cell() {}
    }
    if let Ok(response) = Response::decode(frame.clone()) {
        assert!(response.message.len() + response.cells.len() <= frame.len());
        let _ = (ScanResponse::decode(response.message.clone()), MultiResponse::decode(response.message));
        let _ = CellBlock::new(response.cells).take(u64::MAX);
    }
}

#[test]
fn a_preamble_is_taken_when_it_is_complete() {
    let mut whole = BytesMut::new();
    put_preamble(&header(), &mut whole);
    assert_eq!(&whole[..6], b"HBas\0\x50");
    for cut in 0..whole.len() {
        assert_eq!(take_preamble(&mut BytesMut::from(&whole[..cut])), Ok(None), "{cut}");
    }
    whole.extend_from_slice(b"rest");
    assert_eq!(take_preamble(&mut whole), Ok(Some(header())));
    assert_eq!(whole.as_ref(), b"rest");
}

#[test]
fn other_preambles_are_refused() {
    let refused = |bytes: &[u8]| take_preamble(&mut BytesMut::from(bytes)).unwrap_err();
    assert_eq!(refused(b"G"), WireError::Preamble);
    assert_eq!(refused(b"HBas\x01"), WireError::Preamble);
    assert_eq!(refused(b"HBas\0\x51"), WireError::Authentication { auth_method: 0x51 });
    assert!(matches!(refused(b"HBas\0\x50\xff\xff\xff\xff"), WireError::FrameTooLarge { .. }));
    assert!(matches!(refused(b"HBas\0\x50\0\0\0\x02\x0a\x7f"), WireError::Message { .. }));
}

#[test]
fn a_length_beyond_the_limit_is_refused_at_once() {
    let mut received = BytesMut::from(&b"\xff\xff\xff\xff"[..]);
    let capacity = received.capacity();
    assert!(matches!(take_frame(&mut received, FRAME_BYTES_MAX), Err(WireError::FrameTooLarge { .. })));
    let mut received = BytesMut::from(&b"\x0f\xff\xff\xff"[..]);
    assert_eq!(take_frame(&mut received, FRAME_BYTES_MAX), Ok(None));
    assert_eq!(received.capacity(), capacity);
}

#[test]
fn a_count_of_cells_takes_no_memory() {
    let missing = WireError::MissingCells { cells_missing: u64::MAX };
    assert_eq!(CellBlock::new(Bytes::new()).take(u64::MAX), Err(missing));
}

#[test]
fn numbers_are_not_packed() {
    let response = ScanResponse { cells_per_result: vec![1, 2], ..ScanResponse::default() };
    assert_eq!(response.encode_to_vec(), [8, 1, 8, 2]);
}

#[test]
fn required_fields_are_written_though_they_are_empty() {
    assert_eq!(GetRequest::default().encode_to_vec(), [10, 4, 8, 1, 18, 0, 18, 2, 10, 0]);
}

proptest! {
    #[test]
    fn a_request_comes_as_it_was_sent(request in request(), more in vec(any::<u8>(), 0..8)) {
        let mut bytes = BytesMut::new();
        request.clone().put(&mut bytes).unwrap();
        let length = bytes.len();
        for cut in [0, 3, 4, length - 1] {
            prop_assert_eq!(take_frame(&mut BytesMut::from(&bytes[..cut]), FRAME_BYTES_MAX), Ok(None));
        }
        bytes.extend_from_slice(&more);
        let frame = take_frame(&mut bytes, FRAME_BYTES_MAX).unwrap().unwrap();
        prop_assert_eq!(&bytes[..], &more[..]);
        let mut again = Request::decode(frame).unwrap();
        again.header.cell_block_meta = None;
        prop_assert_eq!(again, request);
    }

    #[test]
    fn a_response_comes_as_it_was_sent(response in response()) {
        let mut bytes = BytesMut::new();
        response.clone().put(&mut bytes).unwrap();
        let frame = take_frame(&mut bytes, FRAME_BYTES_MAX).unwrap().unwrap();
        let mut again = Response::decode(frame).unwrap();
        again.header.cell_block_meta = None;
        prop_assert_eq!(again, response);
    }

    #[test]
    fn a_block_has_the_cells_that_were_put(cells in cells()) {
        let mut block = CellBlock::new(cell_block(&cells));
        prop_assert_eq!(block.take(cells.len() as u64).unwrap(), cells);
        prop_assert_eq!(block.next_cell(), Ok(None));
    }

    #[test]
    fn damaged_frames_do_no_harm(
        request in request(),
        response in response(),
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let (mut one, mut other) = (BytesMut::new(), BytesMut::new());
        request.put(&mut one).unwrap();
        response.put(&mut other).unwrap();
        for mut bytes in [one, other] {
            for (at, byte) in &changes {
                let at = at.index(bytes.len() - 4);
                bytes[4 + at] = *byte;
            }
            bytes.truncate(4 + cut.index(bytes.len() - 3));
            is_within(&bytes.split_off(4).freeze());
        }
    }

    #[test]
    fn random_frames_do_no_harm(bytes in vec(any::<u8>(), 0..100)) {
        let _ = take_preamble(&mut BytesMut::from(&bytes[..]));
        let _ = take_frame(&mut BytesMut::from(&bytes[..]), FRAME_BYTES_MAX);
        is_within(&Bytes::from(bytes));
    }
}
