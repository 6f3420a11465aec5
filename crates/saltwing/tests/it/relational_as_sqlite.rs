//! Random joins, set operations, windows, groups and recursive queries give what SQLite gives, over small tables with NULLs.
//!
//! Each case makes its tables and some queries out of one number. SQLite has no INTERSECT ALL and EXCEPT ALL: there
//! the rows are numbered among their equals.

use std::fmt::Write;

use proptest::prelude::*;
use saltwing::Database;

use crate::texts;

mod rarer_shapes;

/// How deep queries nest.
const DEPTH: usize = 2;

/// Queries of a case.
const QUERIES: usize = 24;

/// The tables, and their columns behind the key.
const TABLES: [(&str, [&str; 2]); 3] = [("a", ["x", "y"]), ("b", ["x", "z"]), ("c", ["z", "w"])];

/// The same query for both engines.
#[derive(Clone)]
struct Query {
    ours: String,
    sqlite: String,
    /// How many columns it puts out, all of them integers.
    width: usize,
    /// Whether its rows have an order.
    ordered: bool,
}

/// The tables of a FROM clause, for both engines.
struct From {
    ours: String,
    sqlite: String,
    /// The columns that can be named there.
    columns: Vec<String>,
    /// Those that `*` shows, if both engines show them in one order.
    shown: Option<usize>,
    /// Columns of which no two rows have the same values.
    keys: Vec<String>,
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        // xorshift64*.
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % limit
    }

    fn chance(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }

    fn pick<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.below(list.len())]
    }

    fn column(&mut self, columns: &[String]) -> String {
        columns[self.below(columns.len())].clone()
    }

    fn value(&mut self) -> String {
        match self.below(6) {
            0 => "NULL".into(),
            n => n.to_string(),
        }
    }

    /// Rows of all tables, as statements that both engines take.
    fn inserts(&mut self) -> Vec<String> {
        let mut inserts = Vec::new();
        for (table, _) in TABLES {
            for k in 0..7 {
                if !self.chance(3) {
                    inserts.push(format!("INSERT INTO {table} VALUES ({k}, {}, {})", self.value(), self.value()));
                }
            }
        }
        inserts
    }

    fn query(&mut self, depth: usize) -> Query {
        match self.below(if depth == 0 { 8 } else { 12 }) {
            0 | 1 => self.rows(depth),
            2 => self.groups(depth),
            3 | 4 => self.windows(depth),
            5 => self.grouping_sets(depth),
            6 => self.distinct_on(depth),
            7 => self.recursive(depth),
            _ => self.set_operation(depth),
        }
    }

    /// A table, or a query under a name, and its columns; the first one is unique only of a table.
    fn relation(&mut self, depth: usize, alias: &str) -> (String, String, Vec<String>) {
        if depth > 0 && self.chance(4) {
            let query = self.query(depth - 1);
            let names: Vec<String> =
                (0..query.width).map(|i| ["k", "x", "y", "z", "w", "v", "u"][i].to_owned()).collect();
            // SQLite has no list of columns behind an alias.
            let wide = |of: &str| format!("WITH q ({}) AS ({of}) SELECT * FROM q", names.join(", "));
            return (
                format!("({}) AS {alias}", wide(&query.ours)),
                format!("({}) AS {alias}", wide(&query.sqlite)),
                names,
            );
        }
        let (table, columns) = TABLES[self.below(TABLES.len())];
        let columns = std::iter::once("k").chain(columns).map(str::to_owned).collect();
        (format!("{table} AS {alias}"), format!("{table} AS {alias}"), columns)
    }

    fn from(&mut self, depth: usize) -> From {
        let (ours, sqlite, names) = self.relation(depth, "r0");
        let mut keys: Vec<String> = names.iter().map(|name| format!("r0.{name}")).collect();
        let mut from = From { ours, sqlite, columns: keys.clone(), shown: Some(names.len()), keys: Vec::new() };
        let joins = self.below(3);
        let merges = self.chance(2);
        let natural = joins == 1 && self.chance(4);
        let mut left_names = names;
        for i in 1..=joins {
            let alias = format!("r{i}");
            let (ours, sqlite, names) = self.relation(depth, &alias);
            let kind = self.pick(&["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"]);
            let own: Vec<String> = names.iter().map(|name| format!("{alias}.{name}")).collect();
            let constraint = match (natural, merges) {
                (true, _) => String::new(),
                (_, true) => " USING (k)".into(),
                _ => format!(" ON {}", self.condition_of_join(&from.columns, &own)),
            };
            let natural_word = if natural { "NATURAL " } else { "" };
            let _ = write!(from.ours, " {natural_word}{kind} {ours}{constraint}");
            let _ = write!(from.sqlite, " {natural_word}{kind} {sqlite}{constraint}");
            from.columns.extend(own.iter().cloned());
            keys.extend(own);
            let merged: Vec<&String> = match (natural, merges) {
                (true, _) => names.iter().filter(|name| left_names.contains(name)).collect(),
                (_, true) => vec![&names[0]],
                _ => Vec::new(),
            };
            // The merged columns lead where both engines show them first.
            let leads = |all: &[String]| all.iter().zip(&merged).all(|(name, merged)| name == *merged);
            from.shown = match from.shown {
                Some(shown) if leads(&left_names) || merged.is_empty() => Some(shown + names.len() - merged.len()),
                _ => None,
            };
            for name in merged {
                if !from.columns.contains(name) {
                    from.columns.push(name.clone());
                }
            }
            left_names.extend(names.iter().filter(|name| !left_names.contains(name)).cloned().collect::<Vec<_>>());
        }
        from.keys = keys;
        from
    }

    /// What ON may say; equalities most of the time.
    fn condition_of_join(&mut self, left: &[String], right: &[String]) -> String {
        let (a, b) = (self.column(left), self.column(right));
        let equal = match self.below(8) {
            0 => format!("{a} < {b}"),
            1 => format!("{a} + 1 = {b}"),
            2 => format!("{a} IS NOT DISTINCT FROM {b}"),
            _ => format!("{a} = {b}"),
        };
        match self.below(4) {
            0 => format!("{equal} AND {} <> {}", self.column(left), self.column(right)),
            1 => {
                let side = if self.chance(2) { left } else { right };
                format!("{equal} AND {} > {}", self.column(side), self.below(4))
            }
            _ => equal,
        }
    }

    fn condition(&mut self, columns: &[String], depth: usize) -> String {
        let a = self.column(columns);
        match self.below(if depth == 0 { 8 } else { 11 }) {
            10 => format!("{a} = {}", self.value()),
            0 => format!("{a} IS NULL"),
            1 => format!("{a} IS NOT NULL"),
            2 => format!("{a} {} {}", self.pick(&["=", "<>", "<", ">="]), self.column(columns)),
            3 => format!("{a} IN ({}, {}, {})", self.value(), self.value(), self.below(6)),
            4 => format!("{a} BETWEEN {} AND {}", self.below(3), self.column(columns)),
            5 => format!("{a} + {} {} {}", self.value(), self.pick(&["<=", "<", ">"]), self.below(8)),
            6 => format!("{a} {} {}", self.pick(&["<>", "<=", ">"]), self.value()),
            7 if depth == 0 => format!("{a} = {}", self.value()),
            7 => format!("NOT ({})", self.condition(columns, depth - 1)),
            8 => format!("({} OR {})", self.condition(columns, depth - 1), self.condition(columns, depth - 1)),
            _ => format!("({} AND {})", self.condition(columns, depth - 1), self.condition(columns, depth - 1)),
        }
    }

    fn filter(&mut self, columns: &[String]) -> String {
        if self.chance(2) { String::new() } else { format!(" WHERE {}", self.condition(columns, 2)) }
    }

    fn expression(&mut self, columns: &[String]) -> String {
        let a = self.column(columns);
        match self.below(10) {
            4 => self.below(4).to_string(),
            5 => "CAST(NULL AS INTEGER)".into(),
            0 => format!("{a} + {}", self.column(columns)),
            1 => format!("COALESCE({a}, {})", self.column(columns)),
            2 => format!("CASE WHEN {} THEN {a} ELSE {} END", self.condition(columns, 0), self.below(9)),
            3 => format!("NULLIF({a}, {})", self.below(4)),
            _ => a,
        }
    }

    /// All columns of the result in some directions: equal rows alone have no order then.
    fn order(&mut self, width: usize) -> String {
        let item = |random: &mut Self, i| {
            let direction = random.pick(&["", " ASC", " DESC"]);
            format!("{i}{direction} NULLS {}", random.pick(&["FIRST", "LAST"]))
        };
        let items: Vec<String> = (1..=width).map(|i| item(self, i)).collect();
        let limit = match self.below(3) {
            0 => format!(" LIMIT {}", self.below(6)),
            1 => format!(" LIMIT {} OFFSET {}", self.below(6), self.below(4)),
            _ => String::new(),
        };
        format!(" ORDER BY {}{limit}", items.join(", "))
    }

    fn rows(&mut self, depth: usize) -> Query {
        let from = self.from(depth);
        let filter = self.filter(&from.columns);
        let distinct = if self.chance(3) { "DISTINCT " } else { "" };
        let (items, width) = match from.shown {
            Some(shown) if shown <= 7 && self.chance(3) => ("*".to_owned(), shown),
            _ => {
                let width = 1 + self.below(3);
                let items: Vec<String> =
                    (0..width).map(|i| format!("{} AS c{i}", self.expression(&from.columns))).collect();
                (items.join(", "), width)
            }
        };
        let order = if self.chance(2) { self.order(width) } else { String::new() };
        let query = |from: &str| format!("SELECT {distinct}{items} FROM {from}{filter}{order}");
        Query { ours: query(&from.ours), sqlite: query(&from.sqlite), width, ordered: !order.is_empty() }
    }

    fn aggregate(&mut self, columns: &[String]) -> String {
        let distinct = if self.chance(3) { "DISTINCT " } else { "" };
        let filter = match self.chance(4) {
            true => format!(" FILTER (WHERE {})", self.condition(columns, 0)),
            false => String::new(),
        };
        match self.below(4) {
            0 => format!("count(*){filter}"),
            _ => {
                let function = self.pick(&["count", "sum", "min", "max"]);
                format!("{function}({distinct}{}){filter}", self.expression(columns))
            }
        }
    }

    fn groups(&mut self, depth: usize) -> Query {
        let from = self.from(depth);
        let filter = self.filter(&from.columns);
        let keys: Vec<String> = (0..self.below(3)).map(|_| self.column(&from.columns)).collect();
        let aggregates: Vec<String> = (0..=self.below(2)).map(|_| self.aggregate(&from.columns)).collect();
        let having = match self.below(3) {
            0 => format!(" HAVING {} {} {}", aggregates[0], self.pick(&[">", "<="]), self.below(5)),
            1 if !keys.is_empty() => format!(" HAVING {}", self.condition(&keys, 1)),
            _ => String::new(),
        };
        let group = if keys.is_empty() { String::new() } else { format!(" GROUP BY {}", keys.join(", ")) };
        let width = keys.len() + aggregates.len();
        let items = keys.iter().chain(&aggregates).enumerate().map(|(i, item)| format!("{item} AS c{i}"));
        let items = items.collect::<Vec<_>>().join(", ");
        let order = if self.chance(2) { self.order(width) } else { String::new() };
        let query = |from: &str| format!("SELECT {items} FROM {from}{filter}{group}{having}{order}");
        Query { ours: query(&from.ours), sqlite: query(&from.sqlite), width, ordered: !order.is_empty() }
    }

    fn windows(&mut self, depth: usize) -> Query {
        let from = self.from(depth);
        let filter = self.filter(&from.columns);
        let partition = match self.below(3) {
            0 => String::new(),
            _ => format!("PARTITION BY {}", self.column(&from.columns)),
        };
        let few = format!(
            "ORDER BY {}{} NULLS {}",
            self.column(&from.columns),
            self.pick(&["", " DESC"]),
            self.pick(&["FIRST", "LAST"])
        );
        // No two rows of one place, unless they are equal in all columns.
        let all = format!(
            "ORDER BY {}",
            from.keys.iter().map(|key| format!("{key} NULLS FIRST")).collect::<Vec<_>>().join(", ")
        );
        let frame = self.pick(&[
            "",
            " ROWS BETWEEN 1 PRECEDING AND CURRENT ROW",
            " ROWS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING",
            " ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
        ]);
        // Of rows that are equal in the one column that orders them.
        let frame_of_few = self.pick(&[
            "",
            " RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING",
            " RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
            " GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW",
        ]);
        let mut items = vec![self.column(&from.columns)];
        for _ in 0..=self.below(2) {
            let argument = self.column(&from.columns);
            let over = |named: &str, order: &str, frame: &str| match named {
                "" => format!("({partition} {order}{frame})"),
                _ => format!("(w {order}{frame})"),
            };
            let named = self.pick(&["", "w"]);
            items.push(match self.below(7) {
                0 => format!("rank() OVER {}", over(named, &few, "")),
                1 => format!("dense_rank() OVER {}", over(named, &few, "")),
                2 => {
                    format!(
                        "{}({argument}) OVER {}",
                        self.pick(&["sum", "count", "min", "max"]),
                        over(named, &few, frame_of_few)
                    )
                }
                3 => format!("row_number() OVER {}", over(named, &all, "")),
                4 => format!(
                    "{}({argument}) OVER {}",
                    self.pick(&["sum", "count", "min", "max"]),
                    over(named, &all, frame)
                ),
                5 => {
                    let function = self.pick(&["lag", "lead", "first_value"]);
                    format!("{function}({argument}) OVER {}", over(named, &all, ""))
                }
                _ => format!("{}({argument}) OVER w", self.pick(&["sum", "count", "min", "max"])),
            });
        }
        let width = items.len();
        let items = items.iter().enumerate().map(|(i, item)| format!("{item} AS c{i}")).collect::<Vec<_>>().join(", ");
        let order = if self.chance(2) { self.order(width) } else { String::new() };
        let query = |from: &str| format!("SELECT {items} FROM {from}{filter} WINDOW w AS ({partition}){order}");
        Query { ours: query(&from.ours), sqlite: query(&from.sqlite), width, ordered: !order.is_empty() }
    }

    /// `SELECT .. UNION | INTERSECT | EXCEPT [ALL] SELECT ..`.
    fn set_operation(&mut self, depth: usize) -> Query {
        let (left, right) = (self.query(depth - 1), self.query(depth - 1));
        let width = left.width.min(right.width);
        let (left, right) = (narrowed(&left, width), narrowed(&right, width));
        let operation = self.pick(&["UNION", "UNION ALL", "INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL"]);
        let order = if self.chance(2) { self.order(width) } else { String::new() };
        let ours = format!("{} {operation} {}{order}", left.ours, right.ours);
        let names: Vec<String> = (0..width).map(|i| format!("c{i}")).collect();
        let names = names.join(", ");
        let numbered = |of: &str| format!("SELECT {names}, row_number() OVER (PARTITION BY {names}) AS n FROM ({of})");
        let sqlite = match operation {
            "INTERSECT ALL" | "EXCEPT ALL" => {
                let operation = operation.trim_end_matches(" ALL");
                let both = format!("{} {operation} {}", numbered(&left.sqlite), numbered(&right.sqlite));
                format!("SELECT {names} FROM ({both}){order}")
            }
            _ => format!("{} {operation} {}{order}", left.sqlite, right.sqlite),
        };
        Query { ours, sqlite, width, ordered: !order.is_empty() }
    }
}

/// The first columns of a query, as c0, c1, ..
fn narrowed(query: &Query, width: usize) -> Query {
    let all: Vec<String> = (0..query.width).map(|i| format!("c{i}")).collect();
    let narrow = |of: &str| {
        format!("SELECT {} FROM (WITH q ({}) AS ({of}) SELECT * FROM q) AS n", all[..width].join(", "), all.join(", "))
    };
    Query { ours: narrow(&query.ours), sqlite: narrow(&query.sqlite), width, ordered: false }
}

fn sqlite_rows(sqlite: &rusqlite::Connection, sql: &str) -> Vec<String> {
    let mut statement = sqlite.prepare(sql).unwrap_or_else(|error| panic!("{sql}\n{error}"));
    let columns = statement.column_count();
    let row = |row: &rusqlite::Row<'_>| {
        let value = |column| {
            let value = row.get::<_, Option<i64>>(column)?;
            Ok(value.map_or_else(|| "NULL".into(), |value| value.to_string()))
        };
        Ok((0..columns).map(value).collect::<rusqlite::Result<Vec<String>>>()?.join("|"))
    };
    statement.query_map((), row).unwrap().collect::<Result<_, _>>().unwrap_or_else(|error| panic!("{sql}\n{error}"))
}

/// What is different about a query, if anything is.
fn difference(ours: &saltwing::blocking::Connection, sqlite: &rusqlite::Connection, query: &Query) -> Option<String> {
    let mut expected = sqlite_rows(sqlite, &query.sqlite);
    let mut found = match texts(ours, &query.ours) {
        Ok(found) => found,
        Err(error) => return Some(format!("{}\n{error}", query.ours)),
    };
    if !query.ordered {
        found.sort();
        expected.sort();
    }
    (found != expected).then(|| format!("{}\nfound {found:?}\nSQLite {expected:?}\n{}", query.ours, query.sqlite))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases.div_ceil(16),
        max_shrink_iters: 0,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn queries_give_what_sqlite_gives(seed in 1_u64.., salt in prop_oneof![Just(""), Just("SALT_BUCKETS = 3")]) {
        let mut random = Random(seed);
        let ours = Database::memory().unwrap().connect().blocking();
        ours.execute("SET full_scan = 'allow'", ()).unwrap();
        let sqlite = rusqlite::Connection::open_in_memory().unwrap();
        for (table, [p, q]) in TABLES {
            let create = format!("CREATE TABLE {table} (k INTEGER NOT NULL, {p} INTEGER, {q} INTEGER, CONSTRAINT pk PRIMARY KEY (k))");
            ours.execute(&format!("{create} {salt}"), ()).unwrap();
            sqlite.execute(&create, ()).unwrap();
        }
        for insert in random.inserts() {
            ours.execute(&insert, ()).unwrap();
            sqlite.execute(&insert, ()).unwrap();
        }
        let queries: Vec<Query> = (0..QUERIES).map(|_| random.query(DEPTH)).collect();
        let differences: Vec<String> = queries.iter().filter_map(|query| difference(&ours, &sqlite, query)).collect();
        prop_assert!(differences.is_empty(), "{}", differences.join("\n\n"));
    }
}
