//! Names in Phoenix's SQL, quoted if its grammar requires it.

use saltwing_types::{ColumnDef, TableDef, TableName};

/// The words that must be quoted as names. Tested with Phoenix 5.2.1: it refused each as a column of a SELECT, or read it as a
/// literal.
#[rustfmt::skip]
const RESERVED: [&str; 133] = [
    "ACTIVE", "ADD", "ALL", "ALTER", "AND", "ANY", "ARRAY", "AS", "ASC", "ASYNC", "BETWEEN", "BY", "CACHE", "CASCADE", "CASE",
    "CAST", "CLOSE", "COLUMN", "COLUMNS", "COLUMN_QUALIFIER_COUNTER", "CONSTANT", "CONSTRAINT", "CREATE", "CURRENT", "CURSOR",
    "CYCLE", "DECLARE", "DEFAULT", "DEFAULTVALUE", "DELETE", "DESC", "DISABLE", "DISTINCT", "DROP", "DUPLICATE", "ELSE",
    "ENCODED_QUALIFIER", "END", "EXECUTE", "EXISTS", "EXPLAIN", "FALSE", "FETCH", "FIRST", "FOR", "FROM", "FULL", "FUNCTION",
    "GRANT", "GROUP", "HAVING", "IF", "IGNORE", "ILIKE", "IMMUTABLE", "IN", "INCLUDE", "INCREMENT", "INDEX", "INNER", "INTO",
    "IS", "JAR", "JARS", "JOIN", "KEY", "LAST", "LEFT", "LIKE", "LIMIT", "LIST", "LOCAL", "MAXVALUE", "MINVALUE", "NEXT",
    "NOT", "NOVERIFY", "NULL", "NULLS", "OFF", "OFFSET", "ON", "ONLY", "OPEN", "OR", "ORDER", "OUTER", "PRIMARY", "REBUILD",
    "REGIONS", "REPLACE", "RETURNS", "REVOKE", "RIGHT", "ROW", "ROWS", "ROW_TIMESTAMP", "SAMPLING", "SCHEMA", "SCHEMAS",
    "SELECT", "SEQUENCE", "SESSION", "SET", "SHOW", "SOME", "SPLIT", "START", "STATISTICS", "TABLE", "TABLES", "TABLESAMPLE",
    "TEMPORARY", "THEN", "TO", "TRACE", "TRUE", "UNCOVERED", "UNION", "UNUSABLE", "UPDATE", "UPGRADE", "UPSERT", "USABLE",
    "USE", "USING", "VALUE", "VALUES", "VIEW", "WHEN", "WHERE", "WITH", "WITHIN",
];

/// A name, in quotes if Phoenix needs them.
pub(crate) fn phoenix_name(name: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_plain = name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(is_part);
    let is_reserved = RESERVED.iter().any(|word| word.eq_ignore_ascii_case(name));
    if is_plain && !is_reserved { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

/// The name of a table or a sequence, after the name of its schema.
pub(crate) fn phoenix_path(name: &TableName) -> String {
    path(name.schema.as_deref(), &name.name)
}

/// The name of a column, after the name of its family if a statement needs this.
pub(crate) fn phoenix_column(def: &TableDef, column: &ColumnDef) -> String {
    path(def.needed_family(column), &column.name)
}

/// A name after a qualifier.
pub(crate) fn path(qualifier: Option<&str>, name: &str) -> String {
    match qualifier {
        Some(qualifier) => format!("{}.{}", phoenix_name(qualifier), phoenix_name(name)),
        None => phoenix_name(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_grammar_are_in_quotes() {
        for (name, written) in [
            ("k", "k"),
            ("Key", "\"Key\""),
            ("user", "user"),
            ("a b", "\"a b\""),
            ("_x", "\"_x\""),
            ("1st", "\"1st\""),
            ("größe", "\"größe\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("", "\"\""),
        ] {
            assert_eq!(phoenix_name(name), written);
        }
        assert_eq!(path(Some("s"), "order"), "s.\"order\"");
    }
}
