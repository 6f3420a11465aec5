//! The table that the examples write: a log of requests.

use saltwing_types::table::TableHistory;
use saltwing_types::{
    ColumnDef, KeyColumn, KeySchema, KeySource, ObjectId, Salt, SortOrder, SqlType, TableDef, TableId, TableName, Value,
};

/// Its number.
pub const TABLE: TableId = TableId(100);

/// Key (phone BIGINT, ts BIGINT DESC), and values as a log of requests has them.
pub fn definition() -> TableDef {
    let value = |name: &str, ty, slot| ColumnDef {
        name: name.into(),
        ty,
        nullable: true,
        default: None,
        family: Some(0),
        slot,
        hidden: false,
        comment: None,
        absent: None,
    };
    let key = |name: &str| ColumnDef { nullable: false, family: None, ..value(name, SqlType::BigInt, 0) };
    let part = |column, name: &str, order| KeyColumn {
        source: KeySource::Column(column),
        name: name.into(),
        ty: SqlType::BigInt,
        order,
        nullable: false,
    };
    TableDef {
        id: TABLE,
        object_id: ObjectId::NEW,
        name: TableName::bare("log"),
        columns: vec![
            key("phone"),
            key("ts"),
            value("url", SqlType::Varchar(None), 0),
            value("up", SqlType::Integer, 1),
            value("down", SqlType::BigInt, 2),
            value("agent", SqlType::Varchar(None), 3),
            value("token", SqlType::Varbinary, 4),
        ],
        key: KeySchema {
            columns: vec![part(0, "phone", SortOrder::Asc), part(1, "ts", SortOrder::Desc)],
            salt: Some(Salt { buckets: 8, by: None }),
        },
        key_name: None,
        families: vec![None],
        ttl_s: None,
        options: Vec::new(),
        history: TableHistory::default(),
        comment: None,
        checks: Vec::new(),
        indexes: Vec::new(),
    }
}

/// Numbers that look random, the same for the same seed.
pub fn mixed(seed: u64) -> u64 {
    let x = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A row of about 200 bytes; versions of it have one key.
pub fn row(number: u64, version: u64) -> Vec<Value> {
    let (key, content) = (mixed(number), mixed(number ^ (version << 40)));
    let token: Vec<u8> = (0..2).flat_map(|i| mixed(content + i).to_be_bytes()).collect();
    vec![
        Value::Int((key % 100_000_000) as i64),
        Value::Int(number as i64),
        Value::Text(format!("https://service.example.com/v1/path/{:04}/resource/{}", content % 2000, content % 7)),
        Value::Int((content % 65_536) as i64),
        Value::Int((content % 100_000_000) as i64),
        Value::Text(format!("Mozilla/5.0 (X11; Linux x86_64) Engine/{}.0 Build/{}", content % 40, content % 900)),
        Value::Bytes(token),
    ]
}
