//! The two kinds of registries.

use std::fmt;

use tokio::time::Instant;

use super::rpc;
use super::wanted::Wanted;
use super::zookeeper;
use crate::address::{Address, AddressError};
use crate::connection::Servers;
use crate::error::Error;

/// Besides the servers that the caller named, the client asks five at most that it has met.
const SERVERS_MET_MAX: usize = 5;

/// Where the client asks for the places of `hbase:meta` and of the active master.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Registry {
    /// Masters and region servers of HBase 2.5 and newer. Some that live are enough; masters should be among them, because they
    /// live longest.
    Servers(Vec<Address>),
    /// The quorum of ZooKeeper, and the node under which the cluster keeps its own, `/hbase` by default.
    ZooKeeper {
        /// The servers of the quorum.
        quorum: Vec<Address>,
        /// The node of the cluster.
        root: String,
    },
}

impl Registry {
    /// Masters or region servers, each as `HOST:PORT`.
    ///
    /// # Errors
    /// [`AddressError`]. Calls fail at once if there are no servers.
    pub fn servers<'t>(servers: impl IntoIterator<Item = &'t str>) -> Result<Self, AddressError> {
        Ok(Self::Servers(servers.into_iter().map(str::parse).collect::<Result<_, _>>()?))
    }

    /// A quorum of ZooKeeper, each server as `HOST:PORT`, with the node `/hbase`.
    ///
    /// # Errors
    /// [`AddressError`].
    pub fn zookeeper<'t>(quorum: impl IntoIterator<Item = &'t str>) -> Result<Self, AddressError> {
        let quorum = quorum.into_iter().map(str::parse).collect::<Result<_, _>>()?;
        Ok(Self::ZooKeeper { quorum, root: "/hbase".to_owned() })
    }

    /// The server that has `hbase:meta`.
    ///
    /// # Errors
    /// [`Error::Registry`] with the failures of all servers that were asked.
    pub(crate) async fn meta_server(&self, servers: &Servers, until: Instant) -> Result<Address, Error> {
        self.find(servers, Wanted::Meta, until).await
    }

    /// The active master.
    ///
    /// # Errors
    /// [`Error::Registry`] with the failures of all servers that were asked.
    pub(crate) async fn master(&self, servers: &Servers, until: Instant) -> Result<Address, Error> {
        self.find(servers, Wanted::Master, until).await
    }

    /// What to look at if no server answers.
    fn advice(&self) -> &'static str {
        match self {
            Self::Servers(_) => {
                "are these the ports of calls (16000 of masters, 16020 of region servers) of HBase 2.5 or newer?"
            }
            Self::ZooKeeper { .. } => "are these the ports of ZooKeeper (2181)?",
        }
    }

    /// Asks one server after the other, beginning with any of those that the caller named. Every region server is a registry: those
    /// that the client has met are asked if the others are gone.
    async fn find(&self, servers: &Servers, wanted: Wanted, until: Instant) -> Result<Address, Error> {
        let (Self::Servers(named) | Self::ZooKeeper { quorum: named, .. }) = self;
        let mut all = named.clone();
        fastrand::shuffle(&mut all);
        if let Self::Servers(_) = self {
            let met = servers.region_servers().into_iter().filter(|server| !named.contains(server));
            all.extend(met.take(SERVERS_MET_MAX));
        }
        if all.is_empty() {
            return Err(Error::Unsupported { reason: "the registry has no servers: give HOST:PORT of one at least" });
        }
        let mut reasons = Vec::new();
        let mut is_reached = false;
        for (asked, address) in all.iter().enumerate() {
            // A server that hangs leaves time for those after it.
            let now = Instant::now();
            let until = now + until.saturating_duration_since(now) / (all.len() - asked) as u32;
            let found = match self {
                Self::Servers(_) => rpc::find(servers, address, wanted, until).await,
                Self::ZooKeeper { root, .. } => zookeeper::find(address, root, wanted, until).await,
            };
            match found {
                Ok(Some(place)) => return Ok(place),
                Ok(None) => {
                    is_reached = true;
                    reasons.push(format!("{address} does not know it"));
                }
                Err(error) => {
                    is_reached |= matches!(error, Error::Server(_) | Error::NoAnswer { sent: true, .. });
                    reasons.push(error.to_string());
                }
            }
        }
        // Who has met servers of the cluster has the right ports.
        if !is_reached && servers.region_servers().is_empty() {
            reasons.push(self.advice().to_owned());
        }
        let reason = reasons.join("; ");
        Err(Error::Registry { registry: self.to_string(), wanted: wanted.name(), reason })
    }
}

impl fmt::Display for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Servers(all) | Self::ZooKeeper { quorum: all, .. }) = self;
        let all: Vec<String> = all.iter().map(Address::to_string).collect();
        write!(f, "{}", all.join(","))
    }
}
