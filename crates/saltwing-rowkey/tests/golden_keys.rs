//! Keys that a live Phoenix wrote: each reads as values of its table, and those
//! values are written as the same bytes, bucket included.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use saltwing_rowkey::RowKeyCodec;
use saltwing_types::text::{hex, unhex};
use saltwing_types::{KeyColumn, KeySchema, KeySource, Salt, SortOrder, SqlType as T};

const KEYS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../golden/keys.jsonl");

/// `DECIMAL(5,2) NOT NULL ..` as a type; `None` for arrays.
fn sql_type(text: &str) -> Option<T> {
    let (word, rest) = text.split_at(text.find([' ', '(']).unwrap_or(text.len()));
    let inside = rest.strip_prefix('(').and_then(|rest| rest.split_once(')')).map(|(inside, _)| inside);
    let numbers: Vec<u32> = inside.map_or(vec![], |list| list.split(',').map(|n| n.trim().parse().unwrap()).collect());
    if rest.contains("ARRAY") {
        return None;
    }
    Some(match (word, numbers.as_slice()) {
        ("TINYINT", _) => T::TinyInt,
        ("SMALLINT", _) => T::SmallInt,
        ("INTEGER", _) => T::Integer,
        ("BIGINT", _) => T::BigInt,
        ("UNSIGNED_TINYINT", _) => T::UnsignedTinyInt,
        ("UNSIGNED_SMALLINT", _) => T::UnsignedSmallInt,
        ("UNSIGNED_INT", _) => T::UnsignedInt,
        ("UNSIGNED_LONG", _) => T::UnsignedLong,
        ("FLOAT", _) => T::Float,
        ("DOUBLE", _) => T::Double,
        ("UNSIGNED_FLOAT", _) => T::UnsignedFloat,
        ("UNSIGNED_DOUBLE", _) => T::UnsignedDouble,
        ("DECIMAL", [precision, scale]) => T::Decimal(Some((*precision as u8, *scale as u8))),
        ("DECIMAL", _) => T::Decimal(None),
        ("BOOLEAN", _) => T::Boolean,
        ("DATE", _) => T::Date,
        ("TIME", _) => T::Time,
        ("TIMESTAMP", _) => T::Timestamp,
        ("UNSIGNED_DATE", _) => T::UnsignedDate,
        ("UNSIGNED_TIME", _) => T::UnsignedTime,
        ("UNSIGNED_TIMESTAMP", _) => T::UnsignedTimestamp,
        ("CHAR", [width]) => T::Char(*width),
        ("VARCHAR", limit) => T::Varchar(limit.first().copied()),
        ("BINARY", [width]) => T::Binary(*width),
        ("VARBINARY", _) => T::Varbinary,
        _ => panic!("{text}"),
    })
}

/// Splits at commas that stand in no parentheses.
fn items(list: &str) -> Vec<String> {
    let (mut depth, mut items) = (0, vec![String::new()]);
    for c in list.chars() {
        depth += i32::from(c == '(') - i32::from(c == ')');
        match c {
            ',' if depth == 0 => items.push(String::new()),
            c => items.last_mut().unwrap().push(c),
        }
    }
    items.iter().map(|item| item.trim().to_owned()).collect()
}

/// A name in quotes or not, and what follows it.
fn name(item: &str) -> (&str, &str) {
    match item.strip_prefix('"') {
        Some(rest) => rest.split_once('"').unwrap(),
        None => item.split_once(' ').unwrap_or((item, "")),
    }
}

/// The key of a CREATE TABLE; `None` when an array is in it.
fn codec(ddl: &str) -> Option<RowKeyCodec> {
    let body = &ddl[ddl.find('(').unwrap() + 1..ddl.rfind(')').unwrap()];
    let buckets = ddl.split_once("SALT_BUCKETS=").map(|(_, count)| count.trim().parse().unwrap());
    let definitions = items(body);
    let listed = definitions.iter().find_map(|item| item.split_once("PRIMARY KEY ("));
    let key: Vec<(String, bool)> = match listed {
        Some((_, list)) => items(list.trim_end_matches(')'))
            .iter()
            .map(|item| (name(item).0.to_owned(), name(item).1.contains("DESC")))
            .collect(),
        None => {
            let item = definitions.iter().find(|item| item.contains("PRIMARY KEY")).unwrap();
            vec![(name(item).0.to_owned(), item.contains("PRIMARY KEY DESC"))]
        }
    };
    let single = key.len() == 1;
    let mut columns = Vec::new();
    for (column, desc) in key {
        let definition = definitions.iter().find(|item| name(item).0 == column).unwrap();
        let ty = sql_type(name(definition).1.trim())?;
        let nullable = !single && !definition.contains("NOT NULL") && ty.fixed_key_bytes().is_none();
        let order = if desc { SortOrder::Desc } else { SortOrder::Asc };
        columns.push(KeyColumn { source: KeySource::Column(columns.len()), name: column, ty, order, nullable });
    }
    let salt = buckets.map(|buckets| Salt { buckets, by: None });
    Some(RowKeyCodec::new(&KeySchema { columns, salt }).unwrap())
}

#[test]
fn every_key_reads_and_writes_back() {
    let (mut same, mut arrays) = (0, 0);
    for line in std::fs::read_to_string(KEYS).unwrap().lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = |field: &str| line[field].as_str();
        let Some(codec) = codec(text("ddl").unwrap()) else {
            arrays += 1;
            continue;
        };
        let sound = match text("phoenix_bug") {
            Some("decimal_desc_not_inverted") => text("sound_key"),
            _ => text("key"),
        };
        let key = unhex(sound.unwrap()).unwrap();
        let values = codec.decode(&key).unwrap_or_else(|error| panic!("{line}: {error}"));
        let written = codec.encode(&values).unwrap_or_else(|error| panic!("{line}: {error}"));
        assert_eq!(hex(&written), hex(&key), "{line}: {values:?}");
        same += 1;
    }
    assert_eq!((same, arrays), (1497, 62), "keys read and written; keys with arrays");
}
