//! An exception of a server.

use std::fmt;
use std::time::Duration;

use super::advice::advice;
use super::reaction::{NOT_APPLIED, REACTIONS, Reaction};
use super::text::{moved_place, parse_wait, shortened};
use crate::address::Address;
use crate::proto::{ExceptionResponse, NameBytesPair};

/// An exception of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerError {
    /// The server that answered.
    pub server: Address,
    /// The method that was called.
    pub method: &'static str,
    /// The table that was asked; `None` for calls of the master, which name it in their texts.
    pub table: Option<String>,
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
            table: None,
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
            table: None,
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
        // The whole descriptor of a table follows the name of a missing family.
        let line = line.split_once(", {").map_or(line, |(before, _)| before);
        write!(f, "{} ", self.method)?;
        if let Some(table) = &self.table {
            write!(f, "of the table {table} ")?;
        }
        write!(f, "at {} failed: {}: {line}", self.server, self.short_class())?;
        match advice(self.short_class(), line) {
            Some(advice) => write!(f, "; {advice}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ServerError {}

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
    fn a_text_says_what_where_and_what_to_do() {
        let mut error = error("regionserver.NoSuchColumnFamilyException", true);
        error.text = "org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException: Column family g does not exist in region \
                      t,,1. in table 't', {NAME => 'f'}\n\tat java"
            .into();
        error.table = Some("t".into());
        assert_eq!(
            error.to_string(),
            "Get of the table t at rs1:16020 failed: NoSuchColumnFamilyException: Column family g does not exist in region t,,1. \
             in table 't'; Admin::descriptor lists the families of the table"
        );
        error.class = "org.apache.hadoop.hbase.DoNotRetryIOException".into();
        error.text = "Cell[..] with size 20971549 exceeds limit of 10485760 bytes".into();
        error.table = None;
        assert!(error.to_string().starts_with("Get at rs1:16020 failed: DoNotRetryIOException: Cell"));
        assert!(error.to_string().contains("10485760 bytes; divide the value"));
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
