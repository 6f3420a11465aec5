//! Parses the dot commands of the shell.

use std::time::Duration;

use crate::column_widths::ColumnWidths;
use crate::failure::Failure;
use crate::heat_arguments::{self, Accesses};
use crate::parameters::Parameters;
use crate::render::Mode;

/// All commands, for completion and for suggestions.
pub(crate) const COMMANDS: &[&str] = &[
    ".advise",
    ".describe",
    ".dump",
    ".edit",
    ".exit",
    ".export",
    ".heat",
    ".help",
    ".import",
    ".indexes",
    ".keys",
    ".maxrows",
    ".mode",
    ".nullvalue",
    ".once",
    ".open",
    ".output",
    ".pager",
    ".param",
    ".phoenix",
    ".print",
    ".quit",
    ".ranges",
    ".read",
    ".schema",
    ".separator",
    ".shell",
    ".show",
    ".tables",
    ".timing",
    ".watch",
    ".width",
    "\\!",
    "\\d",
    "\\df",
    "\\di",
    "\\dn",
    "\\ds",
    "\\dt",
    "\\dv",
    "\\e",
    "\\q",
    "\\timing",
    "\\watch",
    "\\x",
];

/// The output of `.help`.
pub(crate) const HELP: &str = "\
.help             this text
.tables [LIKE]    the tables; \\d and \\dt do the same
\\d TABLE          a table's columns and key
\\dv \\ds \\df \\dn   views, sequences, functions, schemas: all, or those LIKE a pattern
.schema [TABLE]   the CREATE of a table or view, or of all tables, views and sequences
.indexes [TABLE]  the indexes of a table, or of all: the primary key of each and its secondary indexes
.keys SELECT ..   the row keys of a query's rows, in bytes and in values
.ranges SELECT .. the ranges of keys that a query reads
.advise SELECT .. the key or index that serves, or that is missing; .advise FILE of each statement
.heat NAME [SECS] [reads|writes]  how often a table's or an index's keys were used: keys down, time across
.dump [TABLE]     SQL that makes everything, or one table, again
.phoenix [TABLE]  SQL that makes everything, or one table, again in Apache Phoenix
.import FILE TABLE [WITH (NULL 'NA', ..)]             rows from a file
.export TABLE|(SELECT ..) FILE                        rows into a file
.mode [MODE]      how results are shown: table box csv tsv json jsonl markdown line
\\x                a value a line, and back
.nullvalue TEXT   what is shown for NULL in tables and lines; '' for nothing
.maxrows N        how many rows of a table are shown, 0 for all
.width N N ..     the widths of a table's columns: 0 as wide as its values, -8 on the right; .width 0 as before
.separator C      what stands between the fields of csv
.param set N VAL  a value for ?1 or :name; .param list, .param clear [N]
.timing on|off    time, keys read and buckets under each result
.output [FILE]    results go to a file, or back to the terminal; .once FILE the next one
.pager [COMMAND]  a program for results longer than the screen; .pager off
.watch [SECS [N]] run the last statement every 2 seconds; \\e edits it
.read FILE        run a file; .print TEXT writes a line, .shell COMMAND (\\!) runs a program
.open DIR         go on with another database; .show tells the settings of the shell
.quit             leave; \\q, .exit and Ctrl-D do the same

SQL runs at its ';'. Ctrl-C stops a statement, Tab completes, Ctrl-R searches the history.
EXPLAIN SELECT ... shows the keys that a statement would read.";

/// A command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DotCommand {
    Help,
    /// SHOW TABLES, VIEWS, SEQUENCES, FUNCTIONS or SCHEMAS, with the names that match the pattern.
    List(&'static str, Option<String>),
    /// DESCRIBE.
    Describe(String),
    /// SHOW CREATE TABLE, of one table or of all.
    Schema(Option<String>),
    /// The indexes of one table, or of all.
    Indexes(Option<String>),
    /// Sets the mode, or prints it.
    Mode(Option<Mode>),
    /// Turns timing on or off, or toggles it.
    Timing(Option<bool>),
    /// Sets the text for NULL, or prints it.
    NullText(Option<String>),
    /// Sets the number of rows that are shown, 0 for all, or prints it.
    MaxRows(Option<u64>),
    /// Sets the widths of columns, or prints them.
    Width(Option<ColumnWidths>),
    /// Sets the separator of csv fields, or prints it.
    Separator(Option<u8>),
    /// Prints a line.
    Print(String),
    /// Prints the settings of the shell.
    Show,
    /// Opens another database.
    Open(String),
    /// Runs a program.
    Shell(String),
    /// Sets a parameter: its name, and an SQL expression.
    ParameterSet(String, String),
    ParameterList,
    /// Removes the value of one parameter, or of all.
    ParameterClear(Option<String>),
    /// Switches to one value on each line, or back.
    Expanded,
    /// Prints the SQL that recreates everything, or one table.
    Dump(Option<String>),
    /// Prints the SQL that recreates everything, or one table, in Apache Phoenix.
    Phoenix(Option<String>),
    /// Prints the row keys of a query's rows.
    Keys(String),
    /// Prints the key or the index for a statement, or for each statement of a file.
    Advise(String),
    /// Prints a picture of the accesses to the keys of a table or an index: of both kinds unless one is given.
    Heat {
        name: String,
        seconds: u64,
        accesses: Option<Accesses>,
    },
    /// Prints the ranges that a query reads.
    Ranges(String),
    /// COPY FROM; the file is an SQL text, the options are those of COPY as typed.
    Import {
        file: String,
        table: String,
        options: String,
    },
    /// COPY TO of a table or a query in brackets; the file is an SQL text.
    Export {
        source: String,
        file: String,
    },
    /// Sends results to a file, or to the standard output again; only the next result if `once`.
    Output {
        file: Option<String>,
        once: bool,
    },
    /// Sets the pager; `None` turns it off.
    Pager(Option<String>),
    /// Runs the last statement at an interval, a number of times.
    Watch {
        every: Duration,
        times: Option<u32>,
    },
    /// Opens the last statement in an editor.
    Edit,
    Read(String),
    Quit,
}

impl DotCommand {
    /// Whether a line is a dot command, not SQL.
    pub(crate) fn is_one(line: &str) -> bool {
        line.trim_start().starts_with(['.', '\\'])
    }

    /// The command that a newcomer means with a bare word, such as `help`, which is never a statement.
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
    /// [`Failure::Usage`] for an unknown command, or for wrong arguments.
    pub(crate) fn parse(line: &str) -> Result<Self, Failure> {
        let whole = line.trim();
        // A trailing `;` is accepted, out of SQL habit.
        let line = whole.trim_end_matches(';').trim_end();
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let argument = unquoted(rest.trim());
        let some = (!argument.is_empty()).then(|| argument.to_owned());
        // For a command whose argument may be any text.
        let text = whole.get(name.len()..).unwrap_or_default().trim();
        let usage = |text: &str| Err(Failure::Usage(format!("usage: {text}")));
        Ok(match (name.to_lowercase().as_str(), some) {
            (".help" | "\\?" | "\\h", _) => Self::Help,
            (".tables" | "\\dt", pattern) => Self::List("TABLES", pattern),
            ("\\dv", pattern) => Self::List("VIEWS", pattern),
            ("\\ds", pattern) => Self::List("SEQUENCES", pattern),
            ("\\df", pattern) => Self::List("FUNCTIONS", pattern),
            ("\\dn", pattern) => Self::List("SCHEMAS", pattern),
            ("\\d" | ".describe", None) => Self::List("TABLES", None),
            // Quotes belong to the name.
            ("\\d" | ".describe", Some(_)) => Self::Describe(rest.trim().to_owned()),
            (".schema", table) => Self::Schema(table.map(|_| rest.trim().to_owned())),
            (".indexes" | ".indices" | "\\di", table) => Self::Indexes(table.map(|_| rest.trim().to_owned())),
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
            (".nullvalue", _) if rest.trim().is_empty() => Self::NullText(None),
            (".nullvalue", text) => Self::NullText(Some(text.unwrap_or_default())),
            (".maxrows", None) => Self::MaxRows(None),
            (".maxrows", Some(number)) => match number.parse() {
                Ok(number) => Self::MaxRows(Some(number)),
                Err(_) => return usage(".maxrows N, 0 for all"),
            },
            (".width", None) => Self::Width(None),
            (".width", Some(words)) => match ColumnWidths::parse(&words) {
                Some(widths) => Self::Width(Some(widths)),
                None => {
                    return usage(".width N N ..: cells of each column, 0 for as many as it needs, -N on the right");
                }
            },
            (".separator", _) if text.is_empty() => Self::Separator(None),
            (".separator", _) => match separator(text) {
                Some(separator) => Self::Separator(Some(separator)),
                None => {
                    return usage(
                        ".separator C: one ASCII character or \\t, and neither a letter, a digit nor a quote",
                    );
                }
            },
            (".print" | "\\echo", _) => Self::Print(unquoted(text).to_owned()),
            (".show", _) => Self::Show,
            (".open" | "\\c" | "\\connect", Some(path)) => Self::Open(path),
            (".open" | "\\c" | "\\connect", None) => return usage(".open DIR, or .open :memory:"),
            (".shell" | ".system" | "\\!", Some(_)) => Self::Shell(text.to_owned()),
            (".shell" | ".system" | "\\!", None) => return usage(".shell COMMAND"),
            (".param" | ".parameter", words) => return parameter(words.map_or("", |_| rest.trim())),
            (".read" | "\\i", Some(file)) => Self::Read(file),
            (".read" | "\\i", None) => return usage(".read FILE"),
            ("\\x", _) => Self::Expanded,
            (".dump", table) => Self::Dump(table.map(|_| rest.trim().to_owned())),
            (".phoenix", table) => Self::Phoenix(table.map(|_| rest.trim().to_owned())),
            (".keys", Some(_)) => Self::Keys(rest.trim().to_owned()),
            (".keys", None) => return usage(".keys SELECT .."),
            (".advise", Some(_)) => Self::Advise(rest.trim().to_owned()),
            (".advise", None) => return usage(".advise SELECT .. or .advise FILE"),
            (".heat", _) => match heat_arguments::arguments(rest) {
                Some((name, seconds, accesses)) => Self::Heat { name, seconds, accesses },
                None => return usage(".heat TABLE|INDEX [SECONDS] [reads|writes]"),
            },
            (".ranges", Some(_)) => Self::Ranges(rest.trim().to_owned()),
            (".ranges", None) => return usage(".ranges SELECT .."),
            (".import", words) => match words.as_ref().and_then(|_| two(rest.trim(), First::File)) {
                Some((file, table)) => {
                    let (table, options) = with_options(&table);
                    Self::Import { file, table, options }
                }
                None => return usage(".import FILE TABLE [WITH (NULL 'NA', ..)]"),
            },
            (".export", words) => match words.as_ref().and_then(|_| two(rest.trim(), First::Source)) {
                Some((source, file)) => Self::Export { source, file },
                None => return usage(".export TABLE|(SELECT ..) FILE"),
            },
            (".output" | "\\o", file) => Self::Output { file, once: false },
            (".once", Some(file)) => Self::Output { file: Some(file), once: true },
            (".once", None) => return usage(".once FILE"),
            (".pager", None) => Self::Pager(Some(PAGER.to_owned())),
            (".pager", Some(word)) if word.eq_ignore_ascii_case("off") => Self::Pager(None),
            (".pager", Some(command)) => Self::Pager(Some(command)),
            (".watch" | "\\watch", words) => match watch(words.as_deref().unwrap_or_default()) {
                Some(watch) => watch,
                None => return usage(".watch [SECONDS [TIMES]]"),
            },
            (".edit" | "\\e", _) => Self::Edit,
            (".quit" | ".exit" | "\\q", _) => Self::Quit,
            (name, _) => return Err(unknown(name)),
        })
    }
}

/// A character that can separate fields.
fn separator(text: &str) -> Option<u8> {
    let text = if text.len() > 1 { unquoted(text) } else { text };
    match text.as_bytes() {
        b"\\t" => Some(b'\t'),
        [byte @ (b' '..=b'~' | b'\t')] if !byte.is_ascii_alphanumeric() && *byte != b'"' => Some(*byte),
        _ => None,
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

/// The default pager, which exits at once if the result fits the screen.
pub(crate) const PAGER: &str = "less -FRSX";
/// The default interval of a watch.
const WATCH_EVERY: Duration = Duration::from_secs(2);

/// `[SECONDS [TIMES]]`.
fn watch(words: &str) -> Option<DotCommand> {
    let mut words = words.split_whitespace();
    let every = match words.next() {
        None => WATCH_EVERY,
        Some(seconds) => seconds.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())?,
    };
    let times = words.next().map(str::parse).transpose().ok()?;
    words.next().is_none().then_some(DotCommand::Watch { every, times })
}

/// Which of the two arguments comes first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum First {
    File,
    Source,
}

/// A file, as an SQL text, and a table or a query, in their typed order.
fn two(words: &str, first: First) -> Option<(String, String)> {
    let file = |text: &str| format!("'{}'", unquoted(text).replace('\'', "''"));
    let quote = words.chars().next().filter(|quote| ['\'', '"'].contains(quote));
    let end = match (first, quote) {
        // A name with blanks is quoted.
        (First::File, Some(quote)) => words.get(1..)?.find(quote)? + 2,
        (First::File, None) => words.find(char::is_whitespace)?,
        (First::Source, _) if words.ends_with(['\'', '"']) => {
            let quote = words.chars().next_back()?;
            words.get(..words.len() - 1)?.rfind(quote)?
        }
        (First::Source, _) => words.rfind(char::is_whitespace)?,
    };
    let (one, other) = (words.get(..end)?.trim(), words.get(end..)?.trim());
    let is_full = !one.is_empty() && !other.is_empty();
    is_full.then(|| match first {
        First::File => (file(one), other.to_owned()),
        First::Source if one.to_uppercase().starts_with("SELECT") => (format!("({one})"), file(other)),
        First::Source => (one.to_owned(), file(other)),
    })
}

/// A table, and the options of COPY after it.
fn with_options(table: &str) -> (String, String) {
    let is_with = |(at, _): &(usize, char)| {
        let word = table.get(*at..).and_then(|rest| rest.get(..4)).unwrap_or_default();
        let next = table.get(at + 4..).and_then(|rest| rest.chars().next());
        let is_begin = table.get(..*at).is_some_and(|before| before.ends_with([' ', '\t', ')', '"']));
        is_begin && word.eq_ignore_ascii_case("WITH") && next.is_none_or(|c| c == ' ' || c == '(')
    };
    // A quoted name may contain the word.
    let quoted_to = table.rfind('"').unwrap_or(0);
    let at =
        table.char_indices().find(|place| place.0 >= quoted_to && is_with(place)).map_or(table.len(), |(at, _)| at);
    let (table, options) = table.split_at(at);
    (table.trim().to_owned(), options.trim().to_owned())
}

/// Commands of other shells, and the equivalents here.
const ELSEWHERE: [(&[&str], &str); 5] = [
    (&["\\copy"], ".import FILE TABLE and .export TABLE FILE, or COPY"),
    (&[".headers", ".header"], "headers are always shown; .mode json has names in each row"),
    (&["\\l", ".databases"], "\\dn lists the schemas, SHOW ATTACHED the attached databases"),
    (&["\\du", "\\dp"], "there are no users: who may read the files of a database may read it"),
    (&[".timer"], ".timing on|off"),
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
            (".tables", List("TABLES", None)),
            (" .tables LOG% ;", List("TABLES", Some(text("LOG%")))),
            ("\\dt", List("TABLES", None)),
            ("\\d", List("TABLES", None)),
            ("\\d s.\"My T\"", Describe(text("s.\"My T\""))),
            ("\\d \"My T\"", Describe(text("\"My T\""))),
            (".schema", Schema(None)),
            (".schema t", Schema(Some(text("t")))),
            (".indexes", Indexes(None)),
            (".indices s.t;", Indexes(Some(text("s.t")))),
            (".mode", Mode(None)),
            (".MODE Json", Mode(Some(crate::render::Mode::Json))),
            (".timing", Timing(None)),
            (".timing OFF", Timing(Some(false))),
            (".nullvalue 'n/a'", NullText(Some(text("n/a")))),
            (".nullvalue ''", NullText(Some(String::new()))),
            (".nullvalue", NullText(None)),
            (".maxrows", MaxRows(None)),
            (".maxrows 40;", MaxRows(Some(40))),
            (".width", Width(None)),
            (".width 20 0 -8;", Width(ColumnWidths::parse("20 0 -8"))),
            (".separator", Separator(None)),
            (".separator ;", Separator(Some(b';'))),
            (".separator '|'", Separator(Some(b'|'))),
            (".separator \\t", Separator(Some(b'\t'))),
            (".print 'a; b'", Print(text("a; b"))),
            ("\\echo a;", Print(text("a;"))),
            (".print", Print(String::new())),
            (".show", Show),
            (".open 'a b'", Open(text("a b"))),
            ("\\c x", Open(text("x"))),
            (".shell echo 'a';", Shell(text("echo 'a';"))),
            ("\\! ls", Shell(text("ls"))),
            ("\\df ab%", List("FUNCTIONS", Some(text("ab%")))),
            ("\\dv", List("VIEWS", None)),
            (".param set host 'a b' || 'c'", ParameterSet(text(":host"), text("'a b' || 'c'"))),
            (".param set ?1 7;", ParameterSet(text("?1"), text("7"))),
            (".param list", ParameterList),
            (".param", ParameterList),
            (".param clear", ParameterClear(None)),
            (".param clear :host", ParameterClear(Some(text(":host")))),
            (".read 'a b.sql'", Read(text("a b.sql"))),
            ("\\i x.sql", Read(text("x.sql"))),
            ("\\x", Expanded),
            (".dump", Dump(None)),
            (".phoenix s.t", Phoenix(Some(text("s.t")))),
            (".dump s.\"My T\";", Dump(Some(text("s.\"My T\"")))),
            (".keys SELECT * FROM t;", Keys(text("SELECT * FROM t"))),
            (".ranges SELECT 1", Ranges(text("SELECT 1"))),
            (".advise SELECT 1", Advise(text("SELECT 1"))),
            (".heat s.t 60 reads", Heat { name: text("s.t"), seconds: 60, accesses: Some(Accesses::Reads) }),
            (".import 'a b.csv' s.t", Import { file: text("'a b.csv'"), table: text("s.t"), options: text("") }),
            (
                ".import it's.csv t (a, b) with (NULL 'NA')",
                Import { file: text("'it''s.csv'"), table: text("t (a, b)"), options: text("with (NULL 'NA')") },
            ),
            (
                ".import x.csv \"a WITH (b\" WITH (HEADER false)",
                Import { file: text("'x.csv'"), table: text("\"a WITH (b\""), options: text("WITH (HEADER false)") },
            ),
            (".import x.csv within", Import { file: text("'x.csv'"), table: text("within"), options: text("") }),
            (".export t x.csv", Export { source: text("t"), file: text("'x.csv'") }),
            (".export SELECT 1 FROM t 'a b'", Export { source: text("(SELECT 1 FROM t)"), file: text("'a b'") }),
            (".output", Output { file: None, once: false }),
            (".output 'a b'", Output { file: Some(text("a b")), once: false }),
            (".once x", Output { file: Some(text("x")), once: true }),
            (".pager", Pager(Some(text(PAGER)))),
            (".pager more -s", Pager(Some(text("more -s")))),
            (".pager OFF", Pager(None)),
            (".watch", Watch { every: WATCH_EVERY, times: None }),
            ("\\watch 0.5 3", Watch { every: Duration::from_millis(500), times: Some(3) }),
            ("\\e", Edit),
            (".quit", Quit),
            (".exit", Quit),
            ("\\q", Quit),
        ] {
            assert_eq!(DotCommand::parse(line).unwrap(), command, "{line}");
        }
    }

    #[test]
    fn all_commands_are_there() {
        assert!(COMMANDS.is_sorted());
        for command in COMMANDS {
            if let Err(Failure::Usage(text)) = DotCommand::parse(command) {
                assert!(text.starts_with("usage: "), "{text}");
            }
        }
    }

    #[test]
    fn a_refusal_says_what_is_expected() {
        for (line, part) in [
            (".mode xml", "table|box|csv"),
            (".timing maybe", "on|off"),
            (".read", ".read FILE"),
            (".tabels", "no command .tabels; did you mean .tables?"),
            (".table", "did you mean .tables?"),
            (".import x", ".import FILE TABLE [WITH (NULL 'NA', ..)]"),
            (".export t", ".export TABLE"),
            (".once", ".once FILE"),
            (".maxrows many", ".maxrows N"),
            (".width wide", ".width N N"),
            (".separator ab", ".separator C"),
            (".separator \"", ".separator C"),
            (".open", ".open DIR"),
            (".shell", ".shell COMMAND"),
            ("\\du", "there are no users"),
            (".keys", ".keys SELECT"),
            (".watch never", ".watch [SECONDS"),
            (".watch -1", ".watch [SECONDS"),
            (".watch 1 2 3", ".watch [SECONDS"),
            ("\\copy", ".import FILE TABLE"),
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
