//! Faults, and the calls that servers got.

use super::handle::Cluster;
use crate::call::Call;
use crate::fault::Fault;
use crate::server_id::ServerId;
use crate::state::Armed;

impl Cluster {
    /// Lets a fault happen to the next call of a method. Calls that read `hbase:meta` do not count: [`Cluster::on_call`] has those, too.
    ///
    /// Faults are taken in the order in which they were asked for, one for a call.
    pub fn on_next(&self, method: &str, fault: Fault) {
        let method = method.to_owned();
        self.on_call(1, move |call| call.method == method && !call.is_meta(), fault);
    }

    /// Lets a fault happen to the next `times` calls that a predicate chooses.
    pub fn on_call(&self, times: usize, matches: impl Fn(&Call) -> bool + Send + 'static, fault: Fault) {
        self.state().faults.arm(Armed { matches: Box::new(matches), fault, times });
    }

    /// The number of calls that faults still wait for. A test ends with none, else it did not see what it asked for.
    pub fn waiting_faults(&self) -> usize {
        self.state().faults.waiting()
    }

    /// Takes back the faults that have not happened.
    pub fn clear_faults(&self) {
        self.state().faults.clear();
    }

    /// The number of answers that [`Fault::Held`] keeps.
    pub fn held(&self) -> usize {
        self.shared.held()
    }

    /// Sends the answers that [`Fault::Held`] keeps, the last one first. The result is their number.
    pub fn release(&self) -> usize {
        self.shared.release()
    }

    /// The calls that servers got since the start or since [`Cluster::take_calls`], in their order.
    pub fn calls(&self) -> Vec<Call> {
        self.state().calls.clone()
    }

    /// The calls so far; they are forgotten.
    pub fn take_calls(&self) -> Vec<Call> {
        std::mem::take(&mut self.state().calls)
    }

    /// The number of calls of a method, at one server or at all. Calls that read `hbase:meta` do not count.
    pub fn count_calls(&self, method: &str, server: Option<ServerId>) -> usize {
        let is_counted = |call: &&Call| {
            call.method == method && !call.is_meta() && server.is_none_or(|server| call.server == Some(server))
        };
        self.state().calls.iter().filter(is_counted).count()
    }

    /// The number of calls that read `hbase:meta`.
    pub fn count_meta_calls(&self) -> usize {
        self.state().calls.iter().filter(|call| call.is_meta()).count()
    }
}
