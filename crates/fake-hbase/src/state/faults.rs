//! Faults that wait for their call.

use std::fmt;

use crate::call::Call;
use crate::fault::Fault;

/// A fault, and the calls that it is for.
pub(crate) struct Armed {
    pub(crate) matches: Box<dyn Fn(&Call) -> bool + Send>,
    pub(crate) fault: Fault,
    /// How many calls it is for.
    pub(crate) times: usize,
}

impl fmt::Debug for Armed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Armed").field("fault", &self.fault).field("times", &self.times).finish_non_exhaustive()
    }
}

/// Faults in the order in which the test asked for them.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    armed: Vec<Armed>,
}

impl Faults {
    pub(crate) fn arm(&mut self, armed: Armed) {
        self.armed.push(armed);
    }

    /// The fault of a call: that of the first that matches.
    pub(crate) fn take(&mut self, call: &Call) -> Option<Fault> {
        let at = self.armed.iter().position(|armed| (armed.matches)(call))?;
        self.armed[at].times = self.armed[at].times.saturating_sub(1);
        if self.armed[at].times == 0 { Some(self.armed.remove(at).fault) } else { Some(self.armed[at].fault.clone()) }
    }

    /// The number of calls that faults still wait for.
    pub(crate) fn waiting(&self) -> usize {
        self.armed.iter().map(|armed| armed.times).sum()
    }

    pub(crate) fn clear(&mut self) {
        self.armed.clear();
    }
}
