use std::collections::HashSet;

use super::*;
use crate::{ArithOp, Expr, SqlType, Value, ValueError, eval, typing};

mod aggregates;
mod foreign;
mod key_property;

fn int(value: i64) -> Expr {
    Expr::Literal(Value::Int(value), SqlType::BigInt)
}

fn value(e: Result<Expr, ValueError>) -> Value {
    eval::eval(&e.unwrap(), &[]).unwrap()
}

#[test]
fn entries_are_whole_and_names_are_unique() {
    let mut names = HashSet::new();
    for function in Function::all() {
        for name in std::iter::once(&function.name).chain(function.aliases) {
            assert!(names.insert(*name), "{name} stands twice");
            assert_eq!(name.to_ascii_uppercase(), *name);
            assert_eq!(Function::by_name(&name.to_lowercase()), Some(function));
        }
        assert!(!function.signatures.is_empty() && !function.description.is_empty(), "{function:?}");
        assert!(function.example.0.starts_with(function.name), "{function:?}: {}", function.example.0);
        assert!(function.description.ends_with('.'), "{function:?}: {}", function.description);
    }
    let texts = [
        array::ALL,
        binary::ALL,
        characters::ALL,
        collation::ALL,
        format::ALL,
        padding::ALL,
        regexp::ALL,
        substring::ALL,
        text::ALL,
    ];
    for list in [conditional::ALL, datetime::ALL, dynamic::ALL, hash::ALL, json::ALL, numeric::ALL, power::ALL]
        .into_iter()
        .chain(texts)
    {
        assert!(list.is_sorted_by_key(|function| function.name));
    }
    assert!(syntax::FORMS.is_sorted_by_key(|form| form.name));
}

#[test]
fn unknown_names_have_near_ones() {
    let error = typing::call_named("lenght", vec![typing::string("a")]).unwrap_err();
    assert_eq!((error.code().sqlstate(), error.to_string().as_str()), ("42883", "no function lenght; there is LENGTH"));
    let error = typing::call_named("LEFT", vec![typing::string("a")]).unwrap_err();
    let text = "no function LEFT with 1 arguments; there is LEFT(text VARCHAR, count BIGINT) -> VARCHAR";
    assert_eq!(error.to_string(), text);
}

#[test]
fn functions() {
    let text = typing::string;
    let call = |f, args| value(typing::call_named(f, args));
    assert_eq!(call("MD5", vec![text("abc")]), Value::text("900150983cd24fb0d6963f7d28e17f72"));
    assert_eq!(call("SUBSTR", vec![text("漢字x"), int(2), int(1)]), Value::text("字"));
    assert_eq!(call("SUBSTR", vec![text("abc"), int(-2)]), Value::text("bc"));
    assert_eq!(call("SUBSTR", vec![text("abc"), int(-9)]), Value::text(""));
    assert_eq!(call("LEFT", vec![text("abc"), int(2)]), Value::text("ab"));
    assert_eq!(call("CONCAT", vec![text("a"), int(1)]), Value::text("a1"));
    assert_eq!(call("CONCAT", vec![text("a"), Expr::NULL]), Value::Null);
    assert_eq!(call("COALESCE", vec![Expr::NULL, int(1)]), Value::Int(1));
    assert_eq!(call("TO_DATE", vec![text("1970-01-02")]), Value::Date(86_400_000));
    let next =
        typing::arith(ArithOp::Add, Expr::Literal(Value::Date(0), SqlType::Date), typing::number("1.5").unwrap());
    assert_eq!(value(next), Value::Date(129_600_000));
}

#[test]
fn rounding_of_numbers() {
    let call = |f, number: &str, places: Option<i64>| {
        let number = match number.strip_prefix('-') {
            Some(number) => typing::negate(typing::number(number).unwrap()),
            None => typing::number(number),
        };
        crate::text::literal(
            &value(typing::call_named(f, [number.unwrap()].into_iter().chain(places.map(int)).collect())),
            SqlType::Null,
        )
    };
    for (number, places, floor, ceil, round, trunc) in [
        ("2.5", None, "2", "3", "3", "2"),
        ("-2.5", None, "-3", "-2", "-3", "-2"),
        ("-2.55", Some(1), "-2.6", "-2.5", "-2.6", "-2.5"),
        ("1250", Some(-2), "1200", "1300", "1300", "1200"),
        ("-1250", Some(-2), "-1300", "-1200", "-1300", "-1200"),
        ("7", Some(3), "7", "7", "7", "7"),
        ("0.29e0", Some(2), "0.29", "0.29", "0.29", "0.29"),
        ("-0.5e0", None, "-1.0", "0.0", "-1.0", "0.0"),
        ("1250e0", Some(-2), "1200.0", "1300.0", "1300.0", "1200.0"),
    ] {
        let all = ["FLOOR", "CEIL", "ROUND", "TRUNC"].map(|f| call(f, number, places));
        assert_eq!(all, [floor, ceil, round, trunc], "{number} {places:?}");
    }
    let e = typing::call_named("ROUND", vec![int(i64::MAX), int(-1)]).unwrap();
    assert_eq!(eval::eval(&e, &[]).unwrap_err().code().as_str(), "out_of_range");
}

#[test]
fn cuts_of_instants() {
    let at = |text| Expr::Literal(crate::text::parse(text, SqlType::Timestamp).unwrap(), SqlType::Timestamp);
    let shown = |f, args| crate::text::literal(&value(typing::call_named(f, args)), SqlType::Timestamp);
    let text = typing::string;
    let noon = || at("2024-05-15 12:34:56.5");
    for (function, args, expected) in [
        ("DATE_TRUNC", vec![text("day"), noon()], "TIMESTAMP '2024-05-15 00:00:00'"),
        ("DATE_TRUNC", vec![text("month"), text("2024-05-15")], "TIMESTAMP '2024-05-01 00:00:00'"),
        ("DATE_BIN", vec![text("15 minutes"), noon()], "TIMESTAMP '2024-05-15 12:30:00'"),
        ("DATE_BIN", vec![text("1 day"), noon(), at("2024-01-01 06:00:00")], "TIMESTAMP '2024-05-15 06:00:00'"),
        ("FLOOR", vec![noon(), text("MINUTE"), int(15)], "TIMESTAMP '2024-05-15 12:30:00'"),
        ("CEIL", vec![noon(), text("year")], "TIMESTAMP '2025-01-01 00:00:00'"),
        ("ROUND", vec![noon(), text("DAY")], "TIMESTAMP '2024-05-16 00:00:00'"),
        ("TRUNC", vec![noon(), text("hour")], "TIMESTAMP '2024-05-15 12:00:00'"),
    ] {
        assert_eq!(shown(function, args), expected, "{function}");
    }
    let last = Expr::Literal(Value::Date(i64::MIN), SqlType::Date);
    let e = typing::call_named("DATE_TRUNC", vec![text("day"), last]).unwrap();
    assert_eq!(eval::eval(&e, &[]).unwrap_err().code().sqlstate(), "22008");
    for (function, args, code) in [
        ("DATE_TRUNC", vec![text("fortnight"), noon()], "bad_argument"),
        ("DATE_TRUNC", vec![text("day"), int(1)], "type_mismatch"),
        ("FLOOR", vec![noon()], "no_such_function"),
        ("FLOOR", vec![text("a")], "type_mismatch"),
        ("DATE_BIN", vec![text("1 month"), noon()], "bad_argument"),
        ("REGEXP_LIKE", vec![text("a"), text("(")], "bad_argument"),
        ("REGEXP_LIKE", vec![text("a"), text("a"), text("x")], "bad_argument"),
    ] {
        assert_eq!(typing::call_named(function, args).unwrap_err().code().as_str(), code, "{function}");
    }
}
