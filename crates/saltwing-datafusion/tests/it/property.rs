//! The engine against the scalar evaluator, on random rows and expressions.
//!
//! The numbers are made here: a test dependency on proptest would ask features of
//! shared crates that make DataFusion build twice.

use saltwing_access::{Projection, TableStore};
use saltwing_bind::{Lowerer, Params, Scope};
use saltwing_types::{SqlType, Value, eval, text};
use sqlparser::ast::{SelectItem, SetExpr};

use crate::database::{Database, query};

/// Random statements.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        // xorshift64*.
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % limit
    }

    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }

    fn number(&mut self, depth: usize) -> String {
        match self.below(if depth == 0 { 2 } else { 7 }) {
            0 => self.pick(&["k", "v", "x", "d", "f"]).into(),
            1 => self
                .pick(&["0", "1", "-2", "2.5", "1e0", "0.1", "9223372036854775807", "99999999999999999999", "NULL"])
                .into(),
            2 => format!(
                "({} {} {})",
                self.number(depth - 1),
                self.pick(&["+", "-", "*", "/", "%"]),
                self.number(depth - 1)
            ),
            3 => format!("abs({})", self.number(depth - 1)),
            4 => format!(
                "CAST({} AS {})",
                self.number(depth - 1),
                self.pick(&["BIGINT", "DOUBLE", "DECIMAL(9,2)", "INTEGER"])
            ),
            5 => format!(
                "CASE WHEN {} THEN {} ELSE {} END",
                self.condition(depth - 1),
                self.number(depth - 1),
                self.number(depth - 1)
            ),
            _ => format!("coalesce({}, {})", self.number(depth - 1), self.number(depth - 1)),
        }
    }

    fn text(&mut self, depth: usize) -> String {
        match self.below(if depth == 0 { 2 } else { 5 }) {
            0 => self.pick(&["s", "c"]).into(),
            1 => self.pick(&["''", "'a'", "'ab'", "'B'", "'漢'", "NULL"]).into(),
            2 => format!("({} || {})", self.text(depth - 1), self.text(depth - 1)),
            3 => format!("{}({})", self.pick(&["upper", "lower", "reverse", "trim", "md5"]), self.text(depth - 1)),
            _ => format!(
                "substr({}, {}, {})",
                self.text(depth - 1),
                self.pick(&["1", "2", "-1"]),
                self.pick(&["0", "1", "9"])
            ),
        }
    }

    fn condition(&mut self, depth: usize) -> String {
        let compare = ["=", "<>", "<", "<=", ">", ">="];
        match self.below(if depth == 0 { 5 } else { 9 }) {
            0 => format!("{} {} {}", self.number(depth / 2), self.pick(&compare), self.number(depth / 2)),
            1 => format!("{} {} {}", self.text(depth / 2), self.pick(&compare), self.text(depth / 2)),
            2 => format!(
                "w {} {}",
                self.pick(&compare),
                self.pick(&["'2020-01-01'", "DATE '1999-12-31'", "w", "'2020-01-01 12:00:00'"])
            ),
            3 => format!("{} IN ({}, {})", self.number(0), self.number(0), self.number(0)),
            4 => format!("{} IS {}", self.pick(&["v", "s", "t", "w"]), self.pick(&["NULL", "NOT NULL"])),
            5 => format!("({} {} {})", self.condition(depth - 1), self.pick(&["AND", "OR"]), self.condition(depth - 1)),
            6 => format!("NOT ({})", self.condition(depth - 1)),
            7 => format!("{} LIKE {}", self.text(0), self.pick(&["'a%'", "'_b'", "'%'", "''"])),
            _ => format!("{} BETWEEN {} AND {}", self.number(0), self.number(0), self.number(0)),
        }
    }
}

fn database(random: &mut Random, options: &str) -> Database {
    let db = Database::new(&[&format!(
        "CREATE TABLE t (k INTEGER NOT NULL PRIMARY KEY, v BIGINT, x DECIMAL(5,2), d DOUBLE, f FLOAT, s VARCHAR, c CHAR(4), t BOOLEAN, w DATE) {options}"
    )]);
    for k in -5..15 {
        let row = [
            random.pick(&["0", "1", "-2", "9223372036854775807", "NULL"]),
            random.pick(&["0", "1.5", "-2.25", "NULL"]),
            random.pick(&["0.0", "0.1", "2.5", "NULL"]),
            random.pick(&["0.1", "-2.0", "NULL"]),
            random.pick(&["''", "'a'", "'ab'", "'漢字'", "NULL"]),
            random.pick(&["'a'", "'ab'", "'B'", "NULL"]),
            random.pick(&["TRUE", "FALSE", "NULL"]),
            random.pick(&["'2020-01-01'", "'1999-12-31 23:59:59'", "NULL"]),
        ];
        db.change(&format!("UPSERT INTO t VALUES ({k}, {})", row.join(", ")));
    }
    db
}

/// All rows of `t`, through the table itself.
fn all_rows(db: &Database) -> Vec<Vec<Value>> {
    let table = db.catalog.snapshot().unwrap().resolve(None, "t").unwrap();
    let view = db.tables.snapshot().unwrap();
    let keys = db.rows("SELECT _row_key FROM t");
    keys.iter().map(|key| view.get(&Projection::all(&table), &text::unhex(key).unwrap()).unwrap().unwrap()).collect()
}

/// For each row what the scalar evaluator gives for condition and item; `None` where typing refuses.
fn expected(db: &Database, rows: &[Vec<Value>], sql: &str) -> Option<Vec<Result<Option<String>, String>>> {
    let table = db.catalog.snapshot().unwrap().resolve(None, "t").unwrap();
    let scope = Scope::of(table, None);
    let lowerer = Lowerer::new(&scope, Params::NONE);
    let statement = query(sql);
    let SetExpr::Select(select) = statement.query.body.as_ref() else { panic!("{sql}") };
    let SelectItem::UnnamedExpr(item) = &select.projection[1] else { panic!("{sql}") };
    let item = lowerer.lower(item).ok()?;
    let condition = lowerer.lower(select.selection.as_ref().unwrap()).ok()?;
    let of_row = |row: &Vec<Value>| {
        let state = |error: saltwing_types::ValueError| error.code().sqlstate().to_owned();
        if !eval::holds(&condition, row).map_err(state)? {
            return Ok(None);
        }
        let ty = item.sql_type().unwrap_or(SqlType::Null);
        let value = eval::eval(&item, row).map_err(state)?;
        // What a column has no place for is an error too.
        saltwing_expr::ColumnBuilder::new(ty, 1).append_value(&value).map_err(state)?;
        Ok(Some(format!("{:?}|{}", row[0], text::format(&value, ty).unwrap_or_else(|| "NULL".into()))))
    };
    Some(rows.iter().map(of_row).collect())
}

/// Law: whatever the shape of the query and the salt of the table, rows and values are those of the scalar
/// evaluator, and a statement fails only where typing, or some row, does.
#[test]
fn relational_queries_mean_what_expressions_mean() {
    let random = &mut Random(0x5A17_0001);
    let mut compared = 0;
    for options in ["", "SALT_BUCKETS = 3"] {
        let db = database(random, options);
        let rows = all_rows(&db);
        for _ in 0..150 {
            let (item, condition) = match random.below(3) {
                0 => (random.text(2), random.condition(2)),
                1 => (random.condition(2), random.condition(2)),
                _ => (random.number(2), random.condition(2)),
            };
            let plain = format!("SELECT k, {item} FROM t WHERE {condition}");
            let Some(expected) = expected(&db, &rows, &plain) else {
                assert!(db.try_with(&plain, &[]).is_err(), "{plain}");
                continue;
            };
            let derived = format!("SELECT k, {item} FROM (SELECT * FROM t) q WHERE {condition}");
            let joined = format!("SELECT k, {item} FROM t JOIN (VALUES (1)) one (n) ON {condition}");
            let sorted = format!("SELECT k, {item} FROM t WHERE {condition} ORDER BY k DESC");
            for sql in [&plain, &derived, &joined, &sorted] {
                let answer = db.try_with(sql, &[]);
                let errors: Vec<&String> = expected.iter().filter_map(|row| row.as_ref().err()).collect();
                match answer {
                    Ok(answer) if errors.is_empty() => {
                        let mut wanted: Vec<String> = expected.iter().filter_map(|row| row.clone().ok()?).collect();
                        let mut got: Vec<String> = answer
                            .rows
                            .iter()
                            .map(|row| {
                                let (k, value) = row.split_once('|').unwrap();
                                format!("Int({k})|{value}")
                            })
                            .collect();
                        wanted.sort();
                        got.sort();
                        assert_eq!(got, wanted, "{sql}");
                        compared += 1;
                    }
                    // A row that the key ranges leave out fails no one.
                    Ok(_) => {}
                    Err(error) => {
                        let state = error.code().sqlstate().to_owned();
                        assert!(errors.contains(&&state), "{sql}\n{error} {errors:?}");
                    }
                }
            }
        }
    }
    assert!(compared > 300, "{compared}");
}
