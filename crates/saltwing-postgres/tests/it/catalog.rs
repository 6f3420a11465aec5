//! Queries for the catalog of PostgreSQL.

use crate::{Server, rows};

#[tokio::test(flavor = "multi_thread")]
async fn tables_and_keys_are_found() {
    let server = Server::start().await;
    server.run("CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR); CREATE INDEX i ON t (v)");
    let client = server.client().await;
    assert_eq!(rows(&client, "SELECT 'pg_catalog.pg_class'::regclass::oid").await, ["1259"]);
    let classes = "SELECT relname, relkind FROM pg_class WHERE relname IN ('t', 'i') ORDER BY 1";
    assert_eq!(rows(&client, classes).await, ["i,i", "t,r"]);
    let key = "SELECT conname, contype FROM pg_constraint WHERE conrelid = 't'::regclass";
    assert_eq!(rows(&client, key).await, ["t_pkey,p"]);
    // A definition that comes later is seen, also by a prepared query.
    let count = client.prepare("SELECT count(*) FROM pg_class WHERE relname = 'later'").await.unwrap();
    assert_eq!(client.query_one(&count, &[]).await.unwrap().get::<_, i64>(0), 0);
    server.run("CREATE TABLE later (k BIGINT PRIMARY KEY)");
    assert_eq!(client.query_one(&count, &[]).await.unwrap().get::<_, i64>(0), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_finds_what_it_sees() {
    let server = Server::start().await;
    server.run("CREATE TABLE t (k BIGINT PRIMARY KEY); CREATE TABLE u (k BIGINT PRIMARY KEY)");
    server.run("CREATE USER ann PASSWORD 'correct horse'; GRANT SELECT ON u TO ann");
    let client = server.connect("user=ann password='correct horse'").await.unwrap();
    assert_eq!(rows(&client, "SELECT relname FROM pg_class WHERE relname IN ('t', 'u')").await, ["u"]);
    assert!(client.simple_query("SELECT * FROM pg_class, '/etc/passwd'").await.is_err());
}
