//! What a schedule does.

use super::random::Random;
use crate::call::{Call, ScanStep};
use crate::exception::Exception;
use crate::fault::{Fault, ScanStop};

/// A kind of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Splits: begun, finished, and their parents cleaned away.
    Split,
    /// Merges: begun and finished.
    Merge,
    /// Moves: at once, unseen by `hbase:meta`, or with a while of opening. `hbase:meta` itself moves as well.
    Move,
    /// Servers that die, whose regions open elsewhere later, and new ones.
    Kill,
    /// The leases of all scanners end.
    Lease,
    /// Exceptions of calls that are not carried out, and worth another try.
    Exception,
    /// Connections that are cut before a call is carried out.
    CutBefore,
    /// Connections that are cut after a call was carried out: its outcome is unknown to the client.
    CutAfter,
    /// Answers that are late, in pieces, or overtake each other.
    Delay,
    /// Answers of Scan that stop early, with heartbeats and parts of rows.
    Scan,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Split,
        Self::Merge,
        Self::Move,
        Self::Kill,
        Self::Lease,
        Self::Exception,
        Self::CutBefore,
        Self::CutAfter,
        Self::Delay,
        Self::Scan,
    ];
}

type Matches = Box<dyn Fn(&Call) -> bool + Send>;

/// Calls of data of a table: no look-ups, nothing of the master.
fn of_table(table: &str) -> impl Fn(&Call) -> bool + Send + use<> {
    let table = table.to_owned();
    move |call| call.is_of(&table)
}

/// A fault of this kind, with the calls that it is for; `None` if the kind is none of faults.
pub(crate) fn fault(kind: Kind, table: &str, random: &mut Random) -> Option<(Matches, Fault)> {
    let is_of = of_table(table);
    let is_scan = of_table(table);
    let scans: Matches = Box::new(move |call| is_scan(call) && call.scan == Some(ScanStep::Next));
    let is_reading = of_table(table);
    let reading: Matches =
        Box::new(move |call| is_reading(call) && matches!(call.scan, Some(ScanStep::Open | ScanStep::Next)));
    let all: Matches = Box::new(is_of);
    Some(match kind {
        Kind::Exception if random.below(4) == 0 => (scans, Fault::Exception(of_scanners(random))),
        Kind::Exception => (all, Fault::Exception(of_calls(random))),
        Kind::CutBefore => (all, Fault::CutBefore),
        Kind::CutAfter if random.below(2) == 0 => (all, Fault::CutInside(random.below(40))),
        Kind::CutAfter => (all, Fault::CutAfter),
        Kind::Delay => match random.below(3) {
            0 => (all, Fault::Late(random.wait(20))),
            1 => (all, Fault::Slow(random.wait(20))),
            _ => (all, Fault::Pieces(1 + random.below(50))),
        },
        Kind::Scan if random.below(4) == 0 => (reading, Fault::ScanMarksPartial),
        Kind::Scan => {
            let stop = ScanStop { cells: random.below(6), is_heartbeat: random.below(2) == 0 };
            (reading, Fault::ScanStops(stop))
        }
        Kind::Split | Kind::Merge | Kind::Move | Kind::Kill | Kind::Lease => return None,
    })
}

fn of_calls(random: &mut Random) -> Exception {
    match random.below(8) {
        0 => Exception::not_serving_region("a region"),
        1 => Exception::region_opening("a region"),
        2 => Exception::region_too_busy(),
        3 => Exception::call_queue_too_big(),
        4 => Exception::rpc_throttling(random.below(20) as u64),
        5 => Exception::server_stopped(),
        6 => Exception::server_aborted(),
        _ => Exception::server_not_running_yet(),
    }
}

fn of_scanners(random: &mut Random) -> Exception {
    match random.below(3) {
        0 => Exception::unknown_scanner(0),
        1 => Exception::out_of_order_scanner_next("Expected nextCallSeq: 1"),
        _ => Exception::scanner_reset(),
    }
}
