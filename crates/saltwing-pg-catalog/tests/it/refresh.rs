//! The catalog follows the definitions.

use crate::server::Server;

#[tokio::test(flavor = "multi_thread")]
async fn definitions_of_other_connections_are_seen() {
    let server = Server::with("CREATE TABLE t (k BIGINT PRIMARY KEY)");
    let owner = server.owner();
    let columns = "SELECT attname FROM pg_attribute WHERE attrelid = 't'::regclass AND attnum > 0 ORDER BY attnum";
    assert_eq!(owner.rows(columns).await, ["k"]);
    server.run("ALTER TABLE t ADD COLUMN v VARCHAR");
    assert_eq!(owner.rows(columns).await, ["k", "v"]);
    server.run("COMMENT ON TABLE t IS 'one'");
    assert_eq!(owner.value("SELECT obj_description('t'::regclass)").await, "one");
    server.run("COMMENT ON TABLE t IS 'two'; COMMENT ON COLUMN t.v IS 'three'");
    assert_eq!(owner.value("SELECT obj_description('t'::regclass)").await, "two");
    assert_eq!(owner.value("SELECT col_description('t'::regclass, 2)").await, "three");
    server.run("CREATE INDEX i ON t (v)");
    assert_eq!(owner.value("SELECT count(*) FROM pg_index WHERE indrelid = 't'::regclass").await, "2");
    server.run("DROP TABLE t");
    assert!(owner.try_ask(columns).await.unwrap_err().starts_with("42P01"));
}

#[tokio::test(flavor = "multi_thread")]
async fn sizes_follow_the_rows() {
    let server = Server::with("CREATE TABLE t (k BIGINT PRIMARY KEY)");
    let owner = server.owner();
    let tuples = "SELECT reltuples FROM pg_class WHERE relname = 't'";
    assert_eq!(owner.value(tuples).await, "0");
    server.run("UPSERT INTO t VALUES (1), (2), (3)");
    tokio::time::sleep(std::time::Duration::from_millis(2_100)).await;
    assert_eq!(owner.value(tuples).await, "3");
}

/// Temporary tables are those of a session, and the catalog is that of a user: it does not list them.
#[tokio::test(flavor = "multi_thread")]
async fn temporary_tables_are_not_listed() {
    let server = Server::with("CREATE TABLE t (k BIGINT PRIMARY KEY)");
    let owner = server.owner();
    owner.connection.execute("CREATE TEMPORARY TABLE mine (k BIGINT PRIMARY KEY)", ()).await.unwrap();
    assert_eq!(owner.rows("SELECT relname FROM pg_class WHERE relname IN ('t', 'mine')").await, ["t"]);
    assert_eq!(owner.value("SELECT pg_my_temp_schema()").await, "0");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_does_not_hold_the_catalog_back() {
    let server = Server::with("CREATE TABLE t (k BIGINT PRIMARY KEY)");
    let owner = server.owner();
    owner.connection.execute("BEGIN", ()).await.unwrap();
    owner.connection.execute("UPSERT INTO t VALUES (1)", ()).await.unwrap();
    server.run("CREATE TABLE later (k BIGINT PRIMARY KEY)");
    assert_eq!(
        owner.rows("SELECT relname FROM pg_class WHERE relname IN ('t', 'later') ORDER BY 1").await,
        ["later", "t"]
    );
}
