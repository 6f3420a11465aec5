//! The words that the shell completes and colours.

/// First words of statements.
pub(super) const STATEMENTS: &[&str] = &[
    "ALTER",
    "BACKUP",
    "BEGIN",
    "COMMENT",
    "COMMIT",
    "COMPACT",
    "COPY",
    "CREATE",
    "DELETE",
    "DESCRIBE",
    "DROP",
    "EXPLAIN",
    "EXPORT",
    "INSERT",
    "RELEASE",
    "ROLLBACK",
    "SAVEPOINT",
    "SELECT",
    "SET",
    "SHOW",
    "TRUNCATE",
    "UPDATE",
    "UPSERT",
    "WITH",
];

/// The other keywords.
pub(super) const KEYWORDS: &[&str] = &[
    "ADD",
    "ALL",
    "ALWAYS",
    "ANALYZE",
    "AND",
    "AS",
    "ASC",
    "BETWEEN",
    "BIGINT",
    "BINARY",
    "BLOCK_BYTES",
    "BLOCK_ROWS",
    "BOOLEAN",
    "BY",
    "CASE",
    "CAST",
    "CHAR",
    "CHECK",
    "COLUMN",
    "COMPRESSION",
    "CONSTRAINT",
    "CROSS",
    "CSV",
    "DATE",
    "DECIMAL",
    "DEFAULT",
    "DESC",
    "DISTINCT",
    "DOUBLE",
    "ELSE",
    "END",
    "ERROR",
    "EXCEPT",
    "EXISTS",
    "FALSE",
    "FIRST",
    "FLOAT",
    "FOR",
    "FORMAT",
    "FROM",
    "FULL",
    "FUNCTIONS",
    "GENERATED",
    "GROUP",
    "HAVING",
    "HEADER",
    "IDENTITY",
    "IF",
    "IN",
    "INCLUDE",
    "INDEX",
    "INDEXES",
    "INNER",
    "INTEGER",
    "INTERSECT",
    "INTERVAL",
    "INTO",
    "IS",
    "JOIN",
    "JSON",
    "KEY",
    "LAST",
    "LEFT",
    "LIKE",
    "LIMIT",
    "NOT",
    "NULL",
    "NULLS",
    "OFFSET",
    "ON",
    "ONLY",
    "OR",
    "ORDER",
    "OUTER",
    "OVER",
    "PARTITION",
    "PHOENIX_ROW_TIMESTAMP",
    "PRIMARY",
    "READ",
    "RENAME",
    "RIGHT",
    "ROW_TIMESTAMP",
    "SALT_BUCKETS",
    "SALT_BY",
    "SCHEMA",
    "SCHEMAS",
    "SEQUENCE",
    "SEQUENCES",
    "SKIP",
    "SMALLINT",
    "SPLIT",
    "STDIN",
    "STDOUT",
    "STORAGE",
    "STORED",
    "TABLE",
    "TABLES",
    "THEN",
    "TIME",
    "TIMESTAMP",
    "TINYINT",
    "TO",
    "TRANSACTION",
    "TRANSACTIONS",
    "TRUE",
    "TTL",
    "TTL_COLUMN",
    "UNION",
    "UNIQUE",
    "UNSIGNED_INT",
    "UNSIGNED_LONG",
    "USING",
    "VALUES",
    "VARBINARY",
    "VARCHAR",
    "VIEW",
    "VIEWS",
    "WHEN",
    "WHERE",
];

/// The formats of COPY.
pub(super) const FORMATS: &[&str] = &["ARROW", "ARROW_STREAM", "CSV", "JSON", "PARQUET"];

/// The compressions of COPY.
pub(super) const COMPRESSIONS: &[&str] = &["GZIP", "LZ4", "NONE", "SNAPPY", "ZSTD"];

/// Whether a word has a meaning of its own.
pub(super) fn is_keyword(word: &str) -> bool {
    let upper = word.to_ascii_uppercase();
    [STATEMENTS, KEYWORDS].into_iter().any(|words| words.binary_search(&upper.as_str()).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dot_command::{COMMANDS, DotCommand};
    use crate::failure::Failure;

    #[test]
    fn lists_are_sorted_and_keywords_are_found_in_any_case() {
        for words in [STATEMENTS, KEYWORDS, COMMANDS, FORMATS, COMPRESSIONS] {
            assert!(words.is_sorted(), "{words:?}");
        }
        assert!(is_keyword("select") && is_keyword("Where"));
        assert!(!is_keyword("phone_no"));
    }

    #[test]
    fn commands_are_there() {
        for command in COMMANDS {
            if let Err(Failure::Usage(text)) = DotCommand::parse(command) {
                assert!(text.starts_with("usage: "), "{text}");
            }
        }
    }
}
