//! A file's records.
//!
//! The crate `sqllogictest` reads them; this adds what the corpora need: comments
//! after `skipif` and `onlyif`, conditions that go for a `halt`, and includes.

use std::path::Path;
use std::time::Duration;

use sqllogictest::{ColumnType, Condition, Connection, Control, QueryExpect, Record, StatementExpect};

use crate::Error;

/// Files may include each other this deep.
const INCLUDE_DEPTH_MAX: usize = 8;

/// The letter of a result column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TypeLetter(pub(crate) char);

impl ColumnType for TypeLetter {
    fn from_char(letter: char) -> Option<Self> {
        (letter.is_ascii_alphabetic() || letter == '?').then_some(Self(letter))
    }

    fn to_char(&self) -> char {
        self.0
    }
}

/// The longest sleep.
const SLEEP_MAX: Duration = Duration::from_secs(1);

/// One step of a file.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// `file:line`.
    pub(crate) place: String,
    /// The line in the file it stands in, from 1.
    pub(crate) line: usize,
    /// Whether the step stands in the file itself, not in an included one.
    pub(crate) is_own: bool,
    /// All must hold.
    pub(crate) conditions: Vec<Condition>,
    /// What to do.
    pub(crate) action: Action,
}

/// What a step does.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// A statement without rows.
    Statement { connection: String, sql: String, expected: StatementExpect },
    /// A query.
    Query { connection: String, sql: String, expected: QueryExpect<TypeLetter> },
    /// The rest of the file is left out.
    Halt,
    /// From here on results are sorted, or laid out, so.
    Control(Control),
    /// Time passes: versions of rows are apart by their milliseconds.
    Sleep(Duration),
    /// A record that is never run.
    Foreign(&'static str),
}

/// Reads a file and what it includes.
///
/// # Errors
/// [`Error`] for a file that cannot be read.
pub(crate) fn read(path: &Path) -> Result<Vec<Step>, Error> {
    let mut steps = Vec::new();
    read_into(path, 0, &mut steps)?;
    Ok(steps)
}

fn read_into(path: &Path, depth: usize, steps: &mut Vec<Step>) -> Result<(), Error> {
    let shown = path.display().to_string();
    if depth > INCLUDE_DEPTH_MAX {
        return Err(Error::IncludeDepth { path: shown, limit: INCLUDE_DEPTH_MAX });
    }
    let text = std::fs::read_to_string(path).map_err(|source| Error::File { path: shown.clone(), source })?;
    let records = sqllogictest::parse_with_name::<TypeLetter>(&plain(&text), shown.clone())?;
    let mut pending = Vec::new();
    for record in records {
        let mut step = |line: u32, action| {
            let (place, line) = (format!("{shown}:{line}"), line as usize);
            steps.push(Step { place, line, is_own: depth == 0, conditions: std::mem::take(&mut pending), action });
        };
        match record {
            Record::Condition(condition) => pending.push(condition),
            Record::Include { filename, .. } => {
                pending.clear();
                read_into(&path.parent().unwrap_or(Path::new("")).join(filename), depth + 1, steps)?;
            }
            Record::Statement { loc, connection, sql, expected, .. } => {
                step(loc.line(), Action::Statement { connection: name(connection), sql, expected });
            }
            Record::Query { loc, connection, sql, expected, .. } => {
                step(loc.line(), Action::Query { connection: name(connection), sql, expected });
            }
            Record::Halt { loc } => step(loc.line(), Action::Halt),
            Record::Control(control) => step(0, Action::Control(control)),
            Record::System { loc, .. } => step(loc.line(), Action::Foreign("system")),
            Record::Sleep { loc, duration } if duration <= SLEEP_MAX => step(loc.line(), Action::Sleep(duration)),
            Record::Sleep { loc, .. } => step(loc.line(), Action::Foreign("sleep")),
            Record::Let { loc, .. } => step(loc.line(), Action::Foreign("let")),
            // How long a result must be to be hashed shows in what is expected.
            _ => {}
        }
    }
    Ok(())
}

fn name(connection: Connection) -> String {
    match connection {
        Connection::Named(name) => name,
        Connection::Default => String::new(),
    }
}

/// The text without the comments that follow conditions and the like.
fn plain(text: &str) -> String {
    let words = ["skipif ", "onlyif ", "halt", "hash-threshold "];
    let lines = text.lines().map(|line| match line.split_once('#') {
        Some((before, _)) if words.iter().any(|word| line.starts_with(word)) => before.trim_end(),
        _ => line,
    });
    let mut plain = String::with_capacity(text.len());
    for line in lines {
        plain.push_str(line);
        plain.push('\n');
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(text: &str) -> Vec<Step> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.slt");
        std::fs::write(&path, text).unwrap();
        read(&path).unwrap()
    }

    #[test]
    fn conditions_go_for_the_next_step_alone_a_halt_included() {
        let steps =
            steps("skipif sqlite # no such thing\nhalt\n\nonlyif a\nskipif b\nstatement ok\nX\n\nstatement ok\nY\n");
        let shown: Vec<_> = steps.iter().map(|s| (s.line, s.conditions.len())).collect();
        assert_eq!(shown, [(2, 1), (6, 2), (9, 0)]);
        assert!(matches!(steps[0].action, Action::Halt));
    }

    #[test]
    fn a_file_that_includes_itself_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.slt");
        std::fs::write(&path, "include a.slt\n").unwrap();
        assert!(matches!(read(&path), Err(Error::IncludeDepth { .. })));
    }
}
