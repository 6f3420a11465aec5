//! Statements give the same rows with indexes and without, and change the same rows.
//!
//! The indexes are random, too: global or local, salted or not, partial, of expressions, with included columns. The rows of a
//! table without key and indexes are what is expected; the test sorts them itself.

use std::cell::Cell;
use std::cmp::Ordering;

use saltwing::StoreKind::Memory;
use saltwing::blocking::Connection;
use saltwing::{Database, Value};
use sql_tests::has_relational_engine;

use super::conditions::condition;
use super::tables::{Column, Random, filled_with, random, rounds, value_columns};

type Rows = Result<Vec<Vec<Value>>, String>;

fn rows(c: &Connection, sql: &str) -> Rows {
    rows_of(c, sql, Vec::new())
}

fn rows_of(c: &Connection, sql: &str, values: Vec<Value>) -> Rows {
    let error = |e: saltwing::Error| code(c, &e);
    c.query(sql, values).map_err(error)?.map(|row| row.and_then(|row| row.values()).map_err(error)).collect()
}

/// The code of an error. Inside a transaction its statement is undone.
fn code(c: &Connection, error: &saltwing::Error) -> String {
    let _ = c.execute("ROLLBACK TO s", ());
    error.code().to_string()
}

fn sorted(rows: Rows) -> Rows {
    rows.map(|mut rows| {
        rows.sort_by_cached_key(|row| format!("{row:?}"));
        rows
    })
}

/// The statement with parameters for the values that it compares with, if they are whole numbers or texts; and these values.
fn with_parameters(sql: &str) -> (String, Vec<Value>) {
    let (mut text, mut values, mut rest) = (String::new(), Vec::new(), sql);
    while let Some(next) = rest.chars().next() {
        let is_compared = OPERATORS.iter().any(|operator| text.ends_with(operator));
        match literal(rest).filter(|_| is_compared) {
            Some((value, length)) => {
                text.push('?');
                values.push(value);
                rest = &rest[length..];
            }
            None => {
                text.push(next);
                rest = &rest[next.len_utf8()..];
            }
        }
    }
    (text, values)
}

/// Behind these stands a value.
const OPERATORS: [&str; 6] = [" = ", " < ", " <= ", " > ", " >= ", " BETWEEN "];

/// The whole number or the text with which this begins, and the length of its literal.
fn literal(sql: &str) -> Option<(Value, usize)> {
    match sql.strip_prefix('\'') {
        Some(text) => {
            let length = text.find('\'')?;
            Some((Value::text(&text[..length]), length + 2))
        }
        None => {
            let length = sql.find([' ', ')', ',']).unwrap_or(sql.len());
            Some((Value::Int(sql[..length].parse().ok()?), length))
        }
    }
}

/// A part of an index, and of an ORDER BY.
#[derive(Clone)]
struct Part {
    text: String,
    descending: bool,
}

impl Part {
    fn new(r: &mut Random, columns: &[Column]) -> Self {
        let text = match r.below(12) {
            0 => "UPPER(w)".to_owned(),
            1 => "id % 5".to_owned(),
            2 => "SUBSTR(w, 1, 1)".to_owned(),
            3 => "w".to_owned(),
            4 => "id".to_owned(),
            _ => r.of(columns).name.clone(),
        };
        Self { text, descending: r.one_in(2) }
    }

    /// Some different parts.
    fn several(r: &mut Random, columns: &[Column], most: usize) -> Vec<Self> {
        let mut parts: Vec<Self> = Vec::new();
        for _ in 0..1 + r.below(most) {
            let part = Self::new(r, columns);
            if parts.iter().all(|other| other.text != part.text) {
                parts.push(part);
            }
        }
        parts
    }
}

fn is_column(part: &str) -> bool {
    part.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn list<T>(items: &[T], text: impl Fn(&T) -> String) -> String {
    items.iter().map(text).collect::<Vec<_>>().join(", ")
}

/// Creates an index, unless its parts or the rows do not allow it; its parts.
fn create_index(r: &mut Random, c: &Connection, columns: &[Column], number: usize) -> Option<(String, Vec<Part>)> {
    let parts = Part::several(r, columns, 3);
    let written = list(&parts, |part| format!("{}{}", part.text, if part.descending { " DESC" } else { "" }));
    let kind = if r.one_in(4) { "LOCAL " } else { "" };
    let mut sql = format!("CREATE {kind}INDEX i{number} ON t ({written})");
    if r.one_in(3) {
        sql.push_str(&format!(" INCLUDE ({})", if r.one_in(2) { "w" } else { "id" }));
    }
    if r.one_in(5) {
        let predicate = match r.below(3) {
            0 => "w IS NOT NULL".to_owned(),
            1 => "w = 'p'".to_owned(),
            _ => condition(r, columns, 0),
        };
        sql.push_str(&format!(" WHERE {predicate}"));
    }
    if kind.is_empty() {
        match r.below(4) {
            0 => sql.push_str(" SALT_BUCKETS = 3"),
            1 => sql.push_str(" SALT_BUCKETS = 0"),
            2 => sql.push_str(&format!(" SALT_BUCKETS = 4 SALT_BY = ({})", parts[0].text)),
            _ => {}
        }
    }
    match c.execute(&sql, ()) {
        Ok(_) => Some((sql, parts)),
        Err(error) => {
            let code = error.code().to_string();
            let expected = ["invalid_definition", "not_supported", "bad_key", "no_such_column", "out_of_range"];
            assert!(expected.contains(&code.as_str()), "{sql}: {error} ({code})");
            None
        }
    }
}

/// A table with indexes.
struct Indexed {
    c: Connection,
    columns: Vec<Column>,
    indexes: Vec<Vec<Part>>,
    /// The statements that made the table as it is. A failed assertion prints them.
    told: String,
    is_relational: bool,
    /// Whether a transaction is open.
    is_open: bool,
    counts: Cell<Counts>,
}

/// What the statements tell.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    /// Statements that gave rows.
    telling: u64,
    /// Those of them that read an index.
    by_index: u64,
    /// Statements that had parameters, too.
    prepared: u64,
}

impl Indexed {
    fn new(r: &mut Random, database: &Database, is_relational: bool) -> Self {
        let c = database.connect().blocking();
        let values = value_columns(r);
        let early = r.one_in(2);
        let (mut indexes, mut told) = (Vec::new(), String::new());
        let (key, keyed) = filled_with(r, &c, &values, |r, key| {
            if early {
                let columns = [key, &values[..]].concat();
                Self::create_indexes(r, &c, &columns, (&mut indexes, &mut told));
            }
        });
        let columns = [key, values].concat();
        if !early {
            Self::create_indexes(r, &c, &columns, (&mut indexes, &mut told));
        }
        Self {
            c,
            columns,
            indexes,
            told: format!("{keyed}\n{told}"),
            is_relational,
            is_open: false,
            counts: Cell::default(),
        }
    }

    fn create_indexes(r: &mut Random, c: &Connection, columns: &[Column], to: (&mut Vec<Vec<Part>>, &mut String)) {
        for number in 0..1 + r.below(4) {
            if let Some((sql, parts)) = create_index(r, c, columns, number) {
                to.0.push(parts);
                to.1.push_str(&format!("{sql}\n"));
            }
        }
    }

    /// A condition, often one that an index bounds.
    fn condition(&self, r: &mut Random) -> String {
        let depth = r.below(3);
        let any = condition(r, &self.columns, depth);
        let Some(parts) = (!self.indexes.is_empty()).then(|| r.of(&self.indexes)) else { return any };
        let mut all = Vec::new();
        for part in &parts[..r.below(parts.len() + 1)] {
            let column = self.columns.iter().find(|column| column.name == part.text);
            all.push(match (column, part.text.as_str()) {
                (Some(column), _) => match r.below(4) {
                    0 => condition(r, std::slice::from_ref(column), 1),
                    1 => format!("{} IS NULL", part.text),
                    _ => format!("{} = {}", part.text, column.literal(r)),
                },
                (None, "w") => format!("w {} '{}'", r.of(&["=", ">=", "<"]), r.of(&["p", "q", ""])),
                (None, "id") => format!("id {} {}", r.of(&["=", ">=", "<"]), r.below(80)),
                (None, "id % 5") => format!("id % 5 {} {}", r.of(&["=", ">=", "<"]), r.below(5)),
                (None, text) => format!("{text} {} '{}'", r.of(&["=", ">=", "<"]), r.of(&["P", "p", "q"])),
            });
        }
        if all.is_empty() || r.one_in(2) {
            all.push(any);
        }
        all.join(if r.one_in(6) { " OR " } else { " AND " })
    }

    /// Holds rows of `t` to those of `u`, by literals and by parameters. Each statement runs twice: the second run has a plan.
    fn holds(&self, sql: &str, expected: &Rows, is_ordered: bool) {
        let with_parameters = with_parameters(sql);
        let is_prepared = !with_parameters.1.is_empty();
        for (sql, values) in [(sql.to_owned(), Vec::new()), with_parameters] {
            for _ in 0..2 {
                let found = rows_of(&self.c, &sql, values.clone());
                if !self.is_relational && found.as_ref().is_err_and(|code| code == "not_supported") {
                    return;
                }
                let found = if is_ordered { found } else { sorted(found) };
                assert_eq!(&found, expected, "{}{sql}\n{values:?}", self.told);
            }
        }
        let is_telling = expected.as_ref().is_ok_and(|rows| !rows.is_empty());
        let is_by_index = || format!("{:?}", rows(&self.c, &format!("EXPLAIN {sql}"))).contains(" of t, index i");
        let counts = self.counts.get();
        self.counts.set(Counts {
            telling: counts.telling + u64::from(is_telling),
            by_index: counts.by_index + u64::from(is_telling && is_by_index()),
            prepared: counts.prepared + u64::from(is_prepared),
        });
    }

    fn select(&self, r: &mut Random) {
        let condition = self.condition(r);
        let items = match r.below(3) {
            0 => "id".to_owned(),
            1 => "*".to_owned(),
            _ => list(&Part::several(r, &self.columns, 3), |part| part.text.clone()),
        };
        let expected = sorted(rows(&self.c, &format!("SELECT {items} FROM u WHERE {condition}")));
        self.holds(&format!("SELECT {items} FROM t WHERE {condition}"), &expected, false);
    }

    fn ordered(&self, r: &mut Random) {
        let condition = self.condition(r);
        let mut parts = match self.indexes.is_empty() || r.one_in(4) {
            true => Part::several(r, &self.columns, 3),
            false => {
                let parts = r.of(&self.indexes);
                let start = r.below(parts.len());
                parts[start..start + 1 + r.below(parts.len() - start)].to_vec()
            }
        };
        if r.one_in(3) {
            parts.iter_mut().for_each(|part| part.descending = !part.descending);
        }
        // NULLs on one side for all, as an index has them, or on any side.
        let side = r.below(3);
        let nulls: Vec<bool> =
            parts.iter().map(|part| if side == 2 { r.one_in(2) } else { part.descending == (side == 0) }).collect();
        let order: Vec<String> = parts
            .iter()
            .zip(&nulls)
            .map(|(part, first)| {
                let (direction, nulls) =
                    (if part.descending { "DESC" } else { "ASC" }, if *first { "FIRST" } else { "LAST" });
                format!("{} {direction} NULLS {nulls}", part.text)
            })
            .collect();
        let items = list(&parts, |part| part.text.clone());
        let (limit, offset) = (r.below(8), r.below(4));
        let (end, keeps) = match r.below(3) {
            0 => (String::new(), (usize::MAX, 0)),
            1 => (format!(" LIMIT {limit}"), (limit, 0)),
            _ => (format!(" LIMIT {limit} OFFSET {offset}"), (limit, offset)),
        };
        let expected = rows(&self.c, &format!("SELECT {items} FROM u WHERE {condition}")).map(|mut rows| {
            rows.sort_by(|a, b| by_parts(&parts, &nulls, a, b));
            rows.into_iter().skip(keeps.1).take(keeps.0).collect()
        });
        // What of a failing statement is computed before a LIMIT ends it is left to the plan.
        if expected.is_err() {
            return;
        }
        let sql = format!("SELECT {items} FROM t WHERE {condition} ORDER BY {}{end}", order.join(", "));
        self.holds(&sql, &expected, true);
    }

    fn aggregated(&self, r: &mut Random) {
        let condition = self.condition(r);
        let parts = Part::several(r, &self.columns, 2);
        let part = match self.indexes.is_empty() || r.one_in(3) {
            true => parts[0].text.clone(),
            false => r.of(&self.indexes)[0].text.clone(),
        };
        let (select, end) = match r.below(5) {
            0 => (format!("DISTINCT {part}"), String::new()),
            1 => (format!("MIN({part}), MAX({part}), COUNT({part})"), String::new()),
            2 => (format!("COUNT(DISTINCT {part}), COUNT(*)"), String::new()),
            3 => (format!("{part}, COUNT(*), SUM(id)"), format!(" GROUP BY {part}")),
            _ => (format!("{part}, MIN(id)"), format!(" GROUP BY {part}")),
        };
        let expected = sorted(rows(&self.c, &format!("SELECT {select} FROM u WHERE {condition}{end}")));
        if expected.as_ref().is_err_and(|code| code == "not_supported") {
            return;
        }
        self.holds(&format!("SELECT {select} FROM t WHERE {condition}{end}"), &expected, false);
    }

    /// The index that gives the columns of a join is asked for each row of `u`, if there are few of them.
    fn joined(&self, r: &mut Random) {
        let condition = self.condition(r);
        let column = match self.indexes.is_empty() || r.one_in(3) {
            true => r.of(&self.columns).name.clone(),
            false => r.of(&self.indexes)[0].text.clone(),
        };
        if !is_column(&column) {
            return;
        }
        let sql = |table: &str| {
            let left = format!("SELECT * FROM u WHERE ({condition}) AND id % 5 = 0");
            format!("SELECT x.id, y.id, y.w FROM ({left}) AS x JOIN {table} AS y ON x.{column} = y.{column}")
        };
        let expected = sorted(rows(&self.c, &sql("u")));
        self.holds(&sql("t"), &expected, false);
    }

    /// Inside a transaction its own changes are read by its indexes.
    fn begin_or_end(&mut self, r: &mut Random) {
        self.end(r);
        if r.one_in(2) {
            self.run("BEGIN");
            self.run("SAVEPOINT s");
            self.change(r);
            self.is_open = true;
        }
    }

    fn end(&mut self, r: &mut Random) {
        if std::mem::take(&mut self.is_open) {
            self.run(if r.one_in(2) { "COMMIT" } else { "ROLLBACK" });
        }
    }

    fn run(&mut self, sql: &str) {
        self.c.execute(sql, ()).unwrap_or_else(|error| panic!("{}{sql}: {error}", self.told));
        self.told.push_str(&format!("{sql}\n"));
    }

    /// Deletes rows, or changes some of their values, in both tables.
    fn change(&mut self, r: &mut Random) {
        let condition = self.condition(r);
        let change = match r.one_in(3) {
            true => format!("DELETE FROM {{}} WHERE ({condition}) AND id % 3 = {}", r.below(3)),
            false => {
                let values: Vec<&Column> = self.columns.iter().filter(|column| !column.in_key).collect();
                let column = *r.of(&values);
                let value = column.row_literal(r);
                format!("UPDATE {{}} SET {} = {value}, w = 'r' WHERE {condition}", column.name)
            }
        };
        let run = |table: &str| {
            let done = self.c.execute(&change.replace("{}", table), ());
            done.map(|done| done.rows_affected).map_err(|error| code(&self.c, &error))
        };
        let done = run("t");
        // An index does not take each value.
        if done.as_ref().is_err_and(|code| code == "bad_key" || code == "out_of_range") {
            return;
        }
        assert_eq!(run("u"), done, "{}{change}", self.told);
        self.told.push_str(&format!("{change}\n"));
        let _ = self.c.execute("SAVEPOINT s", ());
        let all = |table: &str| sorted(rows(&self.c, &format!("SELECT * FROM {table}")));
        assert_eq!(all("t"), all("u"), "{}", self.told);
    }
}

fn by_parts(parts: &[Part], nulls_first: &[bool], a: &[Value], b: &[Value]) -> Ordering {
    let each = parts.iter().zip(nulls_first).zip(a.iter().zip(b)).map(|((part, first), (a, b))| {
        let null = if *first { Ordering::Less } else { Ordering::Greater };
        match (a.is_null(), b.is_null()) {
            (true, true) => Ordering::Equal,
            (true, false) => null,
            (false, true) => null.reverse(),
            _ if part.descending => b.sort_cmp(a),
            _ => a.sort_cmp(b),
        }
    });
    each.fold(Ordering::Equal, Ordering::then)
}

#[test]
fn statements_give_the_same_with_indexes_and_without() {
    let is_relational = has_relational_engine().unwrap();
    let mut r = random(7);
    let (rounds, mut all) = (rounds(40), Counts::default());
    for round in 0..rounds {
        let database = Database::memory_builder().store(Memory).full_scan("allow").unwrap().open().unwrap();
        let mut table = Indexed::new(&mut r, &database, is_relational);
        // Planning a relational query costs a hundred times more.
        let (executor, each) = if is_relational && round % 8 == 0 { ("datafusion", 1) } else { ("auto", 8) };
        table.c.execute(&format!("SET executor = '{executor}'"), ()).unwrap();
        for _ in 0..3 {
            for _ in 0..each {
                table.select(&mut r);
                table.ordered(&mut r);
                table.aggregated(&mut r);
            }
            if is_relational {
                table.joined(&mut r);
            }
            table.change(&mut r);
            table.begin_or_end(&mut r);
        }
        table.end(&mut r);
        let counts = table.counts.get();
        all = Counts {
            telling: all.telling + counts.telling,
            by_index: all.by_index + counts.by_index,
            prepared: all.prepared + counts.prepared,
        };
        let report = database.check().unwrap();
        assert!(report.is_sound(), "{}{:?}", table.told, report.faults);
    }
    println!("over {rounds} tables: {all:?}");
    assert!(all.by_index.min(all.prepared) > rounds * 5, "the statements tell too little: {all:?}");
}
