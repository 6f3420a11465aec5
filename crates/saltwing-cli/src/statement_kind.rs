//! What a statement is, by its first words: for what the shell says about it.

use saltwing_sql::{Lexeme, lexemes};

/// Kinds that the shell speaks of in different words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StatementKind {
    /// Rows are affected: the participle that says how.
    Write(&'static str),
    /// Its rows are lines of text: EXPLAIN, SHOW CREATE TABLE.
    Text,
    /// Its rows are about tables and settings, not from them: SHOW, DESCRIBE.
    Catalog,
    /// Anything else.
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
            Some("EXPLAIN") => Self::Text,
            Some("SHOW") if words.next().as_deref() == Some("CREATE") => Self::Text,
            Some("SHOW" | "DESCRIBE" | "DESC") => Self::Catalog,
            _ => Self::Other,
        }
    }
}

/// Whether a statement reads what is typed behind it.
pub(crate) fn reads_stdin(sql: &str) -> bool {
    let is_word = |word: &str| {
        let mut all = lexemes(sql).filter(|(kind, _)| *kind == Lexeme::Word);
        all.any(|(_, range)| sql.get(range).is_some_and(|text| text.eq_ignore_ascii_case(word)))
    };
    let is_file = || lexemes(sql).any(|(_, range)| sql.get(range) == Some("'/dev/stdin'"));
    words(sql).next().as_deref() == Some("COPY") && (is_word("STDIN") || is_file())
}

/// The words of a statement, in upper case.
pub(crate) fn words(sql: &str) -> impl Iterator<Item = String> {
    lexemes(sql)
        .filter(|(kind, _)| !matches!(kind, Lexeme::Blank | Lexeme::Comment | Lexeme::Hint))
        .map_while(|(kind, range)| (kind == Lexeme::Word).then(|| sql.get(range).unwrap_or("").to_uppercase()))
}

/// Bytes of blanks and comments in front of a statement.
pub(crate) fn lead_bytes(sql: &str) -> usize {
    lexemes(sql).find(|(kind, _)| !matches!(kind, Lexeme::Blank | Lexeme::Comment)).map_or(0, |(_, range)| range.start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_decides() {
        use StatementKind::{Catalog, Other, Text, Write};
        for (sql, kind) in [
            ("-- c\n upsert into t values (1)", Write("written")),
            ("/* a */ DELETE /*+ FULL_SCAN */ FROM t", Write("deleted")),
            ("explain select 1", Text),
            ("SHOW CREATE TABLE t", Text),
            ("SHOW TABLES", Catalog),
            ("describe t", Catalog),
            ("(SELECT 1)", Other),
            ("", Other),
        ] {
            assert_eq!(StatementKind::of(sql), kind, "{sql}");
        }
        assert!(reads_stdin("copy t (a, b) from stdin with (format csv)"));
        assert!(reads_stdin("COPY t FROM '/dev/stdin'"));
        assert!(!reads_stdin("COPY t FROM 'STDIN'") && !reads_stdin("SELECT stdin FROM t"));
        assert_eq!(lead_bytes(" -- c\n SELECT 1"), 7);
    }
}
