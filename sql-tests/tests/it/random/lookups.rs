//! Joins and subqueries give the same rows if one side is looked up by its key or an index, and if nothing can be looked up.
//!
//! `t` and `y` have keys and indexes, `tu` and `yu` have the same rows and neither. A condition bounds the rows of one table, and one to
//! three equalities, with further conditions, connect it to the other one: whatever an equality may bound, all of them decide.

use saltwing::StoreKind::Memory;
use saltwing::blocking::Connection;
use saltwing::{Database, Value};
use sql_tests::has_relational_engine;

use super::answer::{Answer, answer_with, sorted};
use super::tables::{Random, random, rounds};

/// Types whose values compare with one another, and literals that all of them take.
struct Family {
    types: &'static [&'static str],
    literals: &'static [&'static str],
    /// Of a column `{}`: what is equal to values of the family.
    expressions: &'static [&'static str],
}

const FAMILIES: [Family; 5] = [
    Family {
        types: &["INTEGER", "INTEGER", "BIGINT", "SMALLINT", "UNSIGNED_INT", "DECIMAL", "DECIMAL(6,2)"],
        literals: &["0", "1", "2", "3"],
        expressions: &[
            "{} + 1",
            "CAST({} AS INTEGER)",
            "CAST({} AS BIGINT)",
            "CAST({} AS DECIMAL(3,0))",
            "COALESCE({}, 1)",
        ],
    },
    Family {
        types: &["DECIMAL", "DECIMAL(6,2)", "DOUBLE", "INTEGER"],
        literals: &["0", "1", "0.5", "1.5", "-0.5"],
        expressions: &["CAST({} AS INTEGER)", "CAST({} AS DOUBLE)", "CAST({} AS DECIMAL(4,1))", "-({})"],
    },
    Family {
        types: &["VARCHAR", "VARCHAR", "VARCHAR(3)", "CHAR(3)"],
        literals: &["'a'", "'b'", "'ab'", "'A'"],
        expressions: &["UPPER({})", "CAST({} AS VARCHAR)", "{} || ''", "SUBSTR({}, 1, 1)", "CAST({} AS CHAR(4))"],
    },
    Family {
        types: &["DATE", "TIMESTAMP", "TIMESTAMP", "UNSIGNED_TIMESTAMP"],
        literals: &["'1970-01-02'", "'1970-01-02 00:00:00.001'", "'1970-01-02 00:00:00.000000001'", "'2024-02-29'"],
        expressions: &["CAST({} AS DATE)", "CAST({} AS TIMESTAMP)", "DATE_TRUNC('day', {})"],
    },
    Family {
        types: &["DOUBLE", "DOUBLE", "FLOAT"],
        literals: &["0.0", "-0.0", "0.5", "'NaN'", "1.5"],
        expressions: &["{} + 0", "-({})", "CAST({} AS DOUBLE)", "ABS({})"],
    },
];

#[derive(Clone)]
struct Column {
    name: String,
    family: usize,
    ty: &'static str,
}

impl Column {
    fn new(r: &mut Random, name: String, family: usize) -> Self {
        Self { name, family, ty: r.of::<&str>(FAMILIES[family].types) }
    }

    fn literal(&self, r: &mut Random) -> &'static str {
        r.of::<&str>(FAMILIES[self.family].literals)
    }

    /// The column of a table, or sometimes an expression over it.
    fn of(&self, r: &mut Random, table: &str) -> String {
        let column = format!("{table}.{}", self.name);
        match r.one_in(6) {
            true => r.of::<&str>(FAMILIES[self.family].expressions).replace("{}", &column),
            false => column,
        }
    }
}

fn list<T>(items: &[T], text: impl FnMut(&T) -> String) -> String {
    items.iter().map(text).collect::<Vec<_>>().join(", ")
}

/// The tables.
struct Tables {
    c: Connection,
    /// Those of `t`, beside `id` and `n`: first the ones of its key.
    own: Vec<Column>,
    /// Those of `y`, beside the key `(v, k)`.
    other: Vec<Column>,
    /// The names of columns that begin a key or an index of `t`.
    leading: Vec<String>,
    told: String,
}

impl Tables {
    fn new(r: &mut Random) -> Self {
        let builder = Database::memory_builder().store(Memory).full_scan("allow").unwrap();
        let c = builder.buffered().open().unwrap().connect().blocking();
        let families: Vec<usize> = (0..1 + r.below(3)).map(|_| r.below(FAMILIES.len())).collect();
        let mut columns = |prefix: &str, count: usize| -> Vec<Column> {
            (0..count)
                .map(|i| {
                    let family = *r.of(&families);
                    Column::new(r, format!("{prefix}{i}"), family)
                })
                .collect()
        };
        let (own, mut other) = (columns("a", 4), columns("c", 3));
        // At least one pair compares.
        other[0] = Column::new(r, "c0".into(), own[0].family);
        let mut tables = Self { c, own, other, leading: Vec::new(), told: String::new() };
        tables.create(r);
        tables.fill(r);
        tables
    }

    fn run(&mut self, sql: &str) {
        self.c.execute(sql, ()).unwrap_or_else(|error| panic!("{}\n{sql}: {error}", self.told));
        self.told.push_str(&format!("{sql};\n"));
    }

    fn create(&mut self, r: &mut Random) {
        let in_key = 1 + r.below(3);
        let mut key: Vec<String> = self.own[..in_key].iter().map(|column| column.name.clone()).collect();
        self.leading.push(key[0].clone());
        key.push("id".into());
        let salt = *r.of(&["", "SALT_BUCKETS = 3, ", "SALT_BUCKETS = 0, "]);
        let nullable = |column: &Column, place: usize| match column.ty {
            "VARCHAR" | "VARCHAR(3)" | "DECIMAL" | "DECIMAL(6,2)" => "",
            _ if place < in_key => " NOT NULL",
            _ => "",
        };
        let columns: Vec<String> =
            self.own.iter().enumerate().map(|(i, c)| format!("{} {}{}", c.name, c.ty, nullable(c, i))).collect();
        let parts = list(&key, |part| format!("{part}{}", if r.one_in(4) { " DESC" } else { "" }));
        let own = list(&self.own, |column| format!("{} {}", column.name, column.ty));
        let other = list(&self.other, |column| format!("{} {}", column.name, column.ty));
        let columns = columns.join(", ");
        self.run(&format!(
            "CREATE TABLE t ({columns}, id INTEGER NOT NULL, n INTEGER, CONSTRAINT pk PRIMARY KEY ({parts})) {salt}BLOCK_ROWS = 4"
        ));
        self.run(&format!("CREATE TABLE tu ({own}, id INTEGER, n INTEGER)"));
        self.run(&format!(
            "CREATE TABLE y (v INTEGER NOT NULL, k INTEGER NOT NULL, {other}, CONSTRAINT pk PRIMARY KEY (v, k)) {salt}BLOCK_ROWS = 4"
        ));
        self.run(&format!("CREATE TABLE yu (v INTEGER, k INTEGER, {other})"));
        for number in 0..r.below(3) {
            let columns: Vec<String> = (0..1 + r.below(2)).map(|_| r.of(&self.own).name.clone()).collect();
            let sql = format!("CREATE INDEX i{number} ON t ({})", columns.join(", "));
            // Not each list of columns makes a key.
            if self.c.execute(&sql, ()).is_ok() {
                self.told.push_str(&format!("{sql};\n"));
                self.leading.push(columns[0].clone());
            }
        }
    }

    /// Some rows; sometimes more than are looked up together.
    fn fill(&mut self, r: &mut Random) {
        for id in 0..40 {
            let row = |r: &mut Random, columns: &[Column], nulls: usize| -> String {
                let value = |(i, column): (usize, &Column)| match i >= nulls && r.one_in(6) {
                    true => "NULL",
                    false => column.literal(r),
                };
                columns.iter().enumerate().map(value).collect::<Vec<_>>().join(", ")
            };
            let (own, other) = (row(r, &self.own, 3), row(r, &self.other, 0));
            let sql = format!("UPSERT INTO t VALUES ({own}, {id}, 0)");
            // A value may be none of its column's type.
            if self.c.execute(&sql, ()).is_ok() {
                self.told.push_str(&format!("{sql};\n"));
            }
            let sql = format!("UPSERT INTO y VALUES ({}, {id}, {other})", id % 3);
            if self.c.execute(&sql, ()).is_ok() {
                self.told.push_str(&format!("{sql};\n"));
            }
        }
        if r.one_in(8) {
            // The first rows look like one another, so that others come in a later group.
            let columns = list(&self.other, |column| column.name.clone());
            let times = "(SELECT a.k * 40 + b.k AS n FROM y a CROSS JOIN y b) s";
            self.run(&format!(
                "UPSERT INTO y SELECT 0, 100 - s.n, {columns} FROM y CROSS JOIN {times} WHERE y.v = 0 AND y.k = 0"
            ));
        }
        if r.one_in(2) {
            self.run("COMPACT t, y");
        }
        self.run("INSERT INTO tu SELECT * FROM t");
        self.run("INSERT INTO yu SELECT * FROM y");
    }

    /// A column of `t` and one of `y` that compare.
    fn pair(&self, r: &mut Random) -> (&Column, &Column) {
        loop {
            let own = r.of(&self.own);
            let own = match r.one_in(2) {
                true => self.own.iter().find(|column| *r.of(&self.leading) == column.name).unwrap_or(own),
                false => own,
            };
            let others: Vec<&Column> = self.other.iter().filter(|column| column.family == own.family).collect();
            if !others.is_empty() {
                return (own, others[r.below(others.len())]);
            }
        }
    }

    fn equality(&self, r: &mut Random) -> String {
        let (own, other) = self.pair(r);
        format!("{} = {}", own.of(r, "x"), other.of(r, "y"))
    }

    /// What connects a row of `t`, x, and one of `y`.
    fn connection(&self, r: &mut Random) -> String {
        let mut all: Vec<String> = (0..1 + r.below(3)).map(|_| self.equality(r)).collect();
        if r.one_in(3) {
            let (own, other) = self.pair(r);
            let (own, other) = (own.of(r, "x"), other.of(r, "y"));
            all.push(match r.below(6) {
                0 => format!("{own} <= {other}"),
                1 => format!("{own} <> {other}"),
                2 => format!("{own} IS NOT DISTINCT FROM {other}"),
                3 => format!("({own} = {other} OR x.id = y.k)"),
                4 => format!("{own} IS NOT NULL"),
                _ => format!("{other} IS NOT NULL"),
            });
        }
        all.join(" AND ")
    }

    /// A condition over x whose rows are in `y`; `?` is the value of `y.v`.
    fn member(&self, r: &mut Random) -> String {
        let not = if r.one_in(4) { "NOT " } else { "" };
        match r.below(4) {
            0 => {
                let pairs: Vec<_> = (0..2 + r.below(2)).map(|_| self.pair(r)).collect();
                let (own, other) = (
                    list(&pairs, |pair| format!("x.{}", pair.0.name)),
                    list(&pairs, |pair| format!("y.{}", pair.1.name)),
                );
                format!("({own}) {not}IN (SELECT {other} FROM {{y}} y WHERE y.v = ?)")
            }
            1 => {
                let (own, other) = self.pair(r);
                let (own, other) = (own.of(r, "x"), other.of(r, "y"));
                format!("{own} {not}IN (SELECT {other} FROM {{y}} y WHERE y.v = ? AND {})", self.connection(r))
            }
            _ => format!("{not}EXISTS (SELECT 1 FROM {{y}} y WHERE {} AND y.v = ?)", self.connection(r)),
        }
    }

    /// A query over the tables `{t}` and `{y}`.
    fn query(&self, r: &mut Random) -> String {
        let on = self.connection(r);
        let (own, other) = self.pair(r);
        let (own, other) = (&own.name, &other.name);
        let second = &r.of(&self.own).name;
        match r.below(12) {
            0..=2 => format!("SELECT * FROM {{t}} x WHERE {}", self.member(r)),
            3 => format!("SELECT DISTINCT x.id, x.{second} FROM {{t}} x JOIN {{y}} y ON {on} WHERE y.v = ?"),
            4 => format!("SELECT x.*, y.* FROM {{y}} y {}JOIN {{t}} x ON {on} WHERE y.v = ?", r.of(&["", "LEFT "])),
            5 => format!("SELECT y.*, EXISTS (SELECT 1 FROM {{t}} x WHERE {on}) AS e FROM {{y}} y WHERE y.v = ?"),
            6 => {
                let not = r.of(&["", "NOT "]);
                format!("SELECT y.* FROM {{y}} y WHERE y.v = ? AND {not}EXISTS (SELECT 1 FROM {{t}} x WHERE {on})")
            }
            7 => format!(
                "SELECT y.*, g.n, g.m FROM {{y}} y {}JOIN (SELECT {own}, {second} AS s, count(*) AS n, min(id) AS m FROM {{t}} \
                 GROUP BY {own}, {second}) g ON g.{own} = y.{other} AND {} WHERE y.v = ?",
                r.of(&["", "LEFT "]),
                r.of(&["g.n = y.k", "g.m <= y.k", "TRUE"]),
            ),
            8 => format!(
                "SELECT * FROM (SELECT {own}, count(*) AS n FROM {{t}} GROUP BY {own}) g WHERE EXISTS (SELECT 1 FROM {{y}} y \
                 WHERE y.v = ? AND g.{own} = y.{other} AND g.n = y.k)"
            ),
            9 => format!(
                "SELECT y.*, (SELECT {}(x.id) FROM {{t}} x WHERE {on}) AS s FROM {{y}} y WHERE y.v = ?",
                r.of(&["count", "max"])
            ),
            10 => {
                format!("SELECT x.id, count(*), min(y.k) FROM {{y}} y JOIN {{t}} x ON {on} WHERE y.v = ? GROUP BY x.id")
            }
            _ => format!(
                "SELECT DISTINCT z.id FROM {{y}} y JOIN {{t}} x ON {on} JOIN {{t}} z ON z.{own} = x.{own} AND z.{second} = x.{second} WHERE y.v = ?"
            ),
        }
    }

    /// A statement that changes rows of `{t}`.
    fn change(&self, r: &mut Random) -> String {
        match r.below(4) {
            0 => format!("UPDATE {{t}} x SET n = n + 1 FROM {{y}} y WHERE {} AND y.v = ?", self.connection(r)),
            1 => format!("DELETE FROM {{t}} x USING {{y}} y WHERE {} AND y.v = ?", self.connection(r)),
            2 => format!("UPDATE {{t}} x SET n = n + 1 WHERE {}", self.member(r)),
            _ => format!("DELETE FROM {{t}} x WHERE {}", self.member(r)),
        }
    }

    fn on(&self, sql: &str, (t, y): (&str, &str)) -> String {
        sql.replace("{t}", t).replace("{y}", y)
    }

    /// Whether a statement looks rows up; each run of one gives the same.
    fn holds(&self, r: &mut Random, sql: &str) -> Option<bool> {
        let v = i64::try_from(r.below(4)).unwrap();
        let literal = sql.replace('?', &v.to_string());
        let expected = sorted(answer_with(&self.c, &self.on(&literal, ("tu", "yu")), Vec::new()));
        for (sql, values) in [(&literal, Vec::new()), (&sql.to_owned(), vec![Value::Int(v)])] {
            // The second run has a plan.
            for _ in 0..2 {
                let found = sorted(answer_with(&self.c, &self.on(sql, ("t", "y")), values.clone()));
                assert_eq!(found, expected, "{}{sql}\n{values:?}", self.told);
            }
        }
        let is_telling = expected.is_ok_and(|(_, rows)| !rows.is_empty());
        is_telling.then(|| self.looks_up(&self.on(&literal, ("t", "y"))))
    }

    fn looks_up(&self, sql: &str) -> bool {
        format!("{:?}", answer_with(&self.c, &format!("EXPLAIN {sql}"), Vec::new())).contains("LookupJoin")
    }

    /// The same rows change, and are the same afterwards.
    fn changes(&self, r: &mut Random, sql: &str) -> Option<bool> {
        let literal = sql.replace('?', &r.below(3).to_string());
        let keyed = self.on(&literal, ("t", "y"));
        let looks_up = self.looks_up(&keyed);
        let count =
            |sql: &str| self.c.execute(sql, ()).map(|done| done.rows_affected).map_err(|e| e.code().to_string());
        let rows =
            |table: &str| -> Answer { sorted(answer_with(&self.c, &format!("SELECT * FROM {table}"), Vec::new())) };
        let changed = |sql: &str, table: &str| {
            count("BEGIN").unwrap();
            let changed = count(sql).map(|count| (count, rows(table).map(|answer| answer.1)));
            count("ROLLBACK").unwrap();
            changed
        };
        let (found, expected) = (changed(&keyed, "t"), changed(&self.on(&literal, ("tu", "yu")), "tu"));
        assert_eq!(found, expected, "{}{literal}", self.told);
        expected.is_ok_and(|(count, _)| count > 0).then_some(looks_up)
    }
}

#[test]
fn rows_are_the_same_with_lookups_and_without() {
    if !has_relational_engine().unwrap() {
        println!("skipped: there is one executor in this build");
        return;
    }
    let mut r = random(11);
    let rounds = rounds(20);
    let (mut telling, mut by_lookup, mut changing) = (0, 0, 0);
    for _ in 0..rounds {
        let tables = Tables::new(&mut r);
        for i in 0..12 {
            let looked_up = match i % 4 {
                3 => {
                    let sql = tables.change(&mut r);
                    let looked_up = tables.changes(&mut r, &sql);
                    changing += u64::from(looked_up == Some(true));
                    looked_up
                }
                _ => {
                    let sql = tables.query(&mut r);
                    tables.holds(&mut r, &sql)
                }
            };
            telling += u64::from(looked_up.is_some());
            by_lookup += u64::from(looked_up == Some(true));
        }
    }
    println!(
        "{telling} statements over {rounds} tables gave or changed rows, {by_lookup} by lookups, {changing} of these change rows"
    );
    assert!(by_lookup > rounds && changing > rounds / 4, "the statements tell too little: {by_lookup}, {changing}");
}
