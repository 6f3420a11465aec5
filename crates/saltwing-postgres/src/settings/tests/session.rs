//! Settings in transactions, their effects and reports, and the startup message.

use super::*;

#[test]
fn changes_are_reported_once() {
    let mut settings = settings();
    let first = settings.take_reports();
    let names: Vec<&str> = first.iter().map(|(name, _)| *name).collect();
    let expected = [
        "application_name",
        "client_encoding",
        "DateStyle",
        "default_transaction_read_only",
        "in_hot_standby",
        "integer_datetimes",
        "IntervalStyle",
        "is_superuser",
        "server_encoding",
        "server_version",
        "session_authorization",
        "standard_conforming_strings",
        "TimeZone",
    ];
    assert_eq!(names, expected);
    let value = |name| first.iter().find(|(other, _)| *other == name).unwrap().1.as_str();
    assert!(value("server_version").starts_with("15."));
    assert!(value("DateStyle").starts_with("ISO"));
    assert_eq!((value("session_authorization"), value("is_superuser")), ("ann", "off"));

    assert_eq!(settings.take_reports(), []);
    set(&mut settings, "statement_timeout", "1s");
    set(&mut settings, "application_name", "");
    assert_eq!(settings.take_reports(), []);
    settings.begin(TransactionModes::default());
    set(&mut settings, "application_name", "a");
    assert_eq!(settings.take_reports(), [("application_name", "a".to_owned())]);
    settings.rollback();
    assert_eq!(settings.take_reports(), [("application_name", String::new())]);
    settings.set_dialect(Dialect::Phoenix);
    assert_eq!(settings.take_reports(), [("standard_conforming_strings", "off".to_owned())]);
    set(&mut settings, "standard_conforming_strings", "off");
}

#[test]
fn rollback_undoes_settings_and_commit_keeps_them() {
    let mut settings = settings();
    set(&mut settings, "statement_timeout", "1s");
    settings.begin(TransactionModes::default());
    set(&mut settings, "statement_timeout", "2s");
    set(&mut settings, "app.x", "1");
    settings.rollback();
    assert_eq!(settings.statement_timeout(), Some(Duration::from_secs(1)));
    assert_eq!(settings.text("app.x"), None);

    settings.begin(TransactionModes::default());
    set(&mut settings, "statement_timeout", "2s");
    assert_eq!(settings.set(&named("statement_timeout"), &values(&["3s"]), true), Ok(None));
    assert_eq!(settings.statement_timeout(), Some(Duration::from_secs(3)));
    settings.commit();
    assert_eq!(settings.statement_timeout(), Some(Duration::from_secs(2)));

    // A SET after a SET LOCAL holds at once, and after COMMIT.
    settings.begin(TransactionModes::default());
    settings.set(&named("statement_timeout"), &values(&["3s"]), true).unwrap();
    set(&mut settings, "statement_timeout", "4s");
    assert_eq!(settings.statement_timeout(), Some(Duration::from_secs(4)));
    settings.commit();
    assert_eq!(settings.statement_timeout(), Some(Duration::from_secs(4)));

    let local = settings.set(&named("statement_timeout"), &values(&["5s"]), true);
    assert_eq!(local, Ok(Some(SettingWarning::LocalOutsideTransaction)));
    assert_eq!(settings.statement_timeout(), Some(Duration::from_secs(4)));
}

#[test]
fn savepoints_have_their_settings() {
    let mut settings = settings();
    settings.begin(TransactionModes::default());
    set(&mut settings, "statement_timeout", "1s");
    settings.savepoint("A");
    set(&mut settings, "statement_timeout", "2s");
    settings.savepoint("b");
    set(&mut settings, "statement_timeout", "3s");
    settings.set_transaction(TransactionModes { is_read_only: Some(true), ..Default::default() }).unwrap();
    settings.rollback_to("B").unwrap();
    assert_eq!((shown(&settings, "statement_timeout").as_str(), settings.is_read_only()), ("2s", false));
    set(&mut settings, "statement_timeout", "4s");
    settings.rollback_to("a").unwrap();
    assert_eq!(shown(&settings, "statement_timeout"), "1s");
    assert_eq!(settings.release("b").unwrap_err().sqlstate(), "3B001");
    settings.rollback_to("a").unwrap();
    set(&mut settings, "statement_timeout", "5s");
    settings.release("a").unwrap();
    assert_eq!(settings.rollback_to("a").unwrap_err().sqlstate(), "3B001");
    settings.commit();
    assert_eq!(shown(&settings, "statement_timeout"), "5s");
    assert_eq!(settings.rollback_to("a").unwrap_err().sqlstate(), "3B001");
}

#[test]
fn modes_of_transactions() {
    let mut settings = settings();
    let read_only = TransactionModes { is_read_only: Some(true), ..Default::default() };
    let read_write = TransactionModes { is_read_only: Some(false), ..Default::default() };
    assert!(settings.begin(read_only).is_read_only && settings.is_read_only());
    assert_eq!(settings.set_transaction(read_write), Err(SettingError::AlreadyReadOnly));
    assert_eq!(settings.set_text("transaction_read_only", "off", false), Err(SettingError::AlreadyReadOnly));
    settings.commit();
    assert!(!settings.is_read_only());

    // SET TRANSACTION of a transaction, and of none.
    settings.begin(TransactionModes::default());
    assert_eq!(settings.set_text("transaction_isolation", "read committed", false), Ok(None));
    assert_eq!(settings.set_transaction(read_only), Ok(None));
    assert_eq!(shown(&settings, "transaction_isolation"), "read committed");
    assert_eq!((shown(&settings, "transaction_read_only").as_str(), settings.is_read_only()), ("on", true));
    settings.rollback();
    assert_eq!(settings.set_transaction(read_only), Ok(Some(SettingWarning::TransactionOutsideTransaction)));
    assert_eq!(
        (shown(&settings, "transaction_isolation").as_str(), settings.is_read_only()),
        ("repeatable read", false)
    );

    // The default ones hold outside of transactions, too.
    let isolation = Some(IsolationLevel::ReadUncommitted);
    settings
        .set_characteristics(TransactionModes { isolation, is_read_only: Some(true), is_deferrable: None })
        .unwrap();
    assert!(settings.is_read_only());
    assert_eq!(shown(&settings, "transaction_isolation"), "read uncommitted");
    assert_eq!(shown(&settings, "default_transaction_isolation"), "read uncommitted");
    let modes = settings.begin(TransactionModes::default());
    assert_eq!(
        modes,
        Characteristics { isolation: IsolationLevel::ReadUncommitted, is_read_only: true, is_deferrable: false }
    );
    settings.commit();
    assert!(!settings.begin(read_write).is_read_only);
    settings.commit();
    set(&mut settings, "default_transaction_read_only", "off");
    assert!(!settings.is_read_only());
}

#[test]
fn the_session_acts_on_its_limits() {
    let limits = Limits {
        statement_timeout: Some(Duration::from_secs(9)),
        idle_timeout: Some(Duration::from_secs(8)),
        idle_in_transaction_timeout: Some(Duration::from_secs(7)),
        ..Limits::default()
    };
    let mut settings = PostgresSettings::new(facts(), &limits);
    assert_eq!(settings.statement_timeout(), Some(Duration::from_secs(9)));
    assert_eq!(settings.idle_timeout(), Some(Duration::from_secs(8)));
    settings.begin(TransactionModes::default());
    assert_eq!(settings.idle_timeout(), Some(Duration::from_secs(7)));
    set(&mut settings, "statement_timeout", "0");
    assert_eq!(settings.statement_timeout(), None);

    assert!(settings.sends(MessageLevel::Notice) && !settings.sends(MessageLevel::Log));
    set(&mut settings, "client_min_messages", "error");
    assert!(settings.sends(MessageLevel::Error) && !settings.sends(MessageLevel::Warning));
    set(&mut settings, "client_min_messages", "debug1");
    let debug = |detail| MessageLevel::Debug(std::cmp::Reverse(detail));
    assert!(settings.sends(debug(1)) && !settings.sends(debug(2)));
    settings.set(&named("search_path"), &values(&["pg_catalog", "public"]), false).unwrap();
    assert_eq!(settings.text("search_path").as_deref(), Some("pg_catalog, public"));
}

#[test]
fn the_startup_message_gives_the_defaults() {
    let pairs = |pairs: &[(&str, &str)]| {
        pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect::<Vec<_>>()
    };
    let mut settings = settings();
    let startup = settings.start(&pairs(&[
        ("user", "ann"),
        ("database", "db"),
        ("client_encoding", "UTF8"),
        ("statement_timeout", "3s"),
        ("options", r"-c statement_timeout=5s --full-scan=allow -c app.tenant=a\ b -c jit=on"),
        ("TimeZone", "Europe/Berlin"),
        ("_pq_.feature", "1"),
    ]));
    let startup = startup.unwrap();
    assert_eq!(startup.of_the_library, [("full_scan".to_owned(), "allow".to_owned())]);
    assert_eq!(startup.warnings, [SettingWarning::ZoneIgnored { zone: "Europe/Berlin".into() }]);
    assert_eq!(shown(&settings, "TimeZone"), "UTC");
    set(&mut settings, "statement_timeout", "1s");
    set(&mut settings, "app.tenant", "c");
    set(&mut settings, "app.other", "c");
    settings.reset_all();
    assert_eq!(shown(&settings, "statement_timeout"), "3s");
    assert_eq!(shown(&settings, "app.tenant"), "a b");
    assert_eq!(settings.text("app.other"), None);
    assert_eq!(settings.set(&named("jit"), &NewValue::Default, false), Ok(None));
    assert_eq!(shown(&settings, "jit"), "on");

    for (parameters, state) in [
        (&[("no_parameter", "1")][..], "42704"),
        (&[("options", "-c TimeZone=Europe/Berlin")], "0A000"),
        (&[("client_encoding", "LATIN1")], "0A000"),
        (&[("server_version", "9")], "55P02"),
        (&[("options", "-x")], "42601"),
    ] {
        let error = super::settings().start(&pairs(parameters)).unwrap_err();
        assert_eq!((error.sqlstate(), error.position()), (state, None), "{parameters:?}");
    }
}
