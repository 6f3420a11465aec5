//! The laws of cells.

use bytes::Bytes;
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn a_cell() -> impl Strategy<Value = Cell> {
    let part = || vec(any::<u8>(), 0..40);
    (vec(any::<u8>(), 1..40), part(), part(), any::<u64>(), any::<u8>(), part()).prop_map(
        |(row, family, qualifier, timestamp, kind, value)| {
            let (row, family, qualifier, value) = (&row[..], &family[..], &qualifier[..], &value[..]);
            Cell::new(CellParts { row, family, qualifier, timestamp, kind: CellKind(kind), value }).unwrap()
        },
    )
}

#[test]
fn the_bytes_are_those_of_the_codec() {
    let parts =
        CellParts { row: b"r", family: b"f", qualifier: b"qq", timestamp: 258, kind: CellKind::PUT, value: b"v" };
    let cell = Cell::new(parts).unwrap();
    let expected = b"\0\0\0\x10\0\0\0\x01\0\x01r\x01fqq\0\0\0\0\0\0\x01\x02\x04v";
    assert_eq!(cell.key_value().as_ref(), &expected[..]);
    assert_eq!(cell.parts(), parts);
}

#[test]
fn lengths_beyond_the_limits_are_refused() {
    let parts = CellParts { row: b"r", family: b"f", qualifier: b"", timestamp: 0, kind: CellKind::PUT, value: b"" };
    let long = vec![0; 40_000];
    let refused = |parts| Cell::new(parts).unwrap_err();
    assert_eq!(refused(CellParts { row: b"", ..parts }), WireError::RowLength { row_bytes: 0 });
    assert_eq!(refused(CellParts { row: &long, ..parts }), WireError::RowLength { row_bytes: 40_000 });
    assert_eq!(refused(CellParts { family: &long[..128], ..parts }), WireError::FamilyLength { family_bytes: 128 });
    assert!(Cell::new(CellParts { row: &long[..ROW_BYTES_MAX], ..parts }).is_ok());
}

proptest! {
    #[test]
    fn a_cell_is_its_bytes(cell in a_cell()) {
        let again = Cell::from_key_value(cell.key_value().clone()).unwrap();
        prop_assert_eq!(again.parts(), cell.parts());
        prop_assert_eq!(&again, &cell);
        prop_assert_eq!(again.row_bytes(), cell.row());
        prop_assert_eq!(again.value_bytes(), cell.value());
    }

    #[test]
    fn damaged_bytes_are_an_error_or_a_cell_within_them(
        cell in a_cell(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = cell.key_value().to_vec();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        bytes.truncate(cut.index(bytes.len() + 1));
        let length = bytes.len();
        if let Ok(cell) = Cell::from_key_value(Bytes::from(bytes)) {
            let parts = cell.parts();
            let sum = parts.row.len() + parts.family.len() + parts.qualifier.len() + parts.value.len();
            prop_assert_eq!(sum + LENGTHS_BYTES + KEY_OVERHEAD_BYTES, length);
        }
    }

    #[test]
    fn random_bytes_do_no_harm(bytes in vec(any::<u8>(), 0..60)) {
        if let Ok(cell) = Cell::from_key_value(Bytes::from(bytes)) {
            let text = format!("{cell:?}");
            prop_assert!(!text.is_empty());
        }
    }
}
