//! Any bytes give values or an error, never a panic.

use proptest::prelude::*;
use proptest::sample::Index;
use saltwing_phoenix::CellCodec;

use crate::types::{any_type, value};

/// Bytes that mean something in cells come up most.
pub fn byte() -> impl Strategy<Value = u8> {
    prop_oneof![prop::sample::select(vec![0u8, 1, 2, 3, 0xff, 0xfe, 0x80, 0x7f, 0x66, 0x61, 0x20]), any::<u8>()]
}

/// A change of bytes: cut, insert, remove, or another byte.
pub type Change = (u8, Index, u8);

pub fn changes() -> impl Strategy<Value = Vec<Change>> {
    prop::collection::vec((0u8..4, any::<Index>(), byte()), 1..4)
}

pub fn mutate(bytes: &mut Vec<u8>, changes: &[Change]) {
    for (kind, at, byte) in changes {
        let at = at.index(bytes.len() + 1);
        match kind {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, *byte),
            2 if at < bytes.len() => drop(bytes.remove(at)),
            _ => bytes.iter_mut().skip(at).take(1).for_each(|old| *old = *byte),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 8))]

    #[test]
    fn random_cells(ty in any_type(), stored in prop::collection::vec(byte(), 0..24)) {
        let _ = CellCodec::new(ty).unwrap().decode(&stored);
    }

    #[test]
    fn damaged_cells((ty, value) in any_type().prop_flat_map(|ty| (Just(ty), value(ty))), changes in changes()) {
        let codec = CellCodec::new(ty).unwrap();
        let mut stored = Vec::new();
        codec.encode(&value, &mut stored).unwrap();
        mutate(&mut stored, &changes);
        if let Ok(read) = codec.decode(&stored) {
            // What is refused on writing may still be read.
            let mut written = Vec::new();
            if codec.encode(&read, &mut written).is_ok() {
                prop_assert_eq!(codec.decode(&written), Ok(read));
            }
        }
    }
}
