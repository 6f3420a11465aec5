//! Byte ranges of single spans, in hex. Numbers are those of the format's list
//! of Phoenix's scan bounds; a range is Phoenix's or lies inside it.

use std::ops::Bound::{self as End, Excluded, Included, Unbounded};

use saltwing_rowkey::{Bound, ColumnSpan, KeyRange, RowKeyCodec, RowKeyError};
use saltwing_types::{KeyColumn, KeySchema, KeySource, SortOrder, SqlType as T, Value as V};

const ASC: SortOrder = SortOrder::Asc;
const DESC: SortOrder = SortOrder::Desc;
const TEXT: T = T::Varchar(None);

const NO_VALUES: [saltwing_types::Value; 0] = [];

fn codec(columns: &[(T, SortOrder, bool)]) -> RowKeyCodec {
    let column = |(index, (ty, order, nullable)): (usize, &(T, SortOrder, bool))| KeyColumn {
        source: KeySource::Column(index),
        name: format!("k{index}"),
        ty: *ty,
        order: *order,
        nullable: *nullable,
    };
    RowKeyCodec::new(&KeySchema { columns: columns.iter().enumerate().map(column).collect(), salt: None }).unwrap()
}

fn prefix(codec: &RowKeyCodec, values: &[V]) -> String {
    codec.prefix_range(values).unwrap().map(|range| range.to_string()).unwrap_or_default()
}

fn span(codec: &RowKeyCodec, prefix: &[V], lo: End<V>, hi: End<V>, nulls: bool) -> String {
    let span = ColumnSpan { lo: lo.as_ref(), hi: hi.as_ref(), nulls };
    let ranges = codec.span_ranges(prefix, &span).unwrap();
    ranges.iter().map(KeyRange::to_string).collect::<Vec<_>>().join(" ")
}

fn x() -> V {
    V::text("x")
}

/// PRIMARY KEY (a VARCHAR, b INTEGER, c VARCHAR), vectors 149 to 165.
#[test]
fn ascending() {
    let key = codec(&[(TEXT, ASC, true), (T::Integer, ASC, false), (TEXT, ASC, true)]);
    // Phoenix starts at 78; no key has ended there, as b is NOT NULL.
    assert_eq!(prefix(&key, &[x()]), "[7800 .. 7801)", "149");
    assert_eq!(prefix(&key, &[x(), V::Int(5)]), "[780080000005 .. 780080000006)", "150");
    let b = |lo, hi| span(&key, &[x()], lo, hi, false);
    assert_eq!(b(Excluded(V::Int(5)), Unbounded), "[780080000006 .. 7801)", "151");
    assert_eq!(b(Included(V::Int(5)), Unbounded), "[780080000005 .. 7801)", "152");
    assert_eq!(b(Unbounded, Excluded(V::Int(5))), "[7800 .. 780080000005)", "153");
    assert_eq!(b(Unbounded, Included(V::Int(5))), "[7800 .. 780080000006)", "154");
    assert_eq!(b(Included(V::Int(5)), Included(V::Int(9))), "[780080000005 .. 78008000000a)", "155");
    let c = |lo, hi, nulls| span(&key, &[x(), V::Int(5)], lo, hi, nulls);
    // Phoenix starts at 7901: wider here on purpose, as 'y' and a NUL byte is a value of the last column.
    assert_eq!(c(Excluded(V::text("y")), Unbounded, false), "[7800800000057900 .. 780080000006)", "156");
    assert_eq!(c(Unbounded, Included(V::text("y")), false), "[78008000000501 .. 7800800000057900)", "157");
    assert_eq!(c(Unbounded, Included(V::text("y")), true), "[780080000005 .. 7800800000057900)");
    assert_eq!(c(Unbounded, Unbounded, false), "[78008000000501 .. 780080000006)");
    let a = |lo, hi, nulls| span(&key, &[], lo, hi, nulls);
    assert_eq!(a(Excluded(x()), Unbounded, false), "[7801 .. )", "158");
    assert_eq!(a(Included(x()), Unbounded, false), "[78 .. )", "159");
    assert_eq!(a(Unbounded, Excluded(x()), false), "[01 .. 78)", "160");
    assert_eq!(a(Unbounded, Included(x()), false), "[01 .. 7801)", "161");
    assert_eq!(prefix(&key, &[V::Null]), "[00 .. 01)", "163");
    assert_eq!(a(Unbounded, Unbounded, false), "[01 .. )", "164");
    assert_eq!(a(Unbounded, Unbounded, true), "[ .. )");
    assert_eq!(a(Included(x()), Unbounded, true), "[00 .. 01) [78 .. )", "NULL apart");
    assert_eq!(prefix(&key, &[V::Null, V::Int(5)]), "[0080000005 .. 0080000006)", "165");
}

/// Vectors 166 to 173.
#[test]
fn descending() {
    let key = codec(&[(TEXT, DESC, true), (T::Integer, ASC, false)]);
    let a = |lo, hi, nulls| span(&key, &[], lo, hi, nulls);
    assert_eq!(prefix(&key, &[x()]), "[87ff .. 8800)", "166");
    assert_eq!(a(Excluded(x()), Unbounded, false), "[01ff .. 87ff)", "167");
    assert_eq!(a(Included(x()), Unbounded, false), "[01ff .. 8800)", "168");
    assert_eq!(a(Unbounded, Excluded(x()), false), "[8800 .. )", "169");
    assert_eq!(a(Unbounded, Included(x()), false), "[87ff .. )", "170");
    assert_eq!(a(Excluded(x()), Unbounded, true), "[ .. 87ff)");
    assert_eq!(a(Unbounded, Excluded(x()), true), "[00 .. 01) [8800 .. )");
    let key = codec(&[(T::Integer, DESC, false), (TEXT, ASC, true)]);
    let a = |lo, hi| span(&key, &[], lo, hi, false);
    assert_eq!(a(Excluded(V::Int(5)), Unbounded), "[ .. 7ffffffa)", "171");
    assert_eq!(a(Unbounded, Excluded(V::Int(5))), "[7ffffffb .. )", "172");
    assert_eq!(a(Unbounded, Included(V::Int(5))), "[7ffffffa .. )", "173");
}

/// Phoenix loses an exclusive bound at the end of a fixed-width type, and scans everything.
#[test]
fn ends_of_types_keep_their_bounds() {
    let key = codec(&[(T::Integer, ASC, false), (T::Integer, DESC, false)]);
    let (max, min) = (V::Int(i32::MAX.into()), V::Int(i32::MIN.into()));
    let a = |lo, hi| span(&key, &[], lo, hi, false);
    assert_eq!(a(Excluded(max.clone()), Unbounded), "");
    assert_eq!(a(Included(max.clone()), Unbounded), "[ffffffff .. )");
    assert_eq!(a(Unbounded, Excluded(min.clone())), "");
    assert_eq!(a(Excluded(V::Int(99_999_999_999)), Unbounded), "");
    assert_eq!(a(Unbounded, Included(V::Int(99_999_999_999))), "[ .. )");
    assert_eq!(a(Included(V::Int(-99_999_999_999)), Unbounded), "[ .. )");
    let b = |lo, hi| span(&key, &[V::Int(1)], lo, hi, false);
    assert_eq!(b(Unbounded, Excluded(min.clone())), "");
    assert_eq!(b(Unbounded, Included(min)), "[80000001ffffffff .. 80000002)");
    assert_eq!(b(Included(max.clone()), Unbounded), "[80000001 .. 8000000100000001)");
    assert_eq!(b(Excluded(max.clone()), Unbounded), "");
    assert_eq!(prefix(&key, &[max]), "[ffffffff .. )");
    assert_eq!(prefix(&key, &[V::Int(1 << 40)]), "");
}

/// NULLs at the end of a key are left out, so a prefix holds a key that is
/// shorter than its own bytes with separators.
#[test]
fn trailing_nulls() {
    let key = codec(&[(TEXT, ASC, true), (TEXT, ASC, true), (TEXT, DESC, true)]);
    let range = key.prefix_range(&[x()]).unwrap().unwrap();
    assert_eq!(range.to_string(), "[78 .. 7801)");
    assert!([&[0x78][..], &[0x78, 0, 0, 0x86, 0xff]].iter().all(|key| range.contains(key)));
    assert!([&[0x78, 1][..], &[0x78, 0x61]].iter().all(|key| !range.contains(key)));
    assert_eq!(prefix(&key, &[x(), V::Null]), "[78 .. 780001)");
    assert_eq!(prefix(&key, &[x(), V::Null, V::Null]), "[78 .. 7800)");
    assert_eq!(prefix(&key, &[V::Null, V::Null]), "[0000 .. 0001)");
    assert_eq!(prefix(&key, &[V::Null, V::Null, V::Null]), "");
    assert_eq!(span(&key, &[x()], Unbounded, Unbounded, false), "[780001 .. 7801)");
    let key = codec(&[(TEXT, DESC, true), (TEXT, ASC, true)]);
    assert_eq!(prefix(&key, &[x(), V::Null]), "[87ff .. 87ff00)");
}

#[test]
fn empty_text() {
    let key = codec(&[(TEXT, ASC, false), (TEXT, DESC, false), (TEXT, ASC, true)]);
    let empty = V::text("");
    assert_eq!(prefix(&key, std::slice::from_ref(&empty)), "[00 .. 01)");
    assert_eq!(prefix(&key, &[x(), empty.clone()]), "[7800ff .. 780100)");
    assert_eq!(prefix(&key, &[x(), x(), empty.clone()]), "", "NULL's form");
    assert_eq!(span(&key, &[x()], Excluded(empty.clone()), Unbounded, false), "[780001ff .. 7800ff)");
    let key = codec(&[(TEXT, ASC, false), (TEXT, ASC, false)]);
    assert_eq!(prefix(&key, &[x(), empty.clone()]), "[7800 .. 780000)");
    assert_eq!(span(&key, &[], Unbounded, Excluded(x()), false), "[ .. 78)", "'' is a value");
    assert_eq!(prefix(&key, &[V::Null]), "", "NOT NULL");
}

#[test]
fn values_without_a_key() {
    let decimal = |text: &str| V::Decimal(text.parse().unwrap());
    let key = codec(&[(T::Decimal(None), ASC, true), (T::Integer, ASC, false)]);
    let a = |lo, hi| span(&key, &[], lo, hi, false);
    assert_eq!(a(Included(decimal("1e126")), Unbounded), "");
    assert_eq!(a(Unbounded, Included(decimal("1e126"))), "[01 .. )");
    assert_eq!(a(Included(decimal("-1e124")), Unbounded), "[01 .. )");
    assert_eq!(a(Included(decimal("1e-130")), Unbounded), "[8001 .. )", "above zero");
    assert_eq!(a(Included(decimal("-1e-130")), Unbounded), "[80 .. )", "from zero on");
    assert_eq!(prefix(&key, &[decimal("1e-130")]), "");
    let long = decimal("-1234567890123456789012345678901234567.8");
    assert_eq!(
        a(Excluded(long), Excluded(decimal("0"))),
        "[2c644e38220c644e38220c644e38220c644e38221501 .. 80)",
        "38 digits without terminator"
    );
    let key = codec(&[(T::Char(3), ASC, false), (T::Integer, ASC, false)]);
    let a = |lo, hi| span(&key, &[], lo, hi, false);
    assert_eq!(a(Included(V::text("abcd")), Unbounded), "[616264 .. )");
    assert_eq!(a(Unbounded, Excluded(V::text("abcd"))), "[ .. 616264)");
    assert_eq!(a(Included(V::text("abc\u{1}")), Unbounded), "[616263 .. )", "a blank is larger");
    assert_eq!(prefix(&key, &[V::text("abc ")]), "[616263 .. 616264)");
    assert_eq!(prefix(&key, &[V::text("abcd")]), "");
    let key = codec(&[(TEXT, ASC, true), (T::Integer, ASC, false)]);
    assert_eq!(span(&key, &[], Excluded(V::text("x\0y")), Unbounded, false), "[7801 .. )");
    assert_eq!(span(&key, &[], Unbounded, Excluded(V::text("x\0y")), false), "[01 .. 7801)");
    assert_eq!(prefix(&key, &[V::text("x\0y")]), "");
    // Longer than any key: the cut is made within the limit.
    let long = span(&key, &[], Included(V::text("y".repeat(40_000))), Unbounded, false);
    assert_eq!(long.len(), "[7979.. .. )".len() - 6 + 2 * 32_768);
    assert_eq!(prefix(&key, &[V::text("y".repeat(40_000))]), "");
}

#[test]
fn binary_columns() {
    let bytes = |bytes: &[u8]| V::Bytes(bytes.to_vec());
    let key = codec(&[(T::Binary(2), ASC, false), (T::Varbinary, ASC, true)]);
    assert_eq!(prefix(&key, &[bytes(&[1])]), "[0100 .. 0101)");
    assert_eq!(prefix(&key, &[bytes(&[1, 0, 0])]), "");
    assert_eq!(span(&key, &[], Excluded(bytes(&[0xff, 0xff])), Unbounded, false), "");
    let w = |lo, hi, nulls| span(&key, &[bytes(&[1, 2])], lo, hi, nulls);
    assert_eq!(w(Unbounded, Unbounded, false), "[010200 .. 0103)");
    assert_eq!(w(Unbounded, Excluded(bytes(&[0])), false), "", "no value below X'00'");
    assert_eq!(w(Excluded(bytes(&[0xff])), Unbounded, false), "[0102ff00 .. 0103)");
    assert_eq!(w(Unbounded, Included(bytes(&[0xff])), true), "[0102 .. 0102ff00)");
    let key = codec(&[(T::VarbinaryEncoded, ASC, true), (T::VarbinaryEncoded, DESC, true), (T::Integer, ASC, false)]);
    assert_eq!(prefix(&key, &[bytes(&[0x61, 0])]), "[6100ff0001 .. 6100ff0002)");
    assert_eq!(prefix(&key, &[bytes(&[0x61]), bytes(&[0x61])]), "[6100019efffe .. 6100019effff)");
    assert_eq!(prefix(&key, &[V::Null]), "[0001 .. 0002)");
    assert_eq!(span(&key, &[], Unbounded, Unbounded, false), "[0002 .. )");
    let b = |lo, hi| span(&key, &[V::Null], lo, hi, false);
    assert_eq!(b(Included(bytes(&[0xff])), Unbounded), "", "refused on writing");
    assert_eq!(b(Unbounded, Included(bytes(&[0xff]))), "[00010002 .. 0002)");
}

/// A carry must not make the terminator of a shorter value: 'a' is `9eff`.
#[test]
fn carry_into_a_terminator() {
    let key = codec(&[(TEXT, DESC, false), (TEXT, ASC, true)]);
    assert_eq!(prefix(&key, &[V::text("a\u{1}")]), "[9efeff .. 9eff)");
}

#[test]
fn bounds_of_tuples() {
    let key = codec(&[(TEXT, ASC, true), (T::Integer, DESC, false), (TEXT, DESC, true)]);
    let show = |range: Result<Option<KeyRange>, RowKeyError>| range.unwrap().map(|r| r.to_string()).unwrap_or_default();
    let after = |values: &[V]| show(key.bounds_range(Bound::Excluded(values), Bound::Unbounded));
    let from = |values: &[V]| show(key.bounds_range(Bound::Included(values), Bound::Unbounded));
    assert_eq!(after(&[]), "", "all rows begin with no values");
    assert_eq!(from(&[]), "[ .. )");
    assert_eq!(after(&[x()]), "[7801 .. )");
    assert_eq!(from(&[x()]), "[7800 .. )");
    assert_eq!(after(&[x(), V::Int(5)]), "[78007ffffffb .. )");
    assert_eq!(from(&[x(), V::Int(5)]), "[78007ffffffa .. )");
    assert_eq!(after(&[x(), V::Int(5), V::Null]), "[78007ffffffa00 .. )", "after the one row");
    assert_eq!(after(&[x(), V::Int(5), x()]), "[78007ffffffa87ff00 .. )");
    assert_eq!(from(&[x(), V::Int(1 << 40), x()]), "[7800 .. )", "above all of b, so first");
    assert_eq!(from(&[V::Null, V::Int(5)]), "[007ffffffa .. )");
    let between = key.bounds_range(Bound::Excluded(&[x(), V::Int(9)]), Bound::Included(&[x(), V::Int(5)]));
    assert_eq!(show(between), "[78007ffffff7 .. 78007ffffffb)");
    let apart = key.bounds_range(Bound::Included(&[x(), V::Int(5)]), Bound::Included(&[x(), V::Int(9)]));
    assert_eq!(show(apart), "");
}

#[test]
fn spans_that_cannot_be() {
    let key = codec(&[(T::Integer, ASC, false)]);
    let null = ColumnSpan { lo: Included(&V::Null), hi: Unbounded, nulls: false };
    assert!(matches!(key.span_ranges(&NO_VALUES, &null), Err(RowKeyError::Value { .. })));
    let text = V::text("5");
    let wrong = ColumnSpan { lo: Unbounded, hi: Excluded(&text), nulls: false };
    assert!(key.span_range(&NO_VALUES, &wrong).is_err());
    let open = ColumnSpan { lo: Unbounded, hi: Unbounded, nulls: false };
    assert!(matches!(key.span_ranges(&[V::Int(1)], &open), Err(RowKeyError::ValueCount { given: 2, expected: 1 })));
}
