//! The file of `--config`: options in TOML under the names that they have on the command line.
//!
//! ```toml
//! listen = "0.0.0.0"
//! pg-port = 5433
//! avatica-port = "off"
//! readonly = true
//! http-host = ["db.example.org", "db"]
//! ```
//!
//! The file becomes arguments of the command line, so that both have the same options, values and errors. Arguments of the command line come later
//! and win.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, Command};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Why the file of `--config` is refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{path}: {source}", path = path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A line is no TOML, or no option.
    #[error("{path}, line {line}: {reason}", path = path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1 on.
        line: usize,
        /// Why.
        reason: String,
    },
}

/// Reads the file as arguments of `command`, in the order of the file: `--key=value`, or `--key` for what is true. `left_out` are options that have no place in a
/// file.
///
/// # Errors
/// [`ConfigError`]: the file cannot be read; it is not TOML; a key is not an option, with the nearest one's name; a value is not one of its option.
pub fn config_arguments(path: &Path, command: &Command, left_out: &[&str]) -> Result<Vec<OsString>, ConfigError> {
    let text =
        std::fs::read_to_string(path).map_err(|source| ConfigError::Unreadable { path: path.to_owned(), source })?;
    arguments(&text, command, left_out).map_err(|(offset, reason)| {
        let line = text.bytes().take(offset).filter(|byte| *byte == b'\n').count().saturating_add(1);
        ConfigError::Line { path: path.to_owned(), line, reason }
    })
}

/// The arguments of a text, or the byte at which it is wrong, and why.
fn arguments(text: &str, command: &Command, left_out: &[&str]) -> Result<Vec<OsString>, (usize, String)> {
    let document = DeTable::parse(text)
        .map_err(|error| (error.span().map_or(0, |span| span.start), error.message().to_owned()))?;
    let mut entries: Vec<(usize, &str, &DeValue<'_>)> = document
        .get_ref()
        .iter()
        .map(|(key, value)| (key.span().start, key.get_ref().as_ref(), value.get_ref()))
        .collect();
    entries.sort_unstable_by_key(|(offset, ..)| *offset);
    let options: Vec<&Arg> =
        command.get_arguments().filter(|arg| arg.get_long().is_some_and(|long| !left_out.contains(&long))).collect();
    let mut arguments = Vec::new();
    for (offset, key, value) in entries {
        let argument = option(&options, key).and_then(|option| argument(option, key, value));
        arguments.extend(argument.map_err(|reason| (offset, reason))?);
    }
    Ok(arguments)
}

fn option<'a>(options: &[&'a Arg], key: &str) -> Result<&'a Arg, String> {
    let names = || options.iter().filter_map(|arg| arg.get_long());
    if let Some(option) = options.iter().find(|arg| arg.get_long() == Some(key)) {
        return Ok(option);
    }
    let near = names().find(|name| *name == key.replace('_', "-")).or_else(|| saltwing::suggest(key, names()));
    Err(match near {
        Some(near) => format!("there is no option {key}; did you mean {near}?"),
        None => format!("there is no option {key}"),
    })
}

/// The argument that a key and its value stand for; none for a flag that is false.
fn argument(option: &Arg, key: &str, value: &DeValue<'_>) -> Result<Option<OsString>, String> {
    let is_flag = matches!(option.get_action(), ArgAction::SetTrue);
    match (is_flag, value) {
        (true, DeValue::Boolean(is_set)) => return Ok(is_set.then(|| format!("--{key}").into())),
        (true, _) => return Err(format!("{key} is true or false")),
        (false, _) => {}
    }
    let text = match value {
        DeValue::Array(values) => {
            let texts: Option<Vec<String>> = values.iter().map(Spanned::get_ref).map(scalar).collect();
            texts.map(|texts| texts.join(","))
        }
        value => scalar(value),
    };
    let text = text.ok_or_else(|| format!("{key} takes a text or a whole number"))?;
    check(option, &text)?;
    Ok(Some(format!("--{key}={text}").into()))
}

fn scalar(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.as_ref().to_owned()),
        DeValue::Integer(number) if number.radix() == 10 => Some(number.as_str().replace('_', "")),
        _ => None,
    }
}

/// Checks a value as the command line would, so that the error has the line of the file.
fn check(option: &Arg, text: &str) -> Result<(), String> {
    let long = option.get_long().unwrap_or_default();
    let alone = Command::new("config").disable_help_flag(true).arg(option.clone());
    let checked = alone.try_get_matches_from([OsString::from("config"), format!("--{long}={text}").into()]);
    checked.map(drop).map_err(|error| {
        let text = error.to_string();
        let reason = text.split("\n\n").next().unwrap_or_default();
        reason.trim_start_matches("error: ").replace("\n  ", " ")
    })
}

#[cfg(test)]
mod tests {
    use clap::{Args, Command};

    use super::arguments;
    use crate::ServerOptions;

    fn read(text: &str) -> Result<Vec<String>, (usize, String)> {
        let command = ServerOptions::augment_args(Command::new("serve"));
        let arguments = arguments(text, &command, &["grace"])?;
        Ok(arguments.into_iter().map(|argument| argument.into_string().unwrap()).collect())
    }

    #[test]
    fn a_file_is_arguments_in_its_order() {
        let text = "listen = '::1'\n# none\navatica-port = \"off\"\npg-port = 1_000\ninsecure = true\nhttp-host = ['a', 'b.c']\n";
        assert_eq!(
            read(text).unwrap(),
            ["--listen=::1", "--avatica-port=off", "--pg-port=1000", "--insecure", "--http-host=a,b.c"]
        );
        assert_eq!(read("insecure = false").unwrap(), [""; 0]);
        assert_eq!(read("").unwrap(), [""; 0]);
    }

    #[test]
    fn wrong_keys_and_values_have_their_place() {
        let cases = [
            ("\npg-prot = 1", 1, "there is no option pg-prot; did you mean pg-port?"),
            ("pg_port = 1", 0, "there is no option pg_port; did you mean pg-port?"),
            ("xyzzy = 1", 0, "there is no option xyzzy"),
            ("grace = '1s'", 0, "there is no option grace"),
            ("insecure = 1", 0, "insecure is true or false"),
            ("pg-port = true", 0, "pg-port takes a text or a whole number"),
            ("pg-port = 1.5", 0, "pg-port takes a text or a whole number"),
            ("[tls]\ncert = 'a'", 1, "there is no option tls"),
            (
                "pg-port = 70000",
                0,
                "invalid value '70000' for '--pg-port <PORT>': a port from 0 to 65535, where 0 chooses a free one, or off",
            ),
            ("max-connections = 0", 0, "invalid value '0' for '--max-connections <N>': a number from 1 on"),
        ];
        for (text, offset, reason) in cases {
            let (found, error) = read(text).unwrap_err();
            assert!(error.starts_with(reason) && found == offset, "{text}: {error} at {found}");
        }
        assert!(read("pg-port = 1\npg-port = 2").unwrap_err().1.contains("duplicate key"));
        assert_eq!(read("a = 1\nb = = 2").unwrap_err().0, 10);
    }
}
