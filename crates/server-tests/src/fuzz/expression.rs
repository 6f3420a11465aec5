//! Random expressions of SQL, most of which are refused.

use super::corpus::Corpus;
use crate::random::Random;

/// Literals at the ends of their types, and beyond.
const LITERALS: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "NULL",
    "TRUE",
    "FALSE",
    "''",
    "'a'",
    "'é😀'",
    "'%_\\'",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "2147483648",
    "-2147483648",
    "65536",
    "1e308",
    "-1e308",
    "1e309",
    "1e-324",
    "1e-2147483648",
    "1e2147483647",
    "99999999999999999999999999999999999999",
    "0.00000000000000000000000000000000000001",
    "'NaN'",
    "'Infinity'",
    "'-Infinity'",
    "0.5",
    "-0.0",
    "DATE '0001-01-01'",
    "DATE '9999-12-31'",
    "TIMESTAMP '294276-12-31 23:59:59.999999'",
    "TIMESTAMP '1970-01-01 00:00:00'",
    "DATE '-292275055-05-16'",
    "TIME '23:59:59.999999'",
    "INTERVAL '178956970 years'",
    "INTERVAL '-1 mon 9223372036854 seconds'",
    "INTERVAL '1 day'",
    "X''",
    "X'00FF'",
    "'\\x00ff'",
    "'{1,2,NULL}'",
    "'{{1},{2}}'",
    "'[1, 2.5e400, null]'",
    "'{\"a\": [1, {\"b\": null}]}'",
    "'00000000-0000-0000-0000-000000000000'",
    "ARRAY[1, 2, NULL]",
    "ARRAY['a']",
    "'yes'",
    "'1e-2147483648'",
    "'1970-01-01'",
    "'25:61:61'",
    "E'\\u0041\\x00'",
    "$$text$$",
    "'-9223372036854775809'",
    "CURRENT_TIMESTAMP",
    "CURRENT_DATE",
    "'P1Y'",
    "'UTC'",
    "'month'",
    "'.*(a|b)+'",
];

/// Names of columns, and of some that there are not.
const COLUMNS: &[&str] = &[
    "k", "v", "n", "d", "b", "x", "a", "p", "q", "r", "fuzz_a.k", "fuzz_b.p", "t.v", "missing", "\"V\"", "oid",
    "relname",
];

/// Types, and some that there are not.
pub const TYPES: &[&str] = &[
    "BIGINT",
    "INTEGER",
    "SMALLINT",
    "TINYINT",
    "UNSIGNED_LONG",
    "UNSIGNED_INT",
    "DECIMAL",
    "DECIMAL(38, 38)",
    "DECIMAL(5, 2)",
    "DOUBLE",
    "FLOAT",
    "VARCHAR",
    "VARCHAR(3)",
    "CHAR(5)",
    "BOOLEAN",
    "VARBINARY",
    "BINARY(4)",
    "DATE",
    "TIME",
    "TIMESTAMP",
    "INTERVAL",
    "UUID",
    "JSON",
    "BIGINT ARRAY",
    "VARCHAR ARRAY",
    "BIGINT[]",
    "text",
    "int8",
    "bytea",
    "regclass",
    "name",
    "oid",
    "nothing",
    "DECIMAL(99, 1)",
    "CHAR(99999999)",
];

const OPERATORS: &[&str] = &[
    "+",
    "-",
    "*",
    "/",
    "%",
    "||",
    "=",
    "<>",
    "<",
    "<=",
    ">",
    ">=",
    "AND",
    "OR",
    "LIKE",
    "ILIKE",
    "~",
    "!~",
    "->",
    "->>",
    "#>",
    "IS DISTINCT FROM",
    "&",
    "|",
    "^",
    "<<",
    ">>",
    "@>",
    "SIMILAR TO",
    "COLLATE",
];

/// Functions of PostgreSQL, and those that make much of little.
const OTHER_FUNCTIONS: &[&str] = &[
    "count",
    "sum",
    "min",
    "max",
    "avg",
    "array_agg",
    "string_agg",
    "stddev",
    "row_number",
    "lag",
    "ntile",
    "first_value",
    "generate_series",
    "unnest",
    "repeat",
    "lpad",
    "regexp_replace",
    "to_char",
    "to_date",
    "to_number",
    "format_type",
    "pg_get_indexdef",
    "current_setting",
    "set_config",
    "array_fill",
    "percentile_cont",
    "approx_distinct",
    "pg_get_expr",
    "obj_description",
    "json_agg",
    "split_part",
    "nextval",
    "pg_relation_size",
    "version",
];

const PARTS: &[&str] = &["YEAR", "EPOCH", "DOW", "MICROSECOND", "nothing"];

/// An expression with at most so many levels.
pub fn expression(random: &mut Random, corpus: &Corpus, depth: u32) -> String {
    if depth == 0 || random.one_in(5) {
        return leaf(random);
    }
    let depth = depth - 1;
    let mut inner = || expression(random, corpus, depth);
    let (one, two, three) = (inner(), inner(), inner());
    match random.below(19) {
        0..=3 => format!("({one} {} {two})", random.text_of(OPERATORS)),
        4..=6 => format!("{}({})", corpus.function(random), arguments(random, &[one, two, three])),
        7 | 8 => {
            let distinct = if random.one_in(6) { "DISTINCT " } else { "" };
            let over =
                if random.one_in(5) { format!(" OVER (PARTITION BY {two} ORDER BY {three})") } else { String::new() };
            format!(
                "{}({distinct}{}){over}",
                random.text_of(OTHER_FUNCTIONS),
                arguments(random, &[one, two.clone(), three.clone()])
            )
        }
        9 => format!("CAST({one} AS {})", random.text_of(TYPES)),
        10 => format!("({one})::{}", random.text_of(TYPES)),
        11 => format!("CASE WHEN {one} THEN {two} ELSE {three} END"),
        12 => format!("({one} BETWEEN {two} AND {three})"),
        13 => format!("({one} IN ({two}, {three}))"),
        14 => format!("({one} IS {}NULL)", if random.one_in(2) { "NOT " } else { "" }),
        15 => format!("ARRAY[{one}, {two}][{}]", leaf(random)),
        16 => format!("EXTRACT({} FROM {one})", random.text_of(PARTS)),
        17 => format!("({one}, {two}) < ({three}, {one})"),
        _ => subquery(random, &one, &two),
    }
}

/// A query in an expression.
fn subquery(random: &mut Random, one: &str, two: &str) -> String {
    let table = random.text_of(super::sql::TABLES);
    match random.below(3) {
        0 => format!("EXISTS (SELECT {one} FROM {table} WHERE {two})"),
        1 => format!("({one} = ANY(SELECT {two} FROM {table}))"),
        _ => format!("(SELECT {one} FROM {table} ORDER BY {two} LIMIT 1)"),
    }
}

fn arguments(random: &mut Random, all: &[String]) -> String {
    let count = random.index(all.len().saturating_add(1));
    all.get(..count).unwrap_or_default().join(", ")
}

fn leaf(random: &mut Random) -> String {
    match random.below(40) {
        0..=14 => random.text_of(COLUMNS).to_owned(),
        15..=18 => format!("${}", random.below(4)),
        19 => format!("'{}'", "x".repeat(random.index(20_000))),
        20 => format!("{}e{}", random.next(), random.below(800) - 400),
        21 => (random.next() as i64).to_string(),
        22 => format!("{}1{}", "(".repeat(random.index(100)), ")".repeat(random.index(100))),
        23 => "NOT ".repeat(random.index(50)) + "TRUE",
        _ => random.text_of(LITERALS).to_owned(),
    }
}
