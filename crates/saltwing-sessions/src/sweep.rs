//! The task that ends what clients have left.

use std::sync::Weak;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::MissedTickBehavior;

use crate::Phase;

/// Calls `sweep` at intervals of `every`, and whenever the phase changes, until the value is gone or the process has no phases any more.
pub async fn sweep<T>(value: Weak<T>, every: Duration, mut phase: watch::Receiver<Phase>, sweep: impl Fn(&T, Phase)) {
    let mut ticks = tokio::time::interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            changed = phase.changed() => {
                if changed.is_err() {
                    return;
                }
            }
        }
        let Some(value) = value.upgrade() else { return };
        let phase = *phase.borrow_and_update();
        sweep(&value, phase);
    }
}
