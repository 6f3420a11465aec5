//! The history of typed lines, kept between sessions.

use reedline::{FileBackedHistory, History, HistoryItem, HistoryItemId, HistorySessionId, Result, SearchQuery};
use saltwing::syntax::without_passwords;

use super::user_file::HISTORY;

/// Most entries that are kept.
const ENTRIES_MAX: usize = 10_000;

/// The stored history; `None` if there is no file for it: then the history ends with the shell.
pub(super) fn open() -> Option<Box<dyn History>> {
    Some(Box::new(WithoutPasswords(FileBackedHistory::with_file(ENTRIES_MAX, HISTORY.path()?).ok()?)))
}

/// Whether a typed text is kept: false if it has a password.
fn is_kept(text: &str) -> bool {
    without_passwords(text).is_none()
}

/// A history that keeps no passwords.
struct WithoutPasswords(FileBackedHistory);

impl History for WithoutPasswords {
    fn save(&mut self, item: HistoryItem) -> Result<HistoryItem> {
        match is_kept(&item.command_line) {
            true => self.0.save(item),
            // An item without a number is not part of the history.
            false => Ok(item),
        }
    }

    fn load(&self, id: HistoryItemId) -> Result<HistoryItem> {
        self.0.load(id)
    }

    fn count(&self, query: SearchQuery) -> Result<i64> {
        self.0.count(query)
    }

    fn search(&self, query: SearchQuery) -> Result<Vec<HistoryItem>> {
        self.0.search(query)
    }

    fn update(&mut self, id: HistoryItemId, updater: &dyn Fn(HistoryItem) -> HistoryItem) -> Result<()> {
        self.0.update(id, updater)
    }

    fn clear(&mut self) -> Result<()> {
        self.0.clear()
    }

    fn delete(&mut self, id: HistoryItemId) -> Result<()> {
        self.0.delete(id)
    }

    fn sync(&mut self) -> std::io::Result<()> {
        self.0.sync()
    }

    fn session(&self) -> Option<HistorySessionId> {
        self.0.session()
    }
}

#[cfg(test)]
mod tests {
    use reedline::SearchDirection;

    use super::*;

    #[test]
    fn no_password_is_kept() {
        assert!(is_kept("SELECT 1;") && is_kept("DROP USER u;"));
        for text in ["CREATE USER u PASSWORD 'x';", "SELECT 1; alter user u password 'x'", "CREATE USER u 'x'"] {
            assert!(!is_kept(text), "{text}");
        }
        let mut history = WithoutPasswords(FileBackedHistory::new(10).unwrap());
        for text in ["SELECT 1;", "CREATE USER u PASSWORD 'x';"] {
            history.save(HistoryItem::from_command_line(text)).unwrap();
        }
        let all = history.search(SearchQuery::everything(SearchDirection::Forward, None)).unwrap();
        assert_eq!(all.iter().map(|item| item.command_line.as_str()).collect::<Vec<_>>(), ["SELECT 1;"]);
    }
}
