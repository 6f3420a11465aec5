//! A schedule: one random change after the other.

use bytes::Bytes;

use super::kinds::{Kind, fault};
use super::random::Random;
use crate::cluster::Cluster;
use crate::exception::Exception;
use crate::fault::Fault;
use crate::name::RegionId;
use crate::server_id::ServerId;

/// What a step did.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A region was split, or its split begun.
    SplitBegun(RegionId),
    /// Daughters or a merged region were opened.
    Opened(Vec<RegionId>),
    /// Parents of splits were cleaned away.
    Cleaned,
    /// A merge was begun.
    MergeBegun(RegionId),
    /// A region was closed for a while.
    Closed(RegionId),
    /// The connections of a server were cut.
    ConnectionsCut(ServerId),
    /// A region moved to a server.
    Moved(RegionId, ServerId),
    /// `hbase:meta` moved to a server.
    MetaMoved(ServerId),
    /// `hbase:meta` was told of moves, and regions that were opening are open.
    CaughtUp,
    /// A server was killed.
    Killed(ServerId),
    /// The regions of dead servers were opened elsewhere.
    Recovered,
    /// A new server was started.
    Started(ServerId),
    /// The leases of all scanners ended.
    LeasesEnded,
    /// A fault waits for its call.
    Armed(Fault),
    /// The change that was chosen was not possible.
    Nothing,
}

/// A random schedule of one table's regions, by a seed. A test takes its steps while clients work, and [`Schedule::settle`] at the end.
///
/// The same seed gives the same steps, if the rows of the table are the same at each of them.
#[derive(Debug)]
pub struct Schedule {
    table: String,
    kinds: Vec<Kind>,
    random: Random,
    /// Regions that have no server yet: daughters of a split, or a merged one.
    begun: Vec<Vec<RegionId>>,
    servers_max: usize,
}

impl Schedule {
    /// A schedule of these kinds of changes.
    pub fn new(seed: u64, table: &str, kinds: &[Kind]) -> Self {
        Self {
            table: table.to_owned(),
            kinds: kinds.to_vec(),
            random: Random::new(seed),
            begun: Vec::new(),
            servers_max: 4,
        }
    }

    /// Does one thing. What turns out to be impossible is [`Event::Nothing`].
    pub fn step(&mut self, cluster: &Cluster) -> Event {
        let Some(kind) = self.random.one(&self.kinds.clone()).copied() else { return Event::Nothing };
        let done = match kind {
            Kind::Split => self.split(cluster),
            Kind::Merge => self.merge(cluster),
            Kind::Move => self.relocate(cluster),
            Kind::Kill => self.kill(cluster),
            Kind::CutAfter if self.random.below(4) == 0 => self.cut(cluster),
            Kind::Lease => {
                cluster.end_leases();
                Ok(Event::LeasesEnded)
            }
            _ => Ok(self.arm(kind, cluster)),
        };
        done.unwrap_or(Event::Nothing)
    }

    /// Finishes what was begun: all regions are open at servers that live, `hbase:meta` knows, and no fault waits.
    ///
    /// # Errors
    /// `IOException` for a new server that gets no socket.
    pub fn settle(&mut self, cluster: &Cluster) -> Result<(), Exception> {
        cluster.clear_faults();
        cluster.release();
        if cluster.servers().is_empty() {
            cluster.start_server().map_err(|error| Exception::io(error.to_string()))?;
        }
        for regions in std::mem::take(&mut self.begun) {
            cluster.open_regions(&regions)?;
        }
        cluster.recover()?;
        cluster.catch_up()?;
        cluster.clean_catalog(&self.table);
        Ok(())
    }

    /// A key to act at: that of a row, or one near it.
    fn key(&mut self, cluster: &Cluster) -> Bytes {
        let at = self.random.below(cluster.count_rows(&self.table));
        let mut key = cluster.row_key(&self.table, at).unwrap_or_else(|| Bytes::from_static(b"m")).to_vec();
        match self.random.below(4) {
            0 => key.push(0),
            1 => key.truncate(key.len().div_ceil(2)),
            _ => {}
        }
        key.into()
    }

    /// Opens regions that have no server: the oldest ones.
    fn open(&mut self, cluster: &Cluster) -> Result<Event, Exception> {
        let regions = self.begun.remove(0);
        cluster.open_regions(&regions)?;
        Ok(Event::Opened(regions))
    }

    fn split(&mut self, cluster: &Cluster) -> Result<Event, Exception> {
        match self.random.below(3) {
            0 if !self.begun.is_empty() => self.open(cluster),
            1 if self.begun.is_empty() => {
                cluster.clean_catalog(&self.table);
                Ok(Event::Cleaned)
            }
            _ => {
                let key = self.key(cluster);
                let [parent, first, second] = cluster.begin_split(&self.table, &key)?;
                if self.random.below(2) == 0 {
                    cluster.open_regions(&[first, second])?;
                } else {
                    self.begun.push(vec![first, second]);
                }
                Ok(Event::SplitBegun(parent))
            }
        }
    }

    fn merge(&mut self, cluster: &Cluster) -> Result<Event, Exception> {
        if !self.begun.is_empty() && self.random.below(2) == 0 {
            return self.open(cluster);
        }
        let key = self.key(cluster);
        let merged = cluster.begin_merge(&self.table, &key)?;
        if self.random.below(2) == 0 {
            cluster.open_regions(std::slice::from_ref(&merged))?;
        } else {
            self.begun.push(vec![merged.clone()]);
        }
        Ok(Event::MergeBegun(merged))
    }

    fn relocate(&mut self, cluster: &Cluster) -> Result<Event, Exception> {
        let Some(to) = self.random.one(&cluster.servers()).copied() else { return Ok(Event::Nothing) };
        let key = self.key(cluster);
        match self.random.below(8) {
            0 if !self.begun.is_empty() => return self.open(cluster),
            0 => {
                let closed = cluster.close_region(&self.table, &key)?;
                self.begun.push(vec![closed.clone()]);
                return Ok(Event::Closed(closed));
            }
            1 => {
                cluster.catch_up()?;
                return Ok(Event::CaughtUp);
            }
            2 => {
                cluster.move_meta(to)?;
                return Ok(Event::MetaMoved(to));
            }
            3 => cluster.begin_move(&self.table, &key, to)?,
            4 => cluster.move_unseen(&self.table, &key, to)?,
            _ => cluster.move_region(&self.table, &key, to)?,
        }
        Ok(Event::Moved(cluster.region_of(&self.table, &key)?, to))
    }

    fn kill(&mut self, cluster: &Cluster) -> Result<Event, Exception> {
        let alive = cluster.servers();
        match self.random.below(3) {
            0 if alive.len() > 1 => {
                let Some(server) = self.random.one(&alive).copied() else { return Ok(Event::Nothing) };
                cluster.kill(server)?;
                Ok(Event::Killed(server))
            }
            1 if alive.len() < self.servers_max => {
                let started = cluster.start_server().map_err(|error| Exception::io(error.to_string()))?;
                Ok(Event::Started(started))
            }
            _ => {
                cluster.recover()?;
                Ok(Event::Recovered)
            }
        }
    }

    fn cut(&mut self, cluster: &Cluster) -> Result<Event, Exception> {
        let Some(server) = self.random.one(&cluster.servers()).copied() else { return Ok(Event::Nothing) };
        cluster.cut_connections(server)?;
        Ok(Event::ConnectionsCut(server))
    }

    fn arm(&mut self, kind: Kind, cluster: &Cluster) -> Event {
        // Faults that find no call do not pile up.
        if cluster.waiting_faults() > 3 {
            return Event::Nothing;
        }
        let Some((matches, fault)) = fault(kind, &self.table, &mut self.random) else { return Event::Nothing };
        cluster.on_call(1, matches, fault.clone());
        Event::Armed(fault)
    }
}
