//! The client's side of a call: it is tried again until there is an answer.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::task::Poll;
use std::time::Duration;

use saltwing_access::{AtomicScope, Clock, Direction, ScanContext, StorageCause, StorageError, Table, TableError};
use saltwing_types::TableId;
use saltwing_types::interrupt::{self, Interrupt, Interrupted};

use crate::chance::Chance;
use crate::cluster::{CallError, Cluster};
use crate::rows::StoredRow;

/// The store's name.
pub(crate) const NAME: &str = "fake-remote";

/// Tries of a call before the client gives it up.
const TRIES_MAX: u32 = 100;
/// Servers of the cluster.
const SERVERS: u32 = 3;

/// The server of a table's regions.
fn server_of(table: TableId) -> String {
    format!("{NAME} server {}", table.0 % SERVERS + 1)
}

/// Why there is no answer to a call.
pub(crate) enum NoAnswer {
    /// The statement had to stop before it was sent.
    NotSent(TableError),
    /// It was sent, and perhaps carried out: the statement had to stop, or the server did not answer.
    Unknown(TableError),
}

impl From<NoAnswer> for TableError {
    fn from(no_answer: NoAnswer) -> Self {
        match no_answer {
            NoAnswer::NotSent(error) | NoAnswer::Unknown(error) => error,
        }
    }
}

/// What all calls of a store share.
pub(crate) struct Client {
    pub(crate) cluster: Cluster,
    pub(crate) atomic: AtomicScope,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) chance: Chance,
    /// Of the commits without an answer, the client gives up one in `unknown`; 0 is none.
    pub(crate) unknown: u32,
    pub(crate) latency: Duration,
    /// Most rows of an answer to a scan.
    pub(crate) page_rows: usize,
    /// Buckets that a scan reads at once.
    pub(crate) scans_at_once: usize,
    /// How long the client waits for an answer.
    pub(crate) answer_max: Duration,
    /// Whether the servers give no more answers.
    pub(crate) hangs: AtomicBool,
    pub(crate) commits: AtomicU64,
    /// Calls so far.
    pub(crate) calls: AtomicU64,
    /// Calls that wait for their answers, and the most that did.
    pub(crate) waiting: AtomicU64,
    pub(crate) waiting_most: AtomicU64,
}

impl Client {
    pub(crate) fn now_ms(&self) -> i64 {
        self.clock.now_ms()
    }

    /// The number of the next commit, by which the cluster knows one that is sent again.
    pub(crate) fn next_commit(&self) -> u64 {
        self.commits.fetch_add(1, Relaxed)
    }

    /// Whether the client gives up waiting for the answer to a commit.
    pub(crate) fn gives_up(&self) -> bool {
        self.chance.one_in(self.unknown)
    }

    /// Calls the server of a table until there is an answer, for the statement of the thread.
    pub(crate) fn call<T>(&self, table: TableId, call: impl FnMut() -> Result<T, CallError>) -> Result<T, NoAnswer> {
        self.call_for(interrupt::current().as_deref(), table, call)
    }

    /// As [`Client::call`], for this statement.
    fn call_for<T>(
        &self,
        statement: Option<&dyn Interrupt>,
        table: TableId,
        mut call: impl FnMut() -> Result<T, CallError>,
    ) -> Result<T, NoAnswer> {
        for tries in 0..TRIES_MAX {
            if let Err(interrupted) = statement.map_or(Ok(()), Interrupt::check) {
                return Err(match tries {
                    0 => NoAnswer::NotSent(interrupted.into()),
                    _ => NoAnswer::Unknown(stopped_waiting(table, interrupted)),
                });
            }
            self.calls.fetch_add(1, Relaxed);
            self.wait(statement, table).map_err(NoAnswer::Unknown)?;
            if let Ok(answer) = call() {
                return Ok(answer);
            }
        }
        Err(NoAnswer::Unknown(unavailable(format!("{} failed {TRIES_MAX} times", server_of(table)))))
    }

    /// Waits for the answer of a server.
    fn wait(&self, statement: Option<&dyn Interrupt>, table: TableId) -> Result<(), TableError> {
        let hangs = self.hangs.load(Relaxed);
        let time = if hangs { self.answer_max } else { self.latency };
        if time.is_zero() {
            return Ok(());
        }
        let waiting = self.waiting.fetch_add(1, Relaxed) + 1;
        self.waiting_most.fetch_max(waiting, Relaxed);
        let waited = interrupt::wait(statement, time, |_| Poll::<()>::Pending);
        self.waiting.fetch_sub(1, Relaxed);
        waited.map_err(|interrupted| stopped_waiting(table, interrupted))?;
        match hangs {
            true => Err(unavailable(format!("{} gave no answer within {} ms", server_of(table), time.as_millis()))),
            false => Ok(()),
        }
    }
}

fn stopped_waiting(table: TableId, interrupted: Interrupted) -> TableError {
    TableError::StoppedWaiting { server: server_of(table), interrupted }
}

fn unavailable(text: String) -> TableError {
    StorageError::new(StorageCause::Unavailable, std::io::Error::other(text)).into()
}

/// Changes of a transaction that are not committed yet; `None` is a row that it deleted.
pub(crate) type OwnChanges = HashMap<TableId, BTreeMap<Vec<u8>, Option<Arc<StoredRow>>>>;

/// What calls of a snapshot need.
#[derive(Clone)]
pub(crate) struct Link {
    client: Arc<Client>,
    /// The newest commit that is seen.
    pub(crate) at: u64,
    pub(crate) now_ms: i64,
    /// Changes that are seen besides: they are laid over the rows that servers give.
    own: Arc<OwnChanges>,
}

impl std::ops::Deref for Link {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl Link {
    pub(crate) fn new(client: Arc<Client>, at: u64, now_ms: i64) -> Self {
        Self { client, at, now_ms, own: Arc::default() }
    }

    /// The same rows with these changes.
    pub(crate) fn with(&self, own: OwnChanges) -> Self {
        Self { own: Arc::new(own), ..self.clone() }
    }

    /// Calls the server of a table until there is an answer, for the statement of a scan.
    pub(crate) fn call_in<T>(
        &self,
        context: &ScanContext,
        table: &Table,
        call: impl FnMut() -> Result<T, CallError>,
    ) -> Result<T, TableError> {
        Ok(self.client.call_for(Some(context.statement()), table.def().id, call)?)
    }

    pub(crate) fn row(&self, table: &Table, key: &[u8]) -> Result<Option<Arc<StoredRow>>, TableError> {
        let id = table.def().id;
        let row = match self.own(table).and_then(|own| own.get(key)) {
            Some(own) => own.clone(),
            None => self.client.call(id, || self.cluster.get(id, key, self.at))?,
        };
        Ok(row.filter(|row| self.is_alive(table, row)))
    }

    /// The rows of some keys, which differ, in key order: one call for each region that has some of them. Rows that are not there are left out.
    pub(crate) fn rows(
        &self,
        table: &Table,
        keys: &[Vec<u8>],
        context: &ScanContext,
    ) -> Result<BTreeMap<Vec<u8>, Arc<StoredRow>>, TableError> {
        let own = |key: &Vec<u8>| self.own(table).and_then(|own| own.get(key));
        let mut left: Vec<&Vec<u8>> = keys.iter().filter(|key| own(key).is_none()).collect();
        left.sort_unstable();
        let of_own = keys.iter().filter_map(|key| Some((key.clone(), own(key)?.clone()?)));
        let mut rows: BTreeMap<_, _> = of_own.collect();
        let mut left = &left[..];
        while let Some(first) = left.first() {
            let (count, page) = self.call_in(context, table, || {
                let region = self.cluster.locate(table.def().id, Some(first), Direction::Forward);
                let is_in_region = |key: &&Vec<u8>| region.end.as_ref().is_none_or(|end| *key < end);
                let count = left.partition_point(is_in_region);
                let of_region = left.get(..count).unwrap_or_default();
                Ok((count, self.cluster.rows(&region, of_region, self.at)?))
            })?;
            rows.extend(page);
            left = left.get(count..).unwrap_or_default();
        }
        rows.retain(|_, row| self.is_alive(table, row));
        Ok(rows)
    }

    fn own(&self, table: &Table) -> Option<&BTreeMap<Vec<u8>, Option<Arc<StoredRow>>>> {
        self.own.get(&table.def().id)
    }

    /// The own changes of the keys from `start` to `end`.
    pub(crate) fn own_between(
        &self,
        table: &Table,
        start: &[u8],
        end: Option<&[u8]>,
    ) -> impl Iterator<Item = (&Vec<u8>, &Option<Arc<StoredRow>>)> {
        let own = self.own(table).filter(|_| end.is_none_or(|end| start < end));
        let end = end.map_or(Bound::Unbounded, Bound::Excluded);
        own.into_iter().flat_map(move |own| own.range::<[u8], _>((Bound::Included(start), end)))
    }

    /// Whether a row has not expired at the snapshot's time.
    pub(crate) fn is_alive(&self, table: &Table, row: &StoredRow) -> bool {
        table.expired_ms(self.now_ms).is_none_or(|limit| row.written_ms > limit)
    }
}
