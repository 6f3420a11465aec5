//! Scan: opens scanners, reads, renews and closes them.

use std::collections::VecDeque;
use std::ops::Bound;
use std::time::Instant;

use bytes::Bytes;
use hbase_client::cell::Cell;
use hbase_client::proto::{Cursor, RowResult, Scan, ScanRequest, ScanResponse};

use super::regions::check_families;
use super::reply::{CellForm, Reply, row_result};
use crate::columns::Columns;
use crate::exception::Exception;
use crate::fault::Fault;
use crate::filter::Filter;
use crate::name::RegionId;
use crate::scanner::{Batch, Limits, Part, Range, Scanner};
use crate::server_id::ServerId;
use crate::state::{OpenScanner, State, Status, Table};

/// The rows that a scan reads in a region. It is not checked that they lie in it: those that do not are not there.
fn range(table: &Table, region: &RegionId, scan: &Scan) -> Range {
    let is_reversed = scan.reversed == Some(true);
    let key = |row: &Bytes| (!row.is_empty()).then(|| table.key(row.clone()));
    let start_row = scan.start_row.clone().unwrap_or_default();
    let stop_row = scan.stop_row.clone().unwrap_or_default();
    // A client that does not say whether the stop row is included gets it if it is the start row.
    let include_stop = scan.include_stop_row.unwrap_or(start_row == stop_row);
    let start = key(&start_row).map(|row| (row, scan.include_start_row != Some(false)));
    let stop = key(&stop_row).map(|row| (row, include_stop));
    let (low, high) = if is_reversed { (stop, start) } else { (start, stop) };
    let low = match (low, key(&region.start)) {
        (Some((low, _)), Some(start)) if low < start => Bound::Included(start),
        (Some((low, true)), _) => Bound::Included(low),
        (Some((low, false)), _) => Bound::Excluded(low),
        (None, Some(start)) => Bound::Included(start),
        (None, None) => Bound::Unbounded,
    };
    let high = match (high, key(&region.end)) {
        (Some((high, _)), Some(end)) if high >= end => Bound::Excluded(end),
        (Some((high, true)), _) => Bound::Included(high),
        (Some((high, false)), _) => Bound::Excluded(high),
        (None, Some(end)) => Bound::Excluded(end),
        (None, None) => Bound::Unbounded,
    };
    Range { low, high, is_reversed }
}

/// Opens a scanner; the result is its id.
fn open(state: &mut State, server: ServerId, request: &ScanRequest, scan: &Scan) -> Result<u64, Exception> {
    let specifier = request.region.clone().unwrap_or_default();
    let region = state.region(server, &specifier)?;
    let (id, opened_at) = (region.id.clone(), region.opened_at);
    let table = state.table(&id.table)?;
    let columns = Columns::new(scan.column.clone(), scan.time_range.clone(), scan.cf_time_range.clone());
    check_families(table, &id.table, columns.families())?;
    let filter = scan.filter.as_ref().map(Filter::decode).transpose()?;
    let batch_cells = scan.batch_size.unwrap_or(0) as usize;
    let mut scanner = Scanner::new(table.rows().clone(), range(table, &id, scan), columns, filter, batch_cells);
    let computed = computed(state, &id, scan, &mut scanner)?;
    let lease_ends = Instant::now() + state.options.lease;
    // Ids of real servers have the server's number in their upper half.
    let number = ((server.0 as u64 + 1) << 32) | state.next_number();
    let held = OpenScanner {
        scanner,
        computed,
        bytes_max: scan.max_result_size.filter(|bytes| *bytes > 0).unwrap_or(u64::MAX),
        needs_cursor: scan.need_cursor_result == Some(true),
        region: id.name(),
        opened_at,
        next_call_seq: 0,
        partial_row: None,
        lease_ends,
    };
    state.server_mut(server)?.scanners.insert(number, held);
    Ok(number)
}

/// The rows that the test's coprocessor makes of those of a scan with attributes.
fn computed(
    state: &State,
    region: &RegionId,
    scan: &Scan,
    scanner: &mut Scanner,
) -> Result<Option<VecDeque<Vec<Cell>>>, Exception> {
    let coprocessor = state.scan_coprocessor.as_ref().filter(|_| !scan.attribute.is_empty());
    let Some(coprocessor) = coprocessor else { return Ok(None) };
    let limits =
        Limits { results: usize::MAX, rows: None, bytes: u64::MAX, partials: false, heartbeats: false, stop: None };
    let batch = scanner.read(&limits, None).map_err(|error| Exception::io(error.to_string()))?;
    let rows = batch.parts.into_iter().map(|part| part.cells).collect();
    Ok(Some(coprocessor(region, scan, rows)?.into()))
}

/// The next of the rows that a coprocessor has made.
fn computed_batch(rows: &mut VecDeque<Vec<Cell>>, limits: &Limits) -> Batch {
    let parts = rows.drain(..limits.results.min(rows.len())).map(|cells| Part { cells, is_partial: false }).collect();
    Batch { parts, more_in_region: !rows.is_empty(), ..Batch::default() }
}

/// Checks that a scanner is there and its region has not changed since. `None` if it ended as it should: that is no error.
fn find(state: &mut State, server: ServerId, id: u64, request: &ScanRequest) -> Result<Option<()>, Exception> {
    let now = Instant::now();
    let holder = state.server_mut(server)?;
    holder.scanners.retain(|_, scanner| scanner.lease_ends > now);
    let Some(scanner) = holder.scanners.get(&id) else {
        let Some(last) = holder.closed_scanners.get(&id) else { return Err(Exception::unknown_scanner(id)) };
        let expected = last + 1;
        return match request.next_call_seq {
            Some(seq) if seq != expected => Err(Exception::out_of_order_scanner_next(format!(
                "Expected nextCallSeq for closed request: {expected} But the nextCallSeq got from client: {seq}"
            ))),
            _ => Ok(None),
        };
    };
    let (region, opened_at) = (scanner.region.clone(), scanner.opened_at);
    let is_same = |is: &crate::state::Region| is.status == Status::Open(server) && is.opened_at == opened_at;
    if state.regions.get(&region).is_some_and(is_same) {
        return Ok(Some(()));
    }
    state.server_mut(server)?.scanners.remove(&id);
    let text = format!("Region has changed on the scanner {id}: regionName={}", region.escape_ascii());
    Err(Exception::new("NotServingRegionException", text))
}

fn check_seq(scanner: &mut OpenScanner, request: &ScanRequest) -> Result<(), Exception> {
    match request.next_call_seq {
        Some(seq) if seq != scanner.next_call_seq => Err(Exception::out_of_order_scanner_next(format!(
            "Expected nextCallSeq: {} But the nextCallSeq got from client: {seq}",
            scanner.next_call_seq
        ))),
        Some(_) => {
            scanner.next_call_seq += 1;
            Ok(())
        }
        // The call that opens has no number, and is not counted.
        None => Ok(()),
    }
}

pub(crate) fn scan(
    state: &mut State,
    server: ServerId,
    request: &ScanRequest,
    fault: Option<&Fault>,
    form: CellForm,
) -> Result<Reply, Exception> {
    let mut response = ScanResponse::default();
    let lease = state.options.lease;
    let id = match (request.scanner_id, &request.scan) {
        (Some(id), _) => {
            response.scanner_id = Some(id);
            if find(state, server, id, request)?.is_none() {
                return Ok(Reply::of(&response));
            }
            id
        }
        (None, Some(scan)) => {
            let id = open(state, server, request, scan)?;
            response.scanner_id = Some(id);
            response.ttl = u32::try_from(lease.as_millis()).ok();
            response.mvcc_read_point = Some(state.clock.now_ms());
            id
        }
        (None, None) => return Err(Exception::do_not_retry("Missing required input: scannerId or scan")),
    };
    let bytes_max = state.options.scan_bytes_max;
    let holder = state.server_mut(server)?;
    let Some(scanner) = holder.scanners.get_mut(&id) else { return Err(Exception::unknown_scanner(id)) };
    scanner.lease_ends = Instant::now() + lease;
    check_seq(scanner, request)?;
    if request.renew == Some(true) {
        return Ok(Reply::of(&response));
    }
    let mut cells = Vec::new();
    let is_over = read(scanner, request, fault, bytes_max, (&mut response, form, &mut cells))?;
    if is_over || request.close_scanner == Some(true) {
        let next = scanner.next_call_seq;
        holder.scanners.remove(&id);
        holder.closed_scanners.insert(id, next);
    }
    let reply = Reply::of(&response);
    Ok(Reply { cells, ..reply })
}

/// Reads rows into the response; true if the scanner has come to its end.
fn read(
    held: &mut OpenScanner,
    request: &ScanRequest,
    fault: Option<&Fault>,
    bytes_max: u64,
    (response, form, block): (&mut ScanResponse, CellForm, &mut Vec<Cell>),
) -> Result<bool, Exception> {
    let default_rows = u32::from(request.close_scanner != Some(true));
    let results = request.number_of_rows.unwrap_or(default_rows) as usize;
    response.stale = Some(false);
    if results == 0 {
        response.more_results_in_region = Some(true);
        response.more_results = Some(!held.scanner.is_filter_done());
        return Ok(held.scanner.is_filter_done());
    }
    let limits = Limits {
        results,
        rows: request.limit_of_rows.filter(|rows| *rows > 0).map(|rows| rows as usize),
        bytes: held.bytes_max.min(bytes_max),
        partials: request.client_handles_partials == Some(true),
        heartbeats: request.client_handles_heartbeats == Some(true),
        stop: match fault {
            Some(Fault::ScanStops(stop)) => Some(*stop),
            _ => None,
        },
    };
    let batch = match &mut held.computed {
        Some(rows) => Ok(computed_batch(rows, &limits)),
        None => held.scanner.read(&limits, held.partial_row.as_ref()),
    };
    let mut batch = batch.map_err(|error| Exception::io(error.to_string()))?;
    if fault == Some(&Fault::ScanMarksPartial)
        && batch.more_in_region
        && !batch.is_enough
        && let Some(last) = batch.parts.last_mut()
    {
        last.is_partial = true;
    }
    response.more_results_in_region = Some(batch.more_in_region);
    // The client is told to stop the whole scan if the filter lets nothing more through and this call gave no row.
    let is_scan_over = batch.is_enough || held.scanner.is_filter_done() && batch.parts.is_empty();
    response.more_results = Some(!is_scan_over);
    response.heartbeat_message = batch.is_heartbeat.then_some(true);
    let cursor = batch.cursor.take().filter(|_| held.needs_cursor && batch.is_heartbeat);
    response.cursor = cursor.map(|row| Cursor { row: Some(row) });
    let is_over = is_scan_over || !batch.more_in_region;
    if !is_over && !batch.parts.is_empty() {
        let last = batch.parts.last().filter(|last| last.is_partial);
        held.partial_row = last.and_then(|last| last.cells.first()).map(Cell::row_bytes);
    }
    put_rows(batch, response, form, block);
    Ok(is_over)
}

fn put_rows(batch: Batch, response: &mut ScanResponse, form: CellForm, block: &mut Vec<Cell>) {
    for part in batch.parts {
        if form.in_blocks {
            response.cells_per_result.push(part.cells.len() as u32);
            response.partial_flag_per_result.push(part.is_partial);
            block.extend(part.cells);
        } else {
            let result = row_result(part.cells, false, block);
            response.results.push(RowResult { partial: part.is_partial.then_some(true), ..result });
        }
    }
}
