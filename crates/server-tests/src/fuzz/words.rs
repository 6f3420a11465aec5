//! Words of statements: the lines of files.

use std::sync::LazyLock;

/// The lines of a file; an empty one is an empty text.
pub type Words = LazyLock<Vec<&'static str>>;

/// Literals at the ends of their types, and beyond.
pub static LITERALS: Words = LazyLock::new(|| include_str!("words/literals.txt").lines().collect());
/// Types, and some that there are not.
pub static TYPES: Words = LazyLock::new(|| include_str!("words/types.txt").lines().collect());
/// Operators.
pub static OPERATORS: Words = LazyLock::new(|| include_str!("words/operators.txt").lines().collect());
/// Functions of PostgreSQL, and those that make much of little.
pub static FUNCTIONS: Words = LazyLock::new(|| include_str!("words/functions.txt").lines().collect());
/// Statements that need nothing around them, and what is none.
pub static STATEMENTS: Words = LazyLock::new(|| include_str!("words/statements.txt").lines().collect());
/// COPY of streams.
pub static COPIES: Words = LazyLock::new(|| include_str!("words/copies.txt").lines().collect());

/// Tables: two of the fuzzer, some that cases make, some of catalogs.
pub const TABLES: &[&str] = &[
    "fuzz_a",
    "fuzz_b",
    "fuzz_a",
    "fuzz_b",
    "made_1",
    "made_2",
    "missing",
    "pg_class",
    "pg_attribute",
    "pg_type",
    "pg_index",
    "pg_namespace",
    "information_schema.columns",
    "information_schema.tables",
    "pg_settings",
    "pg_cursors",
    "pg_prepared_statements",
    "fuzz_view",
    "pg_temp.made_1",
];
