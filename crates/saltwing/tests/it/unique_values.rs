//! Random statements over unique indexes that are rebuilt meanwhile, against a model: which rows they write, and which they refuse.
//!
//! Builds commit after each few rows, and statements run between these commits: the model does not know of the builds.
//! `UNIQUE_ROUNDS=n` takes more tables, `UNIQUE_SEED=n` others.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

use saltwing::Database;
use saltwing::blocking::Connection;

use crate::indexes::Numbers;
use crate::row_times::ManualClock;
use crate::{code, texts};

const KEYS: u64 = 30;

/// The columns after the key.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Values {
    a: Option<i64>,
    b: Option<&'static str>,
    c: Option<i64>,
}

/// The rows by their keys, each with the time of its write.
type Rows = BTreeMap<i64, (Values, i64)>;

/// A unique index: its name and parts, its condition, and the value of a row; `None` if it is in conflict with nothing.
struct Unique {
    name: &'static str,
    parts: &'static str,
    condition: &'static str,
    value: fn(i64, &Values) -> Option<String>,
}

const INDEXES: [Unique; 5] = [
    Unique { name: "i0", parts: "a", condition: "", value: |_, it| Some(it.a?.to_string()) },
    Unique { name: "i1", parts: "b, a DESC", condition: "", value: |_, it| Some(format!("{},{}", it.b?, it.a?)) },
    Unique {
        name: "i2",
        parts: "UPPER(b), c",
        condition: "",
        value: |_, it| Some(format!("{},{}", it.b?.to_uppercase(), it.c?)),
    },
    Unique {
        name: "i3",
        parts: "c",
        condition: " WHERE a > 5",
        value: |_, it| it.a.filter(|a| *a > 5).and(Some(it.c?.to_string())),
    },
    Unique { name: "i4", parts: "c, k % 7", condition: "", value: |k, it| Some(format!("{},{}", it.c?, k % 7)) },
];

fn literal<T: std::fmt::Display>(value: Option<T>, quote: &str) -> String {
    value.map_or_else(|| "NULL".to_owned(), |value| format!("{quote}{value}{quote}"))
}

impl Values {
    fn random(r: &mut Numbers) -> Self {
        Self {
            a: (r.below(8) > 0).then(|| r.below(12)),
            b: [None, Some(""), Some("x"), Some("X"), Some("y"), Some("z")][r.below(6) as usize],
            c: (r.below(8) > 0).then(|| r.below(25)),
        }
    }

    fn text(&self, k: i64) -> String {
        format!("({k}, {}, {}, {})", literal(self.a, ""), literal(self.b, "'"), literal(self.c, ""))
    }
}

struct World {
    r: Numbers,
    connection: Connection,
    clock: Arc<ManualClock>,
    indexes: Vec<&'static Unique>,
    ttl_s: Option<i64>,
    rows: Rows,
    told: String,
    refused: u64,
}

impl World {
    fn now_ms(&self) -> i64 {
        self.clock.0.load(SeqCst)
    }

    /// Forgets the rows that are expired.
    fn expire(&mut self) {
        if let Some(ttl_s) = self.ttl_s {
            let limit_ms = self.now_ms() - ttl_s * 1000;
            self.rows.retain(|_, (_, written_ms)| *written_ms > limit_ms);
        }
    }

    /// Whether two rows have one value.
    fn has_twice(&self, rows: &Rows) -> bool {
        self.indexes.iter().any(|index| {
            let values: Vec<String> = rows.iter().filter_map(|(k, (row, _))| (index.value)(*k, row)).collect();
            values.iter().collect::<BTreeSet<_>>().len() < values.len()
        })
    }

    /// The key of the row that has the value of a new one.
    fn holder(rows: &Rows, index: &Unique, k: i64, new: &Values) -> Option<i64> {
        let value = (index.value)(k, new)?;
        rows.iter().find(|(k, (row, _))| (index.value)(**k, row).as_ref() == Some(&value)).map(|(k, _)| *k)
    }

    fn some_rows(&mut self) -> Vec<(i64, Values)> {
        let count = 1 + self.r.below(3);
        (0..count).map(|_| (self.r.below(KEYS), Values::random(&mut self.r))).collect()
    }

    /// A statement, and the rows after it; `None` if it is refused.
    fn statement(&mut self) -> (String, Option<Rows>) {
        let (now_ms, mut rows) = (self.now_ms(), self.rows.clone());
        let given = self.some_rows();
        let list = given.iter().map(|(k, values)| values.text(*k)).collect::<Vec<_>>().join(", ");
        let (first, values) = given[0];
        match self.r.below(10) {
            0 | 1 => {
                let is_new = given.iter().all(|(k, new)| rows.insert(*k, (*new, now_ms)).is_none());
                (format!("INSERT INTO t VALUES {list}"), is_new.then_some(rows))
            }
            2 | 3 => {
                rows.extend(given.iter().map(|(k, new)| (*k, (*new, now_ms))));
                (format!("UPSERT INTO t VALUES {list}"), Some(rows))
            }
            4 | 5 => {
                for (k, new) in &given {
                    let is_taken = self.indexes.iter().any(|index| Self::holder(&rows, index, *k, new).is_some());
                    if !is_taken && !rows.contains_key(k) {
                        rows.insert(*k, (*new, now_ms));
                    }
                }
                let sql = match self.r.below(2) {
                    0 => format!("INSERT OR IGNORE INTO t VALUES {list}"),
                    _ => format!("INSERT INTO t VALUES {list} ON CONFLICT DO NOTHING"),
                };
                (sql, Some(rows))
            }
            6 | 7 if !self.indexes.is_empty() => {
                let index = self.indexes[self.r.below(self.indexes.len() as u64) as usize];
                let target = format!(
                    "INSERT INTO t VALUES {} ON CONFLICT ({}){}",
                    values.text(first),
                    index.parts.replace(" DESC", ""),
                    index.condition
                );
                let holder = Self::holder(&rows, index, first, &values);
                if holder.is_none() && rows.contains_key(&first) {
                    return (format!("{target} DO NOTHING"), None);
                }
                let is_update = self.r.below(2) == 0;
                match holder {
                    None => drop(rows.insert(first, (values, now_ms))),
                    Some(k) if is_update => {
                        let c = rows[&k].0.c.map(|c| c + 1);
                        rows.insert(k, (Values { a: values.a, c, ..rows[&k].0 }, now_ms));
                    }
                    Some(_) => {}
                }
                let what = if is_update { "UPDATE SET a = excluded.a, c = t.c + 1" } else { "NOTHING" };
                (format!("{target} DO {what}"), Some(rows))
            }
            8 => {
                let (from, to) = (first, first + self.r.below(10));
                for (_, row) in rows.range_mut(from..=to) {
                    *row = (Values { a: row.0.a.map(|a| a + 1), ..row.0 }, now_ms);
                }
                (format!("UPDATE t SET a = a + 1 WHERE k BETWEEN {from} AND {to}"), Some(rows))
            }
            _ => {
                rows.remove(&first);
                (format!("DELETE FROM t WHERE k = {first}"), Some(rows))
            }
        }
    }

    /// Runs a statement, and holds it to the model.
    fn step(&mut self) {
        self.expire();
        let (sql, after) = self.statement();
        let after = after.filter(|after| !self.has_twice(after));
        self.told.push_str(&format!("{sql}\n"));
        let done = code(self.connection.execute(&sql, ()));
        let wanted = if after.is_some() { "ok" } else { "duplicate_key" };
        assert_eq!(done, wanted, "{}", self.told);
        self.refused += u64::from(after.is_none());
        self.rows = after.unwrap_or_else(|| std::mem::take(&mut self.rows));
        let rows = self.rows.iter().map(|(k, (it, _))| {
            let b = it.b.unwrap_or("NULL");
            format!("{k}|{}|{b}|{}", literal(it.a, ""), literal(it.c, ""))
        });
        let found = texts(&self.connection, "SELECT k, a, b, c FROM t ORDER BY k").unwrap();
        assert_eq!(found, rows.collect::<Vec<_>>(), "{}", self.told);
    }
}

/// What happens to the indexes or the table, and the TTL after it.
fn change(world: &mut World) -> (String, Option<i64>) {
    let index = world.indexes[world.r.below(world.indexes.len() as u64) as usize].name;
    // Rows that come back are not the model's: a TTL is longer only while no row is expired.
    let longer = world.ttl_s.filter(|_| world.now_ms() == 0).map(|ttl_s| ttl_s * 2);
    match world.r.below(8) {
        0 => (format!("ALTER INDEX {index} ON t DISABLE"), world.ttl_s),
        1 => (format!("ALTER INDEX {index} ON t USABLE"), world.ttl_s),
        2 if world.ttl_s.is_none() => ("ALTER TABLE t SET TTL = 60".into(), Some(60)),
        2 if longer.is_some() => (format!("ALTER TABLE t SET TTL = {}", longer.unwrap()), longer),
        3 => ("COMPACT t".into(), world.ttl_s),
        _ => (format!("ALTER INDEX {index} ON t REBUILD"), world.ttl_s),
    }
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |text| text.parse().unwrap())
}

fn round(seed: u64) -> (u64, usize) {
    let mut r = Numbers(seed);
    let clock = Arc::new(ManualClock(AtomicI64::new(0)));
    let builder = Database::memory_builder()
        .tiny_layout()
        .buffered()
        .index_commit_rows(1 + r.below(4).unsigned_abs())
        .sweep_every(None);
    let database = builder.clock(clock.clone()).full_scan("allow").unwrap().open().unwrap();
    let (connection, builds) = (database.connect().blocking(), database.connect().blocking());
    let options = ["", "SALT_BUCKETS = 3"][r.below(2) as usize];
    let ttl_s = (r.below(2) == 0).then_some(60);
    let mut told = vec![format!("CREATE TABLE t (k BIGINT PRIMARY KEY, a BIGINT, b VARCHAR, c BIGINT) {options}")];
    told.extend(ttl_s.map(|ttl_s| format!("ALTER TABLE t SET TTL = {ttl_s}")));
    let mut indexes: Vec<&'static Unique> = INDEXES.iter().filter(|_| r.below(2) == 0).collect();
    if indexes.is_empty() {
        indexes.push(&INDEXES[0]);
    }
    told.extend(
        indexes.iter().map(|it| format!("CREATE UNIQUE INDEX {} ON t ({}){}", it.name, it.parts, it.condition)),
    );
    for sql in &told {
        connection.execute(sql, ()).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    let told = format!("seed {seed}\n{}\n", told.join("\n"));
    let world = World { r, connection, clock, indexes, ttl_s, rows: Rows::new(), told, refused: 0 };
    let (world, mut between) = (Arc::new(Mutex::new(world)), 0);
    for _ in 0..12 {
        let (sql, ttl_s) = {
            let mut world = world.lock().unwrap();
            (0..6).for_each(|_| world.step());
            if world.r.below(3) == 0 {
                let seconds = world.r.below(40);
                world.clock.0.fetch_add(seconds * 1000, SeqCst);
                world.told.push_str(&format!("after {seconds} seconds\n"));
            }
            if world.r.below(4) == 0 {
                database.sweep().unwrap();
            }
            let (sql, ttl_s) = change(&mut world);
            world.told.push_str(&format!("{sql} {{\n"));
            (sql, ttl_s)
        };
        let (of_report, count) = (world.clone(), Arc::new(AtomicI64::new(0)));
        let steps = count.clone();
        builds.on_index_progress(move |_| {
            if steps.fetch_add(1, SeqCst) < 12 {
                of_report.lock().unwrap().step();
            }
        });
        let done = builds.execute(&sql, ());
        builds.on_index_progress(|_| ());
        between += count.load(SeqCst) as usize;
        let mut world = world.lock().unwrap();
        done.unwrap_or_else(|error| panic!("{}{sql}: {error}", world.told));
        (world.ttl_s) = ttl_s;
        world.told.push_str("}\n");
        // ON CONFLICT takes an index that is ready only.
        let usable: Vec<String> =
            world.indexes.iter().map(|it| format!("ALTER INDEX {} ON t USABLE", it.name)).collect();
        usable.iter().for_each(|sql| drop(builds.execute(sql, ()).unwrap()));
        let report = database.check().unwrap();
        assert!(report.is_sound(), "{}{:#?}", world.told, report.faults);
    }
    let world = world.lock().unwrap();
    (world.refused, between)
}

#[test]
fn values_stay_unique_while_indexes_are_rebuilt() {
    let (rounds, seed) = (number("UNIQUE_ROUNDS", 40), number("UNIQUE_SEED", 1));
    let (mut refused, mut between) = (0, 0);
    for round_number in 0..rounds {
        let (more, also) = round(seed * 1_000_000 + round_number);
        (refused, between) = (refused + more, between + also);
    }
    println!("{refused} statements were refused, {between} ran inside of builds");
    assert!(refused > rounds * 5 && between as u64 > rounds * 10, "{refused}, {between}");
}
