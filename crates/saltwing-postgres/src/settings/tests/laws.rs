//! The laws of the module, for random sequences of statements.

use proptest::prelude::*;

use super::*;

/// What happens to a session.
#[derive(Clone, Debug)]
enum Step {
    Set { name: &'static str, text: String, is_local: bool },
    Reset(&'static str),
    Modes(TransactionModes),
    Characteristics(TransactionModes),
    Begin,
    Commit,
    Rollback,
    Savepoint(&'static str),
    RollbackTo(&'static str),
    Release(&'static str),
}

fn name() -> impl Strategy<Value = &'static str> {
    let names: Vec<&str> =
        PARAMETERS.iter().map(|parameter| parameter.name).chain(["app.a", "app.b", "nothing"]).collect();
    prop::sample::select(names)
}

/// Texts of which each is a value of some parameter, and others.
fn text() -> impl Strategy<Value = String> {
    let known = [
        "on",
        "off",
        "1",
        "3",
        "0",
        "5s",
        "1500ms",
        "90min",
        "UTC",
        "GMT",
        "ISO, DMY",
        "YMD",
        "public",
        "\"$user\", pg_catalog",
        "",
        "read committed",
        "repeatable read",
        "serializable",
        "warning",
        "debug3",
        "UTF8",
        "SQL_ASCII",
        "hex",
        "C",
        "heap",
        "none",
    ];
    prop_oneof![8 => prop::sample::select(known.to_vec()).prop_map(str::to_owned), 1 => "\\PC{0,12}", 1 => ".{0,80}"]
}

fn modes() -> impl Strategy<Value = TransactionModes> {
    let levels = [IsolationLevel::ReadUncommitted, IsolationLevel::ReadCommitted, IsolationLevel::RepeatableRead];
    let isolation = prop::option::of(prop::sample::select(levels.to_vec()));
    let parts = (isolation, any::<Option<bool>>(), any::<Option<bool>>());
    parts.prop_map(|(isolation, is_read_only, is_deferrable)| TransactionModes {
        isolation,
        is_read_only,
        is_deferrable,
    })
}

fn step() -> impl Strategy<Value = Step> {
    let savepoint = || prop::sample::select(vec!["a", "b", "A"]);
    prop_oneof![
        12 => (name(), text(), any::<bool>()).prop_map(|(name, text, is_local)| Step::Set { name, text, is_local }),
        2 => name().prop_map(Step::Reset),
        1 => modes().prop_map(Step::Modes),
        1 => modes().prop_map(Step::Characteristics),
        2 => Just(Step::Begin),
        1 => Just(Step::Commit),
        1 => Just(Step::Rollback),
        2 => savepoint().prop_map(Step::Savepoint),
        1 => savepoint().prop_map(Step::RollbackTo),
        1 => savepoint().prop_map(Step::Release),
    ]
}

/// The settings at the beginning of a transaction, and at its savepoints.
type Kept = (Vec<ShownParameter>, Vec<(&'static str, Vec<ShownParameter>)>);

fn run(settings: &mut PostgresSettings, step: &Step) -> Result<(), SettingError> {
    match step {
        Step::Set { name, text, is_local } => settings.set_text(name, text, *is_local).map(drop),
        Step::Reset(name) => settings.reset(&named(name), false).map(drop),
        Step::Modes(modes) => settings.set_transaction(*modes).map(drop),
        Step::Characteristics(modes) => settings.set_characteristics(*modes),
        Step::Begin => {
            settings.begin(TransactionModes::default());
            Ok(())
        }
        Step::Commit => {
            settings.commit();
            Ok(())
        }
        Step::Rollback => {
            settings.rollback();
            Ok(())
        }
        Step::Savepoint(name) => {
            settings.savepoint(name);
            Ok(())
        }
        Step::RollbackTo(name) => settings.rollback_to(name),
        Step::Release(name) => settings.release(name),
    }
}

/// Keeps the settings that a later step must give back, and gives those that this one must.
fn expected(kept: &mut Option<Kept>, step: &Step, shown: &[ShownParameter]) -> Option<Vec<ShownParameter>> {
    let place = |savepoints: &[(&str, _)], name: &str| {
        savepoints.iter().rposition(|(other, _)| other.eq_ignore_ascii_case(name))
    };
    match (step, &mut *kept) {
        (Step::Begin, None) => {
            *kept = Some((shown.to_vec(), Vec::new()));
            None
        }
        (Step::Commit, _) => {
            *kept = None;
            None
        }
        (Step::Rollback, _) => kept.take().map(|(before, _)| before),
        (Step::Savepoint(name), Some((_, savepoints))) => {
            savepoints.push((name, shown.to_vec()));
            None
        }
        (Step::RollbackTo(name), Some((_, savepoints))) => {
            let place = place(savepoints, name)?;
            savepoints.truncate(place + 1);
            savepoints.last().map(|(_, shown)| shown.clone())
        }
        (Step::Release(name), Some((_, savepoints))) => {
            let place = place(savepoints, name)?;
            savepoints.truncate(place);
            None
        }
        _ => None,
    }
}

proptest! {
    #[test]
    fn settings_follow_the_transaction(steps in prop::collection::vec(step(), 0..60)) {
        let mut settings = settings();
        let mut kept = None;
        let mut client: Vec<(&str, String)> = settings.take_reports();
        for step in &steps {
            let before = settings.show_all();
            let expected = expected(&mut kept, step, &before);
            if run(&mut settings, step).is_err() {
                prop_assert_eq!(settings.show_all(), before, "a refused {:?} changes nothing", step);
                prop_assert!(expected.is_none());
            }
            if let Some(expected) = expected {
                prop_assert_eq!(settings.show_all(), expected, "{:?}", step);
            }
            for (name, value) in settings.take_reports() {
                let place = client.iter().position(|(other, _)| *other == name).unwrap();
                client[place].1 = value;
            }
        }
        // The client knows the values that SHOW shows.
        for (name, value) in client {
            prop_assert_eq!(settings.text(name), Some(value), "{}", name);
        }
        // SET takes each of them.
        let all = settings.show_all();
        for ShownParameter { name, value, .. } in &all {
            match settings.set_text(name, value, false) {
                Ok(_) | Err(SettingError::Fixed { .. }) => {}
                Err(error) => prop_assert!(false, "{} = {:?}: {}", name, value, error),
            }
        }
        prop_assert_eq!(settings.show_all(), all);
    }

    /// After COMMIT a parameter has the value of its last SET that was not local.
    #[test]
    fn commit_keeps_what_is_not_local(steps in prop::collection::vec((text(), any::<bool>()), 0..20)) {
        let (mut settings, mut model) = (settings(), settings());
        settings.begin(TransactionModes::default());
        for (text, is_local) in &steps {
            for name in ["app.a", "statement_timeout", "TimeZone", "search_path"] {
                let set = settings.set_text(name, text, *is_local);
                prop_assert!(!matches!(set, Ok(Some(_))));
                if !is_local {
                    let _ = model.set_text(name, text, false);
                }
            }
        }
        settings.commit();
        prop_assert_eq!(settings.show_all(), model.show_all());
    }

    #[test]
    fn startup_messages_never_panic(parameters in prop::collection::vec((name(), text()), 0..6), options in ".{0,60}") {
        let mut parameters: Vec<(String, String)> = parameters.into_iter().map(|(name, text)| (name.to_owned(), text)).collect();
        parameters.push(("options".to_owned(), options));
        let mut settings = settings();
        if settings.start(&parameters).is_ok() {
            let all = settings.show_all();
            settings.reset_all();
            prop_assert_eq!(settings.show_all(), all);
        }
    }
}
