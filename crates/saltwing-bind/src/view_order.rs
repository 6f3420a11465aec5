//! The order in which views can be made.

use std::sync::Arc;

use saltwing_types::ViewDef;

/// Views, each after those that it uses.
pub fn in_order_of_use(mut waiting: Vec<Arc<ViewDef>>) -> Vec<Arc<ViewDef>> {
    let mut ready = Vec::with_capacity(waiting.len());
    while !waiting.is_empty() {
        let names: Vec<_> = waiting.iter().map(|view| view.name.clone()).collect();
        let is_ready = |view: &Arc<ViewDef>| !view.uses.iter().any(|used| names.contains(&used.name));
        let (now, later): (Vec<_>, Vec<_>) = waiting.into_iter().partition(is_ready);
        debug_assert!(!now.is_empty(), "views use each other in a circle");
        if now.is_empty() {
            break;
        }
        ready.extend(now);
        waiting = later;
    }
    ready
}
