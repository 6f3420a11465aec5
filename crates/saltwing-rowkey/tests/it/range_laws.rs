//! Ranges hold the keys of exactly the requested rows, by brute force.

use std::cmp::Ordering;
use std::ops::Bound as End;

use crate::nasty::{self, Table, row_picks, table};
use proptest::prelude::*;
use proptest::sample::Index;
use saltwing_rowkey::{Bound, ColumnSpan, KeyRange, PlainKey, RowKeyCodec, merge_ranges};
use saltwing_types::{KeyColumn, KeySchema, KeySource, Salt, SortOrder, SqlType as T, Value as V};

/// How a stored value compares with a bound, whether or not the type can hold
/// it. NULL comes first.
fn compare(ty: T, stored: &V, bound: &V) -> Ordering {
    match (stored, bound, ty) {
        (V::Null, _, _) | (_, V::Null, _) => bound.is_null().cmp(&stored.is_null()),
        (V::Bytes(a), V::Bytes(b), T::Binary(width)) => {
            let padded = |bytes: &[u8]| {
                let mut bytes = bytes.to_vec();
                bytes.resize(bytes.len().max(width as usize), 0);
                bytes
            };
            padded(a).cmp(&padded(b))
        }
        _ => stored.compare_as(bound, ty).unwrap(),
    }
}

fn in_span(ty: T, value: &V, span: &ColumnSpan<'_>) -> bool {
    if value.is_null() {
        return span.nulls;
    }
    let above = match span.lo {
        End::Unbounded => true,
        End::Included(lo) => compare(ty, value, lo).is_ge(),
        End::Excluded(lo) => compare(ty, value, lo).is_gt(),
    };
    let below = match span.hi {
        End::Unbounded => true,
        End::Included(hi) => compare(ty, value, hi).is_le(),
        End::Excluded(hi) => compare(ty, value, hi).is_lt(),
    };
    above && below
}

fn has_prefix(table: &Table, row: &[V], prefix: &[V]) -> bool {
    let columns = table.schema.columns.iter();
    columns.zip(row.iter().zip(prefix)).all(|(column, (value, wanted))| compare(column.ty, value, wanted).is_eq())
}

/// Key order of a row against a bound over its leading columns.
fn compare_leading(table: &Table, row: &[V], bound: &[V]) -> Ordering {
    let columns = table.schema.columns.iter().enumerate();
    let orders = columns.zip(row.iter().zip(bound)).map(|((index, column), (value, bound))| {
        let order = compare(column.ty, value, bound);
        let turned = table.is_desc(index) && !value.is_null() && !bound.is_null();
        if turned { order.reverse() } else { order }
    });
    orders.fold(Ordering::Equal, Ordering::then)
}

fn any_end() -> impl Strategy<Value = (u8, Index)> {
    (0u8..5, any::<Index>())
}

/// Open one time in five; else a value of the column.
fn end((kind, pick): (u8, Index), values: &[V]) -> End<&V> {
    match kind {
        0 => End::Unbounded,
        1 | 2 => End::Included(pick.get(values)),
        _ => End::Excluded(pick.get(values)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 2))]

    #[test]
    fn prefix_ranges_are_exact(table in table(), picks in row_picks(60), prefixes in row_picks(12)) {
        let rows = table.rows(&picks);
        let tuples = prefixes.iter().map(|picks| table.tuple(picks)).chain(rows.iter().take(12).map(|(row, _)| row.clone()));
        for tuple in tuples {
            for count in 0..=tuple.len() {
                let prefix = &tuple[..count];
                let range = table.codec.prefix_range(prefix).unwrap();
                for (row, key) in &rows {
                    let inside = range.as_ref().is_some_and(|range| range.contains(key));
                    prop_assert_eq!(inside, has_prefix(&table, row, prefix), "{:?} {:?} {:?}", prefix, range, row);
                }
                let is_point = range.as_ref().is_none_or(KeyRange::is_point);
                prop_assert!(is_point || count < tuple.len(), "{:?} {:?}", prefix, range);
            }
        }
    }

    #[test]
    fn plain_keys_are_those_of_other_ways(
        table in table(),
        prefixes in row_picks(12),
        spans in prop::collection::vec((any_end(), any_end()), 12),
    ) {
        let codec = &table.codec;
        for tuple in prefixes.iter().map(|picks| table.tuple(picks)) {
            for count in 0..=tuple.len() {
                let prefix = &tuple[..count];
                let key = || {
                    let mut key = codec.plain_key();
                    prefix.iter().try_for_each(|value| key.push(value)).map(|()| key)
                };
                let bucket = codec.bucket_of_prefix(prefix).ok().flatten();
                let in_bucket = |range: KeyRange| range.in_bucket(bucket.filter(|_| codec.bucket_bytes() > 0));
                if let Some(row_key) = key().and_then(PlainKey::row_key) {
                    prop_assert_eq!(row_key, codec.encode(&tuple).unwrap());
                }
                if let Some(plain) = key().filter(|_| count < tuple.len()).and_then(PlainKey::prefix_range) {
                    let range = codec.prefix_range(prefix).unwrap().unwrap();
                    prop_assert_eq!(&plain.range, &in_bucket(range.clone()), "{:?} {:?}", prefix, table.schema);
                    prop_assert_eq!(plain.logical(), range);
                }
                if let Some(plain) = key().filter(|_| count < tuple.len()).and_then(|key| key.in_any_bucket().prefix_range()) {
                    prop_assert_eq!((plain.bucket, Some(plain.range)), (None, codec.prefix_range(prefix).unwrap()));
                }
                let Some(column) = table.schema.columns.get(count) else { continue };
                let mut values = nasty::values(column.ty);
                values.extend(table.domains[count].iter().filter(|v| !v.is_null()).cloned());
                for (lo, hi) in &spans {
                    let span = ColumnSpan { lo: end(*lo, &values), hi: end(*hi, &values), nulls: false };
                    if let Some(plain) = key().and_then(|key| key.span_range(span.lo, span.hi)) {
                        let range = codec.span_range(prefix, &span).unwrap().unwrap();
                        prop_assert_eq!(&plain.range, &in_bucket(range), "{:?} {:?} {:?}", prefix, span, table.schema);
                    }
                    if let Some(plain) = key().and_then(|key| key.in_any_bucket().span_range(span.lo, span.hi)) {
                        prop_assert_eq!(Some(plain.range), codec.span_range(prefix, &span).unwrap());
                    }
                }
            }
        }
    }

    #[test]
    fn plain_keys_are_there_for_plain_values(phone in "[a-z]{1,4}", low in -9i64..9, span in 1i64..9, buckets in proptest::option::of(1u16..9)) {
        let column = |name: &str, ty, order| KeyColumn { name: name.into(), source: KeySource::Column(0), ty, order, nullable: false };
        let columns = vec![column("phone", T::Varchar(None), SortOrder::Asc), column("ts", T::BigInt, SortOrder::Desc)];
        let salt = buckets.map(|buckets| Salt { buckets, by: Some(1) });
        let codec = RowKeyCodec::new(&KeySchema { columns, salt }).unwrap();
        let key = || {
            let mut key = codec.plain_key();
            key.push(&V::text(phone.as_str())).map(|()| key)
        };
        prop_assert!(key().and_then(PlainKey::prefix_range).is_some());
        let (low, high) = (V::Int(low), V::Int(low + span));
        prop_assert!(key().and_then(|key| key.span_range(End::Included(&low), End::Excluded(&high))).is_some());
        prop_assert!(key().and_then(|key| key.span_range(End::Excluded(&low), End::Unbounded)).is_some());
        prop_assert!(key().and_then(|mut key| key.push(&low).and_then(|()| key.row_key())).is_some());
    }

    #[test]
    fn plain_prefixes_of_no_bytes_begin_as_other_ways(buckets in proptest::option::of(1u16..9)) {
        let column = |name: &str, nullable| KeyColumn {
            name: name.into(),
            source: KeySource::Column(0),
            ty: T::Varchar(None),
            order: SortOrder::Asc,
            nullable,
        };
        let columns = vec![column("a", false), column("b", true)];
        let salt = buckets.map(|buckets| Salt { buckets, by: None });
        let codec = RowKeyCodec::new(&KeySchema { columns, salt }).unwrap();
        let empty = [V::text("")];
        let mut key = codec.plain_key().in_any_bucket();
        key.push(&empty[0]).unwrap();
        let plain = key.prefix_range().map(|plain| plain.range);
        prop_assert_eq!(plain, codec.prefix_range(&empty).unwrap());
    }

    #[test]
    fn span_ranges_are_exact(
        table in table(),
        picks in row_picks(60),
        spans in prop::collection::vec((any::<Index>(), 0usize..4, any_end(), any_end(), any::<bool>()), 30),
    ) {
        let rows = table.some_rows(&picks);
        for (row, column, lo, hi, nulls) in spans {
            let column = column % table.domains.len();
            let prefix = &row.get(&rows).0[..column];
            // Other values of the type than rows have, too.
            let ty = table.schema.columns[column].ty;
            let mut values = nasty::values(ty);
            values.extend(table.domains[column].iter().filter(|v| !v.is_null()).cloned());
            let span = ColumnSpan { lo: end(lo, &values), hi: end(hi, &values), nulls };
            let ranges = table.codec.span_ranges(prefix, &span).unwrap();
            let hull = table.codec.span_range(prefix, &span).unwrap();
            for (row, key) in &rows {
                let inside = ranges.iter().any(|range| range.contains(key));
                let wanted = has_prefix(&table, row, prefix) && in_span(ty, &row[column], &span);
                prop_assert_eq!(inside, wanted, "{:?} {:?} {:?} {:?}", prefix, span, ranges, row);
                prop_assert!(!inside || hull.as_ref().is_some_and(|hull| hull.contains(key)));
            }
            prop_assert!(ranges.len() <= 1 + usize::from(nulls));
            prop_assert_eq!(&merge_ranges(ranges.clone()), &ranges, "sorted and apart");
            if ranges.len() == 1 {
                prop_assert_eq!(hull.as_ref(), ranges.first());
            }
        }
    }

    #[test]
    fn bounds_ranges_are_exact(
        table in table(),
        picks in row_picks(60),
        bounds in prop::collection::vec((row_picks(2), 0u8..3, 0u8..3, 0usize..=4, 0usize..=4), 20),
    ) {
        let rows = table.rows(&picks);
        for (tuples, lo_kind, hi_kind, lo_count, hi_count) in bounds {
            let tuples: Vec<_> = tuples.iter().map(|picks| table.tuple(picks)).collect();
            let cut = |tuple: &[V], count: usize| tuple[..count.min(tuple.len())].to_vec();
            let (lo, hi) = (cut(&tuples[0], lo_count), cut(&tuples[1], hi_count));
            let bound = |kind, values| match kind {
                0 => Bound::Unbounded,
                1 => Bound::Included(values),
                _ => Bound::Excluded(values),
            };
            let range = table.codec.bounds_range(bound(lo_kind, &lo), bound(hi_kind, &hi)).unwrap();
            for (row, key) in &rows {
                let inside = range.as_ref().is_some_and(|range| range.contains(key));
                let (from, to) = (compare_leading(&table, row, &lo), compare_leading(&table, row, &hi));
                let wanted = match lo_kind { 0 => true, 1 => from.is_ge(), _ => from.is_gt() }
                    && match hi_kind { 0 => true, 1 => to.is_le(), _ => to.is_lt() };
                prop_assert_eq!(inside, wanted, "{}{:?} {}{:?} {:?} {:?}", lo_kind, lo, hi_kind, hi, range, row);
            }
        }
    }
}
