//! Random scans of one worker.

use std::time::Duration;

use hbase_client::{Comparator, Filter, RowRange, Scan};

use crate::AnyError;
use crate::model::{FAMILY, State, VALUE, prefix, state_of};
use crate::worker::{Worker, read_context};

impl Worker {
    pub(crate) async fn some_scan(&mut self) -> Result<(), AnyError> {
        let (mut from, mut to) = (self.key(), self.key());
        if self.random.u8(0..3) == 0 {
            (from, to) = (prefix(self.number), prefix(self.number + 1));
        }
        if from > to {
            std::mem::swap(&mut from, &mut to);
        }
        let mut scan =
            if self.random.bool() { Scan::range(&from[..]..&to[..]) } else { Scan::range(&from[..]..=&to[..]) };
        let includes_end = scan == Scan::range(&from[..]..=&to[..]);
        let in_range = move |key: &[u8]| key >= &from[..] && (key < &to[..] || includes_end && key == &to[..]);
        if self.random.bool() {
            scan = scan.reversed();
        }
        // Small answers, so that rows come in pieces, and scanners live long.
        if self.random.bool() {
            scan = scan.bytes_per_call(self.random.u64(500..20_000)).rows_per_call(self.random.u32(1..50));
        }
        let limit = (self.random.u8(0..3) == 0).then(|| self.random.u64(1..100));
        if let Some(limit) = limit {
            scan = scan.limit(limit);
        }
        match self.random.u8(0..4) {
            0 => {
                let (low, high) = (self.key(), self.key());
                let end = prefix(self.number + 1);
                let ranges = [RowRange::new(..&low[..]), RowRange::new(&high[..]..=&end[..])];
                let filter = move |key: &[u8], _: State| in_range(key) && (key < &low[..] || key >= &high[..]);
                self.scan(scan.filter(Filter::row_ranges(ranges)), filter, limit).await
            }
            1 => {
                let value = self.random.u64(..self.next_value + 1);
                let comparator = Comparator::bytes(value.to_be_bytes().to_vec());
                let compare = hbase_client::proto::CompareType::GreaterOrEqual;
                let filter = Filter::column_value(FAMILY, VALUE, compare, comparator, false);
                let holds = move |key: &[u8], state: State| in_range(key) && state.value.is_some_and(|is| is >= value);
                self.scan(scan.filter(filter), holds, limit).await
            }
            _ => self.scan(scan, move |key, _| in_range(key), limit).await,
        }
    }

    /// Scans, and compares with the rows of the model.
    pub(crate) async fn scan(
        &mut self,
        scan: Scan,
        holds: impl Fn(&[u8], State) -> bool,
        limit: Option<u64>,
    ) -> Result<(), AnyError> {
        let mut expected: Vec<(Vec<u8>, State)> = self
            .model
            .iter()
            .filter(|(key, state)| holds(key, **state))
            .map(|(key, state)| (key.clone(), *state))
            .collect();
        if scan.is_backward() {
            expected.reverse();
        }
        expected.truncate(limit.map_or(usize::MAX, |limit| limit as usize));
        let text = format!("{scan:?}");
        let mut scanner = self.table.scan(scan);
        let mut expected = expected.into_iter();
        while let Some(row) = scanner.next_row(&read_context()).await? {
            let is = state_of(&row)?;
            match expected.next() {
                Some((key, state)) if key == row.key() && state == is => {}
                other => {
                    let got = row.key().escape_ascii();
                    return Err(format!("a scan got {got} {is:?}, expected {other:?}: {text}").into());
                }
            }
            if self.random.u16(0..500) == 0 {
                tokio::time::sleep(Duration::from_millis(self.random.u64(0..3_000))).await;
            }
        }
        if let Some((key, _)) = expected.next() {
            return Err(format!("a scan left out {}: {text}", key.escape_ascii()).into());
        }
        self.counts.rows_scanned += scanner.counts().rows;
        self.counts.scanners_reopened += scanner.counts().failures;
        Ok(())
    }
}
