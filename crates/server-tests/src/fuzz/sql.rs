//! Random statements: of a grammar, of the repository's SQL files, and damaged ones.

use super::corpus::Corpus;
use super::expression::expression;
use super::mutation::damaged_text;
use super::words::{COPIES, STATEMENTS, TABLES, TYPES};
use crate::random::Random;

/// What makes the tables of the fuzzer.
pub const SET_UP: &[&str] = &[
    "CREATE TABLE fuzz_a (k BIGINT PRIMARY KEY, v VARCHAR, n DECIMAL(20, 5), d TIMESTAMP, b BOOLEAN, x VARBINARY, a BIGINT ARRAY)",
    "CREATE TABLE fuzz_b (p VARCHAR NOT NULL, q INTEGER NOT NULL, r DOUBLE, CONSTRAINT pk PRIMARY KEY (p, q DESC)) SALT_BUCKETS = 4",
    "CREATE INDEX fuzz_v ON fuzz_a (v)",
    "CREATE VIEW fuzz_view AS SELECT k, v FROM fuzz_a WHERE k > 1",
    "CREATE SEQUENCE fuzz_sequence",
    "INSERT INTO fuzz_a SELECT k, 'v' || CAST(k AS VARCHAR), k, NULL, k > 100, NULL, ARRAY[k, 1] FROM generate_series(1, 300) AS s (k)",
    "INSERT INTO fuzz_b SELECT 'p' || CAST(k % 7 AS VARCHAR), k, k / 3.0 FROM generate_series(1, 300) AS s (k)",
];

/// A statement, or what looks like one.
pub fn statement(random: &mut Random, corpus: &Corpus) -> String {
    match random.below(20) {
        0..=2 => random.text_of(&STATEMENTS).to_owned(),
        3..=5 => {
            let (text, other) = (corpus.statement(random).to_owned(), corpus.statement(random).to_owned());
            damaged_text(random, &text, &other)
        }
        6 => corpus.statement(random).to_owned(),
        7 => random.text_of(&COPIES).to_owned(),
        8 => {
            let (text, other) = (of_grammar(random, corpus), corpus.statement(random).to_owned());
            damaged_text(random, &text, &other)
        }
        9 => {
            let lead = random.text_of(&[
                "EXPLAIN ",
                "EXPLAIN ANALYZE ",
                "ADVISE ",
                "PREPARE st AS ",
                "DECLARE cur CURSOR FOR ",
            ]);
            lead.to_owned() + &of_grammar(random, corpus)
        }
        _ => of_grammar(random, corpus),
    }
}

/// The columns of a table; none of one that may not be there.
fn columns_of(table: &str) -> &'static [&'static str] {
    match table {
        "fuzz_a" => &["k", "v", "n", "d", "b", "x", "a"],
        "fuzz_b" => &["p", "q", "r"],
        "fuzz_view" | "made_1" => &["k", "v"],
        "pg_class" => &["oid", "relname", "relkind", "reltuples"],
        "information_schema.columns" => &["table_name", "column_name", "ordinal_position"],
        _ => &[],
    }
}

fn of_grammar(random: &mut Random, corpus: &Corpus) -> String {
    let depth = u32::try_from(random.below(4)).unwrap_or_default();
    let table = random.text_of(TABLES);
    let mut inner = || expression(random, corpus, columns_of(table), depth);
    let (one, two, three) = (inner(), inner(), inner());
    let (made, kind) = (random.text_of(&["made_1", "made_2", "fuzz_a"]), random.text_of(&TYPES));
    match random.below(16) {
        0..=6 => select(random, [one, two, three], table),
        7 => format!("UPSERT INTO fuzz_a (k, v, n) VALUES ({one}, {two}, {three})"),
        8 => format!("INSERT INTO fuzz_b (p, q, r) VALUES ({one}, {two}, {three}) RETURNING {one}"),
        9 => format!("UPDATE {table} SET v = {one} WHERE {two}"),
        10 => format!("DELETE FROM {table} WHERE k = {one} AND {two}"),
        11 => format!("CREATE TABLE {made} (k {kind} PRIMARY KEY, v VARCHAR DEFAULT {one}, w {kind}, CHECK ({two}))"),
        12 => random_definition(random, made, kind, &one),
        13 => format!(
            "MERGE INTO fuzz_a USING (SELECT {one} AS k) s ON fuzz_a.k = s.k WHEN MATCHED THEN UPDATE SET v = {two}"
        ),
        14 => format!("VALUES ({one}, {two}), ({three}, NULL)"),
        _ => format!("CREATE OR REPLACE VIEW fuzz_made_view AS SELECT {one} AS c FROM {table} WHERE {two}"),
    }
}

fn select(random: &mut Random, [one, two, three]: [String; 3], table: &str) -> String {
    let other = random.text_of(TABLES);
    let from = match random.below(5) {
        0 => format!("{table} JOIN {other} ON {three}"),
        1 => format!("{table} t LEFT JOIN {other} u USING (k)"),
        2 => format!("(SELECT {one} AS k, {two} AS v) t"),
        _ => table.to_owned(),
    };
    let tail = match random.below(8) {
        0 => format!(" GROUP BY {one} HAVING {two}"),
        1 => format!(" ORDER BY {one} DESC NULLS FIRST, {two} LIMIT {}", random.below(400)),
        2 => format!(" LIMIT {three}"),
        3 => format!(" UNION ALL SELECT {two} FROM {other}"),
        4 => " FOR UPDATE".to_owned(),
        _ => String::new(),
    };
    match random.below(8) {
        0 => format!("SELECT {one}, {two}"),
        1 => format!("WITH c AS (SELECT {one} AS k FROM {from}) SELECT {two} FROM c, c d WHERE {three}"),
        2 => format!("SELECT * FROM {from} WHERE {two}{tail}"),
        _ => format!("SELECT {one}, {two} AS z FROM {from} WHERE {three}{tail}"),
    }
}

fn random_definition(random: &mut Random, made: &str, kind: &str, one: &str) -> String {
    match random.below(8) {
        0 => format!("DROP TABLE IF EXISTS {}", random.text_of(&["made_1", "made_2"])),
        1 => format!("ALTER TABLE {made} ADD COLUMN w{} {kind}", random.below(20)),
        2 => format!("ALTER TABLE {made} DROP COLUMN w{}", random.below(20)),
        3 => format!("CREATE INDEX made_index ON {made} ({one})"),
        4 => format!("DROP INDEX made_index ON {made}"),
        5 => format!("COMMENT ON TABLE {made} IS {one}"),
        6 => format!("CREATE TEMP TABLE made_2 PRIMARY KEY (k) AS SELECT {one} AS k"),
        _ => format!("CREATE SEQUENCE made_sequence START WITH {one}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Corpus, statement};
    use crate::random::Random;

    #[test]
    fn statements_are_repeatable_and_bounded() {
        let corpus = Corpus::read().unwrap();
        let texts = |seed| {
            let mut random = Random::new(seed);
            (0..300).map(|_| statement(&mut random, &corpus)).collect::<Vec<_>>()
        };
        assert_eq!(texts(5), texts(5));
        assert!(texts(6).iter().all(|text| text.len() < 1 << 20));
    }
}
