//! Opening scanners.

use std::sync::Arc;

use bytes::Bytes;
use tokio::time::Instant;

use super::arrival::Arrival;
use super::open_scanner::OpenScanner;
use super::progress::Progress;
use super::stop::Stop;
use crate::cluster::Cluster;
use crate::connection::Server;
use crate::context::CallContext;
use crate::error::Error;
use crate::proto::{ScanRequest, ScanResponse};
use crate::region::Region;

/// Opens a scanner where the scan goes on; the answer has its first rows. `None` if the scan is at its end.
pub(super) async fn open(
    cluster: &Cluster,
    context: &CallContext,
    progress: &mut Progress,
) -> Result<Option<Arrival>, Stop> {
    if progress.position.is_stuck() {
        progress.is_done = true;
        let reason = "a scan of computed rows can't go on with another scanner";
        return Err(Stop::Ended(Error::Unsupported { reason }));
    }
    // Another scanner reads the row again of which the last one gave a part.
    progress.forget_pieces();
    if progress.position.is_at_end(&progress.scan) {
        progress.is_done = true;
        return Ok(None);
    }
    let (start, includes_start) = progress.position.start();
    let side = progress.position.side(&progress.scan);
    let located = cluster.locator.locate(context, &progress.table, &start, side).await;
    let region = located.map_err(Stop::Ended)?;
    // A server takes any start row. One outside of the region would give no rows, and no error.
    if !side.is_in(&region, &start) {
        debug_assert!(false, "the locator gives regions that have the row");
        let (table, row) = (progress.table.to_string(), start.escape_ascii().to_string());
        return Err(Stop::Failed(Error::NoRegion { table, row }, region));
    }
    let until = context.attempt_until();
    let opening = Opening::new(cluster, progress, region, start, includes_start);
    Ok(Some(opening.call(until).await))
}

/// What opens the next scanner if its region is known without a look-up; `None` at the end of the scan as well.
pub(super) fn next(cluster: &Cluster, progress: &Progress) -> Option<Opening> {
    if progress.position.is_stuck() || progress.position.is_at_end(&progress.scan) {
        return None;
    }
    let (start, includes_start) = progress.position.start();
    let region = cluster.locator.cached(&progress.table, &start, progress.position.side(&progress.scan))?;
    Some(Opening::new(cluster, progress, region, start, includes_start))
}

/// The call that opens a scanner.
pub(super) struct Opening {
    server: Arc<Server>,
    region: Region,
    request: ScanRequest,
}

impl Opening {
    fn new(cluster: &Cluster, progress: &Progress, region: Region, start: Bytes, includes_start: bool) -> Self {
        // A scan that fits into one call is opened, read and closed at once. If it does not fit after all, it goes on with a scanner.
        let is_short = progress.counts.opened == 0 && !progress.scan.is_computed && progress.limits.fit_one_call();
        let request = ScanRequest {
            region: Some(region.specifier()),
            scan: Some(progress.scan.message(&region, start, includes_start)),
            close_scanner: Some(is_short),
            ..ScanRequest::default()
        };
        Self { server: cluster.server_of(&region), region, request: progress.limits.request(request) }
    }

    pub(super) fn region(&self) -> &Region {
        &self.region
    }

    /// Opens the scanner; the answer has its first rows. After a failure the scanner is one that has ended.
    pub(super) async fn call(self, until: Instant) -> Arrival {
        let Self { server, region, request } = self;
        let answer = server.call::<ScanResponse>("Scan", &request, Bytes::new(), until).await;
        let id = answer.as_ref().ok().and_then(|answer| answer.message.scanner_id);
        let has_ended = request.close_scanner == Some(true) || id.is_none();
        let mut open = OpenScanner { server, region, id: id.unwrap_or(0), next_call: 0, has_ended };
        if let Ok(answer) = &answer {
            open.note_end(&answer.message);
        }
        Arrival { open, opens: true, answer }
    }
}
