//! Completes keywords, tables, columns with their types, and files.
//!
//! | in front of the cursor | offered |
//! |---|---|
//! | the start of a statement | first words of statements |
//! | FROM, JOIN, INTO, TABLE, DESCRIBE .. | tables |
//! | `t.` | columns of the table that `t` names |
//! | the file name of a COPY, `.read` | files and directories |
//! | elsewhere | columns of the statement's tables, keywords, functions |
//! | a string, a comment, a number | nothing |

use std::cell::OnceCell;

use reedline::{Completer, CompletionResult, Span, Suggestion};
use saltwing::blocking::Connection;
use saltwing::{SETTINGS, split_statements};
use saltwing_sql::{Lexeme, lexemes, quote_name};

use super::files;
use super::vocabulary::{COMPRESSIONS, FORMATS, KEYWORDS, STATEMENTS, is_keyword};
use crate::dot_command::{COMMANDS, DotCommand};
use crate::render::Mode;

/// Words behind which a table stands.
const BEFORE_TABLES: &[&str] =
    &["COMPACT", "COPY", "DESCRIBE", "EXISTS", "FROM", "INTO", "JOIN", "TABLE", "TRUNCATE", "UPDATE"];

pub(crate) struct SqlCompleter {
    /// Separate from the shell's connection, which may be inside a transaction.
    connection: Connection,
    /// Functions never change while the shell runs, so they are queried once.
    functions: OnceCell<Vec<String>>,
    /// Whether files are offered.
    names_files: bool,
}

/// A text to be put in.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Candidate {
    text: String,
    /// What is shown beside it: the type of a column.
    note: Option<String>,
}

impl From<String> for Candidate {
    fn from(text: String) -> Self {
        Self { text, note: None }
    }
}

impl Completer for SqlCompleter {
    fn complete(&mut self, line: &str, pos: usize) -> CompletionResult {
        let (start, found) = self.candidates(line, pos);
        let suggestion = |Candidate { text: value, note: description }| Suggestion {
            // A call continues with a bracket, a name perhaps with a dot.
            append_whitespace: value.ends_with(|c: char| c.is_alphanumeric() || c == '_') && is_keyword(&value),
            span: Span::new(start, pos.max(start)),
            value,
            description,
            ..Suggestion::default()
        };
        CompletionResult::fresh(match found.is_empty() {
            // An empty menu would say "NO RECORDS FOUND", which reads as the answer of a query. The only suggestion is
            // accepted at once, and this one changes nothing.
            true => vec![Suggestion { span: Span::new(pos, pos), ..Suggestion::default() }],
            false => found.into_iter().map(suggestion).collect(),
        })
    }
}

impl SqlCompleter {
    pub(crate) fn new(connection: Connection, names_files: bool) -> Self {
        Self { connection, functions: OnceCell::new(), names_files }
    }

    /// The start of the text to replace, and the candidates.
    fn candidates(&self, line: &str, pos: usize) -> (usize, Vec<Candidate>) {
        let before = line.get(..pos).unwrap_or(line);
        if DotCommand::is_one(before) {
            return self.for_command(before);
        }
        // Only the statement that the cursor is in counts.
        let piece = split_statements(line).find(|piece| piece.offset + piece.text.len() >= pos || !piece.complete);
        let (offset, statement) = piece.map_or((0, ""), |piece| (piece.offset, piece.text));
        let tokens = tokens(statement.get(..pos.saturating_sub(offset)).unwrap_or(statement));
        let (prefix, tokens) = match tokens.split_last() {
            Some((last, earlier)) if last.is_name() && offset + last.end == pos => (last.text, earlier),
            Some((last, _))
                if matches!(last.kind, Lexeme::Text | Lexeme::EscapedText | Lexeme::Hex | Lexeme::Number)
                    && offset + last.end == pos =>
            {
                return (pos, Vec::new());
            }
            Some((last, earlier)) if self.names_files && is_file_name(last, earlier) => {
                let path = last.text.get(1..).unwrap_or_default();
                return (pos - path.len(), starting(files::starting(path), ""));
            }
            Some((last, _)) if matches!(last.kind, Lexeme::Unterminated(_) | Lexeme::Comment) => {
                return (pos, Vec::new());
            }
            _ => ("", tokens.as_slice()),
        };
        (pos - prefix.len(), self.in_context(tokens, statement, prefix))
    }

    fn in_context(&self, tokens: &[Token<'_>], statement: &str, prefix: &str) -> Vec<Candidate> {
        let is_word = |token: &Token<'_>, words: &[&str]| {
            token.kind == Lexeme::Word && words.iter().any(|word| token.text.eq_ignore_ascii_case(word))
        };
        match tokens {
            [] => matching(STATEMENTS, prefix),
            [.., qualifier, point] if point.text == "." => {
                let table = tables_of(statement).into_iter().find(|table| table.is_named(qualifier.text));
                let columns = self.columns(&table.map_or_else(|| qualifier.text.to_owned(), |table| table.name));
                let mut found = starting(columns, prefix);
                found.extend(starting(self.tables_in(qualifier.text), prefix));
                found
            }
            [.., last] if is_word(last, BEFORE_TABLES) => starting(self.tables(), prefix),
            [.., storage, last] if is_word(storage, &["STORAGE"]) && is_word(last, &["FOR"]) => {
                starting(self.tables(), prefix)
            }
            [first, .., last] if is_word(first, &["COPY"]) && is_word(last, &["FORMAT"]) => matching(FORMATS, prefix),
            [first, .., last] if is_word(first, &["COPY"]) && is_word(last, &["COMPRESSION"]) => {
                matching(COMPRESSIONS, prefix)
            }
            [last] if is_word(last, &["SET"]) => starting(settings(), prefix),
            [last] if is_word(last, &["SHOW"]) => {
                let mut found = matching(
                    &["CREATE TABLE", "FUNCTIONS", "INDEXES", "SCHEMAS", "SEQUENCES", "STORAGE", "TABLES", "VIEWS"],
                    prefix,
                );
                found.extend(starting(settings(), prefix));
                found
            }
            _ => {
                let columns = tables_of(statement).into_iter().flat_map(|table| self.columns(&table.name)).collect();
                let mut found = starting(columns, prefix);
                // Without a letter to go by, all keywords are too many.
                if !prefix.is_empty() {
                    found.extend(matching(STATEMENTS, prefix));
                    found.extend(matching(KEYWORDS, prefix));
                    found.extend(matching(self.functions(), prefix));
                }
                let mut seen = std::collections::HashSet::new();
                found.retain(|candidate| seen.insert(candidate.text.to_lowercase()));
                found
            }
        }
    }

    fn for_command(&self, before: &str) -> (usize, Vec<Candidate>) {
        let start = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
        let word = before.get(start..).unwrap_or("");
        let command = before.split_whitespace().next().unwrap_or("");
        let found = match command {
            _ if before.trim_start() == word => starting(COMMANDS.iter().map(|c| (*c).to_owned()).collect(), word),
            ".mode" => starting(Mode::ALL.map(|mode| mode.as_str().to_owned()).to_vec(), word),
            "\\d" | ".schema" | ".describe" | ".dump" | ".indexes" | "\\di" => starting(self.tables(), word),
            ".import" | ".export" if self.names_files && is_file_argument(command, before) => {
                starting(files::starting(word), "")
            }
            ".import" | ".export" => starting(self.tables(), word),
            ".timing" => starting(vec!["on".to_owned(), "off".to_owned()], word),
            ".param" => starting(vec!["set".to_owned(), "list".to_owned(), "clear".to_owned()], word),
            ".read" | "\\i" if self.names_files => starting(files::starting(word), ""),
            _ => Vec::new(),
        };
        (start, found)
    }

    /// All tables, as SQL names them.
    fn tables(&self) -> Vec<String> {
        self.table_names()
            .into_iter()
            .map(|(schema, name)| match schema {
                Some(schema) => format!("{}.{}", quote_name(&schema), quote_name(&name)),
                None => quote_name(&name),
            })
            .collect()
    }

    fn tables_in(&self, schema: &str) -> Vec<String> {
        let names = self.table_names().into_iter();
        names.filter(|(s, _)| s.as_deref().is_some_and(|s| same(s, schema))).map(|(_, n)| quote_name(&n)).collect()
    }

    /// Schema and name of each table. An unreadable catalog gives none.
    fn table_names(&self) -> Vec<(Option<String>, String)> {
        let rows = self.connection.query("SHOW TABLES", ()).into_iter().flatten().flatten();
        rows.filter_map(|row| Some((row.get(0).ok()?, row.get(1).ok()?))).collect()
    }

    /// The names of all functions.
    fn functions(&self) -> &[String] {
        self.functions.get_or_init(|| {
            let rows = self.connection.query("SHOW FUNCTIONS", ()).into_iter().flatten().flatten();
            rows.filter_map(|row| row.get("name").ok()).collect()
        })
    }

    fn columns(&self, table: &str) -> Vec<Candidate> {
        let rows = self.connection.query(&format!("DESCRIBE {table}"), ()).into_iter().flatten().flatten();
        let column = |row: saltwing::Row| {
            let (name, ty): (String, String) = (row.get("name").ok()?, row.get("type").ok()?);
            let note: Option<String> = row.get("note").ok()?;
            // Properties of the table have brackets, and computed key parts have no name.
            let is_column = !ty.starts_with('(') && !note.is_some_and(|note| note.starts_with("computed from "));
            is_column.then(|| Candidate { text: quote_name(&name), note: Some(ty) })
        };
        rows.filter_map(column).collect()
    }
}

/// A lexeme that counts.
#[derive(Clone, Copy, Debug)]
struct Token<'a> {
    kind: Lexeme,
    text: &'a str,
    end: usize,
}

impl Token<'_> {
    fn is_name(&self) -> bool {
        matches!(self.kind, Lexeme::Word | Lexeme::QuotedName)
    }
}

/// The lexemes of a text without blanks, and without the comments and hints that are closed.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let all = lexemes(text).map(|(kind, range)| Token { kind, end: range.end, text: text.get(range).unwrap_or("") });
    all.filter(|token| match token.kind {
        Lexeme::Blank | Lexeme::Hint => false,
        // A comment to the end of the line may continue at the end of the text.
        Lexeme::Comment => token.end == text.len() && !token.text.ends_with("*/"),
        _ => true,
    })
    .collect()
}

/// A table that a statement names.
struct Named {
    name: String,
    alias: Option<String>,
}

impl Named {
    fn is_named(&self, word: &str) -> bool {
        same(self.alias.as_deref().unwrap_or(&self.name), word)
    }
}

fn same(a: &str, b: &str) -> bool {
    a.trim_matches('"').to_lowercase() == b.trim_matches('"').to_lowercase()
}

/// Whether a string that is still written is the file of a COPY.
fn is_file_name(last: &Token<'_>, earlier: &[Token<'_>]) -> bool {
    let is = |token: Option<&Token<'_>>, words: &[&str]| {
        token.is_some_and(|token| words.iter().any(|word| token.text.eq_ignore_ascii_case(word)))
    };
    let is_string = matches!(last.kind, Lexeme::Unterminated(_)) && last.text.starts_with('\'');
    is_string && is(earlier.first(), &["COPY"]) && is(earlier.last(), &["FROM", "TO"])
}

/// Whether the word that is still written is the file of `.import` or `.export`: its first or its second argument.
fn is_file_argument(command: &str, before: &str) -> bool {
    let words = before.split_whitespace().count() + usize::from(before.ends_with(char::is_whitespace));
    words == if command == ".import" { 2 } else { 3 }
}

/// The tables after FROM, JOIN and the like.
fn tables_of(statement: &str) -> Vec<Named> {
    let tokens = tokens(statement);
    let mut found = Vec::new();
    let mut rest = tokens.as_slice();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        let is_before = BEFORE_TABLES.iter().any(|word| first.text.eq_ignore_ascii_case(word));
        if first.kind != Lexeme::Word || !is_before {
            continue;
        }
        let (name, after) = match after {
            [schema, point, table, after @ ..] if schema.is_name() && point.text == "." && table.is_name() => {
                (format!("{}.{}", schema.text, table.text), after)
            }
            [table, after @ ..] if table.is_name() && !is_keyword(table.text) => (table.text.to_owned(), after),
            _ => continue,
        };
        let after = match after {
            [word, after @ ..] if word.text.eq_ignore_ascii_case("AS") => after,
            after => after,
        };
        let alias = after.first().filter(|word| word.is_name() && !is_keyword(word.text));
        found.push(Named { name, alias: alias.map(|word| word.text.to_owned()) });
    }
    found
}

/// The keywords that start with `prefix`, in the case that it is written in.
fn matching(words: &[impl AsRef<str>], prefix: &str) -> Vec<Candidate> {
    let is_lower = !prefix.is_empty() && prefix.chars().all(|c| !c.is_uppercase());
    let found = words.iter().map(AsRef::as_ref).filter(|word| starts_with(word, prefix));
    found.map(|word| if is_lower { word.to_lowercase() } else { word.to_owned() }.into()).collect()
}

/// The names of settings, sorted.
fn settings() -> Vec<String> {
    let mut names = SETTINGS.map(|setting| setting.name.to_owned());
    names.sort_unstable();
    names.into()
}

fn starting(words: Vec<impl Into<Candidate>>, prefix: &str) -> Vec<Candidate> {
    words.into_iter().map(Into::into).filter(|candidate| starts_with(&candidate.text, prefix)).collect()
}

fn starts_with(word: &str, prefix: &str) -> bool {
    let bare = |text: &str| text.trim_start_matches('"').to_lowercase();
    bare(word).starts_with(&bare(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completer() -> SqlCompleter {
        let connection = saltwing::Database::memory().unwrap().connect().blocking();
        for sql in [
            "CREATE SCHEMA s",
            "CREATE TABLE log (host VARCHAR NOT NULL, ts DATE NOT NULL, up BIGINT, CONSTRAINT pk PRIMARY KEY (host, ts)) SALT_BUCKETS = 2",
            "CREATE TABLE s.other (\"My Key\" INTEGER NOT NULL PRIMARY KEY, hue VARCHAR)",
        ] {
            connection.execute(sql, ()).unwrap();
        }
        SqlCompleter::new(connection, true)
    }

    /// The candidates at `|`, and the text that they replace.
    #[track_caller]
    fn check(marked: &str, replaced: &str, expected: &[&str]) {
        let pos = marked.find('|').unwrap();
        let line = marked.replacen('|', "", 1);
        let (start, found) = completer().candidates(&line, pos);
        let found: Vec<String> = found.into_iter().map(|candidate| candidate.text).collect();
        assert_eq!(
            (&line[start..pos], found.as_slice()),
            (replaced, expected.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>().as_slice()),
            "{marked}"
        );
    }

    #[test]
    fn statements_begin_with_their_words() {
        check("SEL|", "SEL", &["SELECT"]);
        check("sh|", "sh", &["show"]);
        check("SELECT 1; up|", "up", &["update", "upsert"]);
        check("show ta|", "ta", &["tables"]);
        check("show st|", "st", &["storage", "statement_timeout"]);
        check("SET full|", "full", &["full_scan"]);
    }

    #[test]
    fn tables_stand_behind_from() {
        check("SELECT * FROM |", "", &["log", "s.other"]);
        check("SELECT * FROM lo|", "lo", &["log"]);
        check("UPSERT INTO L|", "L", &["log"]);
        check("SELECT * FROM s.|", "", &["other"]);
        check("\\d l|", "l", &["log"]);
        check("COMPACT |", "", &["log", "s.other"]);
        check("SHOW STORAGE FOR |", "", &["log", "s.other"]);
    }

    #[test]
    fn columns_are_those_of_the_statements_tables() {
        check("SELECT h| FROM log", "h", &["host", "having", "header", "hash", "hour"]);
        check("SELECT ho| FROM log WHERE 1", "ho", &["host", "hour"]);
        check("SELECT | FROM log", "", &["host", "ts", "up"]);
        check("SELECT * FROM log l, x WHERE l.|", "", &["host", "ts", "up"]);
        check("SELECT * FROM s.other AS o WHERE o.|", "", &["\"My Key\"", "hue"]);
        check("SELECT * FROM s.other WHERE \"my k\"|", "\"my k\"", &[]);
        check("DELETE FROM log;\nSELECT hos|", "hos", &[]);
        check("ALTER TABLE log DROP COLUMN up|", "up", &["up", "update", "upsert", "upper"]);
    }

    #[test]
    fn columns_have_their_types() {
        let (_, found) = completer().candidates("SELECT  FROM log", "SELECT ".len());
        let notes: Vec<String> = found.into_iter().filter_map(|candidate| candidate.note).collect();
        assert_eq!(notes, ["VARCHAR", "DATE", "BIGINT"]);
    }

    #[test]
    fn files_stand_behind_copy_and_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for file in ["one.csv", "only.jsonl", "two.csv", ".hidden"] {
            std::fs::write(path(file), "").unwrap();
        }
        std::fs::create_dir(path("on dir")).unwrap();
        let names = |files: &[&str]| files.iter().map(|file| format!("{}", path(file).display())).collect::<Vec<_>>();
        let [typed, directory] = [path("on"), path("")].map(|path| path.display().to_string());
        let found = |line: &str| {
            let (start, found) = completer().candidates(line, line.len());
            (line[start..].to_owned(), found.into_iter().map(|candidate| candidate.text).collect::<Vec<_>>())
        };
        let expected = [names(&["on dir/"]), names(&["one.csv", "only.jsonl"])].concat();
        for before in ["COPY log FROM '", "copy (SELECT 1) to '", ".read "] {
            assert_eq!(found(&format!("{before}{typed}")), (typed.clone(), expected.clone()), "{before}");
        }
        let (_, all) = found(&format!("COPY log FROM '{directory}"));
        assert_eq!(all, names(&["on dir/", "one.csv", "only.jsonl", "two.csv"]));
        assert_eq!(found(&format!("SELECT '{typed}")).1, Vec::<String>::new());
        let mut without = completer();
        without.names_files = false;
        assert_eq!(without.candidates(&format!("COPY log FROM '{typed}"), 15 + typed.len()).1, []);
    }

    #[test]
    fn texts_numbers_and_comments_are_left_alone() {
        check("SELECT 'se|", "", &[]);
        check("SELECT 1|", "", &[]);
        check("SELECT host -- se|", "", &[]);
        check("SELECT /* se|", "", &[]);
    }

    #[test]
    fn where_nothing_fits_one_suggestion_changes_nothing() {
        for line in ["SELECT 'se", "SELECT xqz", ".nullvalue "] {
            let result = completer().complete(line, line.len());
            let debug = format!("{result:?}");
            assert!(debug.contains("value: \"\""), "{debug}");
        }
    }

    #[test]
    fn commands_have_their_own() {
        check(".t|", ".t", &[".tables", ".timing"]);
        check(".mode j|", "j", &["json", "jsonl"]);
        check(".timing o|", "o", &["on", "off"]);
        check(".schema |", "", &["log", "s.other"]);
    }

    #[test]
    fn any_place_of_any_text_completes_to_something_or_nothing() {
        let completer = completer();
        let line = "SELECT é, 'ü;' FROM \"log\" l; .x /* ö */ -- ß\nDELETE FROM s.other WHERE (";
        for (pos, _) in line.char_indices().chain([(line.len(), ' ')]) {
            let (start, _) = completer.candidates(line, pos);
            assert!(start <= pos && line.is_char_boundary(start));
        }
    }
}
