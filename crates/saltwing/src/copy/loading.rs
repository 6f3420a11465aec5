//! A running COPY FROM: collects rows into parts, and commits the parts.

use saltwing_types::{ColumnDef, ErrorCode, Value, ValueError, eval};

use super::faults::{Fault, Faults};
use crate::Error;
use crate::computed::Computing;
use crate::load::{Loader, Part, PartLimits, Repeats};
use crate::outcome::ExecResult;
use crate::progress::CopyProgress;

/// A running COPY FROM.
pub(super) struct Loading<'a> {
    pub(super) loader: Loader,
    pub(super) limits: PartLimits,
    pub(super) part: Part,
    /// Computes DEFAULTs, with the time of the statement.
    pub(super) computing: Computing<'a>,
    pub(super) faults: Faults<'a>,
}

/// A value of a row, and the bytes of its text.
pub(super) type Cell = Result<(Value, usize), ValueError>;

impl Loading<'_> {
    /// Commits the rows that `next` adds, part by part. `next` returns whether there may be more rows, and how many bytes were read.
    pub(super) fn read_all(
        &mut self,
        bytes_total: Option<u64>,
        mut next: impl FnMut(&mut Self) -> Result<(bool, u64), Error>,
    ) -> Result<(), Error> {
        loop {
            self.computing.context.check().map_err(|error| self.stopped(error.into()))?;
            let (more, bytes) = next(self)?;
            if !more || self.part.is_full(self.limits) {
                self.commit()?;
                self.computing.session.progress.copy(CopyProgress { rows: self.loader.done, bytes, bytes_total });
            }
            if !more {
                return Ok(());
            }
        }
    }

    /// Adds a row. `cell` returns its values by the positions of the target's columns; `advice` returns the advice for a value that does
    /// not fit its column.
    pub(super) fn row(
        &mut self,
        number: u64,
        mut cell: impl FnMut(usize, &ColumnDef) -> Cell,
        advice: impl Fn(&Self, usize) -> Option<String>,
    ) -> Result<bool, Error> {
        let target = &self.loader.target;
        let (mut row, mut unset, mut bytes) = (Vec::with_capacity(target.columns.len()), Vec::new(), 0);
        for (place, &column) in target.columns.iter().enumerate() {
            let Some(def) = target.column(column) else { continue };
            match cell(place, def) {
                Ok((Value::Null, _)) if !def.nullable => match &def.default {
                    Some(default) if default.is_of_new_row() => {
                        unset.push(row.len());
                        row.push(Value::Null);
                    }
                    Some(default) => row.push(eval::eval(&default.expr, &[])?),
                    None => {
                        let (column, text) = (Some(def.name.clone()), format!("{} is NOT NULL", def.name));
                        return self.bad_line(Fault { column, ..Fault::new(number, text, ErrorCode::NotNull) });
                    }
                },
                Ok((value, text_bytes)) => {
                    row.push(value);
                    bytes += text_bytes;
                }
                Err(error) => {
                    let (advice, column) = (advice(self, place), Some(def.name.clone()));
                    let fault = Fault::new(number, error.to_string(), error.code());
                    return self.bad_line(Fault { column, advice, ..fault });
                }
            }
        }
        self.part.add(number, row, bytes, unset);
        Ok(true)
    }

    /// Commits the collected rows.
    fn commit(&mut self) -> Result<(), Error> {
        let (part, faults) = (std::mem::take(&mut self.part), &mut self.faults);
        self.loader.write(part, &self.computing, &mut |line, error| {
            faults.take(Fault::new(line, error.to_string(), error.code()))
        })
    }

    /// Handles a line that cannot be loaded: skips and counts it, or ends the load. Always `true`: more lines may follow.
    pub(super) fn bad_line(&mut self, fault: Fault) -> Result<bool, Error> {
        self.faults.take(fault).map_err(|error| self.stopped(error))?;
        Ok(true)
    }

    /// The error of a COPY that ends early.
    pub(super) fn stopped(&self, error: Error) -> Error {
        error.after_commits(self.computing.session.committed(self.loader.done))
    }

    /// The error of a read. If the statement was stopped, that error replaces it: reads from a pipe fail then.
    pub(super) fn interrupted(&self, error: Error) -> Error {
        self.stopped(self.computing.context.check().err().map_or(error, Error::from))
    }

    pub(super) fn unreadable(&self, error: &std::io::Error) -> Error {
        self.interrupted(Error::new(ErrorCode::Io, format!("{} cannot be read: {error}", self.faults.file)))
    }

    pub(super) fn result(self) -> ExecResult {
        let Self { loader, faults, .. } = self;
        let (rows_affected, ignored, is_partial) = (loader.done, loader.ignored, loader.target.partial);
        let mut notices = Vec::new();
        notices.extend(repeats_notice(loader.repeats(), is_partial));
        notices.extend(match ignored {
            0 => None,
            1 => Some("1 row was left out: a row with its key was there".to_owned()),
            rows => Some(format!("{rows} rows were left out: rows with their keys were there")),
        });
        notices.extend(faults.notices());
        ExecResult { rows_affected, notices, ..ExecResult::default() }
    }
}

/// The notice about rows that have the key of an earlier row of the file.
fn repeats_notice(repeats: Repeats, is_partial: bool) -> Option<String> {
    let advice = "WITH (ON_CONFLICT ERROR) stops at such a row";
    let more = match repeats.at_least {
        true if repeats.rows == 0 => {
            return Some("the file has too many rows to count those with the key of an earlier row".into());
        }
        true => "at least ",
        false => "",
    };
    match (repeats.rows, is_partial) {
        (0, _) => None,
        (1, false) => {
            Some(format!("{more}1 row replaced an earlier row of the file, which had the same key; {advice}"))
        }
        (1, true) => {
            Some(format!("{more}1 row was written over an earlier row of the file with the same key; {advice}"))
        }
        (rows, false) => {
            Some(format!("{more}{rows} rows replaced earlier rows of the file, which had the same keys; {advice}"))
        }
        (rows, true) => {
            Some(format!("{more}{rows} rows were written over earlier rows of the file with the same keys; {advice}"))
        }
    }
}
