//! The rows of a route: bucket after bucket, or merged.

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use saltwing_access::{Direction, ScanContext, ScanOrder, ScanRoute, Table, TableError};
use saltwing_rowkey::KeyRange;

use super::jobs::Jobs;
use super::stream::{Reading, Stream};
use crate::cluster::{Cluster, Place};
use crate::phoenix_table::PhoenixTable;
use crate::rows::{ReadRow, RowReader};

/// About the bytes of an answer if all buckets are read at once, and else.
const MERGED_BYTES: u64 = 256 << 10;
const BYTES: u64 = 2 << 20;
/// Fewest rows of a call that is made for a few rows: a filter may drop most of them.
const FEW_ROWS_MIN: u64 = 64;

/// The rows of a route, whatever a filter says.
pub(super) struct RouteRows {
    reading: Reading,
    /// Streams whose rows are merged; one if they come bucket after bucket.
    streams: Vec<Stream>,
    bucket_bytes: usize,
}

impl RouteRows {
    /// Starts to read. Without a filter servers need not give more rows than the limit.
    ///
    /// # Errors
    /// Those of the look-up of regions; cancel and timeout.
    pub(super) fn start(
        cluster: &Arc<Cluster>,
        table: &Table,
        route: &ScanRoute,
        reader: RowReader,
        is_whole: bool,
        context: &ScanContext,
    ) -> Result<Self, TableError> {
        let ScanRoute { keys, direction, order, limit, first_batch } = route;
        let phoenix = PhoenixTable::of(table)?;
        let buckets = keys.buckets(&table.def().key);
        let is_merged = *order == ScanOrder::Merged && buckets.len() > 1;
        let few = first_batch.or(*limit);
        let at_once = if few.is_some() { 1 } else { cluster.options.regions_at_once };
        let is_whole = is_whole && phoenix.has_all_rows();
        let reading = Reading {
            cluster: cluster.clone(),
            reader: Arc::new(reader),
            direction: *direction,
            limit: limit.filter(|_| is_whole),
            rows_per_call: few.and_then(|rows| u32::try_from(rows.max(FEW_ROWS_MIN)).ok()),
            bytes_per_call: if is_merged { MERGED_BYTES } else { BYTES },
            deadline: context.statement().remaining().and_then(|left| Instant::now().checked_add(left)),
            context: context.clone(),
            table: cluster.client.table(phoenix.physical.clone()),
        };
        let regions = if at_once > 1 && !is_merged { regions(&reading)? } else { Vec::new() };
        let of_bucket = |bucket: &Option<u8>| (*bucket, keys.ranges(*bucket, *direction));
        let mut streams: Vec<Stream> = match is_merged {
            false => vec![Stream::new(Jobs::new(buckets.iter().map(of_bucket), *direction, regions), at_once)],
            true => {
                let stream = |bucket| Stream::new(Jobs::new([of_bucket(bucket)], *direction, Vec::new()), 1);
                buckets.iter().map(stream).collect()
            }
        };
        for stream in &mut streams {
            stream.start_jobs(&reading);
        }
        Ok(Self { reading, streams, bucket_bytes: table.codec().bucket_bytes() })
    }

    /// The place of a column among those that are read.
    pub(super) fn place(&self, column: usize) -> Option<usize> {
        self.reading.reader.place(column)
    }

    /// Ends what is under way.
    pub(super) fn end(&mut self) {
        self.streams.clear();
    }

    /// The next row; `None` at the end.
    ///
    /// # Errors
    /// Those of calls and of damaged rows; cancel, timeout and budget.
    pub(super) fn next_row(&mut self) -> Result<Option<ReadRow>, TableError> {
        let reading = &self.reading;
        if let [stream] = self.streams.as_mut_slice() {
            return stream.next(reading);
        }
        let direction: Direction = reading.direction;
        let mut first: Option<(usize, Bytes)> = None;
        for (place, stream) in self.streams.iter_mut().enumerate() {
            let Some(row) = stream.peek(reading)? else { continue };
            let logical = row.key.slice(self.bucket_bytes.min(row.key.len())..);
            if first.as_ref().is_none_or(|(_, known)| direction.is_before(&logical, known)) {
                first = Some((place, logical));
            }
        }
        match first.and_then(|(place, _)| self.streams.get_mut(place)) {
            Some(stream) => stream.next(reading),
            None => Ok(None),
        }
    }
}

/// The bounds of the table's regions. The client knows them after the first time.
fn regions(reading: &Reading) -> Result<Vec<KeyRange>, TableError> {
    let table = reading.table.clone();
    let call = |context| async move { Ok(table.regions(&context).await?) };
    let statement = Some(reading.context.statement());
    let regions = reading.cluster.call_for(statement, Place::Table(&reading.table), call)?;
    let bounds = |region: &hbase_client::Region| {
        let end = Some(region.end().to_vec()).filter(|end| !end.is_empty());
        KeyRange::new(region.start().to_vec(), end)
    };
    Ok(regions.iter().filter_map(bounds).collect())
}
