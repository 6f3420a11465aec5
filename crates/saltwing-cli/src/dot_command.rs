//! Commands of the shell itself.

use crate::failure::Failure;
use crate::parameters::Parameters;
use crate::render::Mode;

/// All commands, for completion and near names.
pub(crate) const COMMANDS: &[&str] = &[
    ".describe",
    ".exit",
    ".help",
    ".mode",
    ".nullvalue",
    ".param",
    ".quit",
    ".read",
    ".schema",
    ".tables",
    ".timing",
    "\\d",
    "\\dt",
    "\\q",
];

/// The output of `.help`.
pub(crate) const HELP: &str = "\
.help             this text
.tables [LIKE]    the tables; \\d and \\dt do the same
\\d TABLE          a table's columns and key
.schema [TABLE]   the CREATE of a table or view, or of all tables, views and sequences
.mode [MODE]      how results are shown: table box csv tsv json jsonl markdown line
.nullvalue TEXT   what is shown for NULL in tables and lines
.param set N VAL  a value for ?1 or :name; .param list, .param clear [N]
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
    /// Gives a parameter a value: its name, and an SQL expression.
    ParameterSet(String, String),
    ParameterList,
    /// Forgets one value, or all.
    ParameterClear(Option<String>),
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
        // A trailing `;` is accepted, out of SQL habit.
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
            (".param" | ".parameter", words) => return parameter(words.map_or("", |_| rest.trim())),
            (".read" | "\\i", Some(file)) => Self::Read(file),
            (".read" | "\\i", None) => return usage(".read FILE"),
            (".quit" | ".exit" | "\\q", _) => Self::Quit,
            (name, _) => return Err(unknown(name)),
        })
    }
}

/// `set NAME VALUE`, `list`, `clear [NAME]`.
fn parameter(words: &str) -> Result<DotCommand, Failure> {
    const USAGE: &str = "usage: .param set ?1|:name VALUE, .param list, .param clear [?1|:name]";
    let usage = || Failure::Usage(USAGE.to_owned());
    let (verb, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
    let rest = rest.trim();
    let name = |written: &str| Parameters::name_of(written).ok_or_else(usage);
    match (verb.to_lowercase().as_str(), rest) {
        ("" | "list", "") => Ok(DotCommand::ParameterList),
        ("clear" | "unset", "") => Ok(DotCommand::ParameterClear(None)),
        ("clear" | "unset", one) => Ok(DotCommand::ParameterClear(Some(name(one)?))),
        ("set", rest) => {
            let (written, value) = rest.split_once(char::is_whitespace).ok_or_else(usage)?;
            Ok(DotCommand::ParameterSet(name(written)?, value.trim().to_owned()))
        }
        _ => Err(usage()),
    }
}

/// Commands of other shells, and what does the same here.
const ELSEWHERE: [(&[&str], &str); 8] = [
    (&[".dump"], ".schema shows the tables, COPY t TO 'file.csv' writes their rows"),
    (&[".import", "\\copy"], "COPY t FROM 'file.csv' WITH (HEADER) reads a file"),
    (&[".output", ".once", "\\o"], "COPY (SELECT ..) TO 'file.csv' writes a result"),
    (&[".headers", ".header"], "headers are always shown; .mode json has names in each row"),
    (&["\\x"], ".mode line shows a value a line"),
    (&["\\l", "\\dn", ".databases"], "SHOW SCHEMAS lists the schemas"),
    (&[".indexes", ".indices", "\\di"], "\\d TABLE shows a table's key"),
    (&[".open", "\\c", "\\connect"], "saltwing DIR opens another database"),
];

fn unknown(name: &str) -> Failure {
    let elsewhere = ELSEWHERE.iter().find(|(names, _)| names.contains(&name)).map(|(_, advice)| (*advice).to_owned());
    let near = || saltwing::suggest(name, COMMANDS.iter().copied()).map(|near| format!("did you mean {near}?"));
    let advice = elsewhere.or_else(near).unwrap_or_else(|| ".help lists them".to_owned());
    Failure::Usage(format!("there is no command {name}; {advice}"))
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
            (".param set host 'a b' || 'c'", ParameterSet(text(":host"), text("'a b' || 'c'"))),
            (".param set ?1 7;", ParameterSet(text("?1"), text("7"))),
            (".param list", ParameterList),
            (".param", ParameterList),
            (".param clear", ParameterClear(None)),
            (".param clear :host", ParameterClear(Some(text(":host")))),
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
            (".tabels", "no command .tabels; did you mean .tables?"),
            (".table", "did you mean .tables?"),
            (".dump", "COPY t TO"),
            ("\\x", ".mode line"),
            (".frobnicate", ".help lists them"),
            (".param set", "usage: .param set"),
            (".param set 1x 2", "usage: .param set"),
            (".param frob", "usage: .param set"),
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
