//! Large scans in parts that several threads read.
//!
//! ```text
//! threads   part 0 | part 2 | part 4 ..
//!           part 1 | part 3 | part 5 ..
//! caller    part 0, part 1, part 2, ..      in the order of one scan
//! ```
//! # Laws
//! 1. The caller gets the same batches in the same order, whatever the number of threads is: where parts end hangs on
//!    what is stored. So sums of floats do not depend on it either.
//! 2. A thread is at most [`PARTS_AHEAD`] parts ahead of the caller.
//! 3. The first error in that order is the result; behind it nobody reads on.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

use saltwing_bind::access::TableAccess;
use saltwing_table::{
    Division, EmbeddedTables, ReadView, Scan, ScanContext, ScanRoute, ScanShape, TableError, Total, Totals,
};

use crate::ExecError;
use crate::source::{Columns, scan_routes};

/// Most rows of a part: two batches.
const PART_ROWS: u64 = 16_384;
/// The same where rows are added up as they lie.
const PART_ROWS_OF_TOTALS: u64 = 65_536;
/// Parts that a scan has at least, where it is divided.
const PARTS_MIN: u64 = 8;
/// Parts of a thread that are read, or wait for it.
const PARTS_AHEAD: usize = 2;
/// Batches that wait for the caller, of each part.
const BATCHES_AHEAD: usize = 2;
/// Stack of a thread: conditions nest.
const STACK_BYTES: usize = 8 << 20;

/// A scan in parts.
pub(crate) struct Parts {
    store: Arc<EmbeddedTables>,
    view: Arc<ReadView>,
    shape: Arc<ScanShape>,
    routes: Vec<ScanRoute>,
    context: ScanContext,
}

impl Parts {
    /// The scan of an access in parts; `None` where it has few rows.
    pub(crate) fn of(
        store: &Arc<EmbeddedTables>,
        view: &Arc<ReadView>,
        access: &TableAccess,
        shape: &Arc<ScanShape>,
        context: &ScanContext,
    ) -> Result<Option<Self>, TableError> {
        let routes = divided(store, view, access, division(context, PART_ROWS))?;
        let (store, view, shape, context) = (store.clone(), view.clone(), shape.clone(), context.clone());
        Ok((routes.len() > 1).then_some(Self { store, view, shape, routes, context }))
    }

    /// Reads all rows; `take` gets them in the order of one scan, on the caller's thread.
    pub(crate) fn read(self, take: impl FnMut(Columns) -> Result<(), ExecError>) -> Result<(), ExecError> {
        let Self { store, view, shape, routes, context } = self;
        let read = |route: ScanRoute, give: &mut dyn FnMut(Columns) -> ControlFlow<()>| {
            let mut scan = store.scan_shaped(&view, &shape, route, context.clone())?;
            while let Some(columns) = scan.next_columns()? {
                if give(columns).is_break() {
                    break;
                }
            }
            Ok(())
        };
        in_order(routes, context.threads().count, read, take)
    }
}

/// How a statement's scans are divided: on one thread as on several, so that batches are the same.
fn division(context: &ScanContext, part_rows: u64) -> Division {
    let rows_min = context.threads().rows_min;
    Division { rows_each: (rows_min / PARTS_MIN).clamp(1, part_rows), rows_min }
}

/// The ways of an access, divided where there is one of many rows.
fn divided(
    store: &EmbeddedTables,
    view: &ReadView,
    access: &TableAccess,
    division: Division,
) -> Result<Vec<ScanRoute>, TableError> {
    let routes = scan_routes(access, None);
    match routes.as_slice() {
        [route] if access.reads_one_range() => store.divide(view, access.table(), route, division),
        _ => Ok(routes),
    }
}

/// Scans of an access that are added up, one for each part.
pub(crate) fn scans_of_totals(
    store: &EmbeddedTables,
    view: &ReadView,
    access: &TableAccess,
    shape: &Arc<ScanShape>,
    context: &ScanContext,
) -> Result<Vec<Scan>, TableError> {
    let scan = |route| store.scan_shaped(view, shape, route, context.clone());
    divided(store, view, access, division(context, PART_ROWS_OF_TOTALS))?.into_iter().map(scan).collect()
}

/// What all rows of some scans come to.
pub(crate) fn totals(scans: Vec<Scan>, threads: usize) -> Result<Totals, ExecError> {
    let mut all = Totals::default();
    let read = |mut scan: Scan, give: &mut dyn FnMut(Totals) -> ControlFlow<()>| {
        let _ = give(scan.totals()?);
        Ok(())
    };
    in_order(scans, threads, read, |more| {
        all.rows += more.rows;
        all.columns.resize(more.columns.len(), Total::default());
        for (total, more) in all.columns.iter_mut().zip(more.columns) {
            *total = Total { known: total.known + more.known, sum: total.sum + more.sum };
        }
        Ok(())
    })?;
    Ok(all)
}

/// A part, and where what it gives goes.
type Ticket<P, T> = (P, SyncSender<Result<T, TableError>>);

/// Reads parts on several threads. `read` hands on what a part gives until it is told to stop; `take` gets that in the order
/// of the parts, on the caller's thread.
fn in_order<P: Send, T: Send>(
    parts: Vec<P>,
    threads: usize,
    read: impl Fn(P, &mut dyn FnMut(T) -> ControlFlow<()>) -> Result<(), TableError> + Sync,
    mut take: impl FnMut(T) -> Result<(), ExecError>,
) -> Result<(), ExecError> {
    let threads = threads.min(parts.len());
    if threads < 2 {
        return parts.into_iter().try_for_each(|part| read_here(part, &read, &mut take));
    }
    std::thread::scope(|scope| {
        let mut queues: Vec<Sender<Ticket<P, T>>> = Vec::new();
        for _ in 0..threads {
            let (queue, tickets) = channel();
            let (thread, read) = (std::thread::Builder::new().name("saltwing-scan".into()), &read);
            // With fewer threads than asked for it takes longer, and that is all.
            if thread.stack_size(STACK_BYTES).spawn_scoped(scope, move || read_tickets(tickets, read)).is_ok() {
                queues.push(queue);
            }
        }
        let mut parts = parts.into_iter();
        if queues.is_empty() {
            return parts.try_for_each(|part| read_here(part, &read, &mut take));
        }
        let mut waiting: VecDeque<Receiver<Result<T, TableError>>> = VecDeque::new();
        let mut given = 0;
        loop {
            while waiting.len() < queues.len() * PARTS_AHEAD
                && let Some(part) = parts.next()
            {
                let (sender, receiver) = sync_channel(BATCHES_AHEAD);
                let queue = queues.get(given % queues.len());
                // A thread takes tickets as long as there is a queue: only a panic, which goes on here, ends it before.
                if queue.is_none_or(|queue| queue.send((part, sender)).is_err()) {
                    return Err(ExecError::from(TableError::Cancelled));
                }
                waiting.push_back(receiver);
                given += 1;
            }
            let Some(receiver) = waiting.pop_front() else { return Ok(()) };
            for item in receiver {
                take(item?)?;
            }
        }
    })
}

/// Reads one part after the other, as they are asked for.
fn read_tickets<P, T>(
    tickets: Receiver<Ticket<P, T>>,
    read: &impl Fn(P, &mut dyn FnMut(T) -> ControlFlow<()>) -> Result<(), TableError>,
) {
    for (part, sender) in tickets {
        let mut give = |item| match sender.send(Ok(item)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        };
        if let Err(error) = read(part, &mut give) {
            // Nobody asks any more where an earlier part has failed.
            let _ = sender.send(Err(error));
        }
    }
}

/// Reads a part on the caller's thread.
fn read_here<P, T>(
    part: P,
    read: &impl Fn(P, &mut dyn FnMut(T) -> ControlFlow<()>) -> Result<(), TableError>,
    take: &mut impl FnMut(T) -> Result<(), ExecError>,
) -> Result<(), ExecError> {
    let mut taken = Ok(());
    read(part, &mut |item| {
        taken = take(item);
        if taken.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    taken
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use super::*;

    /// Part `n` gives `n` numbers; one fails after its first.
    fn numbers(parts: u64, threads: usize, fails_at: Option<u64>, stops_at: Option<u64>) -> (Vec<u64>, bool, usize) {
        let (mut taken, read_parts) = (Vec::new(), AtomicUsize::new(0));
        let read = |part: u64, give: &mut dyn FnMut(u64) -> ControlFlow<()>| {
            read_parts.fetch_add(1, Relaxed);
            for i in 0..part {
                if give(100 * part + i).is_break() {
                    break;
                }
                if Some(part) == fails_at {
                    return Err(TableError::Cancelled);
                }
            }
            Ok(())
        };
        let result = in_order((0..parts).collect(), threads, read, |number| {
            taken.push(number);
            match stops_at {
                Some(at) if at == number => Err(ExecError::from(TableError::Cancelled)),
                _ => Ok(()),
            }
        });
        (taken, result.is_ok(), read_parts.into_inner())
    }

    #[test]
    fn what_parts_give_comes_in_their_order() {
        let all = numbers(40, 1, None, None);
        assert_eq!(all.0.len(), 39 * 40 / 2);
        for threads in 2..6 {
            assert_eq!(numbers(40, threads, None, None), all);
        }
        assert_eq!(numbers(0, 3, None, None), (Vec::new(), true, 0));
    }

    #[test]
    fn the_first_error_ends_it() {
        let failed = numbers(40, 1, Some(20), None);
        let stopped = numbers(40, 1, None, Some(2003));
        assert!(!failed.1 && !stopped.1 && failed.2 == 21 && stopped.2 == 21);
        for threads in 2..6 {
            let ahead = 21 + threads * PARTS_AHEAD;
            for (found, wanted) in
                [(numbers(40, threads, Some(20), None), &failed), (numbers(40, threads, None, Some(2003)), &stopped)]
            {
                assert_eq!((&found.0, found.1), (&wanted.0, wanted.1));
                assert!(found.2 <= ahead, "{threads}: {}", found.2);
            }
        }
    }
}
