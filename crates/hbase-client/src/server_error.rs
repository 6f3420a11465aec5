//! Exceptions of servers, and what they ask of the client.

use std::fmt;
use std::time::Duration;

use crate::address::Address;
use crate::proto::{ExceptionResponse, NameBytesPair};

/// The most bytes of a server's text that an error keeps: a stack trace may be long.
const TEXT_BYTES_MAX: usize = 2048;

/// What an exception asks of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// The region is not there: look it up again.
    LookUpAgain,
    /// The server is busy or not ready: wait, then ask the same place.
    Wait,
    /// The server stops or is not yet up: connect and look up again.
    Reconnect,
    /// The scanner is gone: open one after the last complete row.
    OpenScannerAgain,
    /// The exception has no known class, and does not forbid another try.
    TryAgain,
    /// Another try fails, too.
    Final,
}

/// The classes that decide, without their packages. A class of this list decides before the flag `do_not_retry`: servers set it
/// on exceptions that another look-up or another scanner cures.
const REACTIONS: &[(&str, Reaction)] = &[
    ("NotServingRegionException", Reaction::LookUpAgain),
    ("RegionMovedException", Reaction::LookUpAgain),
    ("WrongRegionException", Reaction::LookUpAgain),
    ("RegionOfflineException", Reaction::LookUpAgain),
    ("RegionServerStoppedException", Reaction::Reconnect),
    ("RegionServerAbortedException", Reaction::Reconnect),
    ("ServerNotRunningYetException", Reaction::Reconnect),
    ("ServerNotRunningException", Reaction::Reconnect),
    ("StoppedRpcClientException", Reaction::Reconnect),
    ("MasterNotRunningException", Reaction::Reconnect),
    ("NotActiveMasterException", Reaction::Reconnect),
    ("CallQueueTooBigException", Reaction::Wait),
    ("CallDroppedException", Reaction::Wait),
    ("RegionOpeningException", Reaction::Wait),
    ("RegionTooBusyException", Reaction::Wait),
    ("PleaseHoldException", Reaction::Wait),
    ("MasterNotInitializedException", Reaction::Wait),
    ("RpcThrottlingException", Reaction::Wait),
    ("UnknownScannerException", Reaction::OpenScannerAgain),
    ("OutOfOrderScannerNextException", Reaction::OpenScannerAgain),
    ("ScannerResetException", Reaction::OpenScannerAgain),
    ("LeaseException", Reaction::OpenScannerAgain),
    ("NoSuchColumnFamilyException", Reaction::Final),
    ("TableNotFoundException", Reaction::Final),
    ("TableNotEnabledException", Reaction::Final),
    ("TableNotDisabledException", Reaction::Final),
    ("TableExistsException", Reaction::Final),
    ("AccessDeniedException", Reaction::Final),
    ("FailedSanityCheckException", Reaction::Final),
    ("DoNotRetryIOException", Reaction::Final),
    ("UnknownRegionException", Reaction::Final),
];

/// The classes that a server throws before it changes anything, beside those of [`REACTIONS`] that ask for another place or time.
const NOT_APPLIED: &[&str] = &[
    "NoSuchColumnFamilyException",
    "TableNotFoundException",
    "TableNotEnabledException",
    "AccessDeniedException",
    "FailedSanityCheckException",
];

/// An exception of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerError {
    /// The server that answered.
    pub server: Address,
    /// The method that was called.
    pub method: &'static str,
    /// The Java class of the exception.
    pub class: String,
    /// The first lines of the server's text, with a part of its stack.
    pub text: String,
    /// Whether the server says that another try is useless. Classes decide before this flag.
    pub do_not_retry: bool,
    /// Whether the server says that it has too much to do.
    pub overloaded: bool,
    /// Where the region has moved.
    pub moved_to: Option<Address>,
}

impl ServerError {
    /// The exception in the header of a response.
    pub(crate) fn of_response(server: &Address, method: &'static str, exception: ExceptionResponse) -> Self {
        let moved_to = exception.hostname.as_deref().filter(|host| !host.is_empty()).and_then(|host| {
            let port = u16::try_from(exception.port?).ok().filter(|port| *port != 0)?;
            Some(Address::new(host, port))
        });
        Self {
            server: server.clone(),
            method,
            class: exception.exception_class_name.unwrap_or_default(),
            text: shortened(exception.stack_trace.as_deref().unwrap_or_default()),
            do_not_retry: exception.do_not_retry == Some(true),
            overloaded: exception.server_overloaded == Some(true),
            moved_to,
        }
    }

    /// The exception of an action of a Multi, or of a whole region there: the class and the bytes of its text.
    pub(crate) fn of_action(server: &Address, method: &'static str, exception: &NameBytesPair) -> Self {
        let text = String::from_utf8_lossy(exception.value.as_deref().unwrap_or_default()).into_owned();
        let mut error = Self {
            server: server.clone(),
            method,
            class: exception.name.clone(),
            text: shortened(&text),
            do_not_retry: false,
            overloaded: false,
            moved_to: None,
        };
        error.do_not_retry = error.short_class().starts_with("DoNotRetry");
        error.overloaded = error.short_class() == "CallQueueTooBigException";
        error.moved_to = moved_place(&text).filter(|_| error.short_class() == "RegionMovedException");
        error
    }

    /// The class without its package.
    pub fn short_class(&self) -> &str {
        self.class.rsplit(['.', '$']).next().unwrap_or_default()
    }

    /// What the exception asks of the client.
    pub fn reaction(&self) -> Reaction {
        let known = REACTIONS.iter().find(|(class, _)| *class == self.short_class());
        match known {
            Some((_, reaction)) => *reaction,
            None if self.overloaded => Reaction::Wait,
            None if self.do_not_retry => Reaction::Final,
            None => Reaction::TryAgain,
        }
    }

    /// Whether a write that got this exception may have been applied: an exception of an unknown class says nothing of that.
    pub fn may_be_applied(&self) -> bool {
        match self.reaction() {
            Reaction::LookUpAgain | Reaction::Wait | Reaction::Reconnect | Reaction::OpenScannerAgain => false,
            Reaction::Final => !self.do_not_retry && !NOT_APPLIED.contains(&self.short_class()),
            Reaction::TryAgain => true,
        }
    }

    /// How long a server asks to wait that limits the rate of calls.
    pub fn wait(&self) -> Option<Duration> {
        if self.short_class() != "RpcThrottlingException" {
            return None;
        }
        let (_, rest) = self.text.split_once("wait ")?;
        let end = rest.find('\n').unwrap_or(rest.len());
        parse_wait(rest[..end].trim())
    }
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.text.lines().next().unwrap_or_default();
        let line = line.strip_prefix(self.class.as_str()).map_or(line, |rest| rest.trim_start_matches([':', ' ']));
        write!(f, "{} of {} failed: {}: {line}", self.method, self.server, self.short_class())
    }
}

impl std::error::Error for ServerError {}

fn shortened(text: &str) -> String {
    let mut end = text.len().min(TEXT_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}

/// The place in a text such as `Region moved to: hostname=h port=16020 startCode=1.`.
fn moved_place(text: &str) -> Option<Address> {
    let after = |name: &str| {
        let (_, rest) = text.split_once(name)?;
        rest.split([' ', ',', '\n', '.']).next().filter(|part| !part.is_empty())
    };
    let (_, host) = text.split_once("hostname=")?;
    let host = host.split([' ', ',', '\n']).next().filter(|host| !host.is_empty())?;
    Some(Address::new(host, after("port=")?.parse().ok()?))
}

/// A time such as `1mins, 2sec, 10ms` or `2sec, 10ms`; its parts may be missing.
fn parse_wait(text: &str) -> Option<Duration> {
    let mut sum = Duration::ZERO;
    for part in text.split([',', ' ']).filter(|part| !part.is_empty()) {
        let digits = part.find(|c: char| !c.is_ascii_digit())?;
        let number: u64 = part[..digits].parse().ok()?;
        sum += match &part[digits..] {
            "ms" | "ms." => Duration::from_millis(number.min(600_000)),
            "sec" | "secs" => Duration::from_secs(number.min(600)),
            "mins" | "min" => Duration::from_secs(number.min(10) * 60),
            _ => return None,
        };
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(class: &str, do_not_retry: bool) -> ServerError {
        let exception = ExceptionResponse {
            exception_class_name: Some(format!("org.apache.hadoop.hbase.{class}")),
            do_not_retry: Some(do_not_retry),
            ..ExceptionResponse::default()
        };
        ServerError::of_response(&Address::new("rs1", 16020), "Get", exception)
    }

    #[test]
    fn classes_decide_before_the_flag() {
        assert_eq!(error("exceptions.OutOfOrderScannerNextException", true).reaction(), Reaction::OpenScannerAgain);
        assert_eq!(error("NotServingRegionException", true).reaction(), Reaction::LookUpAgain);
        assert_eq!(error("NoSuchColumnFamilyException", false).reaction(), Reaction::Final);
        assert_eq!(error("SomethingNewException", true).reaction(), Reaction::Final);
        assert_eq!(error("SomethingNewException", false).reaction(), Reaction::TryAgain);
        assert_eq!(error("ipc.RpcServer$Odd", true).short_class(), "Odd");
    }

    #[test]
    fn an_unknown_class_may_have_been_applied() {
        assert!(error("SomethingNewException", false).may_be_applied());
        assert!(!error("NotServingRegionException", false).may_be_applied());
        assert!(!error("regionserver.NoSuchColumnFamilyException", true).may_be_applied());
    }

    #[test]
    fn an_action_says_where_its_region_is() {
        let text = "org.apache.hadoop.hbase.exceptions.RegionMovedException: Region moved to: hostname=rs2.example port=16021 startCode=17. As of locationSeqNum=4.";
        let name = "org.apache.hadoop.hbase.exceptions.RegionMovedException".to_owned();
        let pair = NameBytesPair { name, value: Some(text.into()) };
        let error = ServerError::of_action(&Address::new("rs1", 16020), "Multi", &pair);
        assert_eq!(error.moved_to, Some(Address::new("rs2.example", 16021)));
        assert_eq!(error.reaction(), Reaction::LookUpAgain);
    }

    #[test]
    fn the_time_to_wait_is_read() {
        let mut error = error("quotas.RpcThrottlingException", false);
        error.text = "number of requests exceeded - wait 1sec, 20ms".into();
        assert_eq!(error.wait(), Some(Duration::from_millis(1020)));
        error.text = "wait forever".into();
        assert_eq!(error.wait(), None);
    }
}
