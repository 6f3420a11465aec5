//! Why a call of a scan has no answer.

use crate::error::Error;
use crate::region::Region;

/// Why a call of a scan has no answer.
pub(super) enum Stop {
    /// The call failed; the scan may go on.
    Failed(Error, Region),
    /// The scan can't go on.
    Ended(Error),
}
