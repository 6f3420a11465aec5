//! Keys that a live Phoenix wrote: each reads as values of its table, and those
//! values are written as the same bytes, bucket included.

use crate::declared::{items, name, sql_type};
use saltwing_rowkey::RowKeyCodec;
use saltwing_types::text::{hex, unhex};
use saltwing_types::{KeyColumn, KeySchema, KeySource, Salt, SortOrder};

const KEYS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../sql-tests/golden/keys.jsonl");

/// The key of a CREATE TABLE.
fn codec(ddl: &str) -> RowKeyCodec {
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
        let ty = sql_type(name(definition).1.trim());
        let nullable = !single && !definition.contains("NOT NULL") && ty.fixed_key_bytes().is_none();
        let order = if desc { SortOrder::Desc } else { SortOrder::Asc };
        columns.push(KeyColumn { source: KeySource::Column(columns.len()), name: column, ty, order, nullable });
    }
    let salt = buckets.map(|buckets| Salt { buckets, by: None });
    RowKeyCodec::new(&KeySchema { columns, salt }).unwrap()
}

#[test]
fn every_key_reads_and_writes_back() {
    let mut same = 0;
    for line in std::fs::read_to_string(KEYS).unwrap().lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = |field: &str| line[field].as_str();
        let codec = codec(text("ddl").unwrap());
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
    assert_eq!(same, 1559, "keys read and written");
}
