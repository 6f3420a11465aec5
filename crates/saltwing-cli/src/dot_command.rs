//! Commands of the shell itself.

use crate::failure::Failure;
use crate::render::Mode;

/// What `.help` shows.
pub(crate) const HELP: &str = "\
.help             this text
.tables [LIKE]    the tables; \\d and \\dt do the same
\\d TABLE          a table's columns and key
.schema [TABLE]   the CREATE TABLE of a table, or of all
.mode [MODE]      how results are shown: table box csv tsv json jsonl markdown line
.nullvalue TEXT   what is shown for NULL in tables and lines
.timing on|off    time, keys read and buckets under each result
.read FILE        run a file
.quit             leave; \\q, .exit and Ctrl-D do the same

SQL runs at its ';'. Ctrl-C stops a statement, Tab completes, Ctrl-R searches the history.
EXPLAIN SELECT ... shows the keys that a statement would read.";

/// A command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DotCommand {
    Help,
    /// SHOW TABLES, of names like the pattern.
    Tables(Option<String>),
    /// DESCRIBE.
    Describe(String),
    /// SHOW CREATE TABLE, of one or of all.
    Schema(Option<String>),
    /// Sets the mode, or tells it.
    Mode(Option<Mode>),
    /// Sets it, or turns it.
    Timing(Option<bool>),
    NullText(String),
    Read(String),
    Quit,
}

impl DotCommand {
    /// Whether a line is one, and no SQL.
    pub(crate) fn is_one(line: &str) -> bool {
        line.trim_start().starts_with(['.', '\\'])
    }

    /// The command that a newcomer means with a bare word; no statement is one.
    pub(crate) fn of_bare_word(line: &str) -> Option<&'static str> {
        match line.trim().trim_end_matches(';').trim_end().to_lowercase().as_str() {
            "help" => Some(".help"),
            "exit" | "quit" => Some(".quit"),
            _ => None,
        }
    }

    /// Reads a line that starts with `.` or `\`.
    ///
    /// # Errors
    /// [`Failure::Usage`] for another command, or other arguments than it takes.
    pub(crate) fn parse(line: &str) -> Result<Self, Failure> {
        // A `;` is a habit of those who write SQL.
        let line = line.trim().trim_end_matches(';').trim_end();
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let argument = unquoted(rest.trim());
        let some = (!argument.is_empty()).then(|| argument.to_owned());
        let usage = |text: &str| Err(Failure::Usage(format!("usage: {text}")));
        Ok(match (name.to_lowercase().as_str(), some) {
            (".help" | "\\?" | "\\h", _) => Self::Help,
            (".tables" | "\\dt", pattern) => Self::Tables(pattern),
            ("\\d" | ".describe", None) => Self::Tables(None),
            // Quotes belong to the name.
            ("\\d" | ".describe", Some(_)) => Self::Describe(rest.trim().to_owned()),
            (".schema", table) => Self::Schema(table.map(|_| rest.trim().to_owned())),
            (".mode", None) => Self::Mode(None),
            (".mode", Some(name)) => match Mode::by_name(&name) {
                Some(mode) => Self::Mode(Some(mode)),
                None => return usage(&format!(".mode {}", Mode::ALL.map(Mode::as_str).join("|"))),
            },
            (".timing" | "\\timing", None) => Self::Timing(None),
            (".timing" | "\\timing", Some(word)) => match word.to_lowercase().as_str() {
                "on" => Self::Timing(Some(true)),
                "off" => Self::Timing(Some(false)),
                _ => return usage(".timing on|off"),
            },
            (".nullvalue", text) => Self::NullText(text.unwrap_or_default()),
            (".read" | "\\i", Some(file)) => Self::Read(file),
            (".read" | "\\i", None) => return usage(".read FILE"),
            (".quit" | ".exit" | "\\q", _) => Self::Quit,
            (name, _) => return Err(Failure::Usage(format!("there is no command {name}; .help lists them"))),
        })
    }
}

fn unquoted(text: &str) -> &str {
    ['\'', '"'].into_iter().find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read_with_their_arguments() {
        use DotCommand::*;
        let text = |t: &str| t.to_owned();
        for (line, command) in [
            (".help", Help),
            (".tables", Tables(None)),
            (" .tables LOG% ;", Tables(Some(text("LOG%")))),
            ("\\dt", Tables(None)),
            ("\\d", Tables(None)),
            ("\\d s.\"My T\"", Describe(text("s.\"My T\""))),
            ("\\d \"My T\"", Describe(text("\"My T\""))),
            (".schema", Schema(None)),
            (".schema t", Schema(Some(text("t")))),
            (".mode", Mode(None)),
            (".MODE Json", Mode(Some(crate::render::Mode::Json))),
            (".timing", Timing(None)),
            (".timing OFF", Timing(Some(false))),
            (".nullvalue 'n/a'", NullText(text("n/a"))),
            (".nullvalue", NullText(String::new())),
            (".read 'a b.sql'", Read(text("a b.sql"))),
            ("\\i x.sql", Read(text("x.sql"))),
            (".quit", Quit),
            (".exit", Quit),
            ("\\q", Quit),
        ] {
            assert_eq!(DotCommand::parse(line).unwrap(), command, "{line}");
        }
    }

    #[test]
    fn what_it_does_not_take_is_said() {
        for (line, part) in [
            (".mode xml", "table|box|csv"),
            (".timing maybe", "on|off"),
            (".read", ".read FILE"),
            (".tabels", "no command .tabels"),
        ] {
            match DotCommand::parse(line) {
                Err(Failure::Usage(text)) => assert!(text.contains(part), "{text}"),
                other => panic!("{line}: {other:?}"),
            }
        }
    }

    #[test]
    fn bare_words_that_mean_a_command() {
        assert_eq!(DotCommand::of_bare_word(" Exit; "), Some(".quit"));
        assert_eq!(DotCommand::of_bare_word("help"), Some(".help"));
        assert_eq!(DotCommand::of_bare_word("help me"), None);
    }

    #[test]
    fn the_help_names_every_mode() {
        for mode in Mode::ALL {
            assert!(HELP.contains(mode.as_str()));
        }
    }
}
