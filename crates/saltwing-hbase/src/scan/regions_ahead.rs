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

    /// The bounds, ascending.
    pub(super) fn poll(&mut self, task: &mut Context<'_>) -> Poll<Result<Vec<KeyRange>, HbaseError>> {
        let bounds = |region: &Region| {
            let end = Some(region.end().to_vec()).filter(|end| !end.is_empty());
            KeyRange::new(region.start().to_vec(), end)
        };
        Pin::new(&mut self.0).poll(task).map(|ended| {
            let regions = ended.map_err(|error| HbaseError::from(CallError::Task { reason: error.to_string() }))??;
            Ok(regions.iter().filter_map(bounds).collect())
        })
    }
}
