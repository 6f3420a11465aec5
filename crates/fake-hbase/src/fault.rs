//! Faults that a test asks for.

use std::time::Duration;

use bytes::Bytes;

use crate::exception::Exception;

/// Where a call of Scan stops, though its limits let it go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanStop {
    /// The scan stops after this number of cells; 0 is at once. In the middle of a row it gives a partial row, to clients that handle partial rows; for others
    /// and for scans with filters of whole rows it comes after the row. A call that stops with its last cell does not know that none
    /// follow: the next one gives nothing.
    pub cells: usize,
    /// Whether its time was over, which makes a heartbeat; clients that do not handle heartbeats and parts have no such end. Otherwise
    /// its size was reached.
    pub is_heartbeat: bool,
}

/// What happens to a call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Fault {
    /// The call is not carried out and gets this exception.
    Exception(Exception),
    /// The call is carried out and gets this exception nevertheless.
    ExceptionAfter(Exception),
    /// The connection is cut before the call is carried out.
    CutBefore,
    /// The call is carried out, and the connection is cut before the answer.
    CutAfter,
    /// The server carries the call out, and cuts the connection after this number of bytes of the answer.
    CutInside(usize),
    /// The call waits so long before it is carried out, as in a server that pauses in the middle of it: even if the client's time-out
    /// is over by then, or its connection.
    Slow(Duration),
    /// The call is carried out, and the answer waits so long.
    Late(Duration),
    /// The call is not carried out, and there is no answer.
    Lost,
    /// The call is carried out, and there is no answer.
    Silent,
    /// The call is carried out; its answer is kept until [`Cluster::release`](crate::Cluster::release).
    Held,
    /// The server sends the answer in pieces of this number of bytes, each in a write of its own.
    Pieces(usize),
    /// The call is carried out; these bytes are sent in place of the answer's frame.
    Bytes(Bytes),
    /// The call is carried out; the byte of the answer's frame at this place, its length included, is changed by XOR.
    Damaged(usize, u8),
    /// The call of Scan stops early.
    ScanStops(ScanStop),
    /// The last row of an answer of Scan is complete and is marked partial nevertheless. A server does so if a filter drops what is
    /// left of the row.
    ScanMarksPartial,
    /// The action of a Multi that has this row is not carried out and gets this exception.
    Action(Bytes, Exception),
    /// The actions of a Multi on the region of this row are not carried out; the exception is that of the region.
    RegionOfRow(Bytes, Exception),
    /// The answer of a Multi has the outcomes of each region in the other direction.
    TurnedResults,
}
