//! The words that the shell completes and colours.

/// First words of statements.
pub(crate) const STATEMENTS: &[&str] = &[
    "ADVISE",
    "ALTER",
    "ATTACH",
    "BACKUP",
    "BEGIN",
    "COMMENT",
    "COMMIT",
    "COMPACT",
    "COPY",
    "CREATE",
    "DEALLOCATE",
    "DELETE",
    "DESCRIBE",
    "DETACH",
    "DROP",
    "EXECUTE",
    "EXPLAIN",
    "EXPORT",
    "GRANT",
    "INSERT",
    "MERGE",
    "PREPARE",
    "RELEASE",
    "REVOKE",
    "ROLLBACK",
    "SAVEPOINT",
    "SELECT",
    "SET",
    "SHOW",
    "SUMMARIZE",
    "TRUNCATE",
    "UPDATE",
    "UPSERT",
    "VALUES",
    "WITH",
];

/// Words of queries, and of statements that write rows.
pub(crate) const QUERIES: &[&str] = &[
    "AFTER",
    "ALL",
    "AND",
    "AS",
    "ASC",
    "BETWEEN",
    "BY",
    "CASE",
    "CAST",
    "CONFLICT",
    "CROSS",
    "DATE",
    "DEFAULT",
    "DELETE",
    "DESC",
    "DISTINCT",
    "DO",
    "ELSE",
    "END",
    "EXCEPT",
    "EXISTS",
    "FALSE",
    "FIRST",
    "FOR",
    "FROM",
    "FULL",
    "GROUP",
    "HAVING",
    "IGNORE",
    "ILIKE",
    "IN",
    "INNER",
    "INSERT",
    "INTERSECT",
    "INTERVAL",
    "INTO",
    "IS",
    "JOIN",
    "LAST",
    "LATERAL",
    "LEFT",
    "LIKE",
    "LIMIT",
    "MATCHED",
    "NEXT",
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
    "RECURSIVE",
    "RETURNING",
    "RIGHT",
    "SELECT",
    "SET",
    "THEN",
    "TIME",
    "TIMESTAMP",
    "TRUE",
    "UNION",
    "UPDATE",
    "USING",
    "VALUE",
    "VALUES",
    "WHEN",
    "WHERE",
    "WITH",
];

/// Types.
pub(crate) const TYPES: &[&str] = &[
    "BIGINT",
    "BINARY",
    "BOOLEAN",
    "CHAR",
    "DATE",
    "DECIMAL",
    "DOUBLE",
    "FLOAT",
    "INTEGER",
    "INTERVAL",
    "JSON",
    "SMALLINT",
    "TIME",
    "TIMESTAMP",
    "TINYINT",
    "UNSIGNED_INT",
    "UNSIGNED_LONG",
    "UUID",
    "VARBINARY",
    "VARCHAR",
];

/// Words of definitions besides types and options.
pub(crate) const DEFINITIONS: &[&str] = &[
    "ADD",
    "ALWAYS",
    "AS",
    "ASC",
    "ASYNC",
    "BY",
    "CACHE",
    "CHECK",
    "COLUMN",
    "COMMIT",
    "CONSTRAINT",
    "CYCLE",
    "DEFAULT",
    "DESC",
    "EXISTS",
    "GENERATED",
    "IDENTITY",
    "IF",
    "INCLUDE",
    "INCREMENT",
    "KEY",
    "MAXVALUE",
    "MINVALUE",
    "NO",
    "NOT",
    "NULL",
    "ON",
    "PRESERVE",
    "PRIMARY",
    "REBUILD",
    "RENAME",
    "RESTART",
    "ROWS",
    "ROW_TIMESTAMP",
    "SPLIT",
    "START",
    "STORED",
    "TO",
    "WHERE",
    "WITH",
];

/// Options of tables that have an effect.
pub(crate) const TABLE_OPTIONS: &[&str] = &[
    "BLOCK_BYTES",
    "BLOCK_ROWS",
    "FULL_SCAN",
    "KEEP_VERSIONS",
    "PHOENIX_ROW_TIMESTAMP",
    "TTL",
    "TTL_COLUMN",
    "VERSIONS",
];

/// Options that cannot change after the table is created.
pub(crate) const KEY_OPTIONS: &[&str] = &["SALT_BUCKETS", "SALT_BY"];

/// Words of COPY.
pub(crate) const COPIES: &[&str] = &[
    "COMPRESSION",
    "CONFLICT",
    "DELIMITER",
    "ERROR",
    "ESCAPE",
    "FORMAT",
    "FROM",
    "HEADER",
    "NULL",
    "ON",
    "ON_CONFLICT",
    "ON_ERROR",
    "OVERWRITE",
    "QUOTE",
    "SKIP",
    "SPECIAL",
    "STDIN",
    "STDOUT",
    "TO",
    "WITH",
];

/// Words of the other statements.
pub(crate) const OTHERS: &[&str] = &[
    "ANALYZE",
    "AS",
    "ATTACHED",
    "CASCADE",
    "COLUMN",
    "COLUMNS",
    "CREATE",
    "DATABASE",
    "DATABASES",
    "EXISTS",
    "FOR",
    "FORMAT",
    "FROM",
    "FUNCTIONS",
    "GRANTS",
    "IF",
    "INDEX",
    "INDEXES",
    "IS",
    "LIKE",
    "ON",
    "ONLY",
    "PASSWORD",
    "PHOENIX",
    "READ",
    "SCHEMA",
    "SCHEMAS",
    "SEQUENCE",
    "SEQUENCES",
    "STORAGE",
    "TABLE",
    "TABLES",
    "TO",
    "TRANSACTION",
    "TRANSACTIONS",
    "UNIQUE",
    "USER",
    "USERS",
    "VIEW",
    "VIEWS",
];

/// The formats of COPY.
pub(crate) const FORMATS: &[&str] = &["ARROW", "ARROW_STREAM", "CSV", "JSON", "PARQUET"];

/// The compressions of COPY.
pub(crate) const COMPRESSIONS: &[&str] = &["GZIP", "LZ4", "NONE", "SNAPPY", "ZSTD"];

/// Whether a word has a meaning of its own.
pub(crate) fn is_keyword(word: &str) -> bool {
    let upper = word.to_ascii_uppercase();
    let all = [STATEMENTS, QUERIES, TYPES, DEFINITIONS, TABLE_OPTIONS, KEY_OPTIONS, COPIES, OTHERS, FORMATS];
    all.into_iter().any(|words| words.binary_search(&upper.as_str()).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_and_keywords_are_found_in_any_case() {
        for words in
            [STATEMENTS, QUERIES, TYPES, DEFINITIONS, TABLE_OPTIONS, KEY_OPTIONS, COPIES, OTHERS, FORMATS, COMPRESSIONS]
        {
            assert!(words.is_sorted(), "{words:?}");
        }
        assert!(is_keyword("select") && is_keyword("Where"));
        assert!(!is_keyword("phone_no"));
    }
}
