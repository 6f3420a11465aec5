//! PREPARE, EXECUTE and DEALLOCATE.

use super::*;
use crate::tokens::Body;

#[test]
fn prepare_keeps_the_statement() {
    let sql = "PREPARE P (int, text, unknown, numeric(10, 2)[]) AS SELECT $1 /* é */ WHERE a = ';' ; ";
    let SessionStatement::Prepare(prepare) = own(sql) else { panic!("{sql}") };
    assert_eq!(prepare.name, at("p", 9));
    let decimals = SqlType::array(SqlType::Decimal(Some((10, 2))));
    assert_eq!(prepare.types, [Some(SqlType::Integer), Some(SqlType::Varchar(None)), None, decimals]);
    assert_eq!(prepare.statement, Body { sql: "SELECT $1 /* é */ WHERE a = ';'".into(), offset: 52 });
    let SessionStatement::Prepare(prepare) = own("PREPARE \"P\" AS UPSERT INTO t VALUES (?)") else { panic!() };
    assert_eq!((prepare.name, prepare.types), (at("P", 9), Vec::new()));
    assert_eq!(prepare.statement.sql, "UPSERT INTO t VALUES (?)");
}

#[test]
fn types_have_the_names_of_both() {
    use SqlType::*;
    for (name, expected) in [
        ("smallint", SmallInt),
        ("int2", SmallInt),
        ("INTEGER", Integer),
        ("pg_catalog.int4", Integer),
        ("bigint", BigInt),
        ("int8", BigInt),
        ("real", Float),
        ("double precision", Double),
        ("float8", Double),
        ("numeric", Decimal(None)),
        ("decimal(5)", Decimal(Some((5, 0)))),
        ("numeric(5, 2)", Decimal(Some((5, 2)))),
        ("bool", Boolean),
        ("boolean", Boolean),
        ("text", Varchar(None)),
        ("varchar(7)", Varchar(Some(7))),
        ("character varying", Varchar(None)),
        ("char", Char(1)),
        ("character(3)", Char(3)),
        ("bpchar", Varchar(None)),
        ("bytea", Varbinary),
        ("binary(4)", Binary(4)),
        ("date", Date),
        ("time without time zone", Time),
        ("timestamp", Timestamp),
        ("timestamp without time zone", Timestamp),
        ("uuid", Uuid),
        ("jsonb", Json),
        ("interval", Interval),
        ("unsigned_long", UnsignedLong),
        ("int[]", SqlType::array(Integer).unwrap()),
        ("text array", SqlType::array(Varchar(None)).unwrap()),
        ("timestamp[3]", SqlType::array(Timestamp).unwrap()),
    ] {
        let sql = format!("PREPARE p ({name}) AS SELECT 1");
        let SessionStatement::Prepare(prepare) = own(&sql) else { panic!("{sql}") };
        assert_eq!(prepare.types, [Some(expected)], "{name}");
    }
    for (name, state) in [
        ("money", "42704"),
        ("null", "42704"),
        ("int(5)", "42704"),
        ("timestamp(3)", "42704"),
        ("numeric(5, 9)", "42704"),
        ("numeric(99)", "42704"),
        ("varchar(0)", "42704"),
        ("varchar(1, 2)", "42704"),
        ("binary", "42704"),
        ("\"Int\"", "42704"),
        ("timestamptz", "0A000"),
        ("timestamp with time zone", "0A000"),
        ("timetz", "0A000"),
        ("varchar(x)", "42601"),
        ("varchar(99999999999)", "42601"),
        ("int[", "42601"),
        ("'int'", "42601"),
    ] {
        assert_eq!(refusal(&format!("PREPARE p ({name}) AS SELECT 1")).0, state, "{name}");
    }
}

#[test]
fn prepare_that_cannot_be_read() {
    for (sql, position) in [
        ("PREPARE", 8),
        ("PREPARE p", 10),
        ("PREPARE p SELECT 1", 11),
        ("PREPARE p AS", 13),
        ("PREPARE p AS ;", 14),
        ("PREPARE p () AS SELECT 1", 12),
        ("PREPARE p (int AS SELECT 1", 16),
        ("PREPARE p AS SELECT 1; SELECT 2", 24),
    ] {
        assert_eq!(refusal(sql), ("42601", position), "{sql}");
    }
}

#[test]
fn arguments_are_literals() {
    use ArgumentKind::{Boolean, Number, Typed, Untyped};
    let text = |text: &str| Value::Text(text.to_owned());
    for (written, value, kind) in [
        ("1", Value::Int(1), Number),
        ("-9223372036854775808", Value::Int(i64::MIN), Number),
        ("+ 7", Value::Int(7), Number),
        ("1.5", Value::Decimal("1.5".parse().unwrap()), Number),
        ("1e3", Value::Decimal("1000".parse().unwrap()), Number),
        ("9223372036854775808", Value::Decimal("9223372036854775808".parse().unwrap()), Number),
        ("'it''s'", text("it's"), Untyped),
        (r"E'\t'", text("\t"), Untyped),
        ("NULL", Value::Null, Untyped),
        ("true", Value::Bool(true), Boolean),
        ("FALSE", Value::Bool(false), Boolean),
        ("x'00FF'", Value::Bytes(vec![0, 255]), Typed(SqlType::Varbinary)),
        ("'5'::int", Value::Int(5), Typed(SqlType::Integer)),
        ("5::text", text("5"), Typed(SqlType::Varchar(None))),
        ("-1::int8", Value::Int(-1), Typed(SqlType::BigInt)),
        ("null::date", Value::Null, Typed(SqlType::Date)),
        ("'t'::bool", Value::Bool(true), Typed(SqlType::Boolean)),
        (
            "CAST('1.50' AS numeric(5, 2))",
            Value::Decimal("1.5".parse().unwrap()),
            Typed(SqlType::Decimal(Some((5, 2)))),
        ),
        ("CAST(((2)) AS varchar(3))", text("2"), Typed(SqlType::Varchar(Some(3)))),
        ("'7'::text::int", Value::Int(7), Typed(SqlType::Integer)),
        ("'x'::unknown", text("x"), Untyped),
        (r"'\x00ff'::bytea", Value::Bytes(vec![0, 255]), Typed(SqlType::Varbinary)),
        ("DATE '1970-01-02'", Value::Date(86_400_000), Typed(SqlType::Date)),
        (
            "timestamp without time zone '1970-01-01 00:00:01'",
            Value::Timestamp(saltwing::Timestamp { ms: 1000, nanos: 0 }),
            Typed(SqlType::Timestamp),
        ),
        (
            "'{1,2}'::int[]",
            Value::Array(vec![Value::Int(1), Value::Int(2)]),
            Typed(SqlType::array(SqlType::Integer).unwrap()),
        ),
    ] {
        let SessionStatement::Execute(execute) = own(&format!("EXECUTE p ('a', {written})")) else {
            panic!("{written}")
        };
        assert_eq!(execute.name, at("p", 9));
        assert_eq!(execute.arguments[1], Argument { value, kind, position: 17 }, "{written}");
    }
    for sql in ["EXECUTE \"p\"", "EXECUTE p ()", "execute P;"] {
        let SessionStatement::Execute(execute) = own(sql) else { panic!("{sql}") };
        assert_eq!(execute, Execute { name: at("p", 9), arguments: Vec::new() }, "{sql}");
    }
}

#[test]
fn other_arguments_are_refused() {
    for (written, state) in [
        ("now()", "0A000"),
        ("a", "0A000"),
        ("$1", "0A000"),
        ("?", "0A000"),
        ("int 5", "0A000"),
        ("timestamptz '2024-01-01'", "0A000"),
        ("'5'::money", "42704"),
        ("'abc'::int", "22P02"),
        ("300::tinyint", "22003"),
        ("'2024-02-30'::date", "22007"),
        ("'toolong'::varchar(3)", "22001"),
        ("'zz'::bytea", "22P02"),
        ("1e99999", "22003"),
        ("x'0'", "42601"),
        ("-'1'", "42601"),
        ("1 + 1", "42601"),
        ("'open", "42601"),
        ("CAST(1 int)", "42601"),
        ("*", "42601"),
    ] {
        assert_eq!(refusal(&format!("EXECUTE p ({written})")).0, state, "{written}");
    }
    for (sql, position) in [("EXECUTE", 8), ("EXECUTE p (1", 13), ("EXECUTE p (1,)", 14), ("EXECUTE p (1) x", 15)] {
        assert_eq!(refusal(sql), ("42601", position), "{sql}");
    }
    let deep = format!("EXECUTE p ({}1{})", "(".repeat(100_000), ")".repeat(100_000));
    assert_eq!(refusal(&deep).0, "54000");
    for (casts, is_read) in [(32, true), (33, false)] {
        let sql = format!("EXECUTE p (CAST((1) AS int){})", "::int".repeat(casts - 2));
        assert_eq!(parse(&sql, Dialect::Saltwing).is_ok(), is_read, "{sql}");
    }
    let many = format!("EXECUTE p (1{})", ",1".repeat(65_535));
    assert_eq!(refusal(&many).0, "54000");
    assert!(parse(&format!("EXECUTE p (1{})", ",1".repeat(65_534)), Dialect::Saltwing).is_ok());
}

#[test]
fn deallocate_names_a_statement_or_all() {
    for (sql, target) in [
        ("DEALLOCATE P", Target::Named(at("p", 12))),
        ("DEALLOCATE PREPARE \"P\"", Target::Named(at("P", 20))),
        ("DEALLOCATE ALL", Target::All),
        ("DEALLOCATE PREPARE ALL;", Target::All),
        ("DEALLOCATE prepare;", Target::Named(at("prepare", 12))),
    ] {
        assert_eq!(own(sql), SessionStatement::Deallocate(target), "{sql}");
    }
    assert_eq!(refusal("DEALLOCATE"), ("42601", 11));
    assert_eq!(refusal("DEALLOCATE a b"), ("42601", 14));
}
