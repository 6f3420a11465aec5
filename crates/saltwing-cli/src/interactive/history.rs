//! The history of typed lines, kept between sessions.

use reedline::{FileBackedHistory, History};

use super::user_file::HISTORY;

/// Entries that are kept.
const ENTRIES_MAX: usize = 10_000;

/// The history, or `None` if there is no place for it: the shell then forgets at its end.
pub(super) fn open() -> Option<Box<dyn History>> {
    Some(Box::new(FileBackedHistory::with_file(ENTRIES_MAX, HISTORY.path()?).ok()?))
}
