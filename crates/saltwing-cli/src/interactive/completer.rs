//! Completes keywords, tables, columns with their types, and files.
//!
//! | before the cursor | offered |
//! |---|---|
//! | words of a statement | the words that may follow by `grammar` |
//! | `t.` | columns of the table that `t` names |
//! | an expression | columns of the statement's tables, or of all before FROM; then keywords, functions |
//! | the file name of a COPY, `.read` | files and directories |
//! | a string, a comment, a number | nothing, except the values of settings |

use std::cell::OnceCell;

use reedline::{Completer, CompletionResult, Span, Suggestion};
use saltwing::syntax::Lexeme;
use saltwing::{SETTINGS, split_statements};

use super::files;
use super::grammar::{Offer, offers};
use crate::catalog_names::{CatalogNames, ColumnName};
use crate::dot_command::{COMMANDS, DotCommand};
use crate::render::Mode;
use crate::statement_tables::{Token, is_same, tables_of, tokens};
use crate::vocabulary::is_keyword;

/// Most tables whose columns are read if the statement names no table, and most columns of these tables.
const TABLES_MAX: usize = 200;
const COLUMNS_MAX: usize = 500;

pub(crate) struct SqlCompleter {
    catalog: CatalogNames,
    /// Functions never change while the shell runs, so they are queried once.
    functions: OnceCell<Vec<String>>,
    /// Whether files are offered.
    names_files: bool,
}

/// A text that can be inserted.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Candidate {
    text: String,
    /// The note beside it: the type of a column, and its table if the statement names none.
    note: Option<String>,
}

impl From<String> for Candidate {
    fn from(text: String) -> Self {
        Self { text, note: None }
    }
}

impl From<ColumnName> for Candidate {
    fn from(column: ColumnName) -> Self {
        Self { text: column.name, note: Some(column.ty) }
    }
}

impl Completer for SqlCompleter {
    fn complete(&mut self, line: &str, pos: usize) -> CompletionResult {
        let (start, found) = self.candidates(line, pos);
        let suggestion = |Candidate { text: value, note: description }| Suggestion {
            // A call continues with a bracket, and a name may continue with a dot.
            append_whitespace: value.ends_with(|c: char| c.is_alphanumeric() || c == '_') && is_keyword(&value),
            span: Span::new(start, pos.max(start)),
            value,
            description,
            ..Suggestion::default()
        };
        CompletionResult::fresh(match found.is_empty() {
            // An empty menu would show "NO RECORDS FOUND", which looks like the result of a query. A single suggestion is
            // accepted at once, and this one changes nothing.
            true => vec![Suggestion { span: Span::new(pos, pos), ..Suggestion::default() }],
            false => found.into_iter().map(suggestion).collect(),
        })
    }
}

impl SqlCompleter {
    pub(crate) fn new(catalog: CatalogNames, names_files: bool) -> Self {
        Self { catalog, functions: OnceCell::new(), names_files }
    }

    /// The start of the text to replace, and the candidates.
    fn candidates(&self, line: &str, pos: usize) -> (usize, Vec<Candidate>) {
        let before = line.get(..pos).unwrap_or(line);
        if DotCommand::is_one(before) {
            return self.for_command(before);
        }
        // Only the statement at the cursor counts.
        let piece = split_statements(line).find(|piece| piece.offset + piece.text.len() >= pos || !piece.complete);
        let (offset, statement) = piece.map_or((0, ""), |piece| (piece.offset, piece.text));
        let tokens = tokens(statement.get(..pos.saturating_sub(offset)).unwrap_or(statement));
        let (prefix, tokens) = match tokens.split_last() {
            Some((last, earlier)) if last.is_name() && offset + last.end == pos => (last.text, earlier),
            Some((last, _))
                if matches!(
                    last.kind,
                    Lexeme::Text
                        | Lexeme::EscapedText
                        | Lexeme::UnicodeText
                        | Lexeme::DollarText
                        | Lexeme::Hex
                        | Lexeme::Number
                ) && offset + last.end == pos =>
            {
                return (pos, Vec::new());
            }
            Some((last, earlier)) if self.names_files && is_file_name(last, earlier) => {
                let path = last.text.get(1..).unwrap_or_default();
                return (pos - path.len(), starting(files::starting(path), ""));
            }
            // The value of a setting is a text.
            Some((last, earlier)) if last.text.starts_with('\'') && takes_texts(earlier) => (last.text, earlier),
            Some((last, _)) if matches!(last.kind, Lexeme::Unterminated(_) | Lexeme::Comment) => {
                return (pos, Vec::new());
            }
            _ => ("", tokens.as_slice()),
        };
        (pos - prefix.len(), self.in_context(tokens, statement, prefix))
    }

    fn in_context(&self, tokens: &[Token<'_>], statement: &str, prefix: &str) -> Vec<Candidate> {
        if let [.., qualifier, point] = tokens
            && point.text == "."
        {
            let table = tables_of(statement).into_iter().find(|table| table.is_named(qualifier.text));
            let columns = self.catalog.columns(&table.map_or_else(|| qualifier.text.to_owned(), |table| table.name));
            let mut found = starting(columns, prefix);
            found.extend(starting(self.catalog.tables_in(|schema| is_same(schema, qualifier.text)), prefix));
            return found;
        }
        let mut found: Vec<Candidate> =
            offers(tokens).into_iter().flat_map(|offer| self.offered(offer, statement, prefix)).collect();
        let mut seen = std::collections::HashSet::new();
        found.retain(|candidate| seen.insert(candidate.text.to_lowercase()));
        found
    }

    fn offered(&self, offer: Offer<'_>, statement: &str, prefix: &str) -> Vec<Candidate> {
        match offer {
            Offer::Words(words) => matching(words, prefix),
            Offer::Some(_) | Offer::Functions if prefix.is_empty() => Vec::new(),
            Offer::Some(words) => matching(words, prefix),
            Offer::Functions => matching(self.functions.get_or_init(|| self.catalog.functions()), prefix),
            Offer::Texts(texts) => starting(texts.iter().map(|text| (*text).to_owned()).collect(), prefix),
            Offer::Tables => starting(self.catalog.objects("TABLES"), prefix),
            Offer::Sequences => starting(self.catalog.objects("SEQUENCES"), prefix),
            Offer::Settings => starting(settings(), prefix),
            Offer::ValuesOf(setting) => {
                let mut found = starting(values_of(setting), prefix);
                found.extend(matching(&["DEFAULT"], prefix));
                found
            }
            Offer::Columns => self.columns_of(statement, prefix),
        }
    }

    /// The columns of the tables that a statement names; of all tables if it has not named one yet.
    fn columns_of(&self, statement: &str, prefix: &str) -> Vec<Candidate> {
        let named = tables_of(statement);
        if !named.is_empty() {
            return starting(named.iter().flat_map(|table| self.catalog.columns(&table.name)).collect(), prefix);
        }
        let names: Vec<&str> =
            tokens(statement).iter().filter(|token| token.is_name()).map(|token| token.text).collect();
        let mut tables: Vec<(String, Vec<ColumnName>)> = self
            .catalog
            .objects("TABLES")
            .into_iter()
            .take(TABLES_MAX)
            .map(|table| (table.clone(), self.catalog.columns(&table)))
            .collect();
        // Tables that have the names of the statement come first.
        let known = |columns: &[ColumnName]| {
            let is_known = |name: &&&str| columns.iter().any(|column| is_same(&column.name, name));
            names.iter().filter(is_known).count()
        };
        tables.sort_by_cached_key(|(_, columns)| std::cmp::Reverse(known(columns)));
        let of_table = |(table, columns): (String, Vec<ColumnName>)| {
            columns
                .into_iter()
                .map(move |ColumnName { name, ty }| Candidate { text: name, note: Some(format!("{ty}, {table}")) })
        };
        starting(tables.into_iter().flat_map(of_table).collect(), prefix).into_iter().take(COLUMNS_MAX).collect()
    }

    fn for_command(&self, before: &str) -> (usize, Vec<Candidate>) {
        let start = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
        let word = before.get(start..).unwrap_or("");
        let command = before.split_whitespace().next().unwrap_or("");
        let found = match command {
            _ if before.trim_start() == word => starting(COMMANDS.iter().map(|c| (*c).to_owned()).collect(), word),
            ".mode" => starting(Mode::ALL.map(|mode| mode.as_str().to_owned()).to_vec(), word),
            "\\d" | ".schema" | ".describe" | ".dump" | ".indexes" | "\\di" => {
                starting(self.catalog.objects("TABLES"), word)
            }
            ".import" | ".export" if self.names_files && is_file_argument(command, before) => {
                starting(files::starting(word), "")
            }
            ".import" | ".export" => starting(self.catalog.objects("TABLES"), word),
            "\\ds" => starting(self.catalog.objects("SEQUENCES"), word),
            ".maxrows" | ".width" => starting(vec!["0".to_owned()], word),
            ".open" if self.names_files => starting(files::starting(word), ""),
            ".timing" => starting(vec!["on".to_owned(), "off".to_owned()], word),
            ".param" => starting(vec!["set".to_owned(), "list".to_owned(), "clear".to_owned()], word),
            ".read" | "\\i" if self.names_files => starting(files::starting(word), ""),
            _ => Vec::new(),
        };
        (start, found)
    }
}

/// Whether a quoted text may follow.
fn takes_texts(tokens: &[Token<'_>]) -> bool {
    offers(tokens).iter().any(|offer| matches!(offer, Offer::Texts(_) | Offer::ValuesOf(_)))
}

/// Whether an unfinished string is the file of a COPY.
fn is_file_name(last: &Token<'_>, earlier: &[Token<'_>]) -> bool {
    let is = |token: Option<&Token<'_>>, words: &[&str]| {
        token.is_some_and(|token| words.iter().any(|word| token.text.eq_ignore_ascii_case(word)))
    };
    let is_string = matches!(last.kind, Lexeme::Unterminated(_)) && last.text.starts_with('\'');
    is_string && is(earlier.first(), &["COPY"]) && is(earlier.last(), &["FROM", "TO"])
}

/// Whether the unfinished word is the file of `.import` or `.export`: the first or the second argument.
fn is_file_argument(command: &str, before: &str) -> bool {
    let words = before.split_whitespace().count() + usize::from(before.ends_with(char::is_whitespace));
    words == if command == ".import" { 2 } else { 3 }
}

/// The keywords that start with `prefix`, in the case of `prefix`.
fn matching(words: &[impl AsRef<str>], prefix: &str) -> Vec<Candidate> {
    let is_lower = !prefix.is_empty() && prefix.chars().all(|c| !c.is_uppercase());
    let found = words.iter().map(AsRef::as_ref).filter(|word| starts_with(word, prefix));
    found.map(|word| if is_lower { word.to_lowercase() } else { word.to_owned() }.into()).collect()
}

/// The values of a setting that are words, from its description.
fn values_of(setting: &str) -> Vec<String> {
    let setting = SETTINGS.iter().find(|known| known.name.eq_ignore_ascii_case(setting));
    let values = setting.map_or("", |setting| setting.values);
    // An example of a time or a size begins with a digit.
    let texts = values.split('\'').skip(1).step_by(2).filter(|text| !text.starts_with(|c: char| c.is_ascii_digit()));
    texts.map(|text| format!("'{text}'")).collect()
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
        let database = saltwing::Database::memory().unwrap();
        let connection = database.connect().blocking();
        for sql in [
            "CREATE SCHEMA s",
            "CREATE TABLE log (host VARCHAR NOT NULL, ts DATE NOT NULL, up BIGINT, CONSTRAINT pk PRIMARY KEY (host, ts)) SALT_BUCKETS = 2",
            "CREATE TABLE s.other (\"My Key\" INTEGER NOT NULL PRIMARY KEY, hue VARCHAR)",
        ] {
            connection.execute(sql, ()).unwrap();
        }
        SqlCompleter::new(CatalogNames::new(&database), true)
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
        check("show st|", "st", &["storage", "statement_memory_limit", "statement_timeout"]);
        check("SET full|", "full", &["full_scan"]);
    }

    #[test]
    fn tables_follow_from() {
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
        check("SELECT h| FROM log", "h", &["host", "having", "hamming", "hash", "hex", "hour"]);
        check("SELECT ho| FROM log WHERE 1", "ho", &["host", "hour"]);
        check("SELECT | FROM log", "", &["host", "ts", "up"]);
        check("SELECT * FROM log l, x WHERE l.|", "", &["host", "ts", "up"]);
        check("SELECT * FROM s.other AS o WHERE o.|", "", &["\"My Key\"", "hue"]);
        check("SELECT * FROM s.other WHERE \"my k\"|", "\"my k\"", &[]);
        check("DELETE FROM log;\nSELECT hue| FROM log", "hue", &[]);
        check("ALTER TABLE log DROP COLUMN up|", "up", &["up"]);
    }

    #[test]
    fn before_from_columns_are_those_of_all_tables() {
        check("SELECT ho|", "ho", &["host", "hour"]);
        check("select hu|", "hu", &["hue"]);
        check("SELECT |", "", &["host", "ts", "up", "\"My Key\"", "hue"]);
        // The first column determines the table.
        check("SELECT hue, |", "", &["\"My Key\"", "hue", "host", "ts", "up"]);
        let (_, found) = completer().candidates("select host, s", 14);
        let odd = ["savepoint", "salt_buckets", "stdin", "storage"];
        assert!(!found.iter().any(|candidate| odd.contains(&candidate.text.as_str())), "{found:?}");
        let (_, found) = completer().candidates("SELECT hu", 9);
        assert_eq!(found[0].note.as_deref(), Some("VARCHAR, s.other"));
    }

    #[test]
    fn definitions_have_their_words() {
        check("create ta|", "ta", &["table"]);
        check("alter |", "", &["INDEX", "SEQUENCE", "TABLE", "USER", "VIEW"]);
        check("alter table log |", "", &["ADD", "DROP", "RENAME", "SET"]);
        check("alter table log drop |", "", &["host", "ts", "up", "COLUMN", "CONSTRAINT", "IF EXISTS"]);
        check("alter table s.other set f|", "f", &["full_scan"]);
        check("alter table log set FULL_SCAN = |", "", &["'allow'", "'warn'", "'error'"]);
        check("CREATE TABLE t (a VARC|", "VARC", &["VARCHAR"]);
        check("CREATE INDEX i ON l|", "l", &["log"]);
    }

    #[test]
    fn settings_have_their_values() {
        check("set full_scan = |", "", &["'allow'", "'warn'", "'error'", "DEFAULT"]);
        check("set full_scan = 'w|", "'w", &["'warn'"]);
        check("SET durability TO '|", "'", &["'synced'", "'buffered'"]);
        check("set rows_max = |", "", &["DEFAULT"]);
        check("SET statement_timeout = d|", "d", &["default"]);
    }

    #[test]
    fn columns_have_their_types() {
        let (_, found) = completer().candidates("SELECT  FROM log", "SELECT ".len());
        let notes: Vec<String> = found.into_iter().filter_map(|candidate| candidate.note).collect();
        assert_eq!(notes, ["VARCHAR", "DATE", "BIGINT"]);
    }

    #[test]
    fn files_follow_copy_and_read() {
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
        check(".wi|", ".wi", &[".width"]);
        check(".width |", "", &["0"]);
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
