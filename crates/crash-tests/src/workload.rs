//! What the writers write, and what must be there for it.
//!
//! Each thread has rows of its own, so that its statements are a list: the state after n of them follows from seed, thread and n.
//! A thread's log says how many were acknowledged; the next one may be there as a whole, or not at all.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use saltwing::blocking::Connection;
use saltwing::{Error, Value};

use history_tests::Random;

const KEYS: u64 = 2_000;
/// Rows of the larger statements: their batches take several pages.
const MANY: u64 = 80;

/// A row: a number and a text, either of which may be NULL.
type Row = (Option<i64>, Option<String>);

/// The rows of one thread.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    pub a: BTreeMap<i64, Row>,
    pub b: BTreeMap<i64, Row>,
    /// The thread's own table, which comes and goes; `None` while it is not there.
    pub own: Option<BTreeMap<i64, i64>>,
}

/// One statement.
#[derive(Clone, Debug)]
pub enum Step {
    Upsert(Vec<(i64, Row)>),
    Numbers(Vec<(i64, i64)>),
    Insert(i64, i64),
    Delete(i64, i64),
    Select(i64, i64),
    Add(i64, i64),
    Copy(Vec<(i64, Row)>),
    CreateOwn,
    FillOwn(i64, i64),
    TruncateOwn,
    DropOwn,
    Compact,
}

/// The tables that all threads share, with indexes of each kind.
pub const DEFINITIONS: [&str; 5] = [
    "CREATE TABLE a (th INTEGER NOT NULL, k BIGINT NOT NULL, n BIGINT, s VARCHAR, CONSTRAINT pk PRIMARY KEY (th, k)) \
     SALT_BUCKETS = 3",
    "CREATE TABLE b (th INTEGER NOT NULL, k BIGINT NOT NULL, n BIGINT, f.s VARCHAR, \
     CONSTRAINT pk PRIMARY KEY (th, k DESC))",
    "CREATE INDEX a_n ON a (n DESC) INCLUDE (s)",
    "CREATE LOCAL INDEX a_th ON a (n, th)",
    "CREATE INDEX b_n ON b (n) WHERE n > 0",
];

/// Changes of further indexes, which come beside the statements of the threads. The rows are the same with them.
pub const INDEX_CHANGES: [&str; 7] = [
    "CREATE INDEX more ON a (n, s)",
    "ALTER INDEX a_n ON a REBUILD",
    "CREATE LOCAL INDEX near ON b (n) INCLUDE (s)",
    "ALTER INDEX more ON a REBUILD",
    "DROP INDEX more ON a",
    "ALTER INDEX near ON b REBUILD",
    "DROP INDEX near ON b",
];

/// A thread's statements.
pub struct Steps {
    random: Random,
    pub state: State,
}

impl Steps {
    pub fn new(seed: u64, thread: u64) -> Self {
        Self { random: Random::new(seed.wrapping_mul(1_000).wrapping_add(thread)), state: State::default() }
    }

    /// The next statement, as it stands in the list.
    pub fn next(&mut self) -> Step {
        let mut random = Random::new(self.random.number());
        step(&self.state, &mut random)
    }
}

fn step(state: &State, random: &mut Random) -> Step {
    let mut range = |width: u64| {
        let from = random.below(KEYS) as i64;
        (from, from + random.below(width) as i64)
    };
    let ((from, to), own) = (range(80), state.own.is_some());
    match random.below(1_000) {
        0..400 => Step::Upsert(rows(1, random)),
        400..560 => Step::Upsert(rows(2 + random.below(MANY), random)),
        560..660 => Step::Numbers(
            (0..=random.below(20)).map(|_| (random.below(KEYS) as i64, random.below(1_000) as i64)).collect(),
        ),
        660..720 => {
            let free = (0..).map(|offset| from + offset).find(|k| !state.a.contains_key(k));
            Step::Insert(free.unwrap_or(i64::MAX), from)
        }
        720..800 => Step::Delete(from, to),
        800..850 => Step::Select(from, to),
        850..890 => Step::Add(from, to),
        890..910 => Step::Copy(rows(300, random)),
        910..985 => match (own, random.below(10)) {
            (false, _) => Step::CreateOwn,
            (true, 0) => Step::DropOwn,
            (true, 1) => Step::TruncateOwn,
            (true, _) => Step::FillOwn(from, 50 + random.below(200) as i64),
        },
        _ => Step::Compact,
    }
}

fn rows(count: u64, random: &mut Random) -> Vec<(i64, Row)> {
    (0..count)
        .map(|_| {
            let key = random.below(KEYS) as i64;
            let number = (random.below(10) > 0).then(|| random.below(1_000) as i64);
            // One in some hundred is too long for its block.
            let bytes = if random.below(300) == 0 { 20_000 } else { random.below(300) };
            let text = (random.below(10) > 0).then(|| text(bytes, random));
            (key, (number, text))
        })
        .collect()
}

fn text(bytes: u64, random: &mut Random) -> String {
    let mut random = Random::new(random.number());
    (0..bytes).map(|_| char::from(b'a' + random.below(26) as u8)).collect()
}

impl Step {
    /// Runs it as a statement of a thread.
    ///
    /// # Errors
    /// The statement's.
    pub fn run(&self, connection: &Connection, thread: u64, files: &Path) -> Result<(), Error> {
        let th = thread as i64;
        let run = |sql: &str, parameters: Vec<Value>| connection.execute(sql, parameters).map(drop);
        let between = |from: &i64, to: &i64| vec![th.into(), (*from).into(), (*to).into()];
        match self {
            Self::Upsert(rows) => {
                let values =
                    rows.iter().flat_map(|(k, (n, s))| [th.into(), (*k).into(), (*n).into(), s.clone().into()]);
                run(&format!("UPSERT INTO a (th, k, n, s) VALUES {}", places(rows.len(), 4)), values.collect())
            }
            Self::Numbers(rows) => {
                let values = rows.iter().flat_map(|(k, n)| [th.into(), (*k).into(), (*n).into()]);
                run(&format!("UPSERT INTO a (th, k, n) VALUES {}", places(rows.len(), 3)), values.collect())
            }
            Self::Insert(k, n) => run("INSERT INTO a (th, k, n) VALUES (?, ?, ?)", between(k, n)),
            Self::Delete(from, to) => run("DELETE FROM a WHERE th = ? AND k BETWEEN ? AND ?", between(from, to)),
            Self::Select(from, to) => run(
                "UPSERT INTO b (th, k, n, s) SELECT th, k, n, s FROM a WHERE th = ? AND k BETWEEN ? AND ?",
                between(from, to),
            ),
            Self::Add(from, to) => run(
                "UPSERT INTO a (th, k, n) SELECT th, k, n + 1 FROM a WHERE th = ? AND k BETWEEN ? AND ?",
                between(from, to),
            ),
            Self::Copy(rows) => {
                let path = files.join(format!("copy{thread}.csv"));
                // Where it cannot be written COPY says so.
                let _ = fs::write(&path, csv(th, rows));
                run(&format!("COPY b (th, k, n, s) FROM '{}'", path.display()), Vec::new())
            }
            Self::CreateOwn => run(&format!("CREATE TABLE own{th} (k BIGINT NOT NULL PRIMARY KEY, n BIGINT)"), vec![]),
            Self::FillOwn(from, count) => {
                let values = (*from..from + count).flat_map(|k| [k.into(), (k * 7).into()]);
                run(&format!("UPSERT INTO own{th} VALUES {}", places(*count as usize, 2)), values.collect())
            }
            Self::TruncateOwn => run(&format!("TRUNCATE TABLE own{th}"), vec![]),
            Self::DropOwn => run(&format!("DROP TABLE own{th}"), vec![]),
            Self::Compact => run("COMPACT a, b", vec![]),
        }
    }

    /// What it makes of a state.
    pub fn apply(&self, state: &mut State) {
        match self {
            Self::Upsert(rows) => state.a.extend(rows.iter().cloned()),
            Self::Numbers(rows) => rows.iter().for_each(|(k, n)| state.a.entry(*k).or_default().0 = Some(*n)),
            Self::Insert(k, n) => {
                state.a.insert(*k, (Some(*n), None));
            }
            Self::Delete(from, to) => state.a.retain(|k, _| !(*from..=*to).contains(k)),
            Self::Select(from, to) => {
                state.b.extend(state.a.range(from..=to).map(|(k, row)| (*k, row.clone())));
            }
            Self::Add(from, to) => {
                state.a.range_mut(from..=to).for_each(|(_, row)| row.0 = row.0.map(|n| n + 1));
            }
            Self::Copy(rows) => {
                let values = rows.iter().map(|(k, (n, s))| (*k, (*n, s.clone().filter(|s| !s.is_empty()))));
                state.b.extend(values);
            }
            Self::CreateOwn => state.own = Some(BTreeMap::new()),
            Self::FillOwn(from, count) => {
                state.own.get_or_insert_default().extend((*from..from + count).map(|k| (k, k * 7)));
            }
            Self::TruncateOwn => state.own = Some(BTreeMap::new()),
            Self::DropOwn => state.own = None,
            Self::Compact => {}
        }
    }
}

fn places(rows: usize, columns: usize) -> String {
    let row = format!("({})", vec!["?"; columns].join(","));
    vec![row; rows].join(",")
}

/// An empty field is NULL.
fn csv(th: i64, rows: &[(i64, Row)]) -> String {
    let line = |(k, (n, s)): &(i64, Row)| {
        format!("{th},{k},{},{}\n", n.map_or(String::new(), |n| n.to_string()), s.as_deref().unwrap_or_default())
    };
    rows.iter().map(line).collect()
}
