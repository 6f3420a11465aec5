//! Random queries over subqueries give what SQLite gives: scalar ones, EXISTS, IN, ANY and ALL, LATERAL, one inside
//! another, in every clause, correlated by any condition, with NULLs and with one name for several tables.
//!
//! A query is made of bytes, each of which makes one choice; what is left when they run out is the simplest. So a
//! failure shrinks to a small query.

use std::cell::Cell;
use std::collections::BTreeMap;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use saltwing::{Database, ErrorCode};

use crate::subqueries_as_sqlite::{Values, inserts, sqlite_rows, values};
use crate::texts;

/// How a query is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Ours,
    Sqlite,
}

/// A table in sight: its name there, and its columns.
type Relation = (String, Vec<&'static str>);

struct Choices<'a> {
    bytes: &'a [u8],
    next: usize,
    /// Names made so far.
    names: usize,
    dialect: Dialect,
    /// The tables in sight, from the outermost query in.
    scopes: Vec<Vec<Relation>>,
}

const COMPARISONS: &[&str] = &["=", "<", ">", "<>", "<=", ">="];

impl<'a> Choices<'a> {
    fn new(bytes: &'a [u8], dialect: Dialect) -> Self {
        Self { bytes, next: 0, names: 0, dialect, scopes: Vec::new() }
    }

    /// One of `n`; 0 when no byte is left.
    fn of(&mut self, n: usize) -> usize {
        let byte = self.bytes.get(self.next).copied().unwrap_or(0);
        self.next += 1;
        usize::from(byte) % n
    }

    fn one<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.of(list.len())]
    }

    fn unique(&mut self) -> String {
        self.names += 1;
        format!("q{}", self.names)
    }

    /// A table with a name, which may be one that an outer query has given.
    fn table(&mut self) -> (String, Relation) {
        let (table, columns) = self.one(&[("t", &["k", "a", "b"][..]), ("u", &["k", "n", "a", "b"][..])]);
        let taken = self.scopes.last().is_some_and(|scope| scope.iter().any(|(name, _)| name == table));
        let mut alias = self.one(&[table, "x", "t", "y"]).to_owned();
        if taken || self.scopes.last().is_some_and(|scope| scope.iter().any(|(name, _)| *name == alias)) {
            alias = self.unique();
        }
        let text = if alias == table { table.to_owned() } else { format!("{table} AS {alias}") };
        (text, (alias, columns.to_vec()))
    }

    /// A column in sight, `level` queries out or the nearest.
    fn column(&mut self) -> String {
        let levels = self.scopes.len();
        let out = self.one(&[0, 1, 0, 1, 2]).min(levels.saturating_sub(1));
        for level in (0..levels).rev().skip(out).chain((0..levels).rev()) {
            let hidden = |name: &str| self.scopes[level + 1..].iter().flatten().any(|(inner, _)| inner == name);
            let seen: Vec<Relation> = self.scopes[level]
                .iter()
                .filter(|(name, columns)| !hidden(name) && !columns.is_empty())
                .cloned()
                .collect();
            if !seen.is_empty() {
                let (name, columns) = seen[self.of(seen.len())].clone();
                return format!("{name}.{}", self.one(&columns));
            }
        }
        "1".to_owned()
    }

    /// A column of the innermost query.
    fn own_column(&mut self) -> String {
        let own: Vec<Relation> = self.scopes.last().unwrap().iter().filter(|(_, c)| !c.is_empty()).cloned().collect();
        match own.is_empty() {
            true => "1".to_owned(),
            false => {
                let (name, columns) = own[self.of(own.len())].clone();
                format!("{name}.{}", self.one(&columns))
            }
        }
    }

    fn number(&mut self, depth: usize) -> String {
        match self.of(if depth == 0 { 4 } else { 8 }) {
            0 => self.column(),
            1 => self.of(5).to_string(),
            2 => format!("{} + {}", self.column(), self.of(3)),
            3 => self.one(&["NULL", "2", "0"]).to_owned(),
            4 | 5 => format!("({})", self.scalar(depth - 1)),
            6 => format!("coalesce({}, {})", self.number(depth - 1), self.number(depth - 1)),
            _ => {
                let (when, then, other) = (self.condition(depth - 1), self.number(depth - 1), self.number(depth - 1));
                format!("CASE WHEN {when} THEN {then} ELSE {other} END")
            }
        }
    }

    fn condition(&mut self, depth: usize) -> String {
        match self.of(if depth == 0 { 4 } else { 15 }) {
            0 => format!("{} {} {}", self.column(), self.one(COMPARISONS), self.column()),
            1 => format!("{} IS NULL", self.column()),
            2 => format!("{} {} {}", self.number(0), self.one(COMPARISONS), self.number(0)),
            3 => format!("{} IN (1, {})", self.number(0), self.number(0)),
            4 => format!("({} AND {})", self.condition(depth - 1), self.condition(depth - 1)),
            5 => format!("({} OR {})", self.condition(depth - 1), self.condition(depth - 1)),
            6 => format!("NOT ({})", self.condition(depth - 1)),
            7 => format!("({}) {}", self.condition(depth - 1), self.one(&["IS NULL", "IS TRUE", "IS NOT TRUE"])),
            8 | 9 => format!("{}EXISTS ({})", self.one(&["", "NOT "]), self.rows(depth - 1, 1)),
            10 | 11 => {
                let value = self.number(depth - 1);
                format!("{value} {}IN ({})", self.one(&["", "NOT "]), self.rows(depth - 1, 1))
            }
            12 => {
                let (a, b) = (self.number(0), self.number(0));
                format!("({a}, {b}) {}IN ({})", self.one(&["", "NOT "]), self.rows(depth - 1, 2))
            }
            13 => self.quantified(depth),
            _ => format!("{} {} {}", self.number(depth - 1), self.one(COMPARISONS), self.number(depth - 1)),
        }
    }

    fn quantified(&mut self, depth: usize) -> String {
        let (value, op, all) = (self.number(0), self.one(COMPARISONS), self.of(2) == 1);
        let members = self.rows(depth - 1, 1);
        let name = self.unique();
        if self.dialect == Dialect::Ours {
            return format!("{value} {op} {} ({members})", if all { "ALL" } else { "ANY" });
        }
        let compared = format!("({value} {op} {name}.c0)");
        let exists = |condition: String| format!("EXISTS (SELECT 1 FROM ({members}) AS {name} WHERE {condition})");
        let (decides, then, otherwise) = if all { ("0", "0", "1") } else { ("1", "1", "0") };
        format!(
            "(CASE WHEN {} THEN {then} WHEN {} THEN NULL ELSE {otherwise} END)",
            exists(format!("{compared} = {decides}")),
            exists(format!("{compared} IS NULL")),
        )
    }

    fn aggregate(&mut self) -> String {
        match self.of(5) {
            0 => "count(*)".to_owned(),
            1 => format!("max({})", self.own_column()),
            2 => format!("count({})", self.own_column()),
            3 => format!("sum({} + {})", self.own_column(), self.column()),
            _ => format!("min({})", self.own_column()),
        }
    }

    /// A query of one column that gives one row at most.
    fn scalar(&mut self, depth: usize) -> String {
        match self.of(5) {
            0 => self.select(depth, |this, _| this.aggregate()),
            1 => {
                let aggregated = self.select(depth, |this, _| this.aggregate());
                let having = format!("{} {} {}", self.one(&["count(*)", "1"]), self.one(COMPARISONS), self.of(3));
                format!("{aggregated} HAVING {having}")
            }
            2 => {
                let (text, (name, columns)) = self.table();
                self.scopes.push(vec![(name.clone(), columns.clone())]);
                let (item, condition) = (self.number(0), self.condition(depth));
                self.scopes.pop();
                let order: Vec<String> =
                    columns.iter().filter(|c| ["k", "n"].contains(c)).map(|c| format!("{name}.{c}")).collect();
                let offset = self.one(&["", " OFFSET 1"]);
                format!(
                    "SELECT {item} AS c0 FROM {text} WHERE {condition} ORDER BY {} LIMIT 1{offset}",
                    order.join(", ")
                )
            }
            3 => {
                let (inner, name) = (self.scalar(depth.saturating_sub(1)), self.unique());
                format!("SELECT {name}.c0 AS c0 FROM ({inner}) AS {name}")
            }
            _ => {
                let (inner, name) = (self.rows(depth.saturating_sub(1), 1), self.unique());
                let aggregate = self.one(&["count(*)", "max", "min"]);
                let item = if aggregate == "count(*)" { aggregate.into() } else { format!("{aggregate}({name}.c0)") };
                format!("SELECT {item} AS c0 FROM ({inner}) AS {name}")
            }
        }
    }

    /// `SELECT item FROM .. WHERE ..`.
    fn select(&mut self, depth: usize, item: impl FnOnce(&mut Self, usize) -> String) -> String {
        let (from, scope) = self.from(depth);
        self.scopes.push(scope);
        let (item, condition) = (item(self, depth), self.condition(depth));
        self.scopes.pop();
        format!("SELECT {item} AS c0 FROM {from} WHERE {condition}")
    }

    fn from(&mut self, depth: usize) -> (String, Vec<Relation>) {
        let (first, relation) = self.table();
        match self.of(if depth == 0 { 1 } else { 5 }) {
            0 | 1 => (first, vec![relation]),
            choice @ (2 | 3) => {
                self.scopes.push(vec![relation.clone()]);
                let (second, other) = self.table();
                self.scopes.pop();
                let scope = vec![relation, other];
                self.scopes.push(scope.clone());
                let condition = self.condition(depth - 1);
                self.scopes.pop();
                let kind = if choice == 2 { "JOIN" } else { "LEFT JOIN" };
                (format!("{first} {kind} {second} ON {condition}"), scope)
            }
            _ => {
                let (inner, name) = (self.rows(depth - 1, 2), self.unique());
                (format!("({inner}) AS {name}"), vec![(name, vec!["c0", "c1"])])
            }
        }
    }

    /// A query of any number of rows.
    fn rows(&mut self, depth: usize, width: usize) -> String {
        let items = |this: &mut Self| {
            let items: Vec<String> = (0..width).map(|i| format!("{} AS c{i}", this.number(0))).collect();
            items.join(", ")
        };
        match self.of(if depth == 0 { 4 } else { 8 }) {
            choice @ (0 | 1) => {
                let (from, scope) = self.from(depth);
                self.scopes.push(scope);
                let (items, condition) = (items(self), self.condition(depth));
                self.scopes.pop();
                let distinct = if choice == 1 { "DISTINCT " } else { "" };
                format!("SELECT {distinct}{items} FROM {from} WHERE {condition}")
            }
            2 => format!("SELECT {}", items(self)),
            3 => {
                let (text, (name, columns)) = self.table();
                self.scopes.push(vec![(name.clone(), columns.clone())]);
                let (items, condition) = (items(self), self.condition(depth));
                self.scopes.pop();
                let order: Vec<String> =
                    columns.iter().filter(|c| ["k", "n"].contains(c)).map(|c| format!("{name}.{c}")).collect();
                let limit = self.one(&["LIMIT 2", "LIMIT 1", "LIMIT 1 OFFSET 1", "LIMIT 0"]);
                format!("SELECT {items} FROM {text} WHERE {condition} ORDER BY {} {limit}", order.join(", "))
            }
            4 => {
                let (from, scope) = self.from(depth);
                self.scopes.push(scope);
                let aggregates: Vec<String> = (0..width).map(|i| format!("{} AS c{i}", self.aggregate())).collect();
                let condition = self.condition(depth);
                self.scopes.pop();
                format!("SELECT {} FROM {from} WHERE {condition}", aggregates.join(", "))
            }
            5 => self.grouped(depth, width),
            6 => {
                let set = self.one(&["UNION ALL", "UNION", "EXCEPT", "INTERSECT"]);
                let arm = |this: &mut Self| {
                    let (from, scope) = this.from(0);
                    this.scopes.push(scope);
                    let computed: Vec<String> = (0..width).map(|i| format!("{} + 0 AS c{i}", this.column())).collect();
                    let (items, condition) = (computed.join(", "), this.condition(depth));
                    this.scopes.pop();
                    format!("SELECT {items} FROM {from} WHERE {condition}")
                };
                let (first, second) = (arm(self), arm(self));
                format!("{first} {set} {second}")
            }
            _ => {
                let (inner, name) = (self.rows(depth - 1, 2), self.unique());
                self.scopes.push(vec![(name.clone(), vec!["c0", "c1"])]);
                let (items, condition) = (items(self), self.condition(depth - 1));
                self.scopes.pop();
                format!("SELECT {items} FROM ({inner}) AS {name} WHERE {condition}")
            }
        }
    }

    /// Groups: behind them only the column that they are made by is in sight.
    fn grouped(&mut self, depth: usize, width: usize) -> String {
        let (text, (name, columns)) = self.table();
        self.scopes.push(vec![(name.clone(), columns.clone())]);
        let condition = self.condition(depth.saturating_sub(1));
        let aggregates: Vec<String> = (0..width).map(|_| self.aggregate()).collect();
        let counted = self.aggregate();
        self.scopes.pop();
        let group = self.one(&["a", "b", "k"]);
        self.scopes.push(vec![(name.clone(), vec![group])]);
        let items: Vec<String> = aggregates
            .into_iter()
            .enumerate()
            .map(|(i, aggregate)| match self.of(3) {
                0 => format!("{aggregate} AS c{i}"),
                1 => format!("{name}.{group} AS c{i}"),
                _ => format!("{} AS c{i}", self.number(depth.saturating_sub(1))),
            })
            .collect();
        let having = match self.of(3) {
            0 => String::new(),
            1 => format!(" HAVING {counted} > {}", self.of(3)),
            _ => format!(" HAVING {}", self.condition(depth.saturating_sub(1))),
        };
        self.scopes.pop();
        format!("SELECT {} FROM {text} WHERE {condition} GROUP BY {name}.{group}{having}", items.join(", "))
    }

    /// A query that names nothing around it.
    fn query(&mut self) -> String {
        match self.of(4) {
            0 => {
                let (from, scope) = self.from(2);
                self.scopes.push(scope);
                let (key, condition) = (self.own_column(), self.condition(3));
                self.scopes.pop();
                format!("SELECT {key} AS c0 FROM {from} WHERE {condition}")
            }
            1 => {
                let (from, scope) = self.from(1);
                self.scopes.push(scope);
                let (key, value, condition) = (self.own_column(), self.number(3), self.condition(1));
                self.scopes.pop();
                format!("SELECT {key} AS c0, {value} AS c1 FROM {from} WHERE {condition}")
            }
            2 => {
                let (from, scope) = self.from(1);
                self.scopes.push(scope);
                let (key, value) = (self.own_column(), self.condition(3));
                self.scopes.pop();
                format!("SELECT {key} AS c0, ({value}) AS c1 FROM {from} WHERE 1 = 1")
            }
            _ => self.grouped(3, 2),
        }
    }

    /// A lateral join, and what SQLite has for it. The key tells the rows of `t` apart.
    fn lateral(&mut self) -> (String, String) {
        self.scopes = vec![vec![("t".into(), vec!["k", "a", "b"])], vec![("y".into(), vec!["k", "n", "a", "b"])]];
        let (item, condition, left) = (self.number(1), self.condition(1), self.of(2) == 1);
        let (kind, outer_join) = if left { ("LEFT JOIN", "LEFT JOIN") } else { ("JOIN", "JOIN") };
        let ours = |inner: String| format!("SELECT t.k, m.c FROM t {kind} LATERAL ({inner}) AS m ON TRUE");
        match self.of(4) {
            0 => (
                ours(format!("SELECT {item} AS c FROM u AS y WHERE {condition}")),
                format!(
                    "SELECT t.k, CASE WHEN y.k IS NOT NULL THEN {item} END FROM t {outer_join} u AS y ON {condition}"
                ),
            ),
            1 => (
                ours(format!("SELECT DISTINCT {item} AS c FROM u AS y WHERE {condition}")),
                format!(
                    "SELECT DISTINCT t.k, CASE WHEN y.k IS NOT NULL THEN {item} END FROM t {outer_join} u AS y ON {condition}"
                ),
            ),
            2 => {
                let aggregate = self.aggregate();
                (
                    ours(format!("SELECT {aggregate} AS c FROM u AS y WHERE {condition}")),
                    format!("SELECT t.k, (SELECT {aggregate} FROM u AS y WHERE {condition}) FROM t"),
                )
            }
            _ => {
                let rows = 1 + self.of(3);
                (
                    ours(format!(
                        "SELECT {item} AS c FROM u AS y WHERE {condition} ORDER BY y.k DESC, y.n LIMIT {rows}"
                    )),
                    format!(
                        "SELECT q.k, q.c FROM (SELECT t.k, CASE WHEN y.k IS NOT NULL THEN {item} END AS c, \
                         row_number() OVER (PARTITION BY t.k ORDER BY y.k DESC, y.n) AS r \
                         FROM t {outer_join} u AS y ON {condition}) AS q WHERE q.r <= {rows}"
                    ),
                )
            }
        }
    }
}

/// Both texts of the query that these bytes make.
fn texts_of(bytes: &[u8]) -> (String, String) {
    let is_lateral = bytes.first().is_some_and(|byte| byte % 8 == 7);
    let bytes = bytes.get(1..).unwrap_or_default();
    let text = |dialect| {
        let mut choices = Choices::new(bytes, dialect);
        if is_lateral {
            choices.lateral()
        } else {
            let text = choices.query();
            (text.clone(), text)
        }
    };
    (text(Dialect::Ours).0, text(Dialect::Sqlite).1)
}

/// What the engine refuses of these queries, by the text of the error.
const REFUSED: [&str; 2] = [
    // A subquery in an outer join's ON that names columns of both sides, and the like in a lateral table.
    "a correlated subquery of this form",
    // A column of an outer query that is not grouped, behind the outer query's GROUP BY.
    "a subquery that names",
];

/// Of so many queries one may be refused.
const QUERIES_A_REFUSAL: usize = 50;

/// How many queries ran, and how many of them were refused.
#[derive(Default)]
struct Counts {
    queries: Cell<usize>,
    refused: Cell<usize>,
}

type Rows = (BTreeMap<i64, Values>, BTreeMap<(i64, i64), Values>);

/// Runs the queries on both engines, over the same rows.
fn compared((t, u): &Rows, queries: &[Vec<u8>], counts: &Counts) -> Result<(), TestCaseError> {
    let ours = Database::memory().unwrap().connect().blocking();
    let sqlite = rusqlite::Connection::open_in_memory().unwrap();
    ours.execute("SET full_scan = 'allow'", ()).unwrap();
    for table in [
        "t (k INTEGER NOT NULL, a INTEGER, b INTEGER, CONSTRAINT pk PRIMARY KEY (k))",
        "u (k INTEGER NOT NULL, n INTEGER NOT NULL, a INTEGER, b INTEGER, CONSTRAINT pk PRIMARY KEY (k, n))",
    ] {
        ours.execute(&format!("CREATE TABLE {table}"), ()).unwrap();
        sqlite.execute(&format!("CREATE TABLE {table}"), ()).unwrap();
    }
    for insert in inserts(t, u) {
        ours.execute(&insert, ()).unwrap();
        sqlite.execute(&insert, ()).unwrap();
    }
    for bytes in queries {
        let (sql, as_sqlite_says) = texts_of(bytes);
        counts.queries.set(counts.queries.get() + 1);
        let mut found = match texts(&ours, &sql) {
            Ok(found) => found,
            Err(error) => {
                prop_assert_eq!(error.code(), ErrorCode::NotSupported, "{}: {}", sql, error);
                let known = REFUSED.iter().any(|text| error.to_string().contains(text));
                prop_assert!(known, "{}: {}", sql, error);
                counts.refused.set(counts.refused.get() + 1);
                continue;
            }
        };
        let mut expected = sqlite_rows(&sqlite, &as_sqlite_says);
        found.iter_mut().for_each(|row| *row = row.replace("true", "1").replace("false", "0"));
        found.sort();
        expected.sort();
        prop_assert_eq!(found, expected, "{}\n{}", sql, as_sqlite_says);
    }
    Ok(())
}

#[test]
fn random_subqueries_give_sqlites_rows() {
    let (counts, cases) = (Counts::default(), ProptestConfig::default().cases.div_ceil(8));
    let config = ProptestConfig { cases, source_file: Some(file!()), ..ProptestConfig::default() };
    let mut runner = TestRunner::new(config);
    let rows = (btree_map(0..6_i64, values(), 0..6), btree_map((0..6_i64, 0..4_i64), values(), 0..10));
    let queries = vec(vec(any::<u8>(), 0..120), 1..12);
    let ran = runner.run(&(rows, queries), |(rows, queries)| compared(&rows, &queries, &counts));
    ran.unwrap_or_else(|error| panic!("{error}"));
    let (queries, refused) = (counts.queries.get(), counts.refused.get());
    println!("{queries} queries, {refused} refused");
    assert!(refused <= queries.div_ceil(QUERIES_A_REFUSAL) + 4, "{refused} of {queries} queries refused");
}
