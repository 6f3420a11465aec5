//! What PREPARE tells before parameters have values.

use saltwing::{Database, Description, blocking, params};

fn connection() -> blocking::Connection {
    let connection = Database::memory().unwrap().connect().blocking();
    for sql in [
        "CREATE TABLE log (phone VARCHAR NOT NULL, ts BIGINT NOT NULL, up BIGINT, CONSTRAINT pk PRIMARY KEY (phone, ts))",
        "CREATE TABLE name (phone VARCHAR NOT NULL PRIMARY KEY, name VARCHAR)",
        "UPSERT INTO log VALUES ('1', 1, 10), ('1', 2, 20), ('2', 1, 30)",
        "UPSERT INTO name VALUES ('1', 'one'), ('2', 'two')",
    ] {
        connection.execute(sql, ()).unwrap();
    }
    connection
}

fn code(sql: &str) -> Option<&'static str> {
    connection().prepare(sql).err().map(|error| error.code().as_str())
}

#[test]
fn a_full_scan_is_refused_whatever_runs_it() {
    assert_eq!(code("SELECT up FROM log WHERE up > ?"), Some("full_scan_refused"));
    assert_eq!(code("DELETE FROM log WHERE up > ?"), Some("full_scan_refused"));
    if !cfg!(feature = "datafusion") {
        return;
    }
    let join = "SELECT n.name, l.up FROM log l JOIN name n ON n.phone = l.phone";
    assert_eq!(code(&format!("{join} WHERE l.up > ?")), Some("full_scan_refused"));
    assert_eq!(code(&format!("{join} WHERE l.phone = ? AND n.phone = ?")), None);
    assert_eq!(code("DELETE FROM log WHERE up > (SELECT max(up) FROM log WHERE phone = ?)"), Some("full_scan_refused"));
    assert_eq!(
        code("UPSERT INTO log SELECT phone, ts + 1, sum(up) FROM log GROUP BY phone, ts"),
        Some("full_scan_refused")
    );
}

#[test]
fn an_array_may_be_a_list_of_keys() {
    let connection = connection();
    let statement = connection.prepare("SELECT sum(up) FROM log WHERE phone = ANY(?)").unwrap();
    let keys = saltwing::Value::Array(vec!["1".into(), "9".into()]);
    assert_eq!(statement.query_one::<(i64,)>((keys,)).unwrap(), (30,));
    // Other conditions are judged at each run.
    let statement = connection.prepare("SELECT up FROM log WHERE up = ANY(?)").unwrap();
    let error = statement.execute((saltwing::Value::Array(vec![10_i64.into()]),)).unwrap_err();
    assert_eq!(error.code().as_str(), "full_scan_refused");
}

#[test]
fn names_are_looked_up() {
    assert_eq!(code("SELECT upp FROM log WHERE phone = ?"), Some("no_such_column"));
    if !cfg!(feature = "datafusion") {
        return;
    }
    assert_eq!(
        code("SELECT n.nam FROM log l JOIN name n ON n.phone = l.phone WHERE l.phone = ?"),
        Some("no_such_column")
    );
    assert_eq!(code("SELECT 1 FROM log l JOIN nome n ON n.phone = l.phone WHERE l.phone = ?"), Some("no_such_table"));
}

#[test]
fn what_needs_the_values_waits_for_them() {
    if !cfg!(feature = "datafusion") {
        return;
    }
    let connection = connection();
    let one = |sql: &str, params: saltwing::Params| -> i64 {
        let statement = connection.prepare(sql).unwrap();
        let mut rows = statement.query(params).unwrap();
        rows.next().unwrap().unwrap().get(0).unwrap()
    };
    assert_eq!(one("SELECT ? + 1", params![2]), 3);
    assert_eq!(one("SELECT sum(up) FROM log WHERE phone = ? AND ts < ? + 1", params!["1", 2]), 30);
    assert_eq!(
        one(
            "SELECT count(*) FROM log a JOIN log b ON a.ts = b.ts WHERE a.phone = ? AND b.phone = ?",
            params!["1", "2"]
        ),
        1
    );
}

/// `types -> columns, plan` of a statement.
fn described(sql: &str) -> String {
    let statement = connection().prepare(sql).unwrap_or_else(|e| panic!("{sql}: {e:?}"));
    let Description { parameters, columns, plan, .. } = statement.description().clone();
    assert_eq!(parameters.len(), statement.parameter_count(), "{sql}");
    let types: Vec<String> =
        parameters.iter().map(|ty| ty.map_or_else(|| "?".to_owned(), |ty| ty.to_string())).collect();
    let column =
        |c: &saltwing::ResultColumn| format!("{} {}{}", c.label, c.ty, if c.nullable { "" } else { " NOT NULL" });
    let columns =
        columns.map_or_else(|| "none".to_owned(), |columns| columns.iter().map(column).collect::<Vec<_>>().join(", "));
    format!("({}) -> {columns}; {}", types.join(", "), plan.unwrap_or("-"))
}

#[test]
fn a_description_has_parameters_columns_and_plan() {
    for (sql, wanted) in [
        (
            "SELECT up, ts FROM log WHERE phone = ? AND ts = ?",
            "(VARCHAR, BIGINT) -> up BIGINT, ts BIGINT NOT NULL; point_get",
        ),
        (
            "SELECT up + 1 AS more FROM log WHERE phone = ? AND ts BETWEEN ? AND ? LIMIT ?",
            "(VARCHAR, BIGINT, BIGINT, BIGINT) -> more BIGINT; scan",
        ),
        ("SELECT up FROM log WHERE phone IN (?, ?) AND phone LIKE ?", "(VARCHAR, VARCHAR, VARCHAR) -> up BIGINT; scan"),
        (
            "SELECT count(*), sum(up) FROM log WHERE phone = ?1 AND ts > ?2 AND ts < ?2",
            "(VARCHAR, BIGINT) -> count(*) BIGINT NOT NULL, sum(up) BIGINT; totals",
        ),
        (
            "SELECT phone FROM log WHERE phone > ? GROUP BY phone HAVING max(up) > ?",
            "(VARCHAR, BIGINT) -> phone VARCHAR NOT NULL; streaming_aggregate",
        ),
        ("UPSERT INTO log VALUES (?, ?, ? + 1)", "(VARCHAR, BIGINT, BIGINT) -> none; -"),
        ("UPSERT INTO log (ts, phone) VALUES (?, 'a'), (?, ?)", "(BIGINT, BIGINT, VARCHAR) -> none; -"),
        ("DELETE FROM log WHERE phone = ? AND up > ?", "(VARCHAR, BIGINT) -> none; -"),
        ("UPDATE log SET up = ? WHERE phone = ?", "(BIGINT, VARCHAR) -> none; -"),
        ("INSERT INTO log VALUES ('a', 1, ?) ON CONFLICT DO UPDATE SET up = log.up + ?", "(BIGINT, BIGINT) -> none; -"),
        ("CREATE TABLE t (k BIGINT PRIMARY KEY)", "() -> none; -"),
        ("EXPLAIN SELECT up FROM log WHERE up = ?", "(BIGINT) -> plan VARCHAR; -"),
        ("EXPLAIN DELETE FROM log WHERE up = ?", "(BIGINT) -> plan VARCHAR; -"),
    ] {
        assert_eq!(described(sql), wanted, "{sql}");
    }
    if !cfg!(feature = "datafusion") {
        return;
    }
    assert_eq!(described("UPSERT INTO log SELECT ?, ts, ? FROM log WHERE phone = 'a'"), "(VARCHAR, BIGINT) -> none; -");
    assert_eq!(
        described(
            "SELECT n.name, l.up FROM log l JOIN name n ON n.phone = l.phone WHERE l.phone = 'a' AND n.phone = 'a'"
        ),
        "() -> name VARCHAR, up BIGINT; relational"
    );
    assert_eq!(
        described("SELECT up FROM log WHERE phone = ? AND up = (SELECT max(up) FROM log WHERE phone = ?)"),
        "(VARCHAR, VARCHAR) -> up BIGINT; scan"
    );
}

#[test]
fn parameters_of_relational_statements_have_types() {
    if !cfg!(feature = "datafusion") {
        return;
    }
    let join = "SELECT n.name FROM log l JOIN name n ON n.phone = l.phone";
    let member = "SELECT phone FROM name WHERE phone IN (SELECT phone FROM log";
    for (sql, wanted) in [
        (format!("{join} WHERE l.phone = ? AND l.ts > ? AND n.phone = ?"), "(VARCHAR, BIGINT, VARCHAR)"),
        (format!("{join} AND l.up = ? WHERE l.phone = ? LIMIT ?"), "(BIGINT, VARCHAR, BIGINT)"),
        (format!("{join} WHERE l.phone = 'a' AND l.up + ? < n.name::BIGINT * ?"), "(BIGINT, BIGINT)"),
        (format!("{member} WHERE phone = ? AND ts = ?) AND phone > ?"), "(VARCHAR, BIGINT, VARCHAR)"),
        (
            "SELECT up FROM log WHERE phone = ? AND up = (SELECT max(l.up) FROM log l JOIN name n ON n.phone = l.phone \
             WHERE l.phone = ? AND l.ts = ?)"
                .to_owned(),
            "(VARCHAR, VARCHAR, BIGINT)",
        ),
        (
            "SELECT sum(l.up) FROM log l JOIN name n USING (phone) WHERE phone = 'a' GROUP BY n.name HAVING max(ts) > ?"
                .to_owned(),
            "(BIGINT)",
        ),
        (format!("UPSERT INTO name SELECT ?, x.name FROM ({join} WHERE l.phone = ?) x"), "(VARCHAR, VARCHAR)"),
        (
            "DELETE FROM name WHERE phone IN (SELECT phone FROM log WHERE phone = ? AND up > ?)".to_owned(),
            "(VARCHAR, BIGINT)",
        ),
        (format!("EXPLAIN {join} WHERE l.up = ?"), "(BIGINT)"),
    ] {
        let described = described(&sql);
        assert_eq!(described.split(" -> ").next(), Some(wanted), "{sql}: {described}");
    }
}

#[test]
fn what_is_shown_has_the_columns_described() {
    let connection = connection();
    for sql in [
        "EXPLAIN SELECT up FROM log",
        "SHOW TABLES",
        "SHOW SCHEMAS",
        "SHOW FUNCTIONS",
        "SHOW CREATE TABLE log",
        "SHOW STORAGE",
        "SHOW executor",
        "SHOW ALL",
        "DESCRIBE log",
    ] {
        let statement = connection.prepare(sql).unwrap();
        let described = statement.description().columns.clone().unwrap();
        assert_eq!(described.to_vec(), statement.query(()).unwrap().columns(), "{sql}");
    }
}

/// A statement that cannot run whatever its values are is refused before it runs, definitions included.
#[test]
fn every_kind_of_statement_is_checked() {
    for (sql, wanted) in [
        ("CREATE TABLE t (k BIGINT)", None),
        ("CREATE TABLE t (k BIGINT, k BIGINT, PRIMARY KEY (k))", Some("duplicate_column")),
        ("CREATE TABLE t (k BIGINT PRIMARY KEY) SALT_BUCKETS = 1000", Some("invalid_definition")),
        ("ALTER TABLE log ADD up BIGINT", Some("duplicate_column")),
        ("ALTER TABLE logs ADD x BIGINT", Some("no_such_table")),
        ("COPY logs TO STDOUT", Some("no_such_table")),
        ("COPY (SELECT up FROM log) TO STDOUT", Some("full_scan_refused")),
        ("COPY logs FROM STDIN", Some("no_such_table")),
        ("EXPLAIN ANALYZE SELECT up FROM log", Some("full_scan_refused")),
        ("EXPLAIN SELECT up FROM log", None),
        ("EXPLAIN DELETE FROM log WHERE up = 1", None),
        ("SET no_such = 1", Some("bad_argument")),
        ("BEGIN", None),
        ("UPDATE log SET up = 1 WHERE up = 2", Some("full_scan_refused")),
    ] {
        assert_eq!(code(sql), wanted, "{sql}");
    }
}

/// The types that a caller gives hold in every run: those of the description are those of the rows, however the statement runs.
#[test]
fn parameters_have_the_types_that_their_caller_gives() {
    use saltwing::SqlType::{Char, Date, Double, Integer, SmallInt, Varchar};

    let connection = connection();
    let mut statements = vec![
        (
            "SELECT ? AS a, up FROM log WHERE phone = ? AND ts = ?",
            vec![Some(Char(3)), Some(Varchar(None))],
            vec!["x", "1", "1"],
        ),
        ("SELECT phone, ? AS d FROM log WHERE phone = ? GROUP BY phone", vec![Some(Date)], vec!["2024-05-01", "1"]),
    ];
    if cfg!(feature = "datafusion") {
        let join =
            "SELECT n.name, ? AS a FROM log l JOIN name n ON n.phone = l.phone WHERE l.phone = ? AND n.phone = 'a'";
        statements.push((join, vec![Some(Integer)], vec!["5", "1"]));
        statements.push(("SELECT ? AS a, ? + 1 AS b", vec![Some(SmallInt), Some(Integer)], vec!["7", "8"]));
        statements.push(("SELECT CASE WHEN ? > 1 THEN 'more' END AS c", vec![Some(Double)], vec!["1.5"]));
    }
    for (sql, types, values) in statements {
        let statement = connection.prepare_typed(sql, &types).unwrap_or_else(|error| panic!("{sql}: {error:?}"));
        let described = statement.description().columns.clone().unwrap();
        for (place, ty) in types.iter().enumerate() {
            assert_eq!(statement.description().parameters[place], *ty, "{sql}");
        }
        for _ in 0..4 {
            let values: Vec<saltwing::Value> = values.iter().map(|value| (*value).into()).collect();
            let rows = statement.query(values).unwrap_or_else(|error| panic!("{sql}: {error:?}"));
            let types = |columns: &[saltwing::ResultColumn]| columns.iter().map(|column| column.ty).collect::<Vec<_>>();
            assert_eq!(types(rows.columns()), types(&described), "{sql}");
            rows.for_each(|row| drop(row.unwrap()));
        }
    }
    // The key is found by values of the given type.
    let point =
        connection.prepare_typed("SELECT up FROM log WHERE phone = ? AND ts = ?", &[None, Some(Integer)]).unwrap();
    assert_eq!(point.description().plan, Some("point_get"));
    assert_eq!(point.query_one::<(Option<i64>,)>(("1", "1")).unwrap(), point.query_one(("1", 1)).unwrap());
    // What the type does not take is refused, and names the parameter.
    let error = point.query(("1", "one")).err().unwrap();
    assert!(error.to_string().contains("parameter 2 of type INTEGER"), "{error}");
    let write = connection.prepare_typed("UPSERT INTO log VALUES (?, ?, ?)", &[None, None, Some(SmallInt)]).unwrap();
    assert!(write.execute(("9", 1, "70000")).is_err());
    assert_eq!(write.execute(("9", 1, "7")).unwrap().rows_affected, 1);
    assert_eq!(connection.query_one::<(i64,)>("SELECT up FROM log WHERE phone = '9' AND ts = 1", ()).unwrap(), (7,));
    let error = connection.prepare_typed("SELECT 1", &[Some(Integer)]).err().unwrap();
    assert_eq!(error.code(), saltwing::ErrorCode::BadParameter);
}
