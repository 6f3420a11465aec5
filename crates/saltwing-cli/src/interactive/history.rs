//! The history of typed lines, kept between sessions.

use std::path::PathBuf;

use reedline::{FileBackedHistory, History};

/// Entries that are kept.
const ENTRIES_MAX: usize = 10_000;
/// Names the file; empty keeps none.
const VARIABLE: &str = "SALTWING_HISTORY";

/// The history, or `None` where there is no place for it: the shell then forgets at its end.
pub(super) fn open() -> Option<Box<dyn History>> {
    let path = path(|name| std::env::var_os(name).map(PathBuf::from))?;
    Some(Box::new(FileBackedHistory::with_file(ENTRIES_MAX, path).ok()?))
}

/// `$SALTWING_HISTORY`, else `saltwing/history` where programs keep their state.
fn path(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    if let Some(path) = variable(VARIABLE) {
        return (!path.as_os_str().is_empty()).then_some(path);
    }
    let set = |name| variable(name).filter(|path| path.is_absolute());
    let state = set("XDG_STATE_HOME")
        .or_else(|| Some(set("HOME")?.join(".local").join("state")))
        .or_else(|| set("LOCALAPPDATA"))?;
    Some(state.join("saltwing").join("history"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_where_it_was_said_or_where_state_is() {
        let with = |set: &[(&str, &str)]| {
            path(|name| set.iter().find(|(n, _)| *n == name).map(|(_, value)| PathBuf::from(value)))
        };
        assert_eq!(with(&[("HOME", "/h")]), Some("/h/.local/state/saltwing/history".into()));
        assert_eq!(with(&[("HOME", "/h"), ("XDG_STATE_HOME", "/s")]), Some("/s/saltwing/history".into()));
        assert_eq!(with(&[("HOME", "/h"), (VARIABLE, "x")]), Some("x".into()));
        assert_eq!(with(&[("HOME", "/h"), (VARIABLE, "")]), None);
        assert_eq!(with(&[]), None);
    }
}
