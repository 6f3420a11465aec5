//! The kind of a statement by its first words, for messages of the shell.

use saltwing::Dialect;
use saltwing::syntax::{CopyStream, Lexeme, copy_stream, lexemes};

/// The kinds of statements that the shell reports differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StatementKind {
    /// The statement affects rows: the participle for the message.
    Write(&'static str),
    /// The rows are definitions (SHOW CREATE TABLE), or a plan for programs.
    Text,
    /// The rows are the lines of a plan: EXPLAIN.
    Plan,
    /// The rows describe tables or settings: SHOW, DESCRIBE.
    Catalog,
    /// All other statements.
    Other,
}

impl StatementKind {
    /// The kind of `sql`.
    pub(crate) fn of(sql: &str) -> Self {
        let mut words = words(sql);
        match words.next().as_deref() {
            Some("UPSERT" | "INSERT" | "COPY") => Self::Write("written"),
            Some("DELETE") => Self::Write("deleted"),
            Some("UPDATE") => Self::Write("updated"),
            Some("MERGE") => Self::Write("merged"),
            Some("EXPLAIN") if is_json(sql) => Self::Text,
            Some("EXPLAIN") => Self::Plan,
            Some("SHOW") if words.next().as_deref() == Some("CREATE") => Self::Text,
            Some("SHOW" | "DESCRIBE" | "DESC") => Self::Catalog,
            _ => Self::Other,
        }
    }
}

/// Whether an EXPLAIN has the option FORMAT JSON, in brackets before its statement.
fn is_json(sql: &str) -> bool {
    let text = |range: std::ops::Range<usize>| sql.get(range).unwrap_or("");
    let tokens = lexemes(sql).filter(|(kind, _)| !matches!(kind, Lexeme::Blank | Lexeme::Comment));
    let mut words =
        tokens.map(|(_, range)| text(range)).skip(1).skip_while(|word| word.eq_ignore_ascii_case("ANALYZE"));
    let has_brackets = words.next() == Some("(");
    // Any other first word in the brackets begins a query.
    let mut options = words.take_while(|word| *word != ")").map(str::to_uppercase);
    has_brackets
        && options.next().is_some_and(|first| match first.as_str() {
            "ANALYZE" | "FORMAT" => options.any(|word| word == "JSON"),
            _ => false,
        })
}

/// The stream of the shell that a COPY uses; `None` for other statements, and for a text that cannot be parsed.
pub(crate) fn stream_of(sql: &str) -> Option<CopyStream> {
    // Only a COPY is parsed here; other statements need no parsing.
    words(sql).next().filter(|first| first == "COPY").and_then(|_| copy_stream(sql, Dialect::Saltwing))
}

/// The words of a statement, in upper case.
pub(crate) fn words(sql: &str) -> impl Iterator<Item = String> {
    lexemes(sql)
        .filter(|(kind, _)| !matches!(kind, Lexeme::Blank | Lexeme::Comment | Lexeme::Hint))
        .map_while(|(kind, range)| (kind == Lexeme::Word).then(|| sql.get(range).unwrap_or("").to_uppercase()))
}

/// Bytes of blanks and comments before a statement.
pub(crate) fn lead_bytes(sql: &str) -> usize {
    lexemes(sql).find(|(kind, _)| !matches!(kind, Lexeme::Blank | Lexeme::Comment)).map_or(0, |(_, range)| range.start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_decides() {
        use StatementKind::{Catalog, Other, Plan, Text, Write};
        for (sql, kind) in [
            ("-- c\n upsert into t values (1)", Write("written")),
            ("/* a */ DELETE /*+ FULL_SCAN */ FROM t", Write("deleted")),
            ("explain select 1", Plan),
            ("EXPLAIN ANALYZE (SELECT json FROM t)", Plan),
            ("EXPLAIN (FORMAT TEXT) SELECT 1", Plan),
            ("explain (analyze, format json) select 1", Text),
            ("EXPLAIN ANALYZE (FORMAT JSON) SELECT 1", Text),
            ("SHOW CREATE TABLE t", Text),
            ("SHOW TABLES", Catalog),
            ("describe t", Catalog),
            ("(SELECT 1)", Other),
            ("", Other),
        ] {
            assert_eq!(StatementKind::of(sql), kind, "{sql}");
        }
        assert_eq!(lead_bytes(" -- c\n SELECT 1"), 7);
    }

    #[test]
    fn copies_use_a_stream_or_a_file() {
        let stdin = ["copy t (a, b) from stdin with (format csv)", "-- c\n COPY t FROM '/dev/stdin'"];
        assert!(stdin.iter().all(|sql| stream_of(sql) == Some(CopyStream::Stdin)));
        let stdout = ["COPY t TO STDOUT", "COPY (SELECT stdin FROM t) TO '/dev/stdout' WITH (HEADER)"];
        assert!(stdout.iter().all(|sql| stream_of(sql) == Some(CopyStream::Stdout)));
        let neither =
            ["COPY t FROM 'STDIN'", "COPY (SELECT stdin FROM t) TO 'file'", "SELECT stdin FROM t", "COPY STDIN"];
        assert!(neither.iter().all(|sql| stream_of(sql).is_none()));
    }
}
