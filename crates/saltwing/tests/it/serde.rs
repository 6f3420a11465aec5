//! Rows and parameters through serde, and the types of other crates.

use std::collections::{BTreeMap, HashMap};

use saltwing::blocking::Connection;
use saltwing::{Database, Serde, to_params};
use serde::{Deserialize, Serialize};

use crate::{code, texts};

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum Kind {
    Small,
    Large,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Id(i64);

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Item {
    id: Id,
    #[serde(rename = "Label")]
    label: Option<String>,
    kind: Kind,
    price: f64,
    up: bool,
    #[serde(default)]
    absent: u8,
}

fn table() -> Connection {
    let connection = Database::memory().unwrap().connect().blocking();
    let sql = "CREATE TABLE t (id BIGINT PRIMARY KEY, label VARCHAR, kind VARCHAR, price DECIMAL(10, 2), up BOOLEAN, d DATE, b VARBINARY)";
    connection.execute(sql, ()).unwrap();
    connection
}

#[test]
fn structs_go_in_and_come_out() {
    let connection = table();
    let item = |id, label: Option<&str>, kind| Item {
        id: Id(id),
        label: label.map(str::to_owned),
        kind,
        price: 1.25,
        up: true,
        absent: 0,
    };
    let items = [item(1, Some("one"), Kind::Large), item(2, None, Kind::Small)];
    let mut appender = connection.appender_columns("t", &["id", "label", "kind", "price", "up"]).unwrap();
    for item in &items {
        let saltwing::Params::Named(mut named) = to_params(item).unwrap() else { panic!("a struct has names") };
        named.retain(|(name, _)| name != "absent");
        appender.append_row(saltwing::Params::Named(named)).unwrap();
    }
    appender.close().unwrap();
    let read = connection.query_as::<Serde<Item>>("SELECT * FROM t WHERE id > 0", ()).unwrap();
    assert_eq!(read.map(|item| item.unwrap().0).collect::<Vec<_>>(), items);
    // By position, as a map, and as a number.
    let Serde(pair) =
        connection.query_one::<Serde<(i64, Option<String>)>>("SELECT id, label FROM t WHERE id = 2", ()).unwrap();
    assert_eq!(pair, (2, None));
    let Serde(map) = connection
        .query_one::<Serde<HashMap<String, Option<String>>>>("SELECT label, price FROM t WHERE id = 1", ())
        .unwrap();
    assert_eq!((map["label"].as_deref(), map["price"].as_deref()), (Some("one"), Some("1.25")));
    let wrong = connection.query_one::<Serde<(i64,)>>("SELECT id, label FROM t WHERE id = 2", ());
    assert_eq!(code(wrong), "type_mismatch");
    let wrong = connection.query_one::<Serde<Item>>("SELECT id FROM t WHERE id = 2", ()).unwrap_err();
    assert!(wrong.to_string().contains("missing field"), "{wrong}");
    let wrong = connection.query_one::<Serde<Item>>("SELECT id, 'Huge' AS kind, price, up FROM t WHERE id = 2", ());
    assert_eq!(code(wrong), "type_mismatch");
}

#[test]
fn parameters_of_all_forms() {
    let connection = table();
    let select = "SELECT id FROM t WHERE id = ? AND label = ?";
    connection.execute("UPSERT INTO t (id, label, b, d) VALUES (1, 'x', X'00ff', '2024-05-01')", ()).unwrap();
    assert_eq!(connection.query_one::<(i64,)>(select, to_params(&(1u8, Some('x'))).unwrap()).unwrap(), (1,));
    assert_eq!(
        connection.query_one::<(i64,)>("SELECT id FROM t WHERE id IN (?, ?)", to_params(&[1, 2]).unwrap()).unwrap(),
        (1,)
    );
    let named: BTreeMap<&str, i64> = [("id", 1)].into();
    assert_eq!(
        connection.query_one::<(i64,)>("SELECT id FROM t WHERE id = :id", to_params(&named).unwrap()).unwrap(),
        (1,)
    );
    for wrong in [code(to_params(&1)), code(to_params(&"x")), code(to_params(&(1, named)))] {
        assert_eq!(wrong, "type_mismatch");
    }
    // A row is a map.
    let row: saltwing::Row = connection.query_one("SELECT id, label, up, b, d, price FROM t WHERE id = 1", ()).unwrap();
    assert_eq!(
        serde_json::to_string(&row).unwrap(),
        r#"{"id":1,"label":"x","up":null,"b":"00ff","d":"2024-05-01","price":null}"#
    );
}

#[test]
fn ids_of_uuid() {
    let connection = Database::memory().unwrap().connect().blocking();
    connection.execute("CREATE TABLE u (id BINARY(16) PRIMARY KEY, text CHAR(36), n BIGINT)", ()).unwrap();
    let id = uuid::Uuid::from_u128(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef);
    connection.execute("UPSERT INTO u VALUES (?, ?, 1)", (id, id.to_string())).unwrap();
    let select = "SELECT id, text FROM u WHERE id = ?";
    assert_eq!(connection.query_one::<(uuid::Uuid, uuid::Uuid)>(select, (id,)).unwrap(), (id, id));
    let select = "SELECT text FROM u WHERE id = X'0123456789abcdef0123456789abcdef'";
    assert_eq!(texts(&connection, select).unwrap(), [id.to_string()]);
    assert_eq!(code(connection.query_one::<(uuid::Uuid,)>("SELECT n FROM u WHERE id = ?", (id,))), "type_mismatch");
}

#[test]
fn columns_of_uuid() {
    let connection = Database::memory().unwrap().connect().blocking();
    connection.execute("CREATE TABLE u (id UUID PRIMARY KEY, other UUID, n BIGINT)", ()).unwrap();
    let [id, other] = [1, 2].map(|n| uuid::Uuid::from_u128(0x0123_4567_89ab_cdef_0123_4567_89ab_cde0 + n));
    connection.execute("UPSERT INTO u VALUES (?, ?, 1)", (id, other)).unwrap();
    connection.execute("UPSERT INTO u VALUES (?, NULL, 2)", (other.to_string(),)).unwrap();
    let select = "SELECT id, other, n FROM u WHERE id = ?";
    let first: (uuid::Uuid, Option<uuid::Uuid>, i64) = connection.query_one(select, (id,)).unwrap();
    assert_eq!(first, (id, Some(other), 1));
    let statement = connection.prepare(select).unwrap();
    for (key, n) in [(id, 1), (other, 2)] {
        let mut rows = statement.query((key,)).unwrap();
        assert_eq!(rows.columns()[0].ty.to_string(), "UUID");
        assert_eq!(rows.next().unwrap().unwrap().get::<i64>(2).unwrap(), n);
    }
    assert_eq!(code(connection.query_one::<(i64,)>("SELECT n FROM u WHERE id = ?", (&b"short"[..],))), "no_row");
    assert_eq!(code(connection.query_one::<(i64,)>("SELECT n FROM u WHERE id = ?", ("short",))), "bad_text");
    // serde: a text for people, and for types that read texts.
    let row: saltwing::Row = connection.query_one(select, (id,)).unwrap();
    assert_eq!(serde_json::to_string(&row).unwrap(), format!(r#"{{"id":"{id}","other":"{other}","n":1}}"#));
    let saltwing::Serde((text, _, _)) =
        connection.query_one::<saltwing::Serde<(String, Option<String>, i64)>>(select, (id,)).unwrap();
    assert_eq!(text, id.to_string());
    // What the shell and COPY put out comes in again.
    let shown = texts(&connection, "SHOW CREATE TABLE u").unwrap().concat();
    let again = Database::memory().unwrap().connect().blocking();
    again.execute(&shown, ()).unwrap();
    for format in ["csv", "json"] {
        let mut out = Vec::new();
        let all = "SELECT * FROM u WHERE id > '00000000000000000000000000000000' ORDER BY id";
        connection.copy_to_writer(&format!("COPY ({all}) TO STDOUT WITH (FORMAT {format})"), (), &mut out).unwrap();
        again.execute("TRUNCATE u", ()).unwrap();
        again.copy_from_reader(&format!("COPY u FROM STDIN WITH (FORMAT {format})"), &out[..]).unwrap();
        assert_eq!(texts(&again, all).unwrap(), texts(&connection, all).unwrap(), "{format}");
    }
}

#[cfg(feature = "rust_decimal")]
#[test]
fn numbers_of_rust_decimal() {
    use rust_decimal::Decimal;
    let connection = Database::memory().unwrap().connect().blocking();
    connection.execute("CREATE TABLE u (id BIGINT PRIMARY KEY, n DECIMAL(30, 4))", ()).unwrap();
    let n: Decimal = "-12345678901234567890.5".parse().unwrap();
    connection.execute("UPSERT INTO u VALUES (1, ?), (2, 12345678901234567890123456.7891)", (n,)).unwrap();
    assert_eq!(connection.query_one::<(Decimal,)>("SELECT n FROM u WHERE id = 1 AND n = ?", (n,)).unwrap(), (n,));
    assert_eq!(code(connection.query_one::<(Decimal,)>("SELECT n FROM u WHERE id = 2", ())), "type_mismatch");
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Tagged {
    id: i64,
    tags: Vec<Option<String>>,
    pair: (i32, i32),
    none: Option<Vec<bool>>,
}

#[test]
fn lists_are_arrays() {
    let connection = Database::memory().unwrap().connect().blocking();
    let sql = "CREATE TABLE t (id BIGINT PRIMARY KEY, tags VARCHAR ARRAY, pair INTEGER ARRAY, none BOOLEAN ARRAY)";
    connection.execute(sql, ()).unwrap();
    let tagged = Tagged { id: 1, tags: vec![Some("a,\"b".into()), None], pair: (1, 2), none: None };
    connection.execute("UPSERT INTO t VALUES (:id, :tags, :pair, :none)", to_params(&tagged).unwrap()).unwrap();
    let Serde(read) = connection.query_one::<Serde<Tagged>>("SELECT * FROM t WHERE id = 1", ()).unwrap();
    assert_eq!(read, tagged);
    let row: saltwing::Row = connection.query_one("SELECT * FROM t WHERE id = 1", ()).unwrap();
    let json = serde_json::to_string(&row).unwrap();
    assert_eq!(json, r#"{"id":1,"tags":["a,\"b",null],"pair":[1,2],"none":null}"#);
    let mut out = Vec::new();
    connection.copy_to_writer("COPY t TO STDOUT WITH (FORMAT json)", (), &mut out).unwrap();
    assert_eq!(String::from_utf8(out.clone()).unwrap().trim_end(), json);
    connection.execute("TRUNCATE t", ()).unwrap();
    connection.copy_from_reader("COPY t FROM STDIN WITH (FORMAT json)", &out[..]).unwrap();
    assert_eq!(connection.query_one::<Serde<Tagged>>("SELECT * FROM t WHERE id = 1", ()).unwrap().0, tagged);
}
