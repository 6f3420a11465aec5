//! The client's side of a call: it is tried again until there is an answer.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use saltwing_access::{AtomicScope, Clock, Direction, ScanContext, Table, TableError};
use saltwing_types::TableId;

use crate::chance::Chance;
use crate::cluster::{CallError, Cluster, StoredRow};

/// The store's name.
pub(crate) const NAME: &str = "fake-remote";

/// What all calls of a store share.
pub(crate) struct Client {
    pub(crate) cluster: Cluster,
    pub(crate) atomic: AtomicScope,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) chance: Chance,
    /// One in so many commits without an answer is given up; 0 is none.
    pub(crate) unknown: u32,
    pub(crate) latency: Duration,
    pub(crate) commits: AtomicU64,
    /// Calls so far.
    pub(crate) calls: AtomicU64,
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

    /// Calls until there is an answer.
    pub(crate) fn retried<T>(&self, mut call: impl FnMut() -> Result<T, CallError>) -> T {
        loop {
            if let Ok(answer) = self.called(&mut call) {
                return answer;
            }
        }
    }

    /// Calls once.
    fn called<T>(&self, call: &mut impl FnMut() -> Result<T, CallError>) -> Result<T, CallError> {
        self.calls.fetch_add(1, Relaxed);
        if !self.latency.is_zero() {
            std::thread::sleep(self.latency);
        }
        call()
    }
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

    /// Calls until there is an answer, or the statement must stop.
    pub(crate) fn call<T>(
        &self,
        context: &ScanContext,
        mut call: impl FnMut() -> Result<T, CallError>,
    ) -> Result<T, TableError> {
        loop {
            context.check()?;
            if let Ok(answer) = self.client.called(&mut call) {
                return Ok(answer);
            }
        }
    }

    pub(crate) fn row(&self, table: &Table, key: &[u8]) -> Option<Arc<StoredRow>> {
        let row = match self.own(table).and_then(|own| own.get(key)) {
            Some(own) => own.clone(),
            None => self.client.retried(|| self.cluster.get(table.def().id, key, self.at)),
        };
        row.filter(|row| self.is_alive(table, row))
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
            let (count, page) = self.call(context, || {
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
