//! A user finds in the catalog what it has a right on, and nothing else.

use crate::server::{Server, Session};

const SCRIPT: &str = "
    CREATE SCHEMA hidden;
    CREATE TABLE seen (k BIGINT PRIMARY KEY, v VARCHAR DEFAULT 'x', CONSTRAINT seen_check CHECK (k > 0));
    CREATE INDEX seen_index ON seen (v);
    CREATE TABLE secret (k BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, plan VARCHAR DEFAULT 'default of secret', CONSTRAINT secret_check CHECK (k > 0));
    CREATE INDEX secret_index ON secret (plan);
    CREATE TABLE hidden.elsewhere (k BIGINT PRIMARY KEY);
    CREATE SEQUENCE secret_sequence;
    CREATE VIEW secret_view AS SELECT plan FROM secret;
    CREATE VIEW shown AS SELECT k, plan FROM secret WHERE k > 5;
    COMMENT ON TABLE secret IS 'comment of secret';
    COMMENT ON COLUMN secret.plan IS 'column comment of secret';
    COMMENT ON TABLE seen IS 'comment of seen';
    UPSERT INTO secret (plan) VALUES ('treasure');
    CREATE USER ann PASSWORD 'correct horse'; CREATE USER bob PASSWORD 'correct horse';
    GRANT SELECT ON seen TO ann; GRANT SELECT ON shown TO ann; GRANT SELECT ON secret TO bob;";

/// Relations that name objects, and texts that no answer may have.
const LISTS: [&str; 26] = [
    "SELECT * FROM pg_class",
    "SELECT * FROM pg_attribute",
    "SELECT * FROM pg_attrdef",
    "SELECT * FROM pg_index",
    "SELECT * FROM pg_indexes",
    "SELECT * FROM pg_constraint",
    "SELECT * FROM pg_tables",
    "SELECT * FROM pg_views",
    "SELECT * FROM pg_sequences",
    "SELECT * FROM pg_description WHERE classoid <> 1255",
    "SELECT * FROM pg_namespace",
    "SELECT * FROM pg_roles",
    "SELECT * FROM pg_user",
    "SELECT * FROM pg_authid",
    "SELECT * FROM pg_stat_user_tables",
    "SELECT * FROM pg_stat_user_indexes",
    "SELECT * FROM pg_statio_user_tables",
    "SELECT * FROM pg_stat_activity",
    "SELECT * FROM information_schema.tables",
    "SELECT * FROM pg_catalog.pg_proc WHERE proname = 'secret'",
    "SELECT c.* FROM information_schema.columns c JOIN pg_catalog.pg_class k ON k.relname = c.table_name",
    "SELECT * FROM information_schema.table_constraints",
    "SELECT * FROM information_schema.check_constraints",
    "SELECT * FROM information_schema.key_column_usage",
    "SELECT * FROM information_schema.table_privileges",
    "SELECT s.* FROM information_schema.schemata s, pg_catalog.pg_class k",
];

/// Whether an answer has a trace of what the user must not see.
fn leak(row: &str) -> Option<&'static str> {
    // The view `shown` is granted, with its definition, which names its table.
    let row = row.replace("SELECT k, plan FROM secret WHERE k > 5", "");
    ["secret", "hidden", "bob", "treasure", "elsewhere"].into_iter().find(|word| row.contains(word))
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_have_what_the_user_sees() {
    let server = Server::with(SCRIPT);
    let ann = server.user("ann");
    for sql in LISTS {
        for row in ann.rows(sql).await {
            assert_eq!(leak(&row), None, "{sql}: {row}");
        }
    }
    let names = "SELECT relname FROM pg_class WHERE relnamespace = 2200 ORDER BY 1";
    assert_eq!(ann.rows(names).await, ["seen", "seen_index", "seen_pkey", "shown"]);
    assert_eq!(ann.rows("SELECT rolname FROM pg_roles ORDER BY 1").await, ["ann", "saltwing"]);
    assert_eq!(ann.rows("SELECT usename, query FROM pg_stat_activity").await, ["ann|NULL"]);
    // A view shows its columns, though its table is hidden.
    let columns = "SELECT attname FROM pg_attribute WHERE attrelid = 'shown'::regclass ORDER BY attnum";
    assert_eq!(ann.rows(columns).await, ["k", "plan"]);
}

async fn oids(owner: &Session<'_>, sql: &str) -> Vec<String> {
    let oids = owner.rows(sql).await;
    assert!(!oids.is_empty(), "{sql}");
    oids
}

#[tokio::test(flavor = "multi_thread")]
async fn oids_of_others_tell_nothing() {
    let server = Server::with(SCRIPT);
    let (owner, ann) = (server.owner(), server.user("ann"));
    let relations = "SELECT oid FROM pg_class WHERE relname LIKE 'secret%' OR relname LIKE 'elsewhere%'";
    for oid in oids(&owner, relations).await {
        assert_eq!(ann.value(&format!("SELECT {oid}::regclass::text")).await, oid);
        for function in [
            "pg_get_viewdef",
            "pg_get_indexdef",
            "obj_description",
            "pg_relation_size",
            "pg_total_relation_size",
            "pg_indexes_size",
            "pg_table_is_visible",
        ] {
            assert_eq!(ann.value(&format!("SELECT {function}({oid})")).await, "NULL", "{function}");
        }
        for (function, arguments) in [
            ("col_description", "2"),
            ("has_table_privilege", "'SELECT'"),
            ("pg_relation_is_updatable", "false"),
            ("obj_description", "'pg_class'"),
        ] {
            let value = ann.value(&format!("SELECT {function}({oid}, {arguments})")).await;
            let says_nothing = value == "NULL" || (function == "pg_relation_is_updatable" && value == "0");
            assert!(says_nothing, "{function}: {value}");
        }
    }
    for oid in oids(&owner, "SELECT oid FROM pg_constraint WHERE conname LIKE 'secret%'").await {
        assert_eq!(ann.value(&format!("SELECT pg_get_constraintdef({oid})")).await, "NULL");
    }
    let bob = owner.value("SELECT oid FROM pg_roles WHERE rolname = 'bob'").await;
    assert_eq!(ann.value(&format!("SELECT pg_get_userbyid({bob})")).await, format!("unknown (OID={bob})"));
    let schema = owner.value("SELECT oid FROM pg_namespace WHERE nspname = 'hidden'").await;
    assert_eq!(ann.value(&format!("SELECT {schema}::regnamespace::text")).await, schema);
    assert_eq!(ann.value(&format!("SELECT has_schema_privilege({schema}, 'USAGE')")).await, "NULL");
}

#[tokio::test(flavor = "multi_thread")]
async fn names_of_others_are_unknown() {
    let server = Server::with(SCRIPT);
    let ann = server.user("ann");
    for name in ["secret", "hidden.elsewhere", "secret_index", "secret_pkey", "secret_sequence", "nothing"] {
        let error = ann.try_ask(&format!("SELECT '{name}'::regclass")).await.unwrap_err();
        assert_eq!(error, format!("42P01 relation \"{name}\" does not exist"));
        assert_eq!(ann.value(&format!("SELECT to_regclass('{name}')")).await, "NULL");
    }
    // What is not there and what is hidden look alike.
    for (there, missing) in
        [("'bob'::regrole", "'nobody'::regrole"), ("'hidden'::regnamespace", "'nowhere'::regnamespace")]
    {
        let error = |text: String| text.split('"').next().unwrap_or_default().to_owned();
        let (one, two) = (format!("SELECT {there}"), format!("SELECT {missing}"));
        let (one, two) = (ann.try_ask(&one).await.unwrap_err(), ann.try_ask(&two).await.unwrap_err());
        assert_eq!(error(one), error(two));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sizes_are_those_of_what_is_seen() {
    let server = Server::with(SCRIPT);
    for _ in 0..4 {
        let values: Vec<String> =
            (0..250).map(|_| "('some text that takes its space in the memtable')".to_owned()).collect();
        server.run(&format!("UPSERT INTO secret (plan) VALUES {}", values.join(", ")));
    }
    let database = "SELECT pg_database_size('likedb')";
    let (owner, ann) = (server.owner(), server.user("ann"));
    assert!(owner.value(database).await.parse::<i64>().unwrap() > 10_000);
    assert_eq!(ann.value(database).await, "0");
    assert_eq!(ann.rows("SELECT relname, n_live_tup FROM pg_stat_user_tables").await, ["seen|0"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn rights_hold_from_the_next_query_on() {
    let server = Server::with(SCRIPT);
    let ann = server.user("ann");
    let names = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 2200 ORDER BY 1";
    assert_eq!(ann.rows(names).await, ["seen"]);
    let prepared = ann.translate(names).await.unwrap();
    server.run("GRANT SELECT ON secret TO ann");
    assert_eq!(ann.rows(names).await, ["secret", "seen"]);
    let comment = "SELECT obj_description('secret'::regclass, 'pg_class')";
    assert_eq!(ann.value(comment).await, "comment of secret");
    server.run("REVOKE SELECT ON secret FROM ann");
    assert_eq!(ann.rows(names).await, ["seen"]);
    assert!(ann.try_ask(comment).await.unwrap_err().starts_with("42P01"));
    // A query that was prepared before sees it, too.
    server.run("REVOKE SELECT ON seen FROM ann");
    prepared.refresh(&ann.connection).await.unwrap();
    let mut rows = prepared.connection.query(&prepared.sql, ()).await.unwrap();
    assert!(rows.next().await.unwrap().is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_that_is_made_again_has_its_new_rights() {
    let server = Server::with(SCRIPT);
    let names = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 2200 ORDER BY 1";
    let before = server.user("ann");
    assert_eq!(before.rows(names).await, ["seen"]);
    let prepared = before.translate(names).await.unwrap();
    server.run("DROP USER ann");
    assert!(before.try_ask(names).await.unwrap_err().starts_with("42501"));
    server.run("CREATE USER ann PASSWORD 'another horse'; GRANT SELECT ON secret TO ann");
    // The session of the one that was dropped stays without any view.
    assert!(before.try_ask(names).await.unwrap_err().starts_with("42501"));
    assert_eq!(prepared.refresh(&before.connection).await.unwrap_err().sqlstate(), "42501");
    assert_eq!(server.user("ann").rows(names).await, ["secret"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn queries_read_nothing_but_the_catalog() {
    let server = Server::with(SCRIPT);
    let owner = server.owner();
    for sql in [
        "SELECT * FROM pg_class, secret",
        "SELECT * FROM pg_class, '/etc/passwd'",
        "SELECT * FROM pg_class WHERE relname IN (SELECT plan FROM secret)",
        "SELECT relname, (SELECT max(plan) FROM public.secret) FROM pg_class",
        "WITH s AS (SELECT * FROM secret) SELECT * FROM s, pg_class",
        "SELECT * FROM pg_class, internal.numbers",
        "SELECT pg_read_file('/etc/passwd')",
    ] {
        assert!(owner.try_ask(sql).await.is_err(), "{sql}");
    }
}
