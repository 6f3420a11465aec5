//! The size of the terminal for results.

use std::io::IsTerminal;

/// Cells and lines of a screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Screen {
    pub(crate) columns: usize,
    pub(crate) lines: usize,
}

impl Screen {
    /// The screen of the standard output; `None` if that is not a terminal, or its size is unknown.
    ///
    /// This is one system call, and a window can change its size at any time, so the size is read for each result.
    pub(crate) fn of_results() -> Option<Self> {
        if !std::io::stdout().is_terminal() {
            return None;
        }
        let (columns, lines) = size().filter(|(columns, lines)| *columns > 0 && *lines > 0)?;
        Some(Self { columns: columns.into(), lines: lines.into() })
    }
}

/// Not `crossterm::terminal::size`, which would start the program `tput`, twice, if the system does not report the size.
#[cfg(unix)]
fn size() -> Option<(u16, u16)> {
    crossterm::terminal::window_size().ok().map(|size| (size.columns, size.rows))
}

#[cfg(not(unix))]
fn size() -> Option<(u16, u16)> {
    crossterm::terminal::size().ok()
}
