//! Arrays in Phoenix's form: its bytes, the values read back, the order of keys, and what has no key.

use proptest::prelude::*;
use saltwing_rowkey::{RowKeyCodec, ValueCodec};
use saltwing_types::text::{hex, parse, unhex};
use saltwing_types::{KeyColumn, KeySchema, KeySource, SortOrder, SqlType as T, Value as V};

const TEXT: T = T::Varchar(None);

fn array_of(element: T) -> T {
    T::array(element).unwrap()
}

fn array(element: T, written: &str) -> V {
    parse(written, array_of(element)).unwrap()
}

fn key(columns: &[(T, SortOrder, bool)]) -> Result<RowKeyCodec, saltwing_rowkey::RowKeyError> {
    let column = |(index, (ty, order, nullable)): (usize, &(T, SortOrder, bool))| KeyColumn {
        source: KeySource::Column(index),
        name: format!("k{index}"),
        ty: *ty,
        order: *order,
        nullable: *nullable,
    };
    RowKeyCodec::new(&KeySchema { columns: columns.iter().enumerate().map(column).collect(), salt: None })
}

/// Vectors of the key format, and cells and keys that a live Phoenix wrote.
#[test]
fn bytes_are_phoenixs() {
    let decimal = T::Decimal(None);
    for (element, written, ascending, descending) in [
        (TEXT, "{a,b}", "61006200000080018003000000060000000201", "9eff9dffffff80018003000000060000000201"),
        (
            TEXT,
            "{a,null,null,b}",
            "610000fe620000008001800380038005000000080000000401",
            "9eff00fe9dffffff8001800380038005000000080000000401",
        ),
        (TEXT, "{a,null}", "6100000080018003000000040000000201", "9effffff80018003000000040000000201"),
        (TEXT, "{null,a}", "00ff6100000080018003000000060000000201", "00ff9effffff80018003000000060000000201"),
        (T::Integer, "{1,2}", "8000000180000002", "7ffffffe7ffffffd"),
        (T::Integer, "{}", "", ""),
        (T::Boolean, "{true,false}", "0100", "feff"),
        (decimal, "{1.5,-2}", "c10233003e6366000000800180050000000a0000000201", ""),
        (decimal, "{0}", "800000008001000000040000000101", ""),
        (TEXT, "{null,null,😀}", "00fef09f9880000000800180018003000000090000000301", ""),
    ] {
        for (order, expected) in [(SortOrder::Asc, ascending), (SortOrder::Desc, descending)] {
            let codec = ValueCodec::new(array_of(element), order);
            let stored = codec.stored(&array(element, written)).unwrap();
            if !expected.is_empty() {
                assert!(hex(&stored).starts_with(expected), "{written} {order:?}: {}", hex(&stored));
            }
            assert_eq!(codec.decode(&stored).unwrap(), array(element, written), "{written} {order:?}");
        }
    }
    let codec = key(&[(TEXT, SortOrder::Asc, false), (array_of(T::Integer), SortOrder::Desc, false)]).unwrap();
    let row = [V::text("x"), array(T::Integer, "{1,2}")];
    assert_eq!(hex(&codec.encode(&row).unwrap()), "78007ffffffe7ffffffdff");
    assert_eq!(codec.decode(&unhex("78007ffffffe7ffffffdff").unwrap()).unwrap(), row);
}

/// 255 NULLs and more, and an array whose offsets need four bytes.
#[test]
fn long_arrays_come_back() {
    let nulls = |count| [vec![V::Null; count], vec![V::text("a"), V::Null]].concat();
    let long = vec![V::text("x".repeat(40_000)), V::text("y".repeat(40_000)), V::Null, V::text("z")];
    for elements in [nulls(254), nulls(255), nulls(256), nulls(510), nulls(511), long] {
        for order in [SortOrder::Asc, SortOrder::Desc] {
            let codec = ValueCodec::new(array_of(TEXT), order);
            let value = V::Array(elements.clone());
            assert_eq!(codec.decode(&codec.stored(&value).unwrap()).unwrap(), value);
        }
    }
    // 255 NULLs are the byte 01, one more is FF after it.
    let codec = ValueCodec::new(array_of(TEXT), SortOrder::Asc);
    assert!(hex(&codec.stored(&V::Array(nulls(256))).unwrap()).starts_with("0001ff6100"));
}

/// Phoenix writes elements that hold a separator; their keys are not in the order of the values, but the values are read whole.
#[test]
fn elements_that_hold_a_separator_are_read_whole() {
    let read = |ty, order, stored: &str| ValueCodec::new(array_of(ty), order).decode(&unhex(stored).unwrap());
    let texts = |all: &[&str]| V::Array(all.iter().map(|text| V::text(*text)).collect());
    // {a\0b, c}: the second one begins after the separator of the first.
    let with_end = |data: &str, offsets: &str| {
        let table = format!("{:08x}", data.len() / 2);
        let count = format!("{:08x}", offsets.len() / 4);
        format!("{data}{offsets}{table}{count}01")
    };
    assert_eq!(read(TEXT, SortOrder::Asc, &with_end("6100620063000000", "80018005")).unwrap(), texts(&["a\0b", "c"]));
    assert_eq!(read(TEXT, SortOrder::Asc, &with_end("6100000000", "8001")).unwrap(), texts(&["a\0"]));
    assert_eq!(read(TEXT, SortOrder::Desc, &with_end("9eff9dff9cffffff", "80018005")).unwrap(), texts(&["a\0b", "c"]));
    // A NULL between them, which stands where its mark does.
    let null = V::Array(vec![V::text("a\0b"), V::Null, V::text("c")]);
    assert_eq!(read(TEXT, SortOrder::Asc, &with_end("6100620000ff63000000", "800180058007")).unwrap(), null);
    // An end that is not after a separator, or not after its beginning.
    for offsets in ["80018004", "80018001", "80058001", "80018009"] {
        assert!(read(TEXT, SortOrder::Asc, &with_end("6100620063000000", offsets)).is_err(), "{offsets}");
    }
}

#[test]
fn elements_without_a_key_form_are_refused() {
    for (element, elements, message) in [
        (T::Integer, vec![V::Null], "NULL in an array of INTEGER: elements of fixed width have no form for NULL"),
        (TEXT, vec![V::text("")], "'' in an array of VARCHAR: an empty element is NULL there"),
        (TEXT, vec![V::text("a\0")], "'a\\0' (hex 6100) in an array of VARCHAR: its bytes hold a separator"),
    ] {
        let codec = key(&[(array_of(element), SortOrder::Asc, false)]).unwrap();
        let error = codec.encode(&[V::Array(elements)]).unwrap_err();
        assert_eq!(error.to_string(), format!("key column k0: {message}"));
        assert_eq!(error.code().as_str(), "bad_key");
    }
    let nullable = key(&[(T::Integer, SortOrder::Asc, false), (array_of(T::Integer), SortOrder::Asc, true)]).unwrap();
    let error = nullable.encode(&[V::Int(1), V::Array(Vec::new())]).unwrap_err();
    assert!(error.to_string().contains("an empty INTEGER ARRAY and NULL have the same bytes"), "{error}");
    for (columns, reason) in [
        (&[(array_of(TEXT), SortOrder::Asc, false), (TEXT, SortOrder::Asc, true)][..], "only the last"),
        (&[(array_of(T::Varbinary), SortOrder::Asc, false)], "have no key form"),
    ] {
        assert!(key(columns).unwrap_err().to_string().contains(reason));
    }
}

fn elements<S: Strategy<Value = V> + 'static>(element: S) -> impl Strategy<Value = Vec<V>> {
    prop::collection::vec(element, 0..5)
}

fn text() -> impl Strategy<Value = V> {
    prop_oneof![1 => Just(V::Null), 3 => "[\u{1}ab\u{10ffff}]{1,3}".prop_map(V::Text)]
}

proptest! {
    #[test]
    fn keys_come_back(texts in elements(text()), numbers in elements(any::<i64>().prop_map(V::Int)), head in "[a\u{1}]{0,2}") {
        for order in [SortOrder::Asc, SortOrder::Desc] {
            for (element, elements) in [(TEXT, &texts), (T::BigInt, &numbers)] {
                let codec = key(&[(TEXT, order, false), (array_of(element), order, false)]).unwrap();
                let row = [V::text(head.as_str()), V::Array(elements.clone())];
                if !(order == SortOrder::Asc && head.is_empty() && elements.is_empty()) {
                    let bytes = codec.encode(&row).unwrap();
                    prop_assert_eq!(codec.decode(&bytes).unwrap(), &row[..], "{}", hex(&bytes));
                }
            }
        }
    }

    /// Ascending arrays with fewer than 255 NULLs in a row sort by their bytes as by their values.
    #[test]
    fn ascending_bytes_are_in_the_order_of_values(lists in prop::collection::vec((elements(text()), elements((-2i64..2).prop_map(V::Int))), 4)) {
        for (a, b) in lists.iter().zip(lists.iter().skip(1)) {
            for (element, a, b) in [(TEXT, &a.0, &b.0), (T::BigInt, &a.1, &b.1)] {
                let codec = ValueCodec::new(array_of(element), SortOrder::Asc);
                let [a, b] = [a, b].map(|elements| V::Array(elements.clone()));
                prop_assert_eq!(codec.stored(&a).cmp(&codec.stored(&b)), a.compare(&b).unwrap(), "{:?} {:?}", a, b);
            }
        }
    }

    #[test]
    fn any_bytes_are_an_array_or_an_error(bytes in prop::collection::vec(prop_oneof![Just(0u8), Just(1), Just(0x80), any::<u8>()], 0..40)) {
        for order in [SortOrder::Asc, SortOrder::Desc] {
            for element in [TEXT, T::Decimal(None), T::Integer] {
                let _ = ValueCodec::new(array_of(element), order).decode(&bytes);
            }
        }
    }
}
