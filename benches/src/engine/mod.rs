//! The engines, and the trait that all of them implement.

mod fingerprint;
mod redb;
mod saltwing;
mod sqlite;

use std::path::Path;
use std::time::Duration;

pub use fingerprint::Fingerprint;

use crate::Result;
use crate::read::{Arguments, Read};
use crate::rows::LogRow;

/// What the works ask of an engine.
///
/// Every engine keeps the log, by phone and then the newest first; those with SQL also the side tables.
pub trait Engine {
    /// Asks a question with each of the arguments, prepared once; `None` where the engine has nothing of the kind.
    fn ask(&mut self, read: Read, argument_lists: &[Arguments]) -> Result<Option<Vec<Answer>>>;

    /// Asks a question once, unhurried, and takes every value of the answer; `None` where the engine has no rows of
    /// that kind to show.
    fn look(&mut self, read: Read, arguments: &Arguments) -> Result<Option<Fingerprint>>;

    /// Writes rows as one durable batch; rows of a key that is there are replaced.
    fn load(&mut self, rows: &[LogRow]) -> Result<()>;

    /// Writes rows durably, in batches as the engine likes them: whether it has such a way.
    fn load_in_bulk(&mut self, rows: &[LogRow]) -> Result<bool>;

    /// Loads the lines of a CSV file in batches as the engine likes them: how many. `None` where there is no such way.
    fn load_csv(&mut self, file: &Path) -> Result<Option<u64>>;

    /// Deletes a row, durably.
    fn delete(&mut self, phone: &str, ts: i64) -> Result<()>;

    /// Adds 1 to a counter, durably: what it is then. `None` without SQL.
    fn count_up(&mut self, id: i64) -> Result<Option<i64>>;

    /// Runs a statement, the same text in every dialect; whether the engine has SQL.
    fn run(&mut self, sql: &str) -> Result<bool>;

    /// Brings what was written to where it stays.
    fn settle(&mut self) -> Result<()>;

    /// Something that writes durable single rows, on a thread of its own.
    fn writer(&self) -> Result<Worker<LogRow>>;

    /// Something that counts durably as [`Engine::count_up`] does, on a thread of its own. `None` without SQL.
    fn counter(&self) -> Result<Option<Worker<i64>>>;

    /// Something that runs durable transactions, on a thread of its own. `None` without SQL.
    fn transactor(&self) -> Result<Option<Worker<Transaction>>>;
}

/// Does one piece of work after the other.
pub type Worker<T> = Box<dyn FnMut(&T) -> Result<()> + Send>;

/// Reads of rows by their keys, and writes of others.
pub struct Transaction {
    /// Rows that are there.
    pub points: Vec<LogRow>,
    /// Rows that are written.
    pub writes: Vec<LogRow>,
}

impl Transaction {
    /// An answer must be the row that was loaded.
    pub fn check(row: &LogRow, a: i64) -> Result<()> {
        if row.numbers[0] == a { Ok(()) } else { Err(format!("{} at {} has another number", row.phone, row.ts).into()) }
    }
}

/// What came of a question.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// How long it took.
    pub time: Duration,
    /// All integers and all lengths of texts of the result, added up: the same for every engine.
    pub sum: i64,
}

/// Times a question.
fn timed(ask: impl FnOnce() -> Result<i64>) -> Result<Answer> {
    let started = std::time::Instant::now();
    let sum = ask()?;
    Ok(Answer { time: started.elapsed(), sum })
}

/// The engines by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineKind {
    /// Saltwing on its default store, redb.
    Saltwing,
    /// Saltwing on sled.
    SaltwingSled,
    /// Saltwing in memory.
    SaltwingMemory,
    /// SQLite.
    Sqlite,
    /// redb: keys and values without SQL, as the floor.
    Redb,
}

/// How an engine is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Opening {
    /// Memory for its caches; 1 GB if not given.
    pub cache_bytes: Option<u64>,
    /// Recent rows stay apart from the others, however many there are.
    pub keep_recent: bool,
}

/// Memory for caches unless a work says otherwise.
const CACHE_BYTES: u64 = 1 << 30;

impl EngineKind {
    /// All there are.
    pub const ALL: [Self; 5] = [Self::Saltwing, Self::SaltwingSled, Self::SaltwingMemory, Self::Sqlite, Self::Redb];

    /// The name on the command line and in the table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Saltwing => "saltwing",
            Self::SaltwingSled => "saltwing-sled",
            Self::SaltwingMemory => "saltwing-memory",
            Self::Sqlite => "sqlite",
            Self::Redb => "redb",
        }
    }

    /// The engine of this name.
    pub fn by_name(name: &str) -> std::result::Result<Self, String> {
        let names = || Self::ALL.map(Self::name).join(", ");
        Self::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| format!("the engines are {}", names()))
    }

    /// Whether its rows outlive it.
    pub fn is_persistent(self) -> bool {
        self != Self::SaltwingMemory
    }

    /// Opens what lies in the folder, or makes it.
    pub fn open(self, folder: &Path, opening: Opening) -> Result<Box<dyn Engine>> {
        let cache_bytes = opening.cache_bytes.unwrap_or(CACHE_BYTES);
        std::fs::create_dir_all(folder)?;
        Ok(match self {
            Self::Saltwing | Self::SaltwingSled | Self::SaltwingMemory => {
                Box::new(saltwing::Saltwing::open(self, folder, cache_bytes, opening.keep_recent)?)
            }
            Self::Sqlite => Box::new(sqlite::Sqlite::open(folder, cache_bytes)?),
            Self::Redb => Box::new(redb::Redb::open(folder, cache_bytes)?),
        })
    }
}
