//! Any bytes give values or an error, never a panic; and values that are read are sound.

use crate::nasty::{self, Table, row_picks, table};
use proptest::prelude::*;
use proptest::sample::Index;
use saltwing_rowkey::{KeySlices, ValueCodec};
use saltwing_types::{ErrorCode, SortOrder, SqlType as T, Value as V};

/// Bytes that mean something in keys come up most.
fn byte() -> impl Strategy<Value = u8> {
    prop_oneof![prop::sample::select(vec![0u8, 1, 0xff, 0xfe, 0x80, 0x7f, 0x66, 0x65, 0x61, 0x20]), any::<u8>()]
}

fn decode_is_sound(table: &Table, key: &[u8]) -> Result<(), TestCaseError> {
    let codec = &table.codec;
    let mut slices = KeySlices::new();
    for count in 0..=table.schema.columns.len() {
        let _ = codec.split_first(key, count, &mut slices);
        let slices: Vec<_> = slices.iter(key).collect();
        prop_assert!(slices.len() <= count);
    }
    let _ = codec.bucket(key);
    match codec.decode(key) {
        Err(error) => {
            prop_assert_eq!(error.code(), ErrorCode::Corrupt);
            prop_assert!(error.to_string().contains("key column k"), "{}", error);
        }
        Ok(values) => {
            // One row has one key, so no second form of it is read, but for
            // floats, whose NaNs and zeros have several. What is refused on writing may still be read.
            if let Ok(mut written) = codec.encode(&values) {
                prop_assert_eq!(codec.decode(&written).unwrap(), values.clone());
                let bucket = codec.bucket_bytes();
                let floats = values.iter().any(|value| matches!(value, V::Float(_) | V::Double(_)));
                prop_assert!(floats || written.split_off(bucket) == key[bucket..], "{:02x?} {:?}", key, values);
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 4))]

    #[test]
    fn random_keys(table in table(), keys in prop::collection::vec(prop::collection::vec(byte(), 0..24), 20)) {
        for key in keys {
            decode_is_sound(&table, &key)?;
        }
    }

    #[test]
    fn mutated_keys(
        table in table(),
        picks in row_picks(8),
        changes in prop::collection::vec((0u8..4, any::<Index>(), byte()), 1..4),
    ) {
        for (row, _) in table.rows(&picks) {
            let mut key = table.codec.encode(&row).unwrap();
            for (kind, at, byte) in &changes {
                let at = at.index(key.len() + 1);
                match kind {
                    0 => key.truncate(at),
                    1 => key.insert(at, *byte),
                    2 if at < key.len() => drop(key.remove(at)),
                    _ => key.iter_mut().skip(at).take(1).for_each(|old| *old = *byte),
                }
            }
            decode_is_sound(&table, &key)?;
        }
    }

    #[test]
    fn random_values(ty in prop::sample::select(nasty::TYPES.to_vec()), stored in prop::collection::vec(byte(), 0..24)) {
        for order in [SortOrder::Asc, SortOrder::Desc] {
            let _ = ValueCodec::new(ty, order).decode(&stored);
        }
    }
}

#[test]
fn each_broken_key_has_its_error() {
    use saltwing_rowkey::RowKeyCodec;
    use saltwing_types::text::unhex;
    use saltwing_types::{KeyColumn, KeySchema, KeySource, Salt};
    let column = |name: &str, ty, order, nullable| KeyColumn {
        source: KeySource::Column(0),
        name: name.into(),
        ty,
        order,
        nullable,
    };
    let columns = vec![
        column("a", T::Varchar(None), SortOrder::Desc, true),
        column("b", T::Integer, SortOrder::Asc, false),
        column("c", T::Varchar(None), SortOrder::Asc, true),
    ];
    let salt = Some(Salt { buckets: 4, by: None });
    let codec = RowKeyCodec::new(&KeySchema { columns, salt }).unwrap();
    for (key, message) in [
        ("", "key column a: a row key of no bytes, at byte 0 of key "),
        ("0487ff80000005", "key column a: no bucket of this table, at byte 0 of key 0487ff80000005"),
        ("0187", "key column a: a descending value without its terminator, at byte 1 of key 0187"),
        ("0187ff", "key column b: the key ends before the column, at byte 2 of key 0187ff"),
        ("0187ff800000", "key column b: the key ends inside the column, at byte 2 of key 0187ff800000"),
        ("01ff80000005", "key column a: an empty value in a nullable column, at byte 1 of key 01ff80000005"),
        ("0187ff80000005c3", "key column c: text that is not UTF-8, at byte 7 of key 0187ff80000005c3"),
        ("0105ff80000005", "key column a: text that is not UTF-8, at byte 1 of key 0105ff80000005"),
    ] {
        let error = codec.decode(&unhex(key).unwrap()).map(|values| format!("{values:?}"));
        assert_eq!(error.map_err(|error| error.to_string()), Err(message.to_owned()), "{key}");
    }
    let read = codec.decode(&unhex("0187ff8000000578").unwrap()).unwrap();
    assert_eq!(read, [V::text("x"), V::Int(5), V::text("x")]);
}
