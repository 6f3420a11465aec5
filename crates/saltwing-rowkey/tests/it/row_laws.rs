//! Laws of keys and rows: order, round trip, salt.

use crate::nasty::{self, Table, open_ended_table, row_picks, table};
use proptest::prelude::*;
use saltwing_rowkey::{KeySlices, RowKeyCodec, RowsOfEntries, salt};
use saltwing_types::{KeyColumn, KeySchema, KeySource, Salt, SortOrder, SqlType as T, Value as V};

/// What a stored value reads back as.
fn normal(ty: T, value: &V) -> V {
    match (value, ty) {
        (V::Text(text), T::Char(_)) => V::text(text.trim_end_matches(' ')),
        (V::Bytes(bytes), T::Binary(width)) => {
            let mut bytes = bytes.clone();
            bytes.resize(width as usize, 0);
            V::Bytes(bytes)
        }
        (V::Float(v), _) => V::Float(v + 0.0),
        (V::Double(v), _) => V::Double(v + 0.0),
        (value, _) => value.clone(),
    }
}

fn normal_row(table: &Table, row: &[V]) -> Vec<V> {
    table.schema.columns.iter().zip(row).map(|(column, value)| normal(column.ty, value)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 2))]

    /// Also that `compare` is what it says: NULL first in both directions, and
    /// the direction of each column.
    #[test]
    fn key_order_is_row_order(table in table(), picks in row_picks(24)) {
        let rows = table.rows(&picks);
        for (a, key_a) in &rows {
            for (b, key_b) in &rows {
                prop_assert_eq!(key_a.cmp(key_b), table.codec.compare(a, b), "{:?} {:?}", a, b);
                let (na, nb) = (normal_row(&table, a), normal_row(&table, b));
                let by_column = na.iter().zip(&nb).enumerate().map(|(i, (x, y))| {
                    let desc = table.is_desc(i) && !x.is_null() && !y.is_null();
                    let ty = table.schema.columns[i].ty;
                    let order = x.compare_as(y, ty).unwrap_or_else(|| x.sort_cmp(y));
                    if desc { order.reverse() } else { order }
                });
                let expected = by_column.fold(std::cmp::Ordering::Equal, |all, one| all.then(one));
                prop_assert_eq!(key_a.cmp(key_b), expected, "{:?} {:?}", a, b);
            }
        }
    }

    #[test]
    fn rows_read_back(table in table(), picks in row_picks(40), buckets in 1u16..=256) {
        let salt = table.schema.salt.map(|salt| Salt { buckets, ..salt });
        let codec = RowKeyCodec::new(&KeySchema { salt, ..table.schema.clone() }).unwrap();
        let mut slices = KeySlices::new();
        for (row, logical) in table.rows(&picks) {
            let key = codec.encode(&row).unwrap();
            prop_assert_eq!(&key[codec.bucket_bytes()..], &logical[..]);
            let expected = normal_row(&table, &row);
            let read = codec.decode(&key).unwrap();
            prop_assert_eq!(&read, &expected, "{:02x?}", key);
            prop_assert_eq!(&codec.decode_beginning(&key).unwrap(), &expected);
            if table.schema.columns.last().is_some_and(|last| last.ty.fixed_key_bytes().is_some()) {
                let longer = [&key[..], &[0, 1]].concat();
                prop_assert!(codec.decode(&longer).is_err());
                prop_assert_eq!(&codec.decode_beginning(&longer).unwrap(), &expected, "{:02x?}", longer);
            }
            // -0.0 equals 0.0, so look at the sign.
            prop_assert!(read.iter().all(|v| !matches!(v, V::Double(f) if *f == 0.0 && f.is_sign_negative())));
            for count in 0..=expected.len() {
                codec.split_first(&key, count, &mut slices).unwrap();
                prop_assert_eq!(slices.len(), count);
                for (column, value) in expected.iter().enumerate().take(count) {
                    prop_assert_eq!(&codec.decode_column(&key, &slices, column).unwrap(), value);
                    prop_assert_eq!(slices.get(&key, column).is_none(), value.is_null());
                }
            }
            // What was read is written as the same key.
            prop_assert_eq!(codec.encode(&read).unwrap(), key);
        }
    }

    /// The key of a row is made from that of its entry, whichever of the entry's columns it has, in which order and direction.
    #[test]
    fn the_key_of_an_entry_has_that_of_its_row(
        table in table(),
        picks in row_picks(40),
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 1..=4),
        by in 0usize..4,
    ) {
        let mut columns: Vec<(usize, KeyColumn)> = Vec::new();
        for (place, turned) in places {
            let place = place.index(table.schema.columns.len());
            let column = table.schema.columns[place].clone();
            let is_desc = ((column.order == SortOrder::Desc) != turned) && column.ty != T::Varbinary;
            if columns.iter().all(|(known, _)| *known != place) {
                let order = if is_desc { SortOrder::Desc } else { SortOrder::Asc };
                columns.push((place, KeyColumn { order, ..column }));
            }
        }
        // VARBINARY reaches to the end of a key.
        columns.sort_by_key(|(_, column)| column.ty == T::Varbinary);
        let (places, columns): (Vec<usize>, Vec<KeyColumn>) = columns.into_iter().unzip();
        let by = (1..=columns.len()).contains(&by).then_some(by);
        let salt = table.schema.salt.map(|_| Salt { buckets: 7, by });
        let rows = RowKeyCodec::new(&KeySchema { columns, salt }).unwrap();
        let of_entries = RowsOfEntries::new(rows, &table.schema, places.clone()).unwrap();
        let mut slices = KeySlices::new();
        for (entry, _) in table.rows(&picks) {
            let row: Vec<V> = places.iter().map(|place| entry[*place].clone()).collect();
            // Each place in a key refuses other values.
            let Ok(expected) = of_entries.codec().encode(&row) else { continue };
            let entry = table.codec.encode(&entry).unwrap();
            prop_assert_eq!(of_entries.row_key(&table.codec, &entry, &mut slices).unwrap(), expected);
        }
    }

    /// A nullable column after the last one changes no key, and is NULL in it: bytes and bucket stay. Left out are the values
    /// that only the end of a key can hold.
    #[test]
    fn a_column_after_the_last_one_is_null(
        table in open_ended_table(),
        picks in row_picks(40),
        buckets in 1u16..=256,
        added in prop::collection::vec((any::<bool>(), 0..3_usize), 1..4),
    ) {
        let last = table.schema.columns.last().unwrap().clone();
        let salt = table.schema.salt.map(|salt| Salt { buckets, ..salt });
        let before = KeySchema { salt, ..table.schema.clone() };
        let mut after = before.clone();
        for (place, (is_desc, ty)) in added.iter().enumerate() {
            after.columns.push(KeyColumn {
                source: KeySource::Column(before.columns.len() + place),
                name: format!("added{place}"),
                ty: [T::Varchar(None), T::Decimal(None), T::VarbinaryEncoded][*ty],
                order: if *is_desc { SortOrder::Desc } else { SortOrder::Asc },
                nullable: true,
            });
        }
        let [before, after] = [before, after].map(|schema| RowKeyCodec::new(&schema).unwrap());
        let is_fit = |value: &V| match value {
            V::Text(text) => last.order == SortOrder::Desc || !text.contains('\0'),
            V::Bytes(bytes) => !last.nullable || last.order == SortOrder::Asc || bytes.first() != Some(&0xff),
            _ => true,
        };
        for (row, _) in table.rows(&picks).into_iter().filter(|(row, _)| row.last().is_none_or(is_fit)) {
            let key = before.encode(&row).unwrap();
            let nulls = || std::iter::repeat_n(V::Null, added.len());
            let longer: Vec<V> = row.iter().cloned().chain(nulls()).collect();
            prop_assert_eq!(&after.encode(&longer).unwrap(), &key, "{:?}", row);
            let expected: Vec<V> = before.decode(&key).unwrap().into_iter().chain(nulls()).collect();
            prop_assert_eq!(after.decode(&key).unwrap(), expected, "{:02x?}", key);
            let logical = &key[before.bucket_bytes()..];
            prop_assert_eq!(after.bucket(logical), before.bucket(logical));
        }
    }

    /// The hash covers the key of a table that has the salt's columns only.
    #[test]
    fn salt_by_hashes_the_key_of_its_columns(
        table in table(), picks in row_picks(40), buckets in 1u16..=256, by in 1usize..=4,
    ) {
        let by = by.min(table.schema.columns.len());
        let salt = Some(Salt { buckets, by: Some(by) });
        let codec = RowKeyCodec::new(&KeySchema { salt, ..table.schema.clone() }).unwrap();
        let columns = table.schema.columns[..by].to_vec();
        let salt = Some(Salt { buckets, by: None });
        let alone = RowKeyCodec::new(&KeySchema { columns, salt }).unwrap();
        for (row, logical) in table.rows(&picks) {
            let key = codec.encode(&row).unwrap();
            let hashed = alone.encode_logical(&row[..by]).unwrap();
            prop_assert_eq!(key[0], salt::bucket(&hashed, buckets), "{:?}", row);
            prop_assert_eq!(key[0], codec.bucket(&logical));
            prop_assert_eq!(codec.bucket_of_prefix(&row[..by]).unwrap(), Some(key[0]));
            prop_assert_eq!(codec.bucket_of_prefix(&row).unwrap(), Some(key[0]));
            prop_assert_eq!(codec.bucket_of_prefix(&row[..by - 1]).unwrap(), None);
        }
    }

    #[test]
    fn a_failed_encoding_leaves_the_buffer(table in table(), picks in row_picks(20)) {
        let salt = Some(Salt { buckets: 7, by: None });
        let codec = RowKeyCodec::new(&KeySchema { salt, ..table.schema.clone() }).unwrap();
        let mut buffer = b"before".to_vec();
        for picks in &picks {
            let row = table.tuple(picks);
            buffer.truncate(6);
            match codec.encode_into(&row, &mut buffer) {
                Ok(()) => prop_assert_eq!(&buffer[6..], &codec.encode(&row).unwrap()[..]),
                Err(error) => {
                    prop_assert_eq!(&buffer[..], &b"before"[..]);
                    prop_assert_eq!(codec.check(&row), Err(error));
                }
            }
        }
    }
}

/// The value decoders agree with the typed readers.
#[test]
fn typed_readers() {
    for ty in nasty::TYPES {
        for order in [SortOrder::Asc, SortOrder::Desc] {
            let codec = saltwing_rowkey::ValueCodec::new(ty, order);
            for value in nasty::values(ty) {
                let mut stored = Vec::new();
                if codec.encode(&value, &mut stored).is_err() {
                    continue;
                }
                let value = normal(ty, &value);
                assert_eq!(codec.decode(&stored).unwrap(), value);
                let (mut scratch, mut other) = (vec![1], vec![2]);
                let read = match &value {
                    V::Int(_) => V::Int(codec.read_i64(&stored).unwrap()),
                    V::Date(_) => V::Date(codec.read_i64(&stored).unwrap()),
                    V::Float(_) => V::Float(codec.read_f32(&stored).unwrap()),
                    V::Double(_) => V::Double(codec.read_f64(&stored).unwrap()),
                    // These are decoded only.
                    V::Bool(_) | V::Timestamp(_) => value.clone(),
                    V::Decimal(d) => {
                        assert_eq!(codec.read_decimal(&stored).unwrap(), (d.digits(), d.scale()));
                        V::Decimal(*d)
                    }
                    V::Text(_) => V::text(codec.read_text(&stored, &mut scratch).unwrap()),
                    _ => V::Bytes(codec.read_bytes(&stored, &mut scratch).unwrap().to_vec()),
                };
                assert_eq!(read, value, "{ty} {order:?}");
                let number = stored.iter().fold(0u64, |number, byte| number.wrapping_shl(8) | u64::from(*byte));
                let integer = codec.integers().map(|integers| integers.read(number).unwrap());
                assert_eq!(integer, codec.read_i64(&stored).ok(), "{ty} {order:?}");
                // A reader of another type refuses.
                let refused = match &value {
                    V::Int(_) | V::Date(_) => codec.read_text(&stored, &mut other).is_err(),
                    _ => codec.read_i64(&stored).is_err(),
                };
                assert!(refused, "{ty}");
            }
        }
    }
}

#[test]
fn entries_have_the_columns_of_row_keys() {
    let column =
        |ty| KeyColumn { source: KeySource::Column(0), name: "k".into(), ty, order: SortOrder::Asc, nullable: false };
    let rows = RowKeyCodec::new(&KeySchema { columns: vec![column(T::Integer)], salt: None }).unwrap();
    let entries = KeySchema { columns: vec![column(T::BigInt), column(T::Integer)], salt: None };
    for places in [vec![], vec![0], vec![2], vec![0, 1]] {
        assert!(RowsOfEntries::new(rows.clone(), &entries, places).is_err());
    }
    let of_entries = RowsOfEntries::new(rows, &entries, vec![1]).unwrap();
    let entries = RowKeyCodec::new(&entries).unwrap();
    let mut slices = KeySlices::new();
    let key = entries.encode(&[V::Int(1), V::Int(2)]).unwrap();
    assert_eq!(of_entries.row_key(&entries, &key, &mut slices).unwrap(), [0x80, 0, 0, 2]);
    assert!(of_entries.row_key(&entries, &key[..5], &mut slices).is_err());
}
