//! Random bytes, and damaged bytes of a recorded conversation.

use std::time::{Duration, Instant};

use bytes::{BufMut, Bytes, BytesMut};
use proptest::prelude::*;

use super::conversation::{Kind, Record, records};
use super::damage::damaged;
use super::decoders::{Decoder, FRAMES, MESSAGES, all};
use super::memory::{BYTES_ANYWAY, bound, bytes_taken};
use crate::frame::{CellBlock, Request, Response, take_preamble};
use crate::registry::{Wanted, answer_data, node_place};

/// The parts of the records that some decoder takes: frames, with their lengths and without, messages, blocks of cells, cells.
fn parts(records: &[Record]) -> Vec<Bytes> {
    let mut parts = Vec::new();
    for Record { kind, bytes } in records {
        parts.push(bytes.clone());
        let mut framed = BytesMut::new();
        framed.put_u32(bytes.len() as u32);
        framed.put_slice(bytes);
        parts.push(framed.freeze());
        match kind {
            Kind::Request => parts.extend(Request::decode(bytes.clone()).ok().map(|request| request.message)),
            Kind::Response => {
                let response = Response::decode(bytes.clone()).unwrap();
                parts.extend([response.message, response.cells]);
            }
            Kind::OfZooKeeper => parts.extend(answer_data(bytes.clone()).ok().flatten()),
            Kind::ToZooKeeper | Kind::Preamble => {}
        }
    }
    parts
}

/// Gives damaged or random bytes to the decoders. They are a value or an error, and the memory is bounded. The most that a decoder took
/// for each byte, beside what it may take anyway.
fn damage_once(parts: &[Bytes], seed: u64) -> u64 {
    let mut random = fastrand::Rng::with_seed(seed);
    let bytes = match random.u8(..8) {
        0 => (0..random.usize(..100)).map(|_| random.u8(..)).collect(),
        _ => damaged(&parts[random.usize(..parts.len())], &mut random),
    };
    // Some of the messages for each change: there are many, and all have one decoder.
    let messages = std::iter::repeat_with(|| &MESSAGES[random.usize(..MESSAGES.len())]).take(8);
    FRAMES.iter().chain(messages).map(|decoder| check(decoder, &bytes, seed)).max().unwrap_or(0)
}

fn check(decoder: &Decoder, bytes: &Bytes, seed: u64) -> u64 {
    let (taken, most) = (bytes_taken(decoder, bytes), bound(bytes));
    assert!(taken <= most, "{} takes {taken} bytes for {}, seed {seed}: {bytes:?}", decoder.name, bytes.len());
    taken.saturating_sub(BYTES_ANYWAY) / (bytes.len() as u64).max(1)
}

/// The records are what they say: otherwise the properties below would damage nothing.
#[test]
fn the_conversation_is_understood() {
    let records = records();
    let (mut methods, mut places, mut cells) = (std::collections::BTreeSet::new(), 0, 0);
    for Record { kind, bytes } in &records {
        match kind {
            Kind::Request => drop(methods.insert(Request::decode(bytes.clone()).unwrap().header.method_name)),
            Kind::Response => {
                let mut block = CellBlock::new(Response::decode(bytes.clone()).unwrap().cells);
                cells += std::iter::from_fn(|| block.next_cell().unwrap()).count();
            }
            Kind::Preamble => drop(take_preamble(&mut BytesMut::from(&bytes[..])).unwrap().unwrap()),
            Kind::OfZooKeeper => {
                let node = answer_data(bytes.clone()).ok().flatten();
                places += usize::from(node.is_some_and(|node| matches!(node_place(node, Wanted::Meta), Ok(Some(_)))));
            }
            Kind::ToZooKeeper => {}
        }
    }
    assert!(methods.len() >= 9 && places > 0 && cells > 30, "{methods:?}, {places} places, {cells} cells");
}

#[test]
fn whole_records_take_bounded_memory() {
    for bytes in parts(&records()) {
        for decoder in all() {
            check(decoder, &bytes, 0);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 16))]

    /// Any bytes are an error or a value, and take memory in proportion to their number.
    #[test]
    fn damaged_bytes_take_bounded_memory(seed: u64) {
        thread_local!(static PARTS: Vec<Bytes> = parts(&records()));
        let _ = PARTS.with(|parts| damage_once(parts, seed));
    }
}

/// The same for longer; see the module.
#[test]
#[ignore = "it runs as long as it is told"]
fn damaged_bytes_for_a_time() {
    let number = |name: &str, default| std::env::var(name).map_or(default, |text| text.parse().unwrap());
    let (seconds, first) = (number("HBASE_FUZZ_SECONDS", 60), number("HBASE_FUZZ_SEED", 1));
    let (parts, until) = (parts(&records()), Instant::now() + Duration::from_secs(seconds));
    let (mut seed, mut worst) = (first, 0);
    while Instant::now() < until {
        for _ in 0..1_000 {
            worst = worst.max(damage_once(&parts, seed));
            seed += 1;
        }
    }
    let (pieces, last) = (seed - first, seed - 1);
    println!("{pieces} damaged pieces, seeds {first} to {last}: at most {worst} bytes of memory for a byte");
}
