//! OIDs, and the names that stand for them.

use std::collections::HashSet;

use saltwing::Database;

use crate::server::{Server, Session};

const SCRIPT: &str = "
    CREATE SCHEMA app;
    CREATE TABLE t (k BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, v VARCHAR DEFAULT 'x', CONSTRAINT c CHECK (k > 0), CONSTRAINT d CHECK (k < 9));
    CREATE INDEX i ON t (v);
    CREATE VIEW w AS SELECT v FROM t;
    CREATE SEQUENCE s;
    CREATE TABLE app.\"My Table\" (\"Key\" BIGINT PRIMARY KEY, n INTEGER DEFAULT 5);
    CREATE USER ann PASSWORD 'correct horse'";

/// Each object with its kind, its name and its OID.
const OBJECTS: &str = "
    SELECT 'class', oid::regclass::text, oid FROM pg_class WHERE oid >= 16384
    UNION ALL SELECT 'constraint', conname::text, oid FROM pg_constraint
    UNION ALL SELECT 'default', adrelid::regclass::text || '.' || adnum::text, oid FROM pg_attrdef
    UNION ALL SELECT 'schema', nspname::text, oid FROM pg_namespace
    UNION ALL SELECT 'role', rolname::text, oid FROM pg_roles
    ORDER BY 1, 2";

async fn objects(session: &Session<'_>) -> Vec<String> {
    session.rows(OBJECTS).await
}

#[tokio::test(flavor = "multi_thread")]
async fn oids_stay_over_a_reopening() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let before = {
        let server = Server::over(Database::open(&path).unwrap());
        server.run(SCRIPT);
        let before = objects(&server.owner()).await;
        let Server { database, catalog } = server;
        drop(catalog);
        database.close().unwrap();
        before
    };
    let server = Server::over(Database::open(&path).unwrap());
    assert_eq!(objects(&server.owner()).await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn oids_stay_while_other_objects_come_and_go() {
    let server = Server::new();
    server.run("CREATE TABLE a (k BIGINT PRIMARY KEY, v VARCHAR DEFAULT 'x', CONSTRAINT a_check CHECK (k > 0))");
    server.run(SCRIPT);
    let owner = server.owner();
    let before = objects(&owner).await;
    server.run("CREATE TABLE later (k BIGINT PRIMARY KEY, v VARCHAR DEFAULT 'y', CONSTRAINT later_check CHECK (k > 1)); CREATE INDEX later_index ON later (v)");
    let after: HashSet<String> = objects(&owner).await.into_iter().collect();
    assert!(before.iter().all(|object| after.contains(object)), "{before:?} {after:?}");
    server.run("DROP TABLE a");
    let after: HashSet<String> = objects(&owner).await.into_iter().collect();
    let is_of_a = |object: &&String| ["|a|", "|a_pkey|", "|a_check|", "|a.2|"].iter().any(|name| object.contains(name));
    let gone: Vec<&String> = before.iter().filter(|object| !after.contains(*object)).collect();
    assert_eq!(gone.len(), 5, "{gone:?}");
    assert!(gone.iter().all(is_of_a), "{gone:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_is_made_again_is_another_one() {
    let server = Server::with(SCRIPT);
    let owner = server.owner();
    let names = "SELECT oid FROM pg_class WHERE relname IN ('t', 'i', 't_pkey', 'w') ORDER BY relname";
    let before: HashSet<String> = owner.rows(names).await.into_iter().collect();
    assert_eq!(before.len(), 4);
    server.run("DROP VIEW w; DROP TABLE t; CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR); CREATE INDEX i ON t (v); CREATE VIEW w AS SELECT v FROM t");
    let after: HashSet<String> = owner.rows(names).await.into_iter().collect();
    assert_eq!(after.len(), 4);
    assert!(before.is_disjoint(&after), "{before:?} {after:?}");
    // A rename keeps the number.
    let oid = owner.value("SELECT 't'::regclass::oid").await;
    server.run("DROP VIEW w; ALTER TABLE t RENAME TO u");
    assert_eq!(owner.value("SELECT 'u'::regclass::oid").await, oid);
    assert_eq!(owner.value(&format!("SELECT {oid}::regclass::text")).await, "u");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_two_objects_have_one_oid() {
    let server = Server::with(SCRIPT);
    let owner = server.owner();
    let all = "SELECT oid FROM pg_class UNION ALL SELECT oid FROM pg_constraint UNION ALL SELECT oid FROM pg_attrdef
        UNION ALL SELECT oid FROM pg_type UNION ALL SELECT oid FROM pg_namespace UNION ALL SELECT oid FROM pg_roles WHERE oid > 10";
    let oids = owner.rows(all).await;
    let distinct: HashSet<&String> = oids.iter().collect();
    assert_eq!(oids.len(), distinct.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn names_become_oids_and_back() {
    let server = Server::with(SCRIPT);
    let owner = server.owner();
    for (name, shown) in [
        ("t", "t"),
        ("T", "t"),
        ("public.t", "t"),
        ("PUBLIC.\"t\"", "t"),
        ("likedb.public.t", "t"),
        ("app.\"My Table\"", "app.\"My Table\""),
        ("App.\"My Table\"", "app.\"My Table\""),
        ("app.\"My Table_pkey\"", "app.\"My Table_pkey\""),
        ("pg_class", "pg_class"),
        ("pg_catalog.pg_class", "pg_class"),
        ("information_schema.tables", "information_schema.tables"),
    ] {
        assert_eq!(owner.value(&format!("SELECT '{name}'::regclass::text")).await, shown, "{name}");
        let (oid, by_cast) =
            (format!("SELECT '{name}'::regclass::oid"), format!("SELECT CAST('{name}' AS regclass)::int"));
        assert_eq!(owner.value(&oid).await, owner.value(&by_cast).await);
    }
    for name in ["\"T\"", "app.my_table", "My Table", "nowhere.t", "t.t.t", ""] {
        assert!(owner.try_ask(&format!("SELECT '{name}'::regclass")).await.is_err(), "{name}");
    }
    for (name, shown) in [
        ("int", "integer"),
        ("INT4", "integer"),
        ("pg_catalog.int8", "bigint"),
        ("varchar(5)", "character varying"),
        ("\"char\"", "\"char\""),
        ("text[]", "text[]"),
        ("_int4", "integer[]"),
        ("\"pg_catalog\".\"int8\"", "bigint"),
        ("double precision", "double precision"),
        ("timestamp with time zone", "timestamp with time zone"),
    ] {
        assert_eq!(owner.value(&format!("SELECT '{name}'::regtype::text")).await, shown, "{name}");
    }
    assert_eq!(owner.value("SELECT 0::regclass::text").await, "-");
    assert_eq!(owner.value("SELECT 4000000000::regclass::text").await, "4000000000");
    assert_eq!(owner.value("SELECT 'ann'::regrole::oid::regrole::text").await, "ann");
    assert_eq!(owner.value("SELECT 'app'::regnamespace::oid::regnamespace::text").await, "app");
    assert_eq!(owner.value("SELECT 'upper'::regproc::text").await, "upper");
}
