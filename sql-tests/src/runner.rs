//! Runs files.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use saltwing::ErrorCode;
use saltwing::blocking::Connection;
use sqllogictest::{Condition, Control, ExpectedError, QueryExpect, ResultMode, SortMode, StatementExpect};

use crate::answer::{Answer, NoAnswer};
use crate::index_all::{self, is_of_access, makes_tables};
use crate::script::{self, Action, Step, TypeLetter};
use crate::target::{Executor, Options, Store, Target};
use crate::{Error, Failure, FileReport, Totals};

/// Runs all files, `jobs` at a time, and gives each one's report to `report` in the order of `files`.
///
/// # Errors
/// The first file's, in their order, that is no sqllogictest, or whose database does not open.
pub fn run_files(
    files: &[PathBuf],
    options: &Options,
    jobs: usize,
    mut report: impl FnMut(&FileReport),
) -> Result<Totals, Error> {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, files.len().max(1)) {
            let (next, sender) = (&next, sender.clone());
            scope.spawn(move || {
                while let Some((index, file)) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|index| Some((index, files.get(index)?)))
                {
                    if sender.send((index, run_file(file, options))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        in_order(&receiver, &mut report)
    })
}

/// Reports in the order of the files, as soon as all before are there.
fn in_order(
    receiver: &mpsc::Receiver<(usize, Result<FileReport, Error>)>,
    report: &mut impl FnMut(&FileReport),
) -> Result<Totals, Error> {
    let (mut totals, mut due, mut waiting) = (Totals::default(), 0, HashMap::new());
    for (index, result) in receiver {
        waiting.insert(index, result);
        while let Some(result) = waiting.remove(&due) {
            let file = result?;
            totals = totals.plus(file.totals);
            report(&file);
            due += 1;
        }
    }
    Ok(totals)
}

/// Runs one file on a fresh database.
///
/// # Errors
/// A file that is no sqllogictest, or a database that does not open.
pub fn run_file(path: &Path, options: &Options) -> Result<FileReport, Error> {
    let steps = script::read(path)?;
    let mut run = Run::start(options)?;
    let mut report =
        FileReport { path: path.to_owned(), totals: Totals::default(), failures: Vec::new(), notices: Vec::new() };
    for step in &steps {
        match run.step(step) {
            Ended::Unnoticed => {}
            Ended::Passed => report.totals.passed += 1,
            Ended::Skipped(notice) => {
                report.totals.skipped += 1;
                report.notices.extend(notice.map(|notice| format!("{}: {notice}", step.place)));
            }
            Ended::Failed(message) => {
                report.totals.failed += 1;
                let sql = match &step.action {
                    Action::Statement { sql, .. } | Action::Query { sql, .. } => sql.clone(),
                    _ => String::new(),
                };
                report.failures.push(Failure { place: step.place.clone(), sql, message });
            }
        }
    }
    if let Some(message) = run.target.damage()? {
        let place = steps.last().map(|step| step.place.clone()).unwrap_or_default();
        report.totals.failed += 1;
        report.failures.push(Failure { place, sql: String::new(), message });
    }
    Ok(report)
}

/// How a step ended.
pub(crate) enum Ended {
    /// A step that is no record.
    Unnoticed,
    Passed,
    Skipped(Option<String>),
    Failed(String),
}

/// A file that is being run.
pub(crate) struct Run {
    target: Target,
    store: &'static str,
    is_forced: bool,
    index_all: bool,
    is_halted: bool,
    sort_mode: SortMode,
    result_mode: Option<ResultMode>,
    /// The first answer to each label, and where it was.
    labelled: HashMap<String, (String, String)>,
}

impl Run {
    pub(crate) fn start(options: &Options) -> Result<Self, Error> {
        Ok(Self {
            target: Target::open(options)?,
            store: options.store.as_str(),
            is_forced: options.executor != Executor::Auto,
            index_all: options.index_all,
            is_halted: false,
            sort_mode: SortMode::NoSort,
            result_mode: None,
            labelled: HashMap::new(),
        })
    }

    /// Runs a step. A file ends at the first record that needs more of the store than it has: later records rely on it.
    pub(crate) fn step(&mut self, step: &Step) -> Ended {
        match self.step_alone(step) {
            Ended::Failed(message) if self.is_beyond_store(&message) => {
                self.is_halted = true;
                Ended::Skipped(None)
            }
            ended => ended,
        }
    }

    /// Whether a record failed because the store writes each row by itself.
    fn is_beyond_store(&self, message: &str) -> bool {
        message.contains(ErrorCode::NotSupported.sqlstate()) && self.is_of_store(message)
    }

    /// Whether an error is about the store that writes each row by itself.
    fn is_of_store(&self, message: &str) -> bool {
        self.store == Store::FakeRemoteRows.as_str() && message.contains(Store::FakeRemote.as_str())
    }

    fn step_alone(&mut self, step: &Step) -> Ended {
        let is_record = matches!(step.action, Action::Statement { .. } | Action::Query { .. } | Action::Foreign(_));
        if self.is_halted || !step.conditions.iter().all(|c| self.holds(c)) {
            return if is_record { Ended::Skipped(None) } else { Ended::Unnoticed };
        }
        match &step.action {
            Action::Halt => self.is_halted = true,
            Action::Control(Control::SortMode(mode)) => self.sort_mode = *mode,
            Action::Control(Control::ResultMode(mode)) => self.result_mode = Some(*mode),
            Action::Control(_) => {}
            Action::Sleep(duration) => std::thread::sleep(*duration),
            Action::Foreign(kind) => return Ended::Skipped(Some(format!("`{kind}` is never run"))),
            Action::Statement { sql, expected, .. }
                if self.index_all
                    && index_all::is_left_out(sql, expected_error(expected).map(ToString::to_string).as_deref()) =>
            {
                return Ended::Skipped(None);
            }
            Action::Statement { sql, .. } | Action::Query { sql, .. } if self.index_all && is_of_access(sql) => {
                let connection = match &step.action {
                    Action::Statement { connection, .. } | Action::Query { connection, .. } => connection,
                    _ => return Ended::Unnoticed,
                };
                drop(self.target.connection(connection).execute(sql, ()));
                return Ended::Skipped(None);
            }
            Action::Statement { connection, sql, expected } => {
                return self.guarded(connection, sql, false, |run, c| {
                    let mut ended = statement(c, sql, expected);
                    while run.index_all && matches!(&ended, Ended::Failed(message) if index_all::drop_named(c, message))
                    {
                        ended = statement(c, sql, expected);
                    }
                    if run.index_all && makes_tables(sql) {
                        index_all::add(c);
                    }
                    run.without_access(ended, expected_error(expected))
                });
            }
            Action::Query { connection, sql, expected } => {
                let is_forced = is_query(sql);
                return self.guarded(connection, sql, is_forced, |run, c| {
                    let ended = run.query(c, sql, expected, step);
                    let expected = if let QueryExpect::Error(error) = expected { Some(error) } else { None };
                    run.without_access(ended, expected)
                });
            }
        }
        Ended::Unnoticed
    }

    /// How a record ended. If indexes are read in place of tables, an expected refusal of a full scan or of the budget is skipped.
    fn without_access(&self, ended: Ended, expected: Option<&ExpectedError>) -> Ended {
        const LIMITS: [&str; 6] = ["54F01", "full_scan", "54F02", "budget_exceeded", "53200", "out_of_memory"];
        let is_refusal = |error: &&ExpectedError| LIMITS.iter().any(|limit| error.to_string().contains(limit));
        match ended {
            Ended::Failed(_) if self.index_all && expected.filter(is_refusal).is_some() => Ended::Skipped(None),
            ended => ended,
        }
    }

    fn holds(&self, condition: &Condition) -> bool {
        let is_ours = |label: &str| match label {
            "saltwing" => true,
            "relational" => cfg!(feature = "datafusion"),
            "index_all" => self.index_all,
            // A cluster of less scope has all that another one lacks.
            store => store == self.store || self.store.strip_suffix("-rows") == Some(store),
        };
        match condition {
            Condition::OnlyIf { label } => is_ours(label),
            Condition::SkipIf { label } => !is_ours(label),
        }
    }

    /// Runs a record; a panic below is a failure of this record alone.
    fn guarded(
        &mut self,
        connection: &str,
        sql: &str,
        is_query: bool,
        work: impl FnOnce(&mut Self, &Connection) -> Ended,
    ) -> Ended {
        let connection = self.target.connection(connection);
        if let Err(error) = self.target.set_executor(&connection, is_query) {
            return Ended::Failed(format!("  SET executor: {error}"));
        }
        catch_unwind(AssertUnwindSafe(|| work(self, &connection))).unwrap_or_else(|panic| {
            let message = panic.downcast_ref::<String>().map(String::as_str);
            let message = message.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("");
            Ended::Failed(format!("  panicked: {message}: {}", first_line(sql)))
        })
    }

    fn query(&mut self, c: &Connection, sql: &str, expected: &QueryExpect<TypeLetter>, step: &Step) -> Ended {
        match expected {
            QueryExpect::Error(expected) => match Answer::to(c, sql, &[]) {
                Err(NoAnswer::Failed(error)) if matches(expected, &error) => Ended::Passed,
                Err(NoAnswer::Failed(error)) if self.is_beyond(&error) => Ended::Skipped(None),
                Err(NoAnswer::Failed(error)) => Ended::Failed(wrong_error(expected, &error)),
                Ok(answer) => {
                    Ended::Failed(format!("  expected error {expected}\n  rows:{}", indented(answer.lines())))
                }
                Err(NoAnswer::Columns(_)) => Ended::Unnoticed,
            },
            QueryExpect::Results { types, sort_mode, label, results, .. } => {
                match self.answer(c, sql, types, *sort_mode) {
                    Ok(answer) => self.compare(&answer, results, label.as_deref(), step),
                    Err(NoAnswer::Failed(error)) if self.is_beyond(&error) => Ended::Skipped(None),
                    Err(NoAnswer::Failed(error)) => Ended::Failed(format!("  expected rows\n  {}", shown(&error))),
                    Err(NoAnswer::Columns(count)) => {
                        Ended::Failed(format!("  expected {} columns, got {count}", types.len()))
                    }
                }
            }
        }
    }

    /// The rows, sorted as the record or the file says.
    pub(crate) fn answer(
        &self,
        connection: &Connection,
        sql: &str,
        types: &[TypeLetter],
        sort_mode: Option<SortMode>,
    ) -> Result<Answer, NoAnswer> {
        let mut answer = Answer::to(connection, sql, types)?;
        answer.sort(sort_mode.unwrap_or(self.sort_mode));
        Ok(answer)
    }

    fn compare(&mut self, answer: &Answer, results: &[String], label: Option<&str>, step: &Step) -> Ended {
        let is_same = answer.is(results, self.result_mode)
            || self.index_all
                && matches!(&step.action, Action::Query { sql, .. } if index_all::has_any_order(sql))
                && index_all::has_same_values(answer, results);
        if !is_same {
            let came = match results {
                [line] if line.contains(" values hashing to ") => format!("\n    {}", answer.hashed()),
                _ => String::new(),
            };
            let expected = indented(results.iter().cloned());
            return Ended::Failed(format!("  expected rows:{expected}\n  got rows:{came}{}", indented(answer.lines())));
        }
        let Some(label) = label else { return Ended::Passed };
        let hash = answer.hashed();
        match self.labelled.get(label) {
            Some((_, first)) if *first == hash => Ended::Passed,
            Some((place, first)) => {
                Ended::Failed(format!("  {label} gave {first} at {place}\n  and gives {hash} here"))
            }
            None => {
                self.labelled.insert(label.to_owned(), (step.place.clone(), hash));
                Ended::Passed
            }
        }
    }

    /// Whether the error says that the forced executor cannot run the query.
    fn is_beyond(&self, error: &saltwing::Error) -> bool {
        self.is_forced && error.code() == ErrorCode::NotSupported && !self.is_of_store(&error.to_string())
    }

    pub(crate) fn connection(&mut self, name: &str) -> Connection {
        self.target.connection(name)
    }
}

fn statement(connection: &Connection, sql: &str, expected: &StatementExpect) -> Ended {
    match (connection.execute(sql, ()), expected) {
        (Ok(_), StatementExpect::Ok) => Ended::Passed,
        (Ok(result), StatementExpect::Count(count)) if result.rows_affected == *count => Ended::Passed,
        (Ok(result), StatementExpect::Count(count)) => {
            Ended::Failed(format!("  expected {count} rows written, got {}", result.rows_affected))
        }
        (Err(error), StatementExpect::Error(expected)) if matches(expected, &error) => Ended::Passed,
        (Err(error), StatementExpect::Error(expected)) => Ended::Failed(wrong_error(expected, &error)),
        (Ok(_), StatementExpect::Error(expected)) => {
            Ended::Failed(format!("  expected error {expected}, and it went well"))
        }
        (Err(error), _) => Ended::Failed(format!("  {}", shown(&error))),
    }
}

fn expected_error(expected: &StatementExpect) -> Option<&ExpectedError> {
    if let StatementExpect::Error(error) = expected { Some(error) } else { None }
}

/// Whether the statement is one that an executor can be forced on.
fn is_query(sql: &str) -> bool {
    let word = sql.trim_start_matches(['(', ' ', '\n', '\t']).split(|c: char| !c.is_ascii_alphabetic()).next();
    word.is_some_and(|word| ["SELECT", "WITH", "VALUES", "TABLE"].iter().any(|w| w.eq_ignore_ascii_case(word)))
}

fn shown(error: &saltwing::Error) -> String {
    format!("{} {}: {error}", error.sqlstate(), error.code())
}

fn matches(expected: &ExpectedError, error: &saltwing::Error) -> bool {
    expected.is_match(&shown(error), Some(error.sqlstate()))
}

fn wrong_error(expected: &ExpectedError, error: &saltwing::Error) -> String {
    format!("  expected error {expected}\n  got {}", shown(error))
}

/// Lines of a report that are shown of an answer.
const LINES_SHOWN_MAX: usize = 60;

fn indented(lines: impl Iterator<Item = String>) -> String {
    let mut out = String::new();
    for (i, line) in lines.enumerate() {
        if i == LINES_SHOWN_MAX {
            out.push_str("\n    ..");
            break;
        }
        out.push_str("\n    ");
        out.push_str(&line);
    }
    out
}

fn first_line(sql: &str) -> &str {
    sql.lines().next().unwrap_or("")
}
