//! SET, SHOW, RESET and DISCARD.

use super::*;

fn set(sql: &str) -> (TextAt, NewValue, bool) {
    match own(sql) {
        SessionStatement::Set { name, value, is_local } => (name, value, is_local),
        other => panic!("{sql}: {other:?}"),
    }
}

/// The name and the values without their places.
fn short(sql: &str) -> (String, Vec<String>) {
    let (name, value, _) = set(sql);
    let values = match value {
        NewValue::Default => vec!["<default>".to_owned()],
        NewValue::Values(values) => values.into_iter().map(|value| value.text).collect(),
    };
    (name.text, values)
}

#[test]
fn set_has_many_forms() {
    for (sql, name, values) in [
        ("SET jit = on", "jit", &["on"][..]),
        ("set SESSION Jit TO 'On'", "jit", &["On"]),
        ("SET DateStyle = ISO, DMY", "datestyle", &["iso", "dmy"]),
        ("SET datestyle TO 'ISO, DMY'", "datestyle", &["ISO, DMY"]),
        ("SET search_path = \"$user\", Public, 'x'", "search_path", &["$user", "public", "x"]),
        ("SET search_path = ''", "search_path", &[""]),
        ("SET extra_float_digits = 3", "extra_float_digits", &["3"]),
        ("SET extra_float_digits = -15", "extra_float_digits", &["-15"]),
        ("SET extra_float_digits = + 2.5", "extra_float_digits", &["2.5"]),
        ("SET statement_timeout = 5000", "statement_timeout", &["5000"]),
        ("SET statement_timeout TO DEFAULT", "statement_timeout", &["<default>"]),
        ("SET app.\"User\".id = E'a\\tb'", "app.User.id", &["a\tb"]),
        ("SET TIME ZONE UTC", "TimeZone", &["utc"]),
        ("SET TIME ZONE 'Europe/Berlin'", "TimeZone", &["Europe/Berlin"]),
        ("SET TIME ZONE -7", "TimeZone", &["-7"]),
        ("SET TIME ZONE INTERVAL '+00:00' HOUR TO MINUTE", "TimeZone", &["+00:00"]),
        ("SET TIME ZONE LOCAL", "TimeZone", &["<default>"]),
        ("SET LOCAL TIME ZONE DEFAULT", "TimeZone", &["<default>"]),
        ("SET SESSION TIMEZONE TO 'UTC'", "timezone", &["UTC"]),
        ("SET NAMES 'UTF8'", "client_encoding", &["UTF8"]),
        ("SET NAMES", "client_encoding", &["<default>"]),
        ("SET names = 'x'", "names", &["x"]),
        ("SET SCHEMA 'public'", "search_path", &["public"]),
        ("SET XML OPTION CONTENT", "xmloption", &["content"]),
        ("SET role = none", "role", &["none"]),
        ("SET transaction_isolation = 'read committed'", "transaction_isolation", &["read committed"]),
    ] {
        assert_eq!(short(sql), (name.to_owned(), values.iter().map(|&value| value.to_owned()).collect()), "{sql}");
    }
}

#[test]
fn set_keeps_places_and_scope() {
    let values = NewValue::Values(vec![at("-1", 26), at("é", 33), at("x", 38)]);
    assert_eq!(set("SET LOCAL é.statement  = - 1  , 'é', X"), (at("é.statement", 11), values, true));
    assert!(!set("SET SESSION jit = on").2 && !set("SET jit = on").2);
    let (name, value, _) = set("SET TIME ZONE 'UTC'");
    assert_eq!((name, value), (at("TimeZone", 5), NewValue::Values(vec![at("UTC", 15)])));
}

#[test]
fn strings_of_phoenix_have_escapes() {
    let value = |dialect| match parse(r"SET app.a = 'a\'", dialect) {
        Ok(Some(SessionStatement::Set { value, .. })) => Ok(value),
        Err(error) => Err((error.sqlstate(), error.position())),
        other => panic!("{other:?}"),
    };
    assert_eq!(value(Dialect::Saltwing), Ok(NewValue::Values(vec![at(r"a\", 13)])));
    assert_eq!(value(Dialect::Phoenix), Err(("42601", 13)));
}

#[test]
fn settings_of_the_library_lose_the_word_session() {
    let of_the_library = |sql: &str, tag| SessionStatement::OfTheLibrary { sql: sql.to_owned(), tag };
    assert_eq!(
        own("/* é */ SET SESSION full_scan = 'allow'"),
        of_the_library("/* é */ SET         full_scan = 'allow'", "SET")
    );
    assert_eq!(own("RESET Full_Scan;"), of_the_library("SET full_scan = DEFAULT", "RESET"));
    assert_eq!(refusal("SET LOCAL full_scan = 'allow'"), ("0A000", 5));
}

#[test]
fn identity_cannot_change() {
    for (sql, tag) in [
        ("SET ROLE NONE", "SET"),
        ("SET SESSION ROLE 'none'", "SET"),
        ("SET LOCAL ROLE none", "SET"),
        ("SET SESSION AUTHORIZATION DEFAULT", "SET"),
        ("SET LOCAL SESSION AUTHORIZATION DEFAULT", "SET"),
        ("RESET ROLE", "RESET"),
        ("RESET SESSION AUTHORIZATION", "RESET"),
    ] {
        assert_eq!(own(sql), SessionStatement::Nothing { tag }, "{sql}");
    }
    for sql in ["SET ROLE admin", "SET ROLE 'x'", "SET SESSION AUTHORIZATION ann", "SET SESSION AUTHORIZATION 'ann'"] {
        assert_eq!(refusal(sql), ("0A000", 5), "{sql}");
    }
}

#[test]
fn constraints_are_immediate() {
    for sql in ["SET CONSTRAINTS ALL IMMEDIATE", "SET CONSTRAINTS a, s.b IMMEDIATE"] {
        assert_eq!(own(sql), SessionStatement::Nothing { tag: "SET CONSTRAINTS" }, "{sql}");
    }
    assert_eq!(refusal("SET CONSTRAINTS ALL DEFERRED"), ("0A000", 5));
    assert_eq!(refusal("SET CONSTRAINTS ALL"), ("42601", 20));
}

#[test]
fn set_that_cannot_be_read() {
    for (sql, position) in [
        ("SET", 4),
        ("SET =", 5),
        ("SET 'x' = 1", 5),
        ("SET jit", 8),
        ("SET jit on", 9),
        ("SET jit =", 10),
        ("SET jit = on off", 14),
        ("SET jit = on,", 14),
        ("SET jit = -'x'", 12),
        ("SET jit = (on)", 11),
        ("SET jit = $1", 11),
        ("SET a. = 1", 8),
        ("SET jit = 'open", 11),
        ("SET jit = 5s", 11),
        ("SET jit = \"\"", 11),
        ("SET jit = DEFAULT, on", 18),
        ("SET TIME ZONE", 14),
        ("SET TIME ZONE INTERVAL 5", 24),
        ("SET TIME ZONE INTERVAL '1' HOUR TO SECOND", 36),
        ("SET SESSION", 12),
    ] {
        assert_eq!(refusal(sql), ("42601", position), "{sql}");
    }
    let many = format!("SET a.b = 1{}", ", 1".repeat(1000));
    assert_eq!(refusal(&many).0, "54000");
}

#[test]
fn show_reset_and_discard() {
    for (sql, statement) in [
        ("SHOW Search_Path", SessionStatement::Show(at("search_path", 6))),
        ("SHOW \"TimeZone\"", SessionStatement::Show(at("TimeZone", 6))),
        ("SHOW app.user", SessionStatement::Show(at("app.user", 6))),
        ("SHOW statement_timeout", SessionStatement::Show(at("statement_timeout", 6))),
        ("SHOW time zone", SessionStatement::Show(at("TimeZone", 6))),
        ("show transaction isolation level", SessionStatement::Show(at("transaction_isolation", 6))),
        ("SHOW SESSION AUTHORIZATION", SessionStatement::Show(at("session_authorization", 6))),
        ("SHOW ALL", SessionStatement::ShowAll),
        ("RESET TIME ZONE", SessionStatement::Reset(at("TimeZone", 7))),
        ("RESET TRANSACTION ISOLATION LEVEL", SessionStatement::Reset(at("transaction_isolation", 7))),
        ("RESET app.user", SessionStatement::Reset(at("app.user", 7))),
        ("RESET statement_timeout", SessionStatement::Reset(at("statement_timeout", 7))),
        ("RESET ALL", SessionStatement::ResetAll),
        ("DISCARD ALL", SessionStatement::Discard(Discard::All)),
        ("DISCARD PLANS", SessionStatement::Discard(Discard::Plans)),
        ("DISCARD SEQUENCES", SessionStatement::Discard(Discard::Sequences)),
        ("DISCARD TEMP", SessionStatement::Discard(Discard::Temporary)),
        ("DISCARD TEMPORARY", SessionStatement::Discard(Discard::Temporary)),
    ] {
        assert_eq!(own(sql), statement, "{sql}");
    }
    for (sql, position) in [
        ("SHOW ALL jit", 10),
        ("SHOW a.", 8),
        ("RESET", 6),
        ("RESET jit, jit", 10),
        ("RESET 'jit'", 7),
        ("DISCARD EVERYTHING", 9),
        ("DISCARD ALL PLANS", 13),
    ] {
        assert_eq!(refusal(sql), ("42601", position), "{sql}");
    }
}
