//! Small tables of nasty values: types of all kinds mixed, few values a column
//! so that rows collide, and values that no row can have among them.
#![allow(dead_code, reason = "each test file uses a part")]

use proptest::prelude::*;
use proptest::sample::Index;
use saltwing_rowkey::RowKeyCodec;
use saltwing_types::value::Timestamp;
use saltwing_types::{KeyColumn, KeySchema, KeySource, Salt, SortOrder, SqlType as T, Value as V};

/// Every type that a key column can have.
pub const TYPES: [T; 26] = [
    T::TinyInt,
    T::SmallInt,
    T::Integer,
    T::BigInt,
    T::UnsignedTinyInt,
    T::UnsignedSmallInt,
    T::UnsignedInt,
    T::UnsignedLong,
    T::Float,
    T::Double,
    T::UnsignedFloat,
    T::UnsignedDouble,
    T::Decimal(None),
    T::Decimal(Some((5, 2))),
    T::Boolean,
    T::Date,
    T::Time,
    T::Timestamp,
    T::UnsignedDate,
    T::UnsignedTimestamp,
    T::Char(3),
    T::Varchar(None),
    T::Varchar(Some(2)),
    T::Binary(2),
    T::Varbinary,
    T::VarbinaryEncoded,
];

/// A key, and for each column the values that its rows are made of.
#[derive(Clone, Debug)]
pub struct Table {
    pub schema: KeySchema,
    pub codec: RowKeyCodec,
    pub domains: Vec<Vec<V>>,
}

impl Table {
    /// A tuple of values of the leading columns, one for each pick.
    pub fn tuple(&self, picks: &[Index]) -> Vec<V> {
        self.domains.iter().zip(picks).map(|(domain, pick)| pick.get(domain).clone()).collect()
    }

    /// The rows among these picks that can be stored, with their logical keys.
    pub fn rows(&self, picks: &[Vec<Index>]) -> Vec<(Vec<V>, Vec<u8>)> {
        let rows = picks.iter().map(|picks| self.tuple(picks));
        rows.filter_map(|row| self.codec.encode_logical(&row).ok().map(|key| (row, key))).collect()
    }

    /// As [`Table::rows`], but one row of plain values if none of these can be stored.
    pub fn some_rows(&self, picks: &[Vec<Index>]) -> Vec<(Vec<V>, Vec<u8>)> {
        let mut rows = self.rows(picks);
        if rows.is_empty() {
            let row: Vec<V> = self.schema.columns.iter().map(|column| plain_value(column.ty)).collect();
            let key = self.codec.encode_logical(&row).unwrap();
            rows.push((row, key));
        }
        rows
    }

    pub fn is_desc(&self, column: usize) -> bool {
        self.schema.columns[column].order == SortOrder::Desc
    }
}

/// Tables of 1 to 4 key columns, half of them salted.
pub fn table() -> impl Strategy<Value = Table> {
    tables(true)
}

/// The same, whose last column does not reach to the end of the key, so that another may follow.
pub fn open_ended_table() -> impl Strategy<Value = Table> {
    tables(false)
}

fn tables(may_reach_to_the_end: bool) -> impl Strategy<Value = Table> {
    // Text, bytes and DECIMAL are where keys get difficult: they come up more often.
    let ty =
        prop_oneof![any::<Index>().prop_map(|i| *i.get(&TYPES)), any::<Index>().prop_map(|i| *i.get(&TYPES[20..])),];
    let column = (ty, any::<bool>(), any::<bool>(), prop::collection::vec(any::<Index>(), 3..7));
    (prop::collection::vec(column, 1..=4), any::<bool>()).prop_map(move |(columns, salted)| {
        let count = columns.len();
        let mut domains = Vec::new();
        let mut key_columns = Vec::new();
        for (column, (ty, desc, nullable, picks)) in columns.into_iter().enumerate() {
            let may_be_varbinary = may_reach_to_the_end && column + 1 == count;
            let ty = if ty == T::Varbinary && !may_be_varbinary { T::VarbinaryEncoded } else { ty };
            let order = if desc && ty != T::Varbinary { SortOrder::Desc } else { SortOrder::Asc };
            let nullable = nullable && ty.fixed_key_bytes().is_none();
            let name = format!("k{column}");
            key_columns.push(KeyColumn { source: KeySource::Column(column), name, ty, order, nullable });
            let all = values(ty);
            let mut domain: Vec<V> = picks.iter().map(|pick| pick.get(&all).clone()).collect();
            domain.push(V::Null);
            domains.push(domain);
        }
        let schema = KeySchema { columns: key_columns, salt: salted.then_some(Salt { buckets: 5, by: None }) };
        let codec = RowKeyCodec::new(&schema).unwrap();
        Table { schema, codec, domains }
    })
}

/// Picks of whole rows.
pub fn row_picks(count: usize) -> impl Strategy<Value = Vec<Vec<Index>>> {
    prop::collection::vec(prop::collection::vec(any::<Index>(), 4), count)
}

/// A value that every key column of the type can hold.
fn plain_value(ty: T) -> V {
    match ty {
        T::Boolean => V::Bool(true),
        T::Float | T::UnsignedFloat => V::Float(1.5),
        T::Double | T::UnsignedDouble => V::Double(1.5),
        T::Decimal(_) => V::Decimal("1.5".parse().unwrap()),
        T::Date | T::Time | T::UnsignedDate | T::UnsignedTime => V::Date(1),
        T::Timestamp | T::UnsignedTimestamp => V::Timestamp(Timestamp { ms: 1, nanos: 0 }),
        T::Char(_) | T::Varchar(_) => V::text("a"),
        T::Binary(_) | T::Varbinary | T::VarbinaryEncoded => V::Bytes(vec![1]),
        _ => V::Int(1),
    }
}

/// Values of a type, some of which it cannot hold.
pub fn values(ty: T) -> Vec<V> {
    let texts = |texts: &[&str]| texts.iter().map(|text| V::text(*text)).collect();
    let bytes = |values: &[&[u8]]| values.iter().map(|bytes| V::Bytes(bytes.to_vec())).collect();
    match ty {
        T::Boolean => vec![V::Bool(false), V::Bool(true)],
        T::Float | T::UnsignedFloat => {
            let values = [0.0f32, -0.0, 1.5, -1.5, f32::MIN, f32::MAX, f32::MIN_POSITIVE, 1e-45, -1e-45];
            let ends = [f32::INFINITY, f32::NEG_INFINITY, f32::NAN, -f32::NAN];
            values.into_iter().chain(ends).map(V::Float).collect()
        }
        T::Double | T::UnsignedDouble => {
            let values = [0.0f64, -0.0, 1.5, -1.5, f64::MIN, f64::MAX, f64::MIN_POSITIVE, 5e-324, -5e-324];
            let ends = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -f64::NAN];
            values.into_iter().chain(ends).map(V::Double).collect()
        }
        T::Decimal(_) => DECIMALS.iter().map(|text| V::Decimal(text.parse().unwrap())).collect(),
        T::Date | T::Time | T::UnsignedDate | T::UnsignedTime => {
            [i64::MIN, -1, 0, 1, 255, 1_356_998_400_000, i64::MAX].into_iter().map(V::Date).collect()
        }
        T::Timestamp | T::UnsignedTimestamp => [i64::MIN, -1, 0, 1, i64::MAX]
            .into_iter()
            .flat_map(|ms| [0, 1, 999_999].map(|nanos| V::Timestamp(Timestamp { ms, nanos })))
            .collect(),
        T::Char(_) => texts(&[
            "",
            " ",
            "a",
            "ab",
            "abc",
            "a\u{1}",
            " a",
            "a b",
            "ab ",
            "\0",
            "\u{7f}\u{7f}\u{7f}",
            "abcd",
            "abc\u{1}",
            "abc   ",
            "abc  x",
            "é",
            "abé",
            "abcé",
            "b",
        ]),
        T::Varchar(_) => texts(&[
            "",
            "a",
            "a\0",
            "a\0b",
            "ab",
            "a\u{1}",
            "\0",
            "\0a",
            "\u{1}",
            "b",
            "é",
            "\u{10ffff}",
            "~",
            "aa",
            "a\u{10ffff}",
        ]),
        T::Binary(_) => bytes(&[
            &[],
            &[0],
            &[0, 0],
            &[0, 1],
            &[1],
            &[1, 0],
            &[0xff],
            &[0xff, 0xff],
            &[0xff, 0],
            &[0, 0, 0],
            &[0xff, 0xff, 0xff],
            &[1, 0, 1],
            &[0xff, 0xfe],
        ]),
        T::Varbinary | T::VarbinaryEncoded => bytes(&[
            &[],
            &[0],
            &[0, 0],
            &[0, 1],
            &[0, 0xff],
            &[0, 0xfe],
            &[1],
            &[0xff],
            &[0xff, 0xfe],
            &[0xff, 0xff],
            &[0xfe],
            &[0x61],
            &[0x61, 0],
            &[0x61, 0, 1],
            &[0x61, 0xff],
            &[0x61, 0xff, 0xfe],
            &[0x61, 0, 0xff],
            &[0xff, 0],
        ]),
        ty => {
            let (low, high) = ty.integer_range().unwrap();
            let inside = [low, low + 1, 0, 1, 5, high - 1, high];
            let beyond = [low.saturating_sub(1), high.saturating_add(1), i64::MIN, i64::MAX, -1, 255, 256];
            inside.into_iter().chain(beyond).map(V::Int).collect()
        }
    }
}

const DECIMALS: [&str; 30] = [
    "0",
    "1",
    "-1",
    "1.5",
    "-1.5",
    "-1.55",
    "1.55",
    "10",
    "100",
    "-100",
    "99",
    "-99",
    "0.01",
    "-0.01",
    "1e-126",
    "-1e-126",
    "9.9e125",
    "1e124",
    "1e122",
    "9.9e121",
    "-9.9e123",
    "1e126",
    "-1e124",
    "1e-127",
    "-1e-127",
    "1e200",
    "-1e200",
    "99999999999999999999999999999999999999",
    "-1234567890123456789012345678901234567.8",
    "-1234567890123456789012345678901234567",
];
