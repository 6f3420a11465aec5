//! What a program chooses when it opens a cluster, and the text that names one.

use std::time::Duration;

use hbase_client::{Address, Registry};

use crate::HbaseError;

/// The port of ZooKeeper, where an address has none.
const ZOOKEEPER_PORT: u16 = 2181;
/// What may follow an address.
const BY_SERVERS: &str = "registry=servers";

/// What a program chooses when it opens a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// The user in whose name servers are asked; they believe it. `None` is that of the environment.
    pub user: Option<String>,
    /// How long a call of a server is waited for, if the statement may go on longer. A scan makes many calls.
    pub call_time: Duration,
    /// Most regions that one scan reads side by side.
    pub regions_at_once: usize,
    /// After how long a definition is looked at again: a change that another client makes is noticed so late at most by a statement that begins after it.
    pub definitions_checked_every: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            user: None,
            call_time: Duration::from_secs(60),
            regions_at_once: 10,
            definitions_checked_every: Duration::from_secs(1),
        }
    }
}

/// The registry that an address names: `HOST[:PORT],..[/NODE]` servers of ZooKeeper with the node of the cluster, `/hbase` if there is none; or
/// `HOST:PORT,..?registry=servers` masters and region servers.
///
/// # Errors
/// [`HbaseError::Address`].
pub(crate) fn registry(text: &str) -> Result<Registry, HbaseError> {
    let wrong = |reason: String| HbaseError::Address { address: text.to_owned(), reason };
    let (hosts, query) = text.split_once('?').map_or((text, None), |(hosts, query)| (hosts, Some(query)));
    let (hosts, node) = hosts.split_once('/').map_or((hosts, None), |(hosts, node)| (hosts, Some(node)));
    let hosts: Vec<&str> = hosts.split(',').map(str::trim).filter(|host| !host.is_empty()).collect();
    if hosts.is_empty() {
        return Err(wrong("it has no host".to_owned()));
    }
    match (query, node.filter(|node| !node.is_empty())) {
        (Some(BY_SERVERS), Some(_)) => Err(wrong("only ZooKeeper has nodes".to_owned())),
        (Some(BY_SERVERS), None) => Registry::servers(hosts).map_err(|error| wrong(error.to_string())),
        (Some(query), _) => Err(wrong(format!("after ? it has {query} and not {BY_SERVERS}"))),
        (None, node) => {
            let quorum = hosts.into_iter().map(|host| with_port(host).map_err(&wrong)).collect::<Result<_, _>>()?;
            Ok(Registry::ZooKeeper { quorum, root: format!("/{}", node.unwrap_or("hbase")) })
        }
    }
}

fn with_port(host: &str) -> Result<Address, String> {
    let Some((host, port)) = host.rsplit_once(':') else { return Ok(Address::new(host, ZOOKEEPER_PORT)) };
    match port.parse() {
        Ok(port) if !host.is_empty() => Ok(Address::new(host, port)),
        _ => Err(format!("{host}:{port} is not HOST:PORT")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_name_a_registry() {
        let zookeeper = |quorum: &[(&str, u16)], root: &str| Registry::ZooKeeper {
            quorum: quorum.iter().map(|(host, port)| Address::new(*host, *port)).collect(),
            root: root.to_owned(),
        };
        assert_eq!(registry("zk1,zk2:2182").unwrap(), zookeeper(&[("zk1", 2181), ("zk2", 2182)], "/hbase"));
        assert_eq!(registry("zk/hbase-secure").unwrap(), zookeeper(&[("zk", 2181)], "/hbase-secure"));
        assert_eq!(registry("zk/").unwrap(), zookeeper(&[("zk", 2181)], "/hbase"));
        assert_eq!(
            registry("m:16000,r:16020?registry=servers").unwrap(),
            Registry::servers(["m:16000", "r:16020"]).unwrap()
        );
        for wrong in ["", "/hbase", "zk:port", ":2181", "m?registry=servers", "m:1/hbase?registry=servers", "m:1?x=y"] {
            assert!(matches!(registry(wrong), Err(HbaseError::Address { .. })), "{wrong}");
        }
    }
}
