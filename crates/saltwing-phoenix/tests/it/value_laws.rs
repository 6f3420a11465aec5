//! Values of all types read back.

use proptest::prelude::*;
use saltwing_phoenix::CellCodec;
use saltwing_rowkey::ValueCodec;
use saltwing_types::{SortOrder, SqlType as T, Value as V};

use crate::types::{SCALARS, any_type, value};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 8))]

    #[test]
    fn values_read_back((ty, value) in any_type().prop_flat_map(|ty| (Just(ty), value(ty)))) {
        let codec = CellCodec::new(ty).unwrap();
        let mut stored = vec![7];
        codec.encode(&value, &mut stored).unwrap();
        prop_assert_eq!(stored[0], 7, "what stood before stays");
        prop_assert!(stored.len() > 1, "only NULL and empty values have no bytes");
        prop_assert_eq!(codec.decode(&stored[1..]), Ok(value));
    }

    /// But for empty values a cell has the bytes of an ascending key column.
    #[test]
    fn single_values_have_the_bytes_of_keys(
        (ty, value) in prop::sample::select(SCALARS.to_vec()).prop_flat_map(|ty| (Just(ty), value(ty)))
    ) {
        let (mut in_cell, mut in_key) = (Vec::new(), Vec::new());
        CellCodec::new(ty).unwrap().encode(&value, &mut in_cell).unwrap();
        ValueCodec::new(ty, SortOrder::Asc).encode(&value, &mut in_key).unwrap();
        prop_assert_eq!(in_cell, in_key);
    }

    /// Where a key can hold an array, its bytes are the same.
    #[test]
    fn arrays_have_the_bytes_of_keys(
        (ty, value) in any_type().prop_filter("arrays", |ty| ty.element().is_some()).prop_flat_map(|ty| (Just(ty), value(ty)))
    ) {
        let (mut in_cell, mut in_key) = (Vec::new(), Vec::new());
        CellCodec::new(ty).unwrap().encode(&value, &mut in_cell).unwrap();
        if ValueCodec::new(ty, SortOrder::Asc).encode(&value, &mut in_key).is_ok() {
            prop_assert_eq!(in_cell, in_key);
        }
    }

    /// Runs of NULLs beyond what one byte counts, and offsets beyond 16 bits.
    #[test]
    fn long_arrays_read_back(nulls in 0usize..700, length in 1usize..40_000, trailing in 0usize..3) {
        let text = V::text("x".repeat(length));
        let mut elements = vec![V::Null; nulls];
        elements.extend([text.clone(), text, V::text("end")]);
        elements.extend(vec![V::Null; trailing]);
        let codec = CellCodec::new(T::array(T::Varchar(None)).unwrap()).unwrap();
        let mut stored = Vec::new();
        codec.encode(&V::Array(elements.clone()), &mut stored).unwrap();
        prop_assert_eq!(codec.decode(&stored), Ok(V::Array(elements)));
    }
}

#[test]
fn empty_values_are_null() {
    let cases = [
        (T::Varchar(None), V::text("")),
        (T::Char(5), V::text("")),
        (T::Json, V::text("")),
        (T::Varbinary, V::Bytes(vec![])),
        (T::Binary(4), V::Bytes(vec![])),
        (T::array(T::Integer).unwrap(), V::Array(vec![])),
        (T::array(T::Varchar(None)).unwrap(), V::Array(vec![])),
        (T::Integer, V::Null),
    ];
    for (ty, value) in cases {
        let codec = CellCodec::new(ty).unwrap();
        let mut stored = Vec::new();
        codec.encode(&value, &mut stored).unwrap();
        assert_eq!(stored, [0u8; 0], "{ty}");
        assert_eq!(codec.decode(&stored), Ok(V::Null), "{ty}");
    }
}
