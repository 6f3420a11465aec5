//! Tests of the parameters of a session.

use std::time::Duration;

use saltwing::{Dialect, SETTINGS};
use saltwing_sessions::Limits;

use super::catalog::PARAMETERS;
use super::parameter::Source;
use super::session::ShownParameter;
use super::transaction_modes::Characteristics;
use super::*;

mod laws;
mod session;

fn facts() -> SessionFacts {
    SessionFacts { user: "ann".into(), is_superuser: false, is_read_only_database: false, dialect: Dialect::Saltwing }
}

fn settings() -> PostgresSettings {
    PostgresSettings::new(facts(), &Limits::default())
}

fn values(texts: &[&str]) -> NewValue {
    let at = |(index, text): (usize, &&str)| TextAt { text: (*text).into(), position: Some(20 + index) };
    NewValue::Values(texts.iter().enumerate().map(at).collect())
}

fn named(name: &str) -> TextAt {
    TextAt { text: name.into(), position: Some(5) }
}

fn set(settings: &mut PostgresSettings, name: &str, text: &str) {
    assert_eq!(settings.set(&named(name), &values(&[text]), false), Ok(None), "{name} = {text}");
}

fn refusal(settings: &mut PostgresSettings, name: &str, text: &str) -> SettingError {
    let before = settings.show_all();
    let error = settings.set(&named(name), &values(&[text]), false).unwrap_err();
    assert_eq!(settings.show_all(), before, "{name} = {text}");
    error
}

fn shown(settings: &PostgresSettings, name: &str) -> String {
    settings.show(&name.into()).unwrap().value
}

#[test]
fn names_are_in_order_and_each_is_there_once() {
    let names: Vec<String> = PARAMETERS.iter().map(|parameter| parameter.name.to_lowercase()).collect();
    assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
    assert_eq!(settings().show_all().len(), names.len());
}

#[test]
fn each_default_is_a_value_that_set_takes() {
    for limits in
        [Limits::default(), Limits { statement_timeout: Some(Duration::from_millis(1500)), ..Limits::default() }]
    {
        for is_read_only_database in [false, true] {
            for dialect in [Dialect::Saltwing, Dialect::Phoenix] {
                let facts = SessionFacts { is_read_only_database, dialect, ..facts() };
                let mut settings = PostgresSettings::new(facts, &limits);
                let all = settings.show_all();
                for parameter in PARAMETERS.iter().filter(|parameter| !matches!(parameter.source, Source::Fixed(_))) {
                    let text = shown(&settings, parameter.name);
                    assert!(settings.set_text(parameter.name, &text, false).is_ok(), "{} = {text}", parameter.name);
                    assert!(settings.reset(&named(parameter.name), false).is_ok(), "{}", parameter.name);
                }
                assert_eq!(settings.show_all(), all);
            }
        }
    }
}

#[test]
fn parameters_that_say_how_the_server_is_cannot_be_set() {
    for parameter in PARAMETERS.iter().filter(|parameter| matches!(parameter.source, Source::Fixed(_))) {
        let mut settings = settings();
        let value = shown(&settings, parameter.name);
        let error = refusal(&mut settings, parameter.name, &value);
        assert_eq!((error.sqlstate(), error.position()), ("55P02", Some(5)), "{}", parameter.name);
        assert_eq!(settings.reset(&named(parameter.name), false).unwrap_err().sqlstate(), "55P02");
    }
}

#[test]
fn values_have_the_forms_of_postgresql() {
    for (name, text, expected) in [
        ("application_name", "psql", "psql"),
        ("Application_Name", "a\nb\u{7f}", "a?b?"),
        ("client_encoding", "utf-8", "UTF8"),
        ("client_encoding", "UNICODE", "UTF8"),
        ("client_encoding", "sql_ascii", "SQL_ASCII"),
        ("client_min_messages", "WARNING", "warning"),
        ("client_min_messages", "debug", "debug2"),
        ("datestyle", "iso, dmy", "ISO, DMY"),
        ("timezone", "etc/utc", "Etc/UTC"),
        ("extra_float_digits", "3", "3"),
        ("statement_timeout", "90s", "90s"),
        ("statement_timeout", "60000", "1min"),
        ("lock_timeout", "1s", "1s"),
        ("idle_session_timeout", "1h", "1h"),
        ("default_transaction_isolation", "READ COMMITTED", "read committed"),
        ("default_transaction_read_only", "yes", "on"),
        ("row_security", "OFF", "off"),
        ("jit", "t", "on"),
        ("check_function_bodies", "false", "off"),
        ("search_path", "public", "public"),
        ("bytea_output", "HEX", "hex"),
        ("IntervalStyle", "postgres", "postgres"),
        ("default_table_access_method", "heap", "heap"),
        ("default_tablespace", "", ""),
        ("standard_conforming_strings", "1", "on"),
        ("escape_string_warning", "no", "off"),
        ("xmloption", "content", "content"),
        ("lc_messages", "C.UTF-8", "C"),
        ("role", "none", "none"),
        ("app.user_id", "Ann", "Ann"),
    ] {
        let mut settings = settings();
        set(&mut settings, name, text);
        assert_eq!(shown(&settings, name), expected, "{name} = {text}");
    }
}

#[test]
fn values_without_an_effect_are_refused_with_the_reason() {
    for (name, text) in [
        ("client_encoding", "LATIN1"),
        ("DateStyle", "German"),
        ("TimeZone", "Europe/Berlin"),
        ("IntervalStyle", "iso_8601"),
        ("extra_float_digits", "0"),
        ("standard_conforming_strings", "off"),
        ("search_path", "app"),
        ("bytea_output", "escape"),
        ("default_transaction_isolation", "serializable"),
        ("password_encryption", "md5"),
        ("quote_all_identifiers", "on"),
        ("lc_time", "de_DE.UTF-8"),
        ("role", "admin"),
    ] {
        let error = refusal(&mut settings(), name, text);
        assert_eq!((error.sqlstate(), error.position()), ("0A000", Some(20)), "{name} = {text}");
        assert!(error.to_string().starts_with(&format!("parameter \"{name}\" cannot be \"{text}\": ")), "{error}");
    }
    let error = refusal(&mut settings(), "search_path", "app");
    assert_eq!(error.help().as_deref(), Some("name the schema with the table"));
}

#[test]
fn texts_that_are_no_values_are_refused() {
    for (name, text) in [
        ("statement_timeout", "-1"),
        ("statement_timeout", "5 weeks"),
        ("client_min_messages", "loud"),
        ("default_transaction_isolation", "chaos"),
        ("default_transaction_read_only", "maybe"),
        ("extra_float_digits", "4"),
        ("DateStyle", "stardate"),
        ("client_encoding", "-"),
    ] {
        let error = refusal(&mut settings(), name, text);
        assert_eq!((error.sqlstate(), error.position()), ("22023", Some(20)), "{name} = {text}");
    }
    let error = settings().set(&named("jit"), &values(&["on", "off"]), false).unwrap_err();
    assert_eq!((error.sqlstate(), error.position()), ("22023", Some(20)));
}

#[test]
fn unknown_names_get_the_nearest_one() {
    for (name, help) in [
        ("statment_timeout", Some("did you mean statement_timeout?")),
        ("full_scann", Some("did you mean full_scan?")),
        ("synchronous_commit", Some("durability")),
        ("WORK_MEM", Some("memory_limit")),
        ("no_such_parameter_at_all", None),
    ] {
        let mut settings = settings();
        for error in [
            refusal(&mut settings, name, "1"),
            settings.show(&named(name)).unwrap_err(),
            settings.reset(&named(name), false).unwrap_err(),
        ] {
            assert_eq!((error.sqlstate(), error.position()), ("42704", Some(5)), "{name}");
            let text = error.help();
            assert!(
                help.is_none_or(|help| text.as_deref().is_some_and(|text| text.contains(help))),
                "{name}: {text:?}"
            );
            assert_eq!(text.is_some(), help.is_some(), "{name}");
        }
    }
}

#[test]
fn settings_of_the_library_stay_its_own() {
    for setting in SETTINGS {
        assert_eq!(
            is_library_setting(&setting.name.to_uppercase()),
            setting.name != "statement_timeout",
            "{}",
            setting.name
        );
    }
    assert!(!is_library_setting("jit") && !is_library_setting("nothing"));
}

#[test]
fn custom_settings_have_limits() {
    let mut settings = settings();
    for name in [".", "a.", ".a", "a.1", "a.b-c", "a b.c"] {
        assert_eq!(refusal(&mut settings, name, "x").sqlstate(), "42602", "{name}");
    }
    let name = "app.text";
    assert_eq!(refusal(&mut settings, name, &"x".repeat(custom_limits::CUSTOM_BYTES_MAX)).sqlstate(), "53400");
    set(&mut settings, name, &"x".repeat(custom_limits::CUSTOM_BYTES_MAX - name.len()));
    assert_eq!(refusal(&mut settings, "app.b", "").sqlstate(), "53400");
    // Its own text counts once.
    set(&mut settings, "APP.text", "short");
    assert_eq!(shown(&settings, name), "short");
    for index in 1..custom_limits::CUSTOM_SETTINGS_MAX {
        set(&mut settings, &format!("app.s{index}"), "");
    }
    assert_eq!(refusal(&mut settings, "app.more", "").sqlstate(), "53400");
    assert_eq!(settings.reset(&named(name), false), Ok(None));
    assert_eq!(settings.show(&named(name)).unwrap_err().sqlstate(), "42704");
    set(&mut settings, "app.more", "");
}

#[test]
fn a_long_program_name_is_cut_with_a_warning() {
    let mut settings = settings();
    let long = "é".repeat(40);
    let warning = settings.set(&named("application_name"), &values(&[&long]), false).unwrap();
    assert_eq!(warning, Some(SettingWarning::NameCut));
    assert_eq!(settings.text("application_name"), Some("é".repeat(31)));
}
