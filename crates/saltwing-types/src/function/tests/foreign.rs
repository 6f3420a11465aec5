//! Functions that other databases have, with the values that these give.

use super::*;

fn called(name: &str, args: &[&str]) -> Result<Expr, ValueError> {
    let call = typing::call_named(name, args.iter().map(|arg| typing::string(*arg)).collect())?;
    typing::cast(call, SqlType::Varchar(None))
}

fn text(name: &str, args: &[&str]) -> String {
    value(called(name, args)).as_text().unwrap_or("NULL").to_owned()
}

/// Checked against SQLite 3.40.
#[test]
fn fractions_of_months_and_years() {
    for (args, expected) in [
        (["2024-01-31", "+1.5 months"], "2024-03-17"),
        (["2024-01-31", "-1.5 months"], "2023-12-16"),
        (["2024-02-29", "+1.5 years"], "2025-08-30"),
        (["2024-02-29", "+1 year"], "2025-03-01"),
    ] {
        assert_eq!(text("DATE", &args), expected, "{args:?}");
    }
    assert_eq!(text("DATETIME", &["2024-01-31", "+0.25 months"]), "2024-02-07 12:00:00");
    assert_eq!(text("DATETIME", &["2024-02-29", "-0.001 years"]), "2024-02-28 15:14:24");
}

/// Checked against SQLite 3.40, which leaves blanks out.
#[test]
fn members_on_the_way_to_a_new_part() {
    for (json, path, expected) in [
        (r#"{"a":1}"#, "$.b.c", r#"{"a":1,"b":{"c":5}}"#),
        (r#"{"a":1}"#, "$.b[0]", r#"{"a":1,"b":[5]}"#),
        (r#"{"a":1}"#, "$.b[1]", r#"{"a":1}"#),
        (r#"{"a":1}"#, "$.b.c[0].d", r#"{"a":1,"b":{"c":[{"d":5}]}}"#),
        (r#"{"a":null}"#, "$.a.b", r#"{"a":null}"#),
        ("[1]", "$[1].x", r#"[1,{"x":5}]"#),
        ("[1]", "$[2].x", "[1]"),
        (r#"{"a":[]}"#, "$.a[0][0]", r#"{"a":[[5]]}"#),
        (r#" {"a":[1]} "#, "$.a[0]", r#"{"a":[5]}"#),
        ("1", "$.a", "1"),
    ] {
        let set = |name| typing::call_named(name, vec![typing::string(json), typing::string(path), int(5)]);
        let plain = |name| value(set(name)).as_text().unwrap_or("NULL").replace(' ', "");
        assert_eq!(plain("JSON_SET"), expected, "{json} {path}");
        assert_eq!(plain("JSON_REPLACE"), if path == "$.a[0]" { expected } else { json }, "{json} {path}");
    }
}

#[test]
fn formats_of_many_parts_and_digits() {
    assert_eq!(text("FORMAT", &["%%a%%%sb%%", "x"]), "%a%xb%");
    assert_eq!(text("FORMAT", &[&"%%".repeat(100_000)]).len(), 100_000);
    for directive in ["%.70000f", "%.1001e", "%.4000000000g"] {
        let error = eval::eval(&called("FORMAT", &[directive, "1.5"]).unwrap(), &[]).unwrap_err();
        assert_eq!(error.code().sqlstate(), "22023", "{directive}");
    }
    assert_eq!(text("FORMAT", &["%.1000f", "1.5"]).len(), 1002);
    let error = eval::eval(&called("FORMAT", &["a%"]).unwrap(), &[]).unwrap_err();
    assert_eq!(error.code().sqlstate(), "22023");
}
