//! Each option, on the command line and in a file.

use clap::{Args, Command, FromArgMatches};
use saltwing_server::{ServerOptions, config_arguments};

/// The options, a value of each that is not its default as the command line has it, and a wrong one. Flags have none.
const CASES: [(&str, &str, &str); 21] = [
    ("listen", "::1", "localhost:80"),
    ("pg-port", "0", "65536"),
    ("avatica-port", "off", "on"),
    ("http-port", "81", "http"),
    ("http-host", "db,db.example.org", "db:80"),
    ("tls-cert", "a.pem", ""),
    ("tls-key", "b.pem", ""),
    ("insecure", "", ""),
    ("max-connections", "7", "0"),
    ("max-connections-per-user", "8", "-1"),
    ("login-timeout", "9s", "0"),
    ("idle-timeout", "10min", "10days"),
    ("idle-in-transaction-timeout", "off", "never"),
    ("statement-timeout", "250", "1.5s"),
    ("transaction-timeout", "2h", "h"),
    ("max-message", "1MB", "1kB"),
    ("send-timeout", "1min", "never ending"),
    ("max-prepared-statements", "3", "0"),
    ("max-cursors", "4", "many"),
    ("slow-ms", "0", "1s"),
    ("grace", "0", "off"),
];

fn command() -> Command {
    ServerOptions::augment_args(Command::new("serve")).no_binary_name(true)
}

fn parsed<S: Into<std::ffi::OsString> + Clone>(
    arguments: impl IntoIterator<Item = S>,
) -> Result<ServerOptions, clap::Error> {
    ServerOptions::from_arg_matches(&command().try_get_matches_from(arguments)?)
}

/// The options of a file, or the error as text.
fn from_file(text: &str) -> Result<ServerOptions, String> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("server.toml");
    std::fs::write(&path, text).unwrap();
    let arguments = config_arguments(&path, &command(), &["help"]).map_err(|error| error.to_string())?;
    Ok(parsed(arguments).unwrap())
}

#[test]
fn the_table_has_every_option() {
    let mut known: Vec<String> =
        command().get_arguments().filter_map(|arg| arg.get_long().map(str::to_owned)).collect();
    let mut tested: Vec<&str> = CASES.iter().map(|(name, ..)| *name).collect();
    known.sort_unstable();
    tested.sort_unstable();
    assert_eq!(known, tested);
}

#[test]
fn without_arguments_all_is_default() {
    assert_eq!(parsed([""; 0]).unwrap(), ServerOptions::default());
    assert_eq!(from_file("").unwrap(), ServerOptions::default());
}

#[test]
fn each_option_changes_something_wherever_it_stands() {
    let mut seen = vec![ServerOptions::default()];
    for (name, value, _) in CASES {
        let (argument, line) = match value {
            "" => (format!("--{name}"), format!("{name} = true")),
            value => (format!("--{name}={value}"), format!("{name} = '{value}'")),
        };
        let options = parsed([argument]).unwrap();
        assert_eq!(from_file(&line).unwrap(), options, "{name}");
        assert!(!seen.contains(&options), "{name} does what another option does, or nothing");
        seen.push(options);
    }
}

#[test]
fn each_wrong_value_is_refused_with_its_option() {
    for (name, _, wrong) in CASES.iter().filter(|(.., wrong)| !wrong.is_empty()) {
        let error = parsed([format!("--{name}={wrong}")]).unwrap_err();
        assert!(error.exit_code() == 2 && error.to_string().contains(&format!("--{name} <")), "{error}");
        let error = from_file(&format!("# a line\n{name} = '{wrong}'")).unwrap_err();
        assert!(
            error.contains("server.toml, line 2: invalid value") && error.contains(&format!("--{name} <")),
            "{error}"
        );
    }
}

#[test]
fn wrong_files_are_refused_with_their_line() {
    for (text, part) in [
        ("pg-port = 1\npg-prot = 1", "line 2: there is no option pg-prot; did you mean pg-port?"),
        ("help = true", "line 1: there is no option help"),
        ("insecure = 'yes'", "line 1: insecure is true or false"),
        ("= 1", "line 1: "),
    ] {
        let error = from_file(text).unwrap_err();
        assert!(error.contains(part), "{error}");
    }
    let error = config_arguments("/no/such/file.toml".as_ref(), &command(), &[]).unwrap_err().to_string();
    assert!(error.starts_with("/no/such/file.toml: "), "{error}");
}

/// The page names every option with its default.
#[test]
fn the_page_has_every_option() {
    let page = include_str!("../../../../docs/server.md");
    for arg in command().get_arguments() {
        let long = arg.get_long().unwrap();
        let row = page
            .lines()
            .find(|line| line.starts_with(&format!("| `--{long}")))
            .unwrap_or_else(|| panic!("--{long} is not in docs/server.md"));
        let default = arg.get_default_values().first().map(|value| value.to_str().unwrap());
        if let Some(default) = default.filter(|_| arg.get_action().takes_values()) {
            assert!(row.contains(&format!("| `{default}` |")), "{row} has not the default {default}");
        }
    }
}
