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
    /// Answers that are late, in pieces, or overtake each other. A slow call whose connection is cut meanwhile is carried out
    /// nevertheless, perhaps after a later write of the same row: an unknown outcome stays possible for a while.
    Delay,
    /// Answers of Scan that stop early, with heartbeats and parts of rows.
    Scan,
    /// Look-ups in `hbase:meta` that fail, stop early, or have no answer because their connection is cut.
    LookUp,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 11] = [
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
        Self::LookUp,
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
    let all: Matches = Box::new(of_table(table));
    let is_of = of_table(table);
    let scans: Matches = Box::new(move |call| is_of(call) && call.scan == Some(ScanStep::Next));
    let is_of = of_table(table);
    let reading: Matches =
        Box::new(move |call| is_of(call) && matches!(call.scan, Some(ScanStep::Open | ScanStep::Next)));
    let look_ups: Matches = Box::new(|call| call.is_meta() && call.scan == Some(ScanStep::Open));
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
        Kind::Scan => (reading, Fault::ScanStops(stop(6, random))),
        Kind::LookUp => match random.below(4) {
            0 => (look_ups, Fault::Exception(of_calls(random))),
            1 => (look_ups, Fault::CutAfter),
            // A region has about six cells there.
            _ => (look_ups, Fault::ScanStops(stop(20, random))),
        },
        Kind::Split | Kind::Merge | Kind::Move | Kind::Kill | Kind::Lease => return None,
    })
}

fn stop(cells_max: usize, random: &mut Random) -> ScanStop {
    ScanStop { cells: random.below(cells_max), is_heartbeat: random.below(2) == 0 }
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
