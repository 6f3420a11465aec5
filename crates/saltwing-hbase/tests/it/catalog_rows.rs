//! The rows of Phoenix's catalog, and the definitions that they are: what the catalog's server makes of the mutations that clients send.

use std::collections::BTreeMap;

use prost::Message;
use saltwing_phoenix::CatalogKeys;

/// A request with mutations: all of them have these in the first field, the kind of table in the second of some.
#[derive(Clone, PartialEq, Message)]
pub struct Change {
    #[prost(bytes = "vec", repeated, tag = "1")]
    pub mutations: Vec<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
struct Value {
    #[prost(bytes = "vec", optional, tag = "1")]
    qualifier: Option<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "2")]
    value: Option<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
struct Family {
    #[prost(bytes = "vec", required, tag = "1")]
    family: Vec<u8>,
    #[prost(message, repeated, tag = "2")]
    values: Vec<Value>,
}

#[derive(Clone, PartialEq, Message)]
struct Mutation {
    #[prost(bytes = "vec", optional, tag = "1")]
    row: Option<Vec<u8>>,
    #[prost(int32, optional, tag = "2")]
    kind: Option<i32>,
    #[prost(message, repeated, tag = "3")]
    families: Vec<Family>,
}

#[derive(Clone, PartialEq, Message)]
struct Column {
    #[prost(bytes = "vec", required, tag = "1")]
    name: Vec<u8>,
    #[prost(bytes = "vec", optional, tag = "2")]
    family: Option<Vec<u8>>,
    #[prost(string, optional, tag = "3")]
    ty: Option<String>,
    #[prost(int32, optional, tag = "4")]
    length: Option<i32>,
    #[prost(int32, optional, tag = "5")]
    scale: Option<i32>,
    #[prost(bool, required, tag = "6")]
    nullable: bool,
    #[prost(int32, required, tag = "7")]
    position: i32,
    #[prost(int32, optional, tag = "8")]
    order: Option<i32>,
    #[prost(string, optional, tag = "12")]
    default: Option<String>,
    #[prost(bytes = "vec", optional, tag = "15")]
    qualifier: Option<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
struct Counter {
    #[prost(string, required, tag = "1")]
    family: String,
    #[prost(int32, required, tag = "2")]
    next: i32,
}

#[derive(Clone, PartialEq, Message)]
struct Table {
    #[prost(bytes = "vec", required, tag = "1")]
    schema: Vec<u8>,
    #[prost(bytes = "vec", required, tag = "2")]
    name: Vec<u8>,
    #[prost(int32, required, tag = "3")]
    kind: i32,
    #[prost(int64, required, tag = "5")]
    sequence_number: i64,
    #[prost(int64, required, tag = "6")]
    timestamp: i64,
    #[prost(int32, required, tag = "8")]
    buckets: i32,
    #[prost(message, repeated, tag = "9")]
    columns: Vec<Column>,
    #[prost(bool, required, tag = "11")]
    immutable: bool,
    #[prost(bytes = "vec", optional, tag = "14")]
    default_family: Option<Vec<u8>>,
    #[prost(bool, required, tag = "15")]
    wal_disabled: bool,
    #[prost(bool, required, tag = "16")]
    multi_tenant: bool,
    #[prost(bool, optional, tag = "26")]
    optimizable: Option<bool>,
    #[prost(bytes = "vec", optional, tag = "34")]
    storage: Option<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "35")]
    encoding: Option<Vec<u8>>,
    #[prost(message, repeated, tag = "36")]
    counters: Vec<Counter>,
}

type Cells = BTreeMap<String, Vec<u8>>;

/// Rows by their keys.
#[derive(Clone, Default)]
pub struct CatalogRows {
    rows: BTreeMap<Vec<u8>, Cells>,
}

fn int(cells: &Cells, name: &str) -> Option<i32> {
    let bytes: [u8; 4] = cells.get(name)?.as_slice().try_into().unwrap();
    Some((u32::from_be_bytes(bytes) ^ 1 << 31).cast_signed())
}

fn type_name(code: i32) -> &'static str {
    match code {
        12 => "VARCHAR",
        4 => "INTEGER",
        -5 => "BIGINT",
        3 => "DECIMAL",
        1 => "CHAR",
        16 => "BOOLEAN",
        93 => "TIMESTAMP",
        other => panic!("type {other}"),
    }
}

impl CatalogRows {
    /// Applies the mutations of a request.
    pub fn apply(&mut self, request: &[u8]) {
        for mutation in Change::decode(request).unwrap().mutations {
            let mutation = Mutation::decode(mutation.as_slice()).unwrap();
            let row = mutation.row.unwrap();
            if mutation.kind == Some(3) {
                self.rows.remove(&row);
                continue;
            }
            for family in mutation.families {
                assert_eq!(family.family, b"0");
                let cells = self.rows.entry(row.clone()).or_default();
                cells.extend(
                    family
                        .values
                        .into_iter()
                        .map(|cell| (String::from_utf8(cell.qualifier.unwrap()).unwrap(), cell.value.unwrap())),
                );
            }
        }
    }

    /// The number of changes that a header has.
    pub fn sequence_number(&self, header: &[u8]) -> Option<i64> {
        let bytes: [u8; 8] = self.rows.get(header)?.get("TABLE_SEQ_NUM")?.as_slice().try_into().unwrap();
        Some((u64::from_be_bytes(bytes) ^ 1 << 63).cast_signed())
    }

    /// Counts the changes of a table without a schema.
    pub fn touch(&mut self, name: &str, changes: u64) {
        let header = [b"\0\0", name.as_bytes()].concat();
        let cells = self.rows.get_mut(&header).unwrap();
        cells.insert("TABLE_SEQ_NUM".to_owned(), (changes ^ 1 << 63).to_be_bytes().to_vec());
    }

    /// Deletes all rows of a table.
    pub fn remove(&mut self, header: &[u8]) {
        let keys = CatalogKeys::new().unwrap();
        let name = |key: &[u8]| {
            let key = keys.decode(key).unwrap();
            (key.schema, key.table)
        };
        let of = name(header);
        self.rows.retain(|key, _| name(key) != of);
    }

    /// The message of a table.
    pub fn table(&self, header: &[u8]) -> Vec<u8> {
        let keys = CatalogKeys::new().unwrap();
        let of = keys.decode(header).unwrap();
        let cells = &self.rows[header];
        let (mut columns, mut counters) = (Vec::new(), Vec::new());
        for (key, cells) in &self.rows {
            let key = keys.decode(key).unwrap();
            if (&key.schema, &key.table) != (&of.schema, &of.table) {
                continue;
            }
            match (key.column, key.family) {
                (Some(name), family) => columns.push(Column {
                    name: name.into_bytes(),
                    family: family.map(String::into_bytes),
                    ty: Some(type_name(int(cells, "DATA_TYPE").unwrap()).to_owned()),
                    length: int(cells, "COLUMN_SIZE"),
                    scale: int(cells, "DECIMAL_DIGITS"),
                    nullable: int(cells, "NULLABLE") == Some(1),
                    position: int(cells, "ORDINAL_POSITION").unwrap(),
                    order: int(cells, "SORT_ORDER"),
                    default: cells.get("COLUMN_DEF").map(|text| String::from_utf8(text.clone()).unwrap()),
                    qualifier: cells.get("COLUMN_QUALIFIER").cloned(),
                }),
                (None, Some(family)) => {
                    counters.push(Counter { family, next: int(cells, "QUALIFIER_COUNTER").unwrap() });
                }
                (None, None) => {}
            }
        }
        let (sequence_number, flag) = (self.sequence_number(header).unwrap(), |name: &str| cells[name] == [1]);
        let table = Table {
            schema: of.schema.clone().unwrap_or_default().into_bytes(),
            name: of.table.clone().unwrap().into_bytes(),
            kind: 1,
            sequence_number,
            timestamp: sequence_number + 1000,
            buckets: int(cells, "SALT_BUCKETS").unwrap_or(-1),
            columns,
            immutable: flag("IMMUTABLE_ROWS"),
            default_family: cells.get("DEFAULT_COLUMN_FAMILY").cloned(),
            wal_disabled: flag("DISABLE_WAL"),
            multi_tenant: flag("MULTI_TENANT"),
            optimizable: Some(true),
            storage: Some(vec![cells["IMMUTABLE_STORAGE_SCHEME"][0] ^ 0x80]),
            encoding: Some(vec![cells["ENCODING_SCHEME"][0] ^ 0x80]),
            counters,
        };
        table.encode_to_vec()
    }
}
