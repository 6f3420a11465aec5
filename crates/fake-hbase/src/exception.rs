//! Exceptions of HBase, as a client sees them.

use std::fmt;

use bytes::Bytes;
use hbase_client::proto::{ExceptionResponse, NameBytesPair};

/// An exception: a Java class and a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exception {
    /// The Java class.
    pub class: String,
    /// What it says, without its class.
    pub text: String,
    /// Whether the class is one of those that HBase's own client does not try again.
    pub do_not_retry: bool,
    /// Whether the server says that it has too much to do.
    pub server_overloaded: bool,
    /// Where a moved region is now.
    pub place: Option<(String, u16)>,
}

impl std::error::Error for Exception {}

impl fmt::Display for Exception {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.class, self.text)
    }
}

impl Exception {
    /// An exception of any class below `org.apache.hadoop.hbase`.
    pub fn new(class: &str, text: impl Into<String>) -> Self {
        Self {
            class: format!("org.apache.hadoop.hbase.{class}"),
            text: text.into(),
            do_not_retry: false,
            server_overloaded: false,
            place: None,
        }
    }

    /// One that is not to be tried again.
    pub fn fatal(class: &str, text: impl Into<String>) -> Self {
        Self { do_not_retry: true, ..Self::new(class, text) }
    }

    /// The server has no such region.
    pub fn not_serving_region(region: &str) -> Self {
        Self::new("NotServingRegionException", format!("{region} is not online on this server"))
    }

    /// The region went to another server. In a batch only the text has the place.
    pub fn region_moved(host: &str, port: u16, start_code: u64, seq_num: u64) -> Self {
        let text = format!(
            "Region moved to: hostname={host} port={port} startCode={start_code}. As of locationSeqNum={seq_num}."
        );
        Self { place: Some((host.to_owned(), port)), ..Self::new("exceptions.RegionMovedException", text) }
    }

    /// The region is about to be there.
    pub fn region_opening(region: &str) -> Self {
        Self::new("exceptions.RegionOpeningException", format!("Region {region} is opening on this server"))
    }

    /// The region can't take writes for a while.
    pub fn region_too_busy() -> Self {
        Self::new("RegionTooBusyException", "Over memstore limit=512.0 M")
    }

    /// The queue of calls is full.
    pub fn call_queue_too_big() -> Self {
        let text = "Call queue is full on this server, too many items queued ?";
        Self { server_overloaded: true, ..Self::new("CallQueueTooBigException", text) }
    }

    /// The answer of a batch is too large: this action is to be sent again at once.
    pub fn multi_action_result_too_large() -> Self {
        Self::new("MultiActionResultTooLarge", "Max size exceeded CellSize: 1 BlockSize: 1")
    }

    /// The server ends.
    pub fn server_stopped() -> Self {
        Self::new("regionserver.RegionServerStoppedException", "Server is stopping")
    }

    /// The server ends, and not because it was asked to.
    pub fn server_aborted() -> Self {
        Self::new("regionserver.RegionServerAbortedException", "Server is aborting")
    }

    /// The server begins.
    pub fn server_not_running_yet() -> Self {
        Self::new("ipc.ServerNotRunningYetException", "Server is not running yet")
    }

    /// The master begins.
    pub fn please_hold() -> Self {
        Self::new("PleaseHoldException", "Master is initializing")
    }

    /// A quota is used up; the text says for how long.
    pub fn rpc_throttling(wait_ms: u64) -> Self {
        let (seconds, ms) = (wait_ms / 1000, wait_ms % 1000);
        let wait = if seconds > 0 { format!("{seconds}sec, {ms}ms") } else { format!("{ms}ms") };
        Self::new("quotas.RpcThrottlingException", format!("number of requests exceeded - wait {wait}"))
    }

    /// The server has no such scanner.
    pub fn unknown_scanner(id: u64) -> Self {
        Self::fatal("UnknownScannerException", format!("Unknown scanner '{id}'. This can happen after its lease"))
    }

    /// A call of a scanner has another number than the next one.
    pub fn out_of_order_scanner_next(text: impl Into<String>) -> Self {
        Self::fatal("exceptions.OutOfOrderScannerNextException", text)
    }

    /// The scanner failed within the server.
    pub fn scanner_reset() -> Self {
        Self::fatal("exceptions.ScannerResetException", "Scanner is closed on the server-side")
    }

    /// A row to get lies outside of its region.
    pub fn wrong_region(text: impl Into<String>) -> Self {
        Self::new("regionserver.WrongRegionException", text)
    }

    /// A mutation is not sane; also one of a row that lies outside of its region.
    pub fn failed_sanity_check(text: impl Into<String>) -> Self {
        Self::fatal("exceptions.FailedSanityCheckException", text)
    }

    /// The table has no such family.
    pub fn no_such_column_family(family: &[u8], table: &str) -> Self {
        let text = format!("Column family {} does not exist in table '{table}'", family.escape_ascii());
        Self::fatal("regionserver.NoSuchColumnFamilyException", text)
    }

    /// There is no such table.
    pub fn table_not_found(table: &str) -> Self {
        Self::fatal("TableNotFoundException", table)
    }

    /// The user may not do this.
    pub fn access_denied() -> Self {
        Self::fatal("security.AccessDeniedException", "Insufficient permissions")
    }

    /// It will not work the next time either.
    pub fn do_not_retry(text: impl Into<String>) -> Self {
        Self::fatal("DoNotRetryIOException", text)
    }

    /// Java's `IOException`, which says nothing about another try.
    pub fn io(text: impl Into<String>) -> Self {
        Self { class: "java.io.IOException".to_owned(), ..Self::new("", text) }
    }

    /// What a stack trace begins with.
    pub(crate) fn stack_trace(&self) -> String {
        format!("{}: {}\n\tat java.base/java.lang.Thread.run(Thread.java:840)\n", self.class, self.text)
    }

    pub(crate) fn response(&self) -> ExceptionResponse {
        ExceptionResponse {
            exception_class_name: Some(self.class.clone()),
            stack_trace: Some(self.stack_trace()),
            hostname: self.place.as_ref().map(|place| place.0.clone()),
            port: self.place.as_ref().map(|place| i32::from(place.1)),
            do_not_retry: Some(self.do_not_retry),
            server_overloaded: Some(self.server_overloaded),
        }
    }

    pub(crate) fn pair(&self) -> NameBytesPair {
        NameBytesPair { name: self.class.clone(), value: Some(Bytes::from(self.stack_trace())) }
    }
}
