//! The log of `--log`: on stderr, a line an event, and a line a span when it ends.

use std::io;

use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

/// Logs what `filter` lets through, from now on.
pub(crate) fn start(filter: Targets) {
    let lines = tracing_subscriber::fmt::layer().with_writer(io::stderr).with_span_events(FmtSpan::CLOSE);
    // Fails if the process already has a log, which then stays.
    let _ = tracing_subscriber::registry().with(lines.with_filter(filter)).try_init();
}
