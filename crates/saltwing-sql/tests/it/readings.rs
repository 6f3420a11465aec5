//! What sqlparser alone reads wrongly, in silence or aloud, and how it is read here.

use saltwing_sql::statement::{KeyPart, RowSource};
use saltwing_sql::{Statement, expr_span, parse, parse_one};
use saltwing_types::table::SortOrder;
use saltwing_types::{ErrorCode, Span, SqlType};
use sqlparser::ast::{BinaryOperator, Expr, SetExpr, UnaryOperator, Value};

use crate::support;

#[track_caller]
fn refused(sql: &str, code: ErrorCode, place: &str) {
    match parse(sql) {
        Ok(read) => {
            panic!(
                "{sql}\nis read as\n{}",
                read.first().map(|it| support::print::text(&it.statement)).unwrap_or_default()
            )
        }
        Err(error) => {
            assert_eq!(error.code(), code, "{sql}: {error}");
            let (line, span) = (sql.lines().nth(error.span().start.line as usize - 1).unwrap(), error.span());
            let found: String = line
                .chars()
                .skip(span.start.column as usize - 1)
                .take((span.end.column + 1 - span.start.column) as usize)
                .collect();
            assert_eq!(found, place, "{sql}: {error}");
        }
    }
}

#[track_caller]
fn reads_as(sql: &str, printed: &str) {
    match parse_one(sql) {
        Ok(parsed) => {
            assert_eq!(
                support::print::text(&parsed.statement).split_whitespace().collect::<Vec<_>>().join(" "),
                printed
            )
        }
        Err(error) => panic!("{sql}: {error}"),
    }
}

#[test]
fn nothing_is_dropped_after_a_statement() {
    refused("SELECT 1 END rest of it", ErrorCode::Syntax, "END");
    refused("SELECT 1 SELECT 2", ErrorCode::Syntax, "SELECT");
    refused("DELETE FROM t WHERE a = 1 b", ErrorCode::Syntax, "b");
    refused("SELECT 1; SELECT 2 3", ErrorCode::Syntax, "3");
    assert_eq!(parse("SELECT 1;; -- no statement\n SELECT 2 ;").unwrap().len(), 2);
    assert_eq!(parse(" /* nothing */ ").unwrap().len(), 0);
}

#[test]
fn an_array_is_a_type_of_a_cast() {
    let sql = "SELECT CAST(a AS INTEGER ARRAY), CAST(a AS CHAR(2) ARRAY[4]), b::VARCHAR(5) ARRAY[3], c::INTEGER ARRAY = d FROM t";
    reads_as(sql, "SELECT CAST(a AS INTEGER[]), CAST(a AS CHAR(2)[4]), b::VARCHAR(5)[3], c::INTEGER[] = d FROM t");
    refused("SELECT CAST(a AS INTEGER ARRAY[x]) FROM t", ErrorCode::Syntax, "x");
    refused("SELECT CAST(a AS INTEGER ARRAY ARRAY) FROM t", ErrorCode::Syntax, "ARRAY");
}

#[test]
fn reserved_words_are_no_names() {
    refused("SELECT * FROM WHERE", ErrorCode::Syntax, "WHERE");
    refused("SELECT * FROM t, WHERE a = 1", ErrorCode::Syntax, "WHERE");
    refused("SELECT * FROM t JOIN ON a = b", ErrorCode::Syntax, "ON");
    refused("SELECT * FROM (WHERE)", ErrorCode::Syntax, "WHERE");
    refused("SELECT * FROM select", ErrorCode::Syntax, "select");
    refused("SELECT when FROM t", ErrorCode::Syntax, "when");
    refused("SELECT a AS from FROM t", ErrorCode::Syntax, "from");
    refused("SELECT * FROM t AS order", ErrorCode::Syntax, "order");
    refused("WITH where AS (SELECT 1) SELECT 1", ErrorCode::Syntax, "where");
    refused("CREATE TABLE order (a INT)", ErrorCode::Syntax, "order");
    refused("CREATE TABLE t (group INT)", ErrorCode::Syntax, "group");
    refused("UPSERT INTO t (select) VALUES (1)", ErrorCode::Syntax, "select");
    reads_as(
        "SELECT \"when\", t.when FROM \"where\" AS \"order\"",
        "SELECT \"when\", t.when FROM \"where\" AS \"order\"",
    );
}

#[test]
fn words_of_other_dialects_are_names() {
    reads_as(
        "SELECT top, pivot, qualify, member, a overlaps, b div, sort FROM sample prewhere",
        "SELECT top, pivot, qualify, member, a AS overlaps, b AS div, sort FROM sample prewhere",
    );
    reads_as("SELECT count(*) filter FROM t", "SELECT count(*) AS filter FROM t");
    reads_as(
        "SELECT a semi, b anti FROM t semi JOIN u ON TRUE",
        "SELECT a AS semi, b AS anti FROM t SEMI JOIN u ON true",
    );
    reads_as("SELECT date, time, year, floor, position FROM t", "SELECT date, time, year, floor, position FROM t");
    reads_as("SELECT left(a, 1), right(a, 1), year(a)", "SELECT left(a, 1), right(a, 1), year(a)");
    reads_as("SELECT like('a%', b) AND NOT like(c, d, '!')", "SELECT (b LIKE 'a%') AND NOT (d LIKE c ESCAPE '!')");
}

#[test]
fn a_number_does_not_run_into_a_name() {
    for text in ["12abc", "1__0", "1_", "0x1G", "0b2", "0x", "1e", "5L", "1.5x", "$1a"] {
        refused(&format!("SELECT {text}"), ErrorCode::Syntax, text);
    }
    reads_as("SELECT 12 abc", "SELECT 12 AS abc");
    reads_as("SELECT 0x1F, 0o17, 0b101, 1_000, 1_0.5", "SELECT 31, 15, 5, 1000, 10.5");
}

#[test]
fn strings_are_strings() {
    let text = |sql: &str| match support::expr(sql) {
        Expr::Value(value) => match value.value {
            Value::SingleQuotedString(text) => text,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    assert_eq!(text("'it''s'"), "it's");
    assert_eq!(text(r"'a\nb\'"), r"a\nb\");
    assert_eq!(text(r"E'a\nb\'\\\x41\u00e9\101'"), "a\nb'\\A\u{e9}A");
    assert_eq!(text("'-- // /* no comment'"), "-- // /* no comment");
    assert_eq!(text("'a\nb'"), "a\nb");
    refused("SELECT * FROM 't'", ErrorCode::Syntax, "'t'");
    refused("SELECT 1 'x'", ErrorCode::Syntax, "'x'");
    refused("SELECT 1 AS 'x'", ErrorCode::Syntax, "'x'");
    refused("SELECT 'a' 'b'", ErrorCode::Syntax, "'b'");
    assert_eq!(text(r"U&'\0061\+01F600\\ ''x'''"), "a\u{1f600}\\ 'x'");
    assert_eq!(text("$$it's$$"), "it's");
    assert_eq!(text("$a$x$$y$a$"), "x$$y");
    refused("SELECT $a$x$$", ErrorCode::Syntax, "$");
    refused(r"SELECT U&'\00g1'", ErrorCode::Syntax, r"U&'\00g1'");
    refused("UPSERT INTO 't' VALUES (1)", ErrorCode::Syntax, "'t'");
    refused("SELECT 'abc", ErrorCode::Syntax, "'");
    refused("SELECT \"abc", ErrorCode::Syntax, "\"");
    refused("SELECT \"\"", ErrorCode::Syntax, "\"\"");
    refused("SELECT X'0'", ErrorCode::Syntax, "X'0'");
}

#[test]
fn comments_are_comments() {
    reads_as("SELECT a // b\n, c -- d\n FROM /* e /* f */ g */ t", "SELECT a, c FROM t");
    reads_as("SELECT /*! 1, */ 2", "SELECT 2");
    reads_as("SELECT 10 / 2", "SELECT 10 / 2");
    reads_as("SELECT 10 // 2\n", "SELECT 10");
    reads_as("SELECT a # b", "SELECT a # b");
    refused("SELECT a /* b", ErrorCode::Syntax, "/");
}

#[test]
fn is_distinct_from_does_not_swallow_the_rest() {
    let Expr::BinaryOp { left, op: BinaryOperator::And, .. } = support::expr("a IS DISTINCT FROM b AND c = 1") else {
        panic!("the AND is not on top")
    };
    assert!(matches!(*left, Expr::IsDistinctFrom(..)));
    let not = support::expr("a IS NOT DISTINCT FROM b OR c");
    assert!(matches!(not, Expr::BinaryOp { op: BinaryOperator::Or, .. }));
}

#[test]
fn operators_bind_as_they_should() {
    for (text, meant) in [
        ("a OR b AND c", "a OR (b AND c)"),
        ("NOT a = b", "NOT (a = b)"),
        ("NOT a AND b", "(NOT a) AND b"),
        ("a BETWEEN 1 AND 2 AND b", "(a BETWEEN 1 AND 2) AND b"),
        ("a NOT BETWEEN 1 AND 2 OR b", "(a NOT BETWEEN 1 AND 2) OR b"),
        ("a LIKE 'x' || 'y'", "a LIKE ('x' || 'y')"),
        ("a LIKE 'x' AND b", "(a LIKE 'x') AND b"),
        ("a + b * c", "a + (b * c)"),
        ("a - b - c", "(a - b) - c"),
        ("-a * b", "(-a) * b"),
        ("-a::INT", "-(a::INT)"),
        ("a = b IS NULL", "(a = b) IS NULL"),
        ("a IS NOT NULL AND b", "(a IS NOT NULL) AND b"),
        ("a IN (1, 2) AND b", "(a IN (1, 2)) AND b"),
        ("a < b || c", "a < (b || c)"),
        ("a IS DISTINCT FROM b + 1", "a IS DISTINCT FROM (b + 1)"),
    ] {
        assert_eq!(without_brackets(support::expr(text)), without_brackets(support::expr(meant)), "{text}");
    }
}

/// The tree without its brackets, so that it shows how operators bind.
fn without_brackets(expr: Expr) -> Expr {
    let mut expr = expr;
    let _ = sqlparser::ast::visit_expressions_mut(&mut expr, |node| {
        while let Expr::Nested(inner) = node {
            *node = (**inner).clone();
        }
        std::ops::ControlFlow::<()>::Continue(())
    });
    expr
}

#[test]
fn signs_in_a_row_are_no_comment() {
    reads_as("SELECT - - 1", "SELECT -(-1)");
    reads_as("SELECT a - -1, + + b, ~ ~ c", "SELECT a - -1, +(+b), ~(~c)");
    assert!(matches!(support::expr("- 1"), Expr::UnaryOp { op: UnaryOperator::Minus, .. }));
}

#[test]
fn not_null_belongs_to_the_column() {
    let Statement::CreateTable(table) =
        parse_one("CREATE TABLE t (a INT DEFAULT 7 NOT NULL, b INT NOT NULL DEFAULT 8)").unwrap().statement
    else {
        panic!("no table")
    };
    for column in &table.columns {
        assert_eq!(column.not_null, Some(true), "{column:?}");
        assert!(matches!(column.default.as_ref().unwrap().expr, Expr::Value(_)), "{column:?}");
    }
}

#[test]
fn desc_is_kept() {
    let Statement::CreateTable(table) =
        parse_one("CREATE TABLE t (a INT PRIMARY KEY DESC, CONSTRAINT pk PRIMARY KEY (a DESC, b ASC, c))")
            .unwrap()
            .statement
    else {
        panic!("no table")
    };
    assert_eq!(table.columns.first().unwrap().primary_key.unwrap().order, SortOrder::Desc);
    let orders: Vec<SortOrder> = table.primary_key.unwrap().parts.iter().map(|KeyPart { order, .. }| *order).collect();
    assert_eq!(orders, [SortOrder::Desc, SortOrder::Asc, SortOrder::Asc]);
}

#[test]
fn statements_do_not_hide_in_queries() {
    refused("SELECT * FROM (DELETE FROM t)", ErrorCode::NotSupported, "DELETE");
    refused("WITH x AS (INSERT INTO t VALUES (1)) SELECT 1", ErrorCode::NotSupported, "INSERT");
    refused("WITH x AS (SELECT 1) SELECT 1 FROM (UPDATE t SET a = 1)", ErrorCode::NotSupported, "UPDATE");
    refused("SELECT a INTO b FROM t", ErrorCode::NotSupported, "INTO");
    refused("SELECT a FROM t FOR UPDATE", ErrorCode::NotSupported, "UPDATE");
    refused("SELECT a FROM t WITH (NOLOCK)", ErrorCode::NotSupported, "WITH");
    refused("DELETE t WHERE a = 1", ErrorCode::Syntax, "t");
    let jar = parse_one("DELETE JAR 'x'").unwrap().statement;
    assert!(matches!(jar, Statement::Unsupported(it) if it.what == "DELETE JAR"));
}

#[test]
fn what_phoenix_has_and_we_do_not_is_named() {
    let merge = "MERGE INTO t USING u ON t.k = u.k WHEN NOT MATCHED THEN INSERT (k, x VARCHAR) VALUES (1, 2)";
    refused(merge, ErrorCode::NotSupported, "x VARCHAR");
    refused("CREATE VIEW v (x VARCHAR PRIMARY KEY) AS SELECT * FROM t", ErrorCode::NotSupported, "PRIMARY");
    refused("CREATE VIEW v (x VARCHAR, y) AS SELECT * FROM t", ErrorCode::Syntax, "y");
    refused("CREATE VIEW v (f.x) AS SELECT * FROM t", ErrorCode::Syntax, "f.x");
    refused("CREATE INDEX i ON t (a NULLS LAST)", ErrorCode::NotSupported, "NULLS");
    refused("SELECT 1 ON DUPLICATE KEY IGNORE", ErrorCode::NotSupported, "DUPLICATE");
    refused("SELECT a FROM t ON CONFLICT DO NOTHING", ErrorCode::NotSupported, "ON");
    refused("CREATE TABLE t (a INTEGER ARRAY ARRAY)", ErrorCode::NotSupported, "ARRAY");
    refused("SELECT * FROM t AS OF SYSTEM TIME '-10s'", ErrorCode::NotSupported, "OF");
    refused("SELECT * FROM t FOR SYSTEM_TIME BETWEEN 1 AND 2", ErrorCode::NotSupported, "SYSTEM_TIME");
    for (sql, what) in [
        ("CREATE MATERIALIZED VIEW v AS SELECT * FROM t", "CREATE MATERIALIZED VIEW"),
        ("ALTER VIEW v SET x = 1", "ALTER VIEW"),
        ("UPDATE STATISTICS t", "UPDATE STATISTICS"),
        ("GRANT 'RX' ON t TO 'u'", "GRANT"),
    ] {
        match parse_one(sql).unwrap().statement {
            Statement::Unsupported(it) => assert_eq!(it.what, what),
            other => panic!("{sql} is read as {other:?}"),
        }
    }
}

#[test]
fn values_of_sequences_stand_where_each_row_takes_them() {
    let refused = |sql: &str, place: &str| refused(sql, ErrorCode::MisplacedSequence, place);
    refused("SELECT a FROM t WHERE a = NEXT VALUE FOR s", "NEXT");
    refused("SELECT a FROM t GROUP BY NEXT VALUE FOR s", "NEXT");
    refused("SELECT a FROM t HAVING COUNT(*) > nextval('s')", "nextval");
    refused("SELECT a FROM t ORDER BY CURRENT VALUE FOR s", "CURRENT");
    refused("SELECT a, NEXT VALUE FOR s AS n FROM t ORDER BY n", "n");
    refused("SELECT a, NEXT VALUE FOR s FROM t ORDER BY a, 2", "2");
    refused("SELECT *, NEXT VALUE FOR s FROM t ORDER BY 1", "1");
    refused("SELECT DISTINCT NEXT VALUE FOR s FROM t", "NEXT");
    refused("SELECT 1 UNION SELECT NEXT VALUE FOR s", "NEXT");
    refused("SELECT (SELECT NEXT VALUE FOR s)", "NEXT");
    refused("SELECT * FROM (SELECT NEXT VALUE FOR s) AS q", "NEXT");
    refused("WITH q AS (SELECT NEXT VALUE FOR s) SELECT * FROM q", "NEXT");
    refused("VALUES (NEXT VALUE FOR s)", "NEXT");
    refused("SELECT a FROM t JOIN u ON t.a = NEXT 5 VALUES FOR s", "NEXT");
    refused("DELETE FROM t WHERE a = NEXT VALUE FOR s", "NEXT");
    refused("UPDATE t SET a = 1 WHERE a = NEXT VALUE FOR s", "NEXT");
    refused("UPDATE t SET a = (SELECT NEXT VALUE FOR s)", "NEXT");
    refused("UPSERT INTO t VALUES (1, (SELECT NEXT VALUE FOR s))", "NEXT");
    refused("UPSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a = NEXT VALUE FOR s", "NEXT");
    refused("CREATE TABLE t (k BIGINT PRIMARY KEY) SPLIT ON (NEXT VALUE FOR s)", "NEXT");
    for sql in [
        "SELECT a, NEXT VALUE FOR s + 1 AS n FROM t WHERE a = 1 GROUP BY a ORDER BY a, 1",
        "WITH q AS (SELECT 1) SELECT NEXT VALUE FOR s FROM q",
        "UPSERT INTO t VALUES (NEXT ? VALUES FOR a.\"S\", CURRENT VALUE FOR s)",
        "UPSERT INTO t SELECT NEXTVAL('a.s'), b FROM u",
        "UPDATE t SET a = NEXT VALUE FOR s WHERE a = 1",
        "CREATE TABLE t (k BIGINT DEFAULT NEXT VALUE FOR s NOT NULL PRIMARY KEY, v BIGINT DEFAULT currval('s'))",
        // Names, not values.
        "SELECT next, value, current, nextval FROM t WHERE next = current ORDER BY value",
    ] {
        parse_one(sql).unwrap();
    }
}

#[test]
fn the_table_that_people_paste() {
    let sql = "CREATE TABLE TEST_ACL_YJY.TEST_C_01 (
        key01 BIGINT NOT NULL,   // the phone's number; unique
        key02 BIGINT,            // don't care
        col01 VARCHAR,
        key01 INTEGER,           // again
        col02 VARCHAR, col03 VARCHAR,
        CONSTRAINT ID_PK PRIMARY KEY (key01)
    ) DATA_BLOCK_ENCODING = 'FAST_DIFF', COMPRESSION = 'SNAPPY', COLUMN_ENCODED_BYTES = NONE,
      UPDATE_CACHE_FREQUENCY=300000, SALT_BUCKETS = 1, TTL=86400";
    let Statement::CreateTable(table) = parse_one(sql).unwrap().statement else { panic!("no table") };
    assert_eq!(table.table.to_string(), "TEST_ACL_YJY.TEST_C_01");
    let second = table.columns.iter().filter(|column| column.name.name.text == "key01").nth(1).unwrap();
    assert_eq!(second.sql_type, SqlType::Integer);
    assert_eq!(second.name.span(), Span::on_line(5, 9, 13));
    assert_eq!(second.type_span, Span::on_line(5, 15, 21));
    assert_eq!(second.span, Span::on_line(5, 9, 21));
    let caret = saltwing_sql::render_caret(sql, second.name.span());
    assert_eq!(caret.lines().nth(1).unwrap(), "        ^^^^^");
    let options: Vec<String> = table.options.iter().map(support::print::text).collect();
    assert_eq!(
        options.join(" "),
        "DATA_BLOCK_ENCODING='FAST_DIFF' COMPRESSION='SNAPPY' COLUMN_ENCODED_BYTES=NONE \
         UPDATE_CACHE_FREQUENCY=300000 SALT_BUCKETS=1 TTL=86400"
    );
    assert_eq!(table.primary_key.unwrap().name.unwrap().text, "ID_PK");
}

#[test]
fn trees_are_what_the_relational_engine_takes() {
    let Statement::Query(query) =
        parse_one("SELECT /*+ FULL_SCAN(t) */ a FROM t WHERE a = :x AND b = :y OR c = :x FETCH FIRST 3 ROWS ONLY")
            .unwrap()
            .statement
    else {
        panic!("no query")
    };
    assert_eq!(query.query.to_string(), "SELECT a FROM t WHERE a = $1 AND b = $2 OR c = $1 LIMIT 3");
    assert_eq!(query.hints.iter().map(support::print::text).collect::<Vec<_>>(), ["FULL_SCAN(t)"]);
    assert!(query.query.fetch.is_none());
    let SetExpr::Select(select) = *query.query.body else { panic!("no SELECT") };
    assert!(select.optimizer_hints.is_empty());
}

#[test]
fn long_chains_are_flat_trees() {
    let depth = |expr: &Expr| {
        let (mut depth, mut nodes) = (0, vec![(expr, 1)]);
        while let Some((node, level)) = nodes.pop() {
            depth = depth.max(level);
            if let Expr::BinaryOp { left, right, .. } = node {
                nodes.extend([(&**left, level + 1), (&**right, level + 1)]);
            }
        }
        depth
    };
    let chain = |op: &str, n: usize| support::expr(&vec!["a"; n].join(&format!(" {op} ")));
    assert_eq!(depth(&chain("AND", 1_000)), 11);
    assert_eq!(depth(&chain("OR", 1_024)), 11);
    assert_eq!(depth(&chain("AND", 2)), 2);
    assert_eq!(chain("AND", 5).to_string(), "a AND a AND a AND a AND a");
}

#[test]
fn places_of_expressions() {
    assert_eq!(expr_span(&support::expr("f(a, 'xyz')")).unwrap(), Span::on_line(1, 8, 17));
    assert_eq!(expr_span(&support::expr("-12")).unwrap(), Span::on_line(1, 8, 10));
    assert_eq!(expr_span(&support::expr("NOT a")).unwrap(), Span::on_line(1, 12, 12));
    assert_eq!(expr_span(&support::expr("a + CASE WHEN b THEN c END")).unwrap(), Span::on_line(1, 8, 33));
    assert_eq!(expr_span(&support::expr("(\n  abc, 'ü' )")).unwrap().end.column, 10);
    assert_eq!(expr_span(&support::expr("DATE '2020-01-01'")).unwrap(), Span::on_line(1, 13, 24));
}

#[test]
fn places_of_statements_and_rows() {
    let sql = "SELECT 1;\n  UPSERT INTO t VALUES (1, 'ü'),\n (2, 'b') ;";
    let parsed = parse(sql).unwrap();
    let second = parsed.get(1).unwrap();
    assert_eq!(&sql[second.range.clone()], "UPSERT INTO t VALUES (1, 'ü'),\n (2, 'b')");
    assert_eq!((second.span.start.line, second.span.start.column), (2, 3));
    assert_eq!((second.span.end.line, second.span.end.column), (3, 9));
    let Statement::Upsert(upsert) = &second.statement else { panic!("no UPSERT") };
    let RowSource::Values(rows) = &upsert.source else { panic!("no VALUES") };
    assert_eq!(rows.iter().map(|row| row.span).collect::<Vec<_>>(), [Span::on_line(2, 24, 31), Span::on_line(3, 2, 9)]);
}

#[test]
fn rows_of_parameters_that_follow_each_other_are_known() {
    let first = |rows: &str| {
        let parsed = parse_one(&format!("UPSERT INTO t VALUES {rows}")).unwrap();
        let Statement::Upsert(upsert) = parsed.statement else { panic!("no UPSERT") };
        let RowSource::Values(rows) = upsert.source else { panic!("no VALUES") };
        rows.iter().map(|row| row.first_parameter).collect::<Vec<_>>()
    };
    assert_eq!(first("(?, ?), (?, 1), (?, ?)"), [Some(0), None, Some(3)]);
    assert_eq!(first("($2, $3), ($3, $2), ($1, $1), (DEFAULT, $1)"), [Some(1), None, None, None]);
    assert_eq!(first("(:a, :b), (:b, :c), (:c, :a), (-:a, :b)"), [Some(0), Some(1), None, None]);
}

#[test]
fn parameters_are_numbered() {
    let numbers = |sql: &str| {
        let parsed = parse_one(sql).unwrap();
        parsed.parameters.iter().map(|it| (it.number, it.name.clone())).collect::<Vec<_>>()
    };
    let plain = |n: &[u32]| n.iter().map(|n| (*n, None)).collect::<Vec<_>>();
    assert_eq!(numbers("UPSERT INTO t VALUES (?, ?), (?, 1)"), plain(&[1, 2, 3]));
    assert_eq!(numbers("SELECT ?2, ?1, ?2"), plain(&[2, 1, 2]));
    assert_eq!(numbers("SELECT $3 LIMIT $1"), plain(&[3, 1]));
    assert_eq!(numbers("SELECT :b, :a, :b"), [(1, Some("b".into())), (2, Some("a".into())), (1, Some("b".into()))]);
    assert_eq!(numbers("SELECT a::INT"), []);
    assert_eq!(saltwing_sql::parameter_count(&parse_one("SELECT $3, $1").unwrap().parameters), 3);
    refused("SELECT ?, $1", ErrorCode::BadParameter, "$1");
    refused("SELECT :a, ?", ErrorCode::BadParameter, "?");
    refused("SELECT $0", ErrorCode::BadParameter, "$0");
    refused("SELECT ?65536", ErrorCode::BadParameter, "?65536");
    // Places count from the start of the whole text.
    refused("SELECT 1;\n\n  SELECT ä,\n 'ü' b c", ErrorCode::Syntax, "c");
    refused("SELECT 1; -- ä\n  SELECT #", ErrorCode::Syntax, "#");
    // Each statement counts for itself.
    let both = parse("SELECT ?; SELECT :a").unwrap();
    assert!(both.iter().all(|it| it.parameters.len() == 1));
}

#[test]
fn queries_of_a_with_before_a_write() {
    // A scope of its own: the query's own `x` hides the other one from it alone.
    reads_as(
        "WITH x AS (SELECT 1 a), y AS (SELECT * FROM x), z AS (SELECT 3) INSERT INTO t WITH x AS (SELECT 100 a) SELECT 1, y.a FROM y",
        "INSERT INTO t WITH x AS (SELECT 1 AS a), y AS (SELECT * FROM x) (WITH x AS (SELECT 100 AS a) SELECT 1, y.a FROM y)",
    );
    reads_as(
        "WITH x AS (SELECT 1 a) INSERT INTO t WITH x AS (SELECT a + 1 a FROM x) SELECT 1, a FROM x",
        "INSERT INTO t WITH x AS (SELECT 1 AS a) (WITH x AS (SELECT a + 1 AS a FROM x) SELECT 1, a FROM x)",
    );
    // RECURSIVE stays with its own queries.
    reads_as(
        "WITH x AS (SELECT a FROM x) INSERT INTO t WITH RECURSIVE r AS (SELECT a FROM x) SELECT a FROM r",
        "INSERT INTO t WITH x AS (SELECT a FROM x) (WITH RECURSIVE r AS (SELECT a FROM x) SELECT a FROM r)",
    );
    // Tables in brackets, and the actions of a MERGE.
    reads_as(
        "WITH x AS (SELECT 1 a) UPDATE t SET b = 1 FROM (x JOIN u ON x.a = u.a)",
        "UPDATE t SET b = 1 FROM ((WITH x AS (SELECT 1 AS a) SELECT * FROM x) AS x JOIN u ON x.a = u.a)",
    );
    reads_as(
        "WITH x AS (SELECT 1 a) MERGE INTO t USING u ON t.a = u.a WHEN MATCHED AND (SELECT a FROM x) = 1 THEN UPDATE SET b = (SELECT a FROM x) WHEN NOT MATCHED THEN INSERT VALUES ((SELECT a FROM x))",
        "MERGE INTO t USING u ON t.a = u.a WHEN MATCHED AND (WITH x AS (SELECT 1 AS a) SELECT a FROM x) = 1 THEN UPDATE SET b = (WITH x AS (SELECT 1 AS a) SELECT a FROM x) WHEN NOT MATCHED THEN INSERT VALUES ((WITH x AS (SELECT 1 AS a) SELECT a FROM x))",
    );
    // A query gets no more than it names.
    reads_as(
        "WITH x AS (SELECT 1 a), y AS (SELECT 2 a) INSERT INTO t VALUES (1, (SELECT a FROM y)), (2, (SELECT 5))",
        "INSERT INTO t VALUES (1, (WITH y AS (SELECT 2 AS a) SELECT a FROM y)), (2, (SELECT 5))",
    );
    refused("WITH x AS (SELECT 1), X AS (SELECT 2) INSERT INTO t SELECT * FROM x", ErrorCode::Syntax, "X");
    // Values that are random are those of one query.
    reads_as(
        "WITH x AS (SELECT RANDOM() a) INSERT INTO t VALUES ((SELECT a FROM x))",
        "INSERT INTO t VALUES ((WITH x AS (SELECT RANDOM() AS a) SELECT a FROM x))",
    );
    let twice = "WITH x AS (SELECT RANDOM() a) INSERT INTO t VALUES ((SELECT a FROM x), (SELECT a FROM x))";
    assert_eq!(parse_one(twice).unwrap_err().code(), ErrorCode::NotSupported);
    let long = format!("WITH x AS (SELECT {}) INSERT INTO t VALUES ", vec!["1"; 1000].join(", "));
    let sql = long + &vec!["((SELECT 1 FROM x))"; 1000].join(", ");
    assert_eq!(parse_one(&sql).unwrap_err().code(), ErrorCode::StatementTooLarge);
}

#[test]
fn a_name_is_no_verb() {
    reads_as(
        "WITH upsert AS (SELECT 1 AS a) SELECT * FROM upsert",
        "WITH upsert AS (SELECT 1 AS a) SELECT * FROM upsert",
    );
    reads_as(
        "WITH upsert (a) AS (SELECT 1), x AS MATERIALIZED (SELECT 2) SELECT * FROM upsert",
        "WITH upsert (a) AS (SELECT 1), x AS (SELECT 2) SELECT * FROM upsert",
    );
    reads_as(
        "SELECT * FROM (VALUES (1, 2)) AS materialized (a, b)",
        "SELECT * FROM (VALUES (1, 2)) AS materialized (a, b)",
    );
    reads_as("SELECT * FROM t AS semi JOIN t AS s ON 1 = 1", "SELECT * FROM t AS semi JOIN t AS s ON 1 = 1");
    reads_as("SELECT * FROM t SEMI JOIN t AS s ON 1 = 1", "SELECT * FROM t SEMI JOIN t AS s ON 1 = 1");
    reads_as("SELECT localtime FROM t", "SELECT localtime FROM t");
    reads_as("SELECT LOCALTIMESTAMP(3) FROM t", "SELECT current_timestamp() FROM t");
    refused("SELECT LOCALTIMESTAMP(3", ErrorCode::Syntax, "");
    refused("SELECT LOCALTIMESTAMP(a)", ErrorCode::Syntax, "a");
}

#[test]
fn kinds_after_is_json_are_refused() {
    for kind in ["VALUE", "SCALAR", "ARRAY", "OBJECT", "WITH UNIQUE KEYS", "WITHOUT UNIQUE"] {
        refused(&format!("SELECT '[1]' IS JSON {kind}"), ErrorCode::NotSupported, "JSON");
        refused(&format!("SELECT '[1]' IS NOT JSON {kind}"), ErrorCode::NotSupported, "JSON");
    }
    reads_as("SELECT '[1]' IS JSON AS object", "SELECT JSON_VALID('[1]') AS object");
}

#[test]
fn by_name_takes_the_names_of_a_query() {
    refused("INSERT INTO t BY NAME (a) SELECT 1 AS b", ErrorCode::Syntax, "BY");
    refused("INSERT INTO t BY NAME VALUES (1)", ErrorCode::Syntax, "BY");
    reads_as("INSERT INTO t BY NAME SELECT 1 AS b", "INSERT INTO t (b) SELECT 1 AS b");
}

#[test]
fn operators_of_bits_stand_above_comparisons() {
    fn brackets(expr: &Expr) -> String {
        match expr {
            Expr::BinaryOp { left, op, right } => format!("({} {op} {})", brackets(left), brackets(right)),
            Expr::UnaryOp { op, expr } => format!("({op}{})", brackets(expr)),
            other => other.to_string(),
        }
    }
    for (sql, expected) in [
        ("1 # 2 = 3", "((1 # 2) = 3)"),
        ("a && b AND c @> d", "((a && b) AND (c @> d))"),
        ("1 # 2 + 3", "(1 # (2 + 3))"),
        ("~1 + 2", "(~(1 + 2))"),
        ("~1 & 2", "((~1) & 2)"),
    ] {
        let Statement::Query(query) = parse_one(&format!("SELECT {sql}")).unwrap().statement else { panic!() };
        let SetExpr::Select(select) = *query.query.body else { panic!() };
        let [sqlparser::ast::SelectItem::UnnamedExpr(expr)] = select.projection.as_slice() else { panic!() };
        assert_eq!(brackets(expr), expected);
    }
}

#[test]
fn values_that_stand_twice_are_counted() {
    reads_as("SELECT a BETWEEN SYMMETRIC 2 AND 1", "SELECT (a BETWEEN 2 AND 1 OR a BETWEEN 1 AND 2)");
    let nested = (0..40).fold("1".to_owned(), |inner, _| format!("(a BETWEEN SYMMETRIC 1 AND {inner})"));
    assert_eq!(parse_one(&format!("SELECT {nested}")).unwrap_err().code().as_str(), "too_deep");
}

#[test]
fn a_list_of_columns_takes_the_columns_of_a_query() {
    reads_as(
        "UPDATE t SET (a, b) = (SELECT x, y FROM u ORDER BY 1 LIMIT 1)",
        "UPDATE t SET a = (SELECT value1 FROM (SELECT x, y FROM u ORDER BY 1 LIMIT 1) AS q (value1, value2)), b = (SELECT value2 FROM (SELECT x, y FROM u ORDER BY 1 LIMIT 1) AS q (value1, value2))",
    );
    refused(
        "UPDATE t SET (a, b) = (SELECT x, y FROM u LIMIT 1)",
        ErrorCode::NotSupported,
        "(a, b) = (SELECT x, y FROM u LIMIT 1",
    );
    refused("UPDATE t SET (a, b) = (SELECT RANDOM(), 1)", ErrorCode::NotSupported, "(a, b) = (SELECT RANDOM(), 1");
    refused("UPDATE t SET (a, b) = (SELECT x FROM u)", ErrorCode::Syntax, "(a, b) = (SELECT x FROM u");
}
