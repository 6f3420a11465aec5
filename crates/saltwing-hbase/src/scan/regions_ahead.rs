//! The look-up of a table's regions, beside the reader. The client knows them after the first time.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use hbase_client::{Error as CallError, Region};
use saltwing_rowkey::KeyRange;
use tokio::task::JoinHandle;

use super::reading::{Reading, while_running};
use crate::HbaseError;

/// The bounds of a table's regions, which are looked up.
pub(super) struct RegionsAhead(JoinHandle<Result<Vec<Region>, HbaseError>>);

impl Drop for RegionsAhead {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl RegionsAhead {
    pub(super) fn start(reading: &Reading) -> Self {
        let (table, statement) = (reading.table.clone(), reading.context.clone());
        let context = reading.cluster.call_context(Some(statement.statement()));
        let server = format!("a server that knows the regions of {}", table.name());
        Self(reading.cluster.spawn(async move {
            let began = Instant::now();
            match while_running(&statement, table.regions(&context)).await {
                Some(regions) => Ok(regions?),
                None => Err(HbaseError::NoAnswer { server, ms: began.elapsed().as_millis() }),
            }
        }))
    }

    /// The bounds, ascending and without a key in two of them.
    pub(super) fn poll(&mut self, task: &mut Context<'_>) -> Poll<Result<Vec<KeyRange>, HbaseError>> {
        Pin::new(&mut self.0).poll(task).map(|ended| {
            let regions = ended.map_err(|error| HbaseError::from(CallError::Task { reason: error.to_string() }))??;
            Ok(bounds(regions.iter().map(|region| region.end().to_vec())))
        })
    }
}

/// The ranges between these ends, of which an empty one is that of the table. Where a region begins says nothing: it may have been merged with one
/// before it since that was found.
fn bounds(ends: impl Iterator<Item = Vec<u8>>) -> Vec<KeyRange> {
    let mut start = Vec::new();
    let range = |end: Vec<u8>| {
        let before = std::mem::replace(&mut start, end.clone());
        KeyRange::new(before, Some(end).filter(|end| !end.is_empty()))
    };
    ends.filter_map(range).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_have_each_key_once() {
        let range = |start: &str, end: Option<&str>| KeyRange::new(start.into(), end.map(Into::into)).unwrap();
        let ends = ["b", "d", ""].map(|end| end.as_bytes().to_vec());
        assert_eq!(bounds(ends.into_iter()), [range("", Some("b")), range("b", Some("d")), range("d", None)]);
        assert_eq!(bounds([Vec::new()].into_iter()), [KeyRange::all()]);
    }
}
