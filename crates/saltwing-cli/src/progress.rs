//! Shows the progress of a running statement on a terminal: a bar for COPY and index builds, a spinner for other statements.

use std::io::{IsTerminal, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use saltwing::blocking::Connection;
use saltwing::{CopyProgress, IndexProgress};

use crate::message::grouped;

/// The time before a bar is shown.
const QUIET: Duration = Duration::from_millis(300);
/// The time before the spinner is shown.
const SILENT: Duration = Duration::from_millis(500);
/// The interval at which the line is drawn.
const DRAW_EVERY: Duration = Duration::from_millis(100);
/// Characters of the bar.
const BAR_CELLS: u64 = 24;
/// The frames of the spinner before the time.
const TURNS: [char; 4] = ['|', '/', '-', '\\'];

/// Draws the progress of a connection's statement.
#[derive(Clone)]
pub(crate) struct ProgressBar {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    /// Notified if a statement begins, or the shell ends.
    changed: Condvar,
}

struct State {
    started: Instant,
    drawn: Option<Instant>,
    phase: Phase,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Nothing is drawn.
    Idle,
    /// A statement without known progress.
    Waiting,
    /// The running statement reports its progress.
    Reporting,
    /// The shell ends.
    Gone,
}

impl ProgressBar {
    /// A bar for the connection, if stderr is a terminal.
    pub(crate) fn on(connection: &Connection) -> Self {
        let state = State { started: Instant::now(), drawn: None, phase: Phase::Idle };
        let bar = Self { shared: Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() }) };
        if std::io::stderr().is_terminal() {
            let reporter = bar.clone();
            connection.on_copy_progress(move |progress| reporter.report(Bar::of_copy(progress)));
            let reporter = bar.clone();
            connection.on_index_progress(move |progress| reporter.report(Bar::of_index(progress)));
        }
        bar
    }

    /// Shows the spinner for long statements, from a thread of its own. If the thread cannot be started, there is no spinner.
    pub(crate) fn watch(&self, connection: &Connection) {
        if std::io::stderr().is_terminal() {
            let (bar, connection) = (self.clone(), connection.clone());
            let builder = std::thread::Builder::new().name("saltwing-progress".into());
            drop(builder.spawn(move || bar.turn(&connection)));
        }
    }

    /// A statement begins. It is `silent` if it reads from the terminal.
    pub(crate) fn begin(&self, silent: bool) {
        let phase = if silent { Phase::Idle } else { Phase::Waiting };
        *self.lock() = State { started: Instant::now(), drawn: None, phase };
        self.shared.changed.notify_all();
    }

    /// The statement is done, or its rows follow: removes the line.
    pub(crate) fn finish(&self) {
        let mut state = self.lock();
        if state.phase != Phase::Gone {
            state.phase = Phase::Idle;
        }
        if state.drawn.take().is_some() {
            draw("");
        }
    }

    /// Ends the thread of [`ProgressBar::watch`].
    pub(crate) fn end(&self) {
        self.lock().phase = Phase::Gone;
        self.shared.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn report(&self, bar: Bar) {
        let mut state = self.lock();
        // A COPY of typed rows is idle but has a bar.
        state.phase = Phase::Reporting;
        let elapsed = state.started.elapsed();
        let due = state.drawn.map_or(elapsed >= QUIET, |drawn| drawn.elapsed() >= DRAW_EVERY);
        if due {
            state.drawn = Some(Instant::now());
            draw(&bar.text(elapsed));
        }
    }

    fn turn(&self, connection: &Connection) {
        let mut state = self.lock();
        let mut turns = 0;
        while state.phase != Phase::Gone {
            if state.phase != Phase::Waiting {
                state = self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let elapsed = state.started.elapsed();
            if elapsed >= SILENT {
                state.drawn = Some(Instant::now());
                turns += 1;
                draw(&sign_of_life(turns, elapsed, connection.stats().keys_read));
            }
            let woken = self.shared.changed.wait_timeout(state, DRAW_EVERY);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

fn draw(text: &str) {
    // If the terminal is gone, the statement's own output reports the error.
    let _ = write!(std::io::stderr(), "\r\x1b[K{text}");
    let _ = std::io::stderr().flush();
}

/// `/ 1.2 s, 40,000 keys read`
fn sign_of_life(turns: usize, elapsed: Duration, keys_read: u64) -> String {
    let turn = TURNS.get(turns % TURNS.len()).copied().unwrap_or(' ');
    let read = if keys_read > 0 { format!(", {} keys read", grouped(keys_read)) } else { String::new() };
    format!("{turn} {:.1} s{read}", elapsed.as_secs_f64())
}

/// The content of a bar.
struct Bar {
    rows: u64,
    /// The finished part of `total`, in any unit.
    done: u64,
    /// The total, if it is known.
    total: Option<u64>,
}

impl Bar {
    fn of_copy(CopyProgress { rows, bytes, bytes_total }: CopyProgress) -> Self {
        Self { rows, done: bytes, total: bytes_total }
    }

    fn of_index(IndexProgress { rows, rows_estimated }: IndexProgress) -> Self {
        Self { rows, done: rows, total: Some(rows_estimated) }
    }

    /// `[########        ]  33%  40,000 rows, 81,000 rows/s`
    fn text(&self, elapsed: Duration) -> String {
        let per_s = (self.rows as f64 / elapsed.as_secs_f64().max(0.001)) as u64;
        let rate = format!("{} rows, {} rows/s", grouped(self.rows), grouped(per_s));
        match self.total {
            Some(total) if total > 0 => {
                let done = self.done.min(total);
                let cells = done.saturating_mul(BAR_CELLS) / total;
                let bar = format!("{}{}", "#".repeat(cells as usize), " ".repeat((BAR_CELLS - cells) as usize));
                format!("[{bar}] {:3}%  {rate}", done.saturating_mul(100) / total)
            }
            _ => rate,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_shows_how_far_it_is() {
        let half = Duration::from_millis(500);
        let text = |bytes, bytes_total| Bar::of_copy(CopyProgress { rows: 40_000, bytes, bytes_total }).text(half);
        assert_eq!(text(1, Some(3)), "[########                ]  33%  40,000 rows, 80,000 rows/s");
        assert_eq!(text(9, Some(3)), "[########################] 100%  40,000 rows, 80,000 rows/s");
        assert_eq!(text(9, None), "40,000 rows, 80,000 rows/s");
        let of_index = |rows_estimated| Bar::of_index(IndexProgress { rows: 40_000, rows_estimated }).text(half);
        assert_eq!(of_index(60_000), "[################        ]  66%  40,000 rows, 80,000 rows/s");
        assert_eq!(of_index(30_000), "[########################] 100%  40,000 rows, 80,000 rows/s");
        assert_eq!(of_index(0), "40,000 rows, 80,000 rows/s");
    }

    #[test]
    fn a_sign_of_life_tells_the_time_and_what_is_known() {
        assert_eq!(sign_of_life(1, Duration::from_millis(1_240), 0), "/ 1.2 s");
        assert_eq!(sign_of_life(4, Duration::from_millis(600), 40_000), "| 0.6 s, 40,000 keys read");
    }
}
