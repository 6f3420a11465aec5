//! The size of the terminal that results go to.

use std::io::IsTerminal;

/// Cells and lines of a screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Screen {
    pub(crate) columns: usize,
    pub(crate) lines: usize,
}

impl Screen {
    /// That of the standard output; `None` if it is no terminal, or one that does not tell.
    ///
    /// It is one call of the system, and a window changes its size at any time: so it is read for each result.
    pub(crate) fn of_results() -> Option<Self> {
        if !std::io::stdout().is_terminal() {
            return None;
        }
        let (columns, lines) = size().filter(|(columns, lines)| *columns > 0 && *lines > 0)?;
        Some(Self { columns: columns.into(), lines: lines.into() })
    }
}

/// `crossterm::terminal::size` would start the program `tput`, twice, where the system has no answer.
#[cfg(unix)]
fn size() -> Option<(u16, u16)> {
    crossterm::terminal::window_size().ok().map(|size| (size.columns, size.rows))
}

#[cfg(not(unix))]
fn size() -> Option<(u16, u16)> {
    crossterm::terminal::size().ok()
}
