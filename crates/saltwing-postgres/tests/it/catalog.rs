//! Queries for the catalog of PostgreSQL.

use crate::copy::copy_out;
use crate::raw::Raw;
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
async fn the_session_sees_its_statements_and_cursors() {
    let server = Server::start().await;
    server.run("CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR)");
    let client = server.client().await;
    let statements = "SELECT name, statement, parameter_types, from_sql FROM pg_prepared_statements WHERE from_sql";
    assert!(rows(&client, statements).await.is_empty());
    client.batch_execute("PREPARE p (bigint, bigint) AS SELECT * FROM t WHERE k = $1 AND k > $2").await.unwrap();
    let shown = "p,PREPARE p (bigint, bigint) AS SELECT * FROM t WHERE k = $1 AND k > $2,{bigint,bigint},t";
    assert_eq!(rows(&client, statements).await, [shown]);
    let _parsed = client.prepare("SELECT v FROM t WHERE k = $1").await.unwrap();
    let parsed = "SELECT statement, parameter_types FROM pg_prepared_statements WHERE NOT from_sql AND statement LIKE '%WHERE k%'";
    assert_eq!(rows(&client, parsed).await, ["SELECT v FROM t WHERE k = $1,{bigint}"]);
    let ages = "SELECT prepare_time > now() - INTERVAL '1 hour' AND prepare_time <= now() FROM pg_prepared_statements WHERE from_sql";
    assert_eq!(rows(&client, ages).await, ["t"]);
    client.batch_execute("DEALLOCATE p; BEGIN; DECLARE c BINARY CURSOR FOR SELECT 1").await.unwrap();
    assert!(rows(&client, statements).await.is_empty());
    let cursors = "SELECT name, statement, is_holdable, is_binary, is_scrollable FROM pg_cursors";
    assert_eq!(rows(&client, cursors).await, ["c,DECLARE c BINARY CURSOR FOR SELECT 1,f,t,f"]);
    client.batch_execute("COMMIT").await.unwrap();
    assert!(rows(&client, cursors).await.is_empty());
    // Another session has its own.
    client.batch_execute("PREPARE p AS SELECT 1").await.unwrap();
    assert!(rows(&server.client().await, statements).await.is_empty());
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

#[tokio::test(flavor = "multi_thread")]
async fn columns_name_their_tables() {
    let server = Server::start().await;
    server.run("CREATE TABLE t (k BIGINT PRIMARY KEY, v DECIMAL(10,2)); CREATE VIEW w AS SELECT v FROM t WHERE k > 0");
    server.run("CREATE TABLE u (x VARCHAR, k BIGINT PRIMARY KEY); UPSERT INTO t VALUES (1, 1.5)");
    let client = server.client().await;
    let oid = |name: &str| format!("SELECT '{name}'::regclass::oid");
    let [t, u] =
        [rows(&client, &oid("t")).await, rows(&client, &oid("u")).await].map(|rows| rows[0].parse::<u32>().unwrap());
    let origins = async |sql: &str| -> Vec<(u32, i16)> {
        let statement = client.prepare(sql).await.unwrap();
        let columns = statement.columns().iter();
        columns.map(|column| (column.table_oid().unwrap_or(0), column.column_id().unwrap_or(0))).collect()
    };
    assert_eq!(origins("SELECT v AS label, k + 1, k FROM t WHERE k = 1").await, [(t, 2), (0, 0), (t, 1)]);
    assert_eq!(origins("SELECT * FROM t JOIN u ON t.k = u.k WHERE t.k = 1").await, [(t, 1), (t, 2), (u, 1), (u, 2)]);
    // The table behind a view is not the client's.
    assert_eq!(origins("SELECT v FROM w").await, [(0, 0)]);
    assert_eq!(rows(&client, "SELECT v FROM t WHERE k = 1").await, ["1.50"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn values_of_the_catalog_have_their_forms() {
    let server = Server::start().await;
    server.run("CREATE TABLE t (a BIGINT, b BIGINT, v VARCHAR, CONSTRAINT key PRIMARY KEY (a, b))");
    let client = server.client().await;
    let keys = "SELECT indkey FROM pg_index WHERE indrelid = 't'::regclass";
    assert_eq!(rows(&client, keys).await, ["1 2"]);
    let row = client.query_one(keys, &[]).await.unwrap();
    assert_eq!(row.columns()[0].type_().name(), "int2vector");
    let start = rows(&client, "SELECT pg_postmaster_start_time()").await;
    assert!(start[0].ends_with("+00"), "{start:?}");
    let oids = client
        .query_one("SELECT array_agg(oid ORDER BY oid) FROM pg_class WHERE oid IN (1247, 1259)", &[])
        .await
        .unwrap();
    assert_eq!(oids.get::<_, Vec<u32>>(0), [1247, 1259]);
    // COPY has OIDs in 32 bits as well.
    let mut raw = Raw::log_in(&server).await;
    let copy = "COPY (SELECT oid FROM pg_class WHERE relname = 'pg_class') TO STDOUT (FORMAT binary)";
    let (bytes, _) = copy_out(&mut raw, copy).await;
    let row = [&1_i16.to_be_bytes()[..], &4_i32.to_be_bytes(), &1259_u32.to_be_bytes()].concat();
    assert!(bytes.windows(row.len()).any(|window| window == row), "{bytes:?}");
}
