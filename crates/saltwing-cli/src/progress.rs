//! A bar on the terminal while COPY runs.

use std::io::{IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use saltwing::CopyProgress;
use saltwing::blocking::Connection;

use crate::message::grouped;

/// A COPY that is done by then shows no bar.
const QUIET: Duration = Duration::from_millis(300);
/// How often the bar is drawn.
const DRAW_EVERY: Duration = Duration::from_millis(100);
/// Characters of the bar.
const BAR_CELLS: u64 = 24;

/// Draws what a connection's COPY reports.
#[derive(Clone)]
pub(crate) struct ProgressBar {
    state: Arc<Mutex<State>>,
}

struct State {
    started: Instant,
    drawn: Option<Instant>,
}

impl ProgressBar {
    /// A bar for the connection, if stderr is a terminal.
    pub(crate) fn on(connection: &Connection) -> Self {
        let bar = Self { state: Arc::new(Mutex::new(State { started: Instant::now(), drawn: None })) };
        if std::io::stderr().is_terminal() {
            let reporter = bar.clone();
            connection.on_copy_progress(move |progress| reporter.report(progress));
        }
        bar
    }

    /// A statement begins.
    pub(crate) fn begin(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        *state = State { started: Instant::now(), drawn: None };
    }

    /// The statement is done: the bar goes.
    pub(crate) fn finish(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.drawn.take().is_some() {
            draw("");
        }
    }

    fn report(&self, progress: CopyProgress) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let elapsed = state.started.elapsed();
        let due = state.drawn.map_or(elapsed >= QUIET, |drawn| drawn.elapsed() >= DRAW_EVERY);
        if due {
            state.drawn = Some(Instant::now());
            draw(&bar(progress, elapsed));
        }
    }
}

fn draw(text: &str) {
    // A terminal that is gone takes the bar with it; the statement's own output will tell.
    let _ = write!(std::io::stderr(), "\r\x1b[K{text}");
    let _ = std::io::stderr().flush();
}

/// `[########        ]  33%  40,000 rows, 81,000 rows/s`
fn bar(progress: CopyProgress, elapsed: Duration) -> String {
    let rows = progress.rows;
    let per_s = (rows as f64 / elapsed.as_secs_f64().max(0.001)) as u64;
    let rate = format!("{} rows, {} rows/s", grouped(rows), grouped(per_s));
    match progress.bytes_total {
        Some(total) if total > 0 => {
            let bytes = progress.bytes.min(total);
            let done = bytes.saturating_mul(BAR_CELLS) / total;
            let bar = format!("{}{}", "#".repeat(done as usize), " ".repeat((BAR_CELLS - done) as usize));
            format!("[{bar}] {:3}%  {rate}", bytes.saturating_mul(100) / total)
        }
        _ => rate,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_shows_how_far_it_is() {
        let progress = |bytes, bytes_total| CopyProgress { rows: 40_000, bytes, bytes_total };
        let half = Duration::from_millis(500);
        assert_eq!(bar(progress(1, Some(3)), half), "[########                ]  33%  40,000 rows, 80,000 rows/s");
        assert_eq!(bar(progress(9, Some(3)), half), "[########################] 100%  40,000 rows, 80,000 rows/s");
        assert_eq!(bar(progress(9, None), half), "40,000 rows, 80,000 rows/s");
    }
}
