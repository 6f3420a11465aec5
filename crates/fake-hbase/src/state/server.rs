//! Region servers.

use std::collections::{HashMap, VecDeque};
use std::time::Instant;

use bytes::Bytes;
use hbase_client::cell::Cell;
use hbase_client::proto::ServerName;
use tokio::sync::watch;

use crate::scanner::Scanner;

/// A scanner that a client holds.
#[derive(Debug)]
pub(crate) struct OpenScanner {
    pub(crate) scanner: Scanner,
    /// The rows that a coprocessor has made of those of the scanner, in place of them.
    pub(crate) computed: Option<VecDeque<Vec<Cell>>>,
    /// What the client asks for: the most bytes of an answer, and cursors in heartbeats.
    pub(crate) bytes_max: u64,
    pub(crate) needs_cursor: bool,
    /// The name of its region, and when that was opened: the scanner ends if the region is opened anew.
    pub(crate) region: Bytes,
    pub(crate) opened_at: u64,
    pub(crate) next_call_seq: u64,
    /// The row of which the last answer had a part only.
    pub(crate) partial_row: Option<Bytes>,
    pub(crate) lease_ends: Instant,
}

/// A process: a master or a region server.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) name: ServerName,
    /// Ends its listener and its connections when it is set to false, or dropped.
    pub(crate) lives: watch::Sender<bool>,
    /// Ends the connections, if it is set again.
    pub(crate) cuts: watch::Sender<()>,
    pub(crate) scanners: HashMap<u64, OpenScanner>,
    /// Scanners that ended as they should, with the number of the call that would have been the next.
    pub(crate) closed_scanners: HashMap<u64, u64>,
    /// Increments and appends by group and nonce, with what they answered.
    pub(crate) nonces: HashMap<(u64, u64), Vec<Cell>>,
    /// Calls that have no answer yet.
    pub(crate) in_flight: usize,
}

impl Server {
    pub(crate) fn new(port: u16, start_code: u64) -> Self {
        let name =
            ServerName { host_name: "127.0.0.1".to_owned(), port: Some(u32::from(port)), start_code: Some(start_code) };
        let (lives, _) = watch::channel(true);
        let (cuts, _) = watch::channel(());
        Self {
            name,
            lives,
            cuts,
            scanners: HashMap::new(),
            closed_scanners: HashMap::new(),
            nonces: HashMap::new(),
            in_flight: 0,
        }
    }

    pub(crate) fn is_alive(&self) -> bool {
        *self.lives.borrow()
    }

    pub(crate) fn port(&self) -> u16 {
        self.name.port.and_then(|port| u16::try_from(port).ok()).unwrap_or(0)
    }

    pub(crate) fn start_code(&self) -> u64 {
        self.name.start_code.unwrap_or(0)
    }

    /// `host:port`
    pub(crate) fn address(&self) -> String {
        format!("{}:{}", self.name.host_name, self.port())
    }

    /// `host,port,start code`
    pub(crate) fn text(&self) -> String {
        format!("{},{},{}", self.name.host_name, self.port(), self.start_code())
    }
}
