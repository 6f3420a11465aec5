//! `public`: a name of the default schema, unless the database has a schema of this name.

use std::path::Path;

use saltwing_catalog::CatalogChange;
use saltwing_types::text;

use crate::blocking::Connection;
use crate::{Database, Error, Row};

fn run(connection: &Connection, statements: &[&str]) {
    for sql in statements {
        connection.execute(sql, ()).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

/// The rows of a query, the values of each joined by commas.
fn rows(connection: &Connection, sql: &str) -> Vec<String> {
    let text = |row: Row| {
        let values = row.values().unwrap();
        let values = values.iter().zip(row.columns()).map(|(value, column)| text::format(value, column.ty));
        values.map(|value| value.unwrap_or_else(|| "NULL".into())).collect::<Vec<_>>().join(",")
    };
    let found = connection.query(sql, ()).unwrap_or_else(|error| panic!("{sql}: {error}"));
    found.map(|row| text(row.unwrap_or_else(|error| panic!("{sql}: {error}")))).collect()
}

fn state<T>(result: Result<T, Error>) -> &'static str {
    result.map(drop).err().map_or("", |error| error.sqlstate())
}

fn state_of(connection: &Connection, sql: &str) -> &'static str {
    state(connection.execute(sql, ()))
}

/// A schema `public`, as an earlier version made it, with a table t beside that of the default schema.
fn add_own_schema(database: &Database) -> Connection {
    database.shared.catalog.apply(CatalogChange::RestoreSchema("Public")).unwrap();
    let owner = database.connect().blocking();
    run(
        &owner,
        &[
            "CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR)",
            "CREATE TABLE public.t (k BIGINT PRIMARY KEY, v VARCHAR)",
            "UPSERT INTO t VALUES (1, 'default'), (2, 'default')",
            "UPSERT INTO public.t VALUES (1, 'own')",
        ],
    );
    owner
}

/// Statements of each kind, with the name of a table that has the columns k and v, and the privilege that they need.
const STATEMENTS: &[(&str, &str)] = &[
    ("SELECT v FROM # WHERE k = 1", "SELECT"),
    ("SELECT v FROM # WHERE k = (SELECT MAX(k) FROM # WHERE k = 1)", "SELECT"),
    ("EXPLAIN SELECT v FROM # WHERE k = 1", "SELECT"),
    ("DESCRIBE #", "SELECT"),
    ("SHOW CREATE TABLE #", "SELECT"),
    ("SHOW INDEXES FROM #", "SELECT"),
    ("EXPORT # AS PHOENIX", "SELECT"),
    ("UPSERT INTO # VALUES (9, 'x')", "UPSERT"),
    ("UPDATE # SET v = 'y' WHERE k = 9", "UPSERT"),
    ("DELETE FROM # WHERE k = 9", "DELETE"),
    ("TRUNCATE TABLE #", "DELETE"),
    ("CREATE INDEX IF NOT EXISTS i ON # (v)", "DDL"),
    ("DROP INDEX IF EXISTS i ON #", "DDL"),
    ("COMMENT ON TABLE # IS 'x'", "DDL"),
    ("COMMENT ON COLUMN #.v IS 'x'", "DDL"),
];

/// Names of the table t in the default schema.
const NAMES: [&str; 3] = ["t", "public.T", "\"Public\".t"];

#[test]
fn a_grant_holds_for_all_names_of_its_object() {
    let database = Database::memory().unwrap();
    let owner = database.connect().blocking();
    run(&owner, &["CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR)", "CREATE USER ann PASSWORD 'one'"]);
    let ann = database.connect_as("ann").unwrap().blocking();
    for (granted, revoked) in NAMES.into_iter().zip(NAMES.into_iter().cycle().skip(1)) {
        for (statement, privilege) in STATEMENTS {
            for name in NAMES {
                // The same text each time: the result of a check must not outlive the grant.
                let sql = statement.replace('#', name);
                assert_eq!(state_of(&ann, &sql), "42501", "{sql}");
                run(&owner, &[&format!("GRANT {privilege} ON {granted} TO ann")]);
                assert_eq!(state_of(&ann, &sql), "", "{sql}, granted on {granted}");
                run(&owner, &[&format!("REVOKE {privilege} ON {revoked} FROM ann")]);
                assert_eq!(state_of(&ann, &sql), "42501", "{sql}, revoked on {revoked}");
            }
        }
    }
}

#[test]
fn a_new_object_in_public_takes_the_right_to_make_one_without_a_schema() {
    let database = Database::memory().unwrap();
    let owner = database.connect().blocking();
    run(
        &owner,
        &["CREATE SCHEMA s", "CREATE USER ann PASSWORD 'one'", "GRANT DDL ON SCHEMA s TO ann", "CREATE SEQUENCE q"],
    );
    let ann = database.connect_as("ann").unwrap().blocking();
    let made = [
        "CREATE TABLE public.n (k BIGINT PRIMARY KEY)",
        "CREATE VIEW public.w AS SELECT k FROM n WHERE k < 5",
        "CREATE SEQUENCE public.r",
    ];
    for sql in made {
        let refused = ann.execute(sql, ()).unwrap_err();
        assert_eq!(refused.sqlstate(), "42501", "{sql}");
        assert_eq!(refused.help(), Some("GRANT DDL ON DATABASE TO ann"), "{sql}");
    }
    assert_eq!(state_of(&ann, "CREATE SCHEMA IF NOT EXISTS public"), "42501");
    assert_eq!(state_of(&ann, "DROP SCHEMA public"), "42501");
    assert_eq!(state_of(&ann, "EXPORT SCHEMA public AS PHOENIX"), "42501");
    assert_eq!(state_of(&ann, "SELECT NEXT VALUE FOR public.q"), "42501");
    for verb in ["GRANT SELECT ON SCHEMA public TO ann", "REVOKE SELECT ON SCHEMA Public FROM ann"] {
        assert_eq!(state_of(&owner, verb), "0A000", "{verb}");
    }
    run(&owner, &["GRANT DDL, SELECT ON DATABASE TO ann", "GRANT UPSERT ON public.q TO ann"]);
    run(&ann, &made);
    assert_eq!(rows(&ann, "SELECT NEXT VALUE FOR q"), ["1"]);
    assert_eq!(rows(&owner, "SHOW TABLES FROM public"), ["NULL,n", "NULL,w"]);
}

/// The schema is the meaning of the name then, also for rights.
#[test]
fn a_schema_public_of_the_database_is_meant() {
    let database = Database::memory().unwrap();
    let owner = add_own_schema(&database);
    let read = |sql: &str| rows(&owner, sql);
    assert_eq!(read("SELECT v FROM public.t WHERE k = 1"), ["own"]);
    assert_eq!(read("SELECT PUBLIC.T.v FROM public.t WHERE public.t.k = 1"), ["own"]);
    assert_eq!(read("SELECT v FROM t WHERE k = 1"), ["default"]);
    // The default schema has no name.
    assert_eq!(state_of(&owner, "SELECT public.t.v FROM t WHERE k = 1"), "42P01");
    assert_eq!(state_of(&owner, "DELETE FROM t WHERE public.t.k = 1"), "42P01");
    assert_eq!(read("SHOW TABLES FROM public"), ["Public,t"]);
    assert_eq!(read("SHOW SCHEMAS"), ["Public"]);
    assert_eq!(state_of(&owner, "CREATE SCHEMA public"), "42P06");
    run(&owner, &["CREATE SCHEMA IF NOT EXISTS public", "CREATE SEQUENCE public.q", "CREATE SEQUENCE q START WITH 7"]);
    assert_eq!(read("SELECT NEXT VALUE FOR public.q, NEXT VALUE FOR q"), ["1,7"]);
    assert_eq!(state_of(&owner, "DROP SCHEMA public"), "42P16");

    run(&owner, &["CREATE USER ann PASSWORD 'one'", "GRANT SELECT ON t TO ann"]);
    let ann = database.connect_as("ann").unwrap().blocking();
    let states = || ["t", "public.t"].map(|name| state_of(&ann, &format!("SELECT v FROM {name} WHERE k = 1")));
    assert_eq!(states(), ["", "42501"]);
    run(&owner, &["REVOKE SELECT ON t FROM ann", "GRANT SELECT ON public.t TO ann"]);
    assert_eq!(states(), ["42501", ""]);
    run(&owner, &["REVOKE SELECT ON public.t FROM ann", "GRANT ALL ON SCHEMA public TO ann"]);
    assert_eq!(states(), ["42501", ""]);
    run(&ann, &["CREATE TABLE public.n (k BIGINT PRIMARY KEY)"]);
    assert_eq!(state_of(&ann, "CREATE TABLE n (k BIGINT PRIMARY KEY)"), "42501");

    // Once the schema is gone, its name is that of the default schema, and the grants on it have ended.
    run(&owner, &["DROP TABLE public.t, public.n", "DROP SEQUENCE public.q", "DROP SCHEMA public"]);
    assert_eq!(read("SELECT v FROM public.t WHERE k = 1"), ["default"]);
    assert_eq!(states(), ["42501", "42501"]);
    assert_eq!(state_of(&ann, "CREATE TABLE public.n (k BIGINT PRIMARY KEY)"), "42501");
}

#[test]
fn public_of_an_attached_database_is_its_default_schema() {
    let folder = tempfile::tempdir().unwrap();
    let make = |name: &str, fill: &dyn Fn(&Database)| {
        let path = folder.path().join(name);
        fill(&Database::builder(&path).open().unwrap());
        path
    };
    let without = make("without", &|database: &Database| {
        run(
            &database.connect().blocking(),
            &[
                "CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR)",
                "UPSERT INTO t VALUES (1, 'other')",
                "CREATE VIEW w AS SELECT public.t.k, v FROM t WHERE public.t.k < 5",
            ],
        );
    });
    let with = make("with", &|database: &Database| {
        run(&add_own_schema(database), &["CREATE VIEW w AS SELECT k, v FROM public.t WHERE public.t.k < 5"]);
    });
    let database = Database::memory().unwrap();
    let connection = database.connect().blocking();
    run(&connection, &["CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR)", "UPSERT INTO t VALUES (1, 'here')"]);
    let attach = |path: &Path, alias: &str| connection.attach(path, alias);
    assert_eq!(state(attach(&without, "public")), "42P06");
    attach(&without, "without").unwrap();
    attach(&with, "with_own").unwrap();
    let read = |name: &str| rows(&connection, &format!("SELECT v FROM {name} WHERE k = 1"));
    assert_eq!(
        (read("public.t"), read("without.t"), read("without.PUBLIC.t")),
        (vec!["here".into()], vec!["other".into()], vec!["other".into()])
    );
    assert_eq!((read("without.w"), read("without.public.w")), (vec!["other".to_owned()], vec!["other".to_owned()]));
    assert_eq!((read("with_own.t"), read("with_own.public.t")), (vec!["default".to_owned()], vec!["own".to_owned()]));
    assert_eq!(read("with_own.w"), ["own"]);
    assert_eq!(state_of(&connection, "SELECT v FROM with_own.public.w WHERE k = 1"), "42P01");
    assert_eq!(state_of(&connection, "UPSERT INTO without.public.t VALUES (2, 'x')"), "25006");
    assert_eq!(rows(&connection, "SHOW TABLES FROM without"), ["without,t", "without,w"]);
}

/// Without a schema in their names, so that a program need not know of `public` to decide who may run a statement.
#[test]
fn descriptions_have_canonical_names() {
    let connection = Database::memory().unwrap().connect().blocking();
    run(&connection, &["CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR)", "CREATE SEQUENCE q"]);
    for (sql, touches) in [
        ("SELECT v FROM public.t WHERE k = 1", "SELECT t"),
        ("UPDATE Public.t SET v = 'x' WHERE public.t.k = 1", "UPSERT t"),
        ("DELETE FROM public.t WHERE k = 1 RETURNING k", "DELETE t, SELECT t"),
        ("COPY public.t TO STDOUT", "SELECT t"),
        ("COPY public.t FROM STDIN", "UPSERT t"),
        ("COMMENT ON COLUMN public.t.v IS 'x'", "DDL t"),
        ("CREATE TABLE public.n (k BIGINT PRIMARY KEY)", "DDL n"),
        ("SELECT NEXT VALUE FOR public.q", "UPSERT q"),
    ] {
        let description =
            connection.prepare(sql).unwrap_or_else(|error| panic!("{sql}: {error}")).description().clone();
        let touched: Vec<String> = description.touches.iter().map(ToString::to_string).collect();
        assert_eq!(touched.join(", "), touches, "{sql}");
    }
}

/// Registered batches are in the default schema, and a temporary table does not hide them there.
#[cfg(feature = "datafusion")]
#[test]
fn registered_batches_are_in_public() {
    use arrow::array::{ArrayRef, Int64Array, RecordBatch};
    use std::sync::Arc;

    let database = Database::memory().unwrap();
    let connection = database.connect().blocking();
    let numbers = Arc::new(Int64Array::from(vec![5, 6])) as ArrayRef;
    let batch = RecordBatch::try_from_iter([("n", numbers)]).unwrap();
    connection.register_arrow("batches", batch.schema_ref(), std::slice::from_ref(&batch)).unwrap();
    assert_eq!(rows(&connection, "SELECT public.batches.n FROM public.batches ORDER BY n"), ["5", "6"]);
    run(&connection, &["CREATE TEMPORARY TABLE batches (n BIGINT PRIMARY KEY)", "UPSERT INTO batches VALUES (1)"]);
    assert_eq!(rows(&connection, "SELECT n FROM batches WHERE n = 1"), ["1"]);
    assert_eq!(rows(&connection, "SELECT n FROM public.batches ORDER BY n"), ["5", "6"]);
    assert_eq!(state_of(&connection, "SELECT n FROM s.batches"), "3F000");
    run(&connection, &["CREATE USER ann PASSWORD 'one'"]);
    let ann = database.connect_as("ann").unwrap().blocking();
    assert_eq!(state_of(&ann, "SELECT n FROM public.batches"), "42501");
}
