//! Loads write rows in parts, each a commit of its own. COPY FROM and appenders use them.

mod keys_seen;

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_bind::{OnConflict, UpsertTarget, listed_columns, resolve};
use saltwing_exec::{ExecError, RowFailure};
use saltwing_sql::TableRef;
use saltwing_sql::statement::CopyFrom;
use saltwing_types::{ColumnDef, ErrorCode, Value};

use self::keys_seen::KeysSeen;
pub(crate) use self::keys_seen::Repeats;
use crate::Error;
use crate::attached::check_own;
use crate::computed::Computing;
use crate::session::Session;
use crate::temporary::adds_dynamic_columns;

/// Rows of a part, unless `autocommit_rows` is set.
const PART_ROWS: usize = 5000;
/// Bytes after which a part ends even if it has fewer rows.
const PART_BYTES: usize = 16 << 20;
/// The approximate bytes of an encoded row in addition to its values.
const ROW_BYTES: usize = 24;
/// Most bytes of an encoded value in addition to its text, except for a DECIMAL or a TIMESTAMP of a few characters.
const VALUE_BYTES: usize = 8;

/// The limits for the size of a part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PartLimits {
    rows: usize,
    bytes: usize,
}

impl PartLimits {
    /// The limits from the settings of a session.
    pub(crate) fn of(session: &Session) -> Self {
        session.read_settings(|settings| {
            let (rows, bytes) = match settings.autocommit_rows {
                None => (PART_ROWS, PART_BYTES),
                Some(rows) => (usize::try_from(rows.get()).unwrap_or(usize::MAX), usize::MAX),
            };
            Self { rows, bytes: bytes.min(settings.commit_bytes_max / 2) }
        })
    }
}

/// Rows that become one commit.
#[derive(Debug, Default)]
pub(crate) struct Part {
    /// The number of each row, by which an error names the row.
    numbers: Vec<u64>,
    /// The rows, each with a value for each column of the target.
    rows: Vec<Vec<Value>>,
    /// The approximate bytes of the encoded rows.
    bytes: usize,
    /// The values that get a DEFAULT that is computed for each row: the row, and the position in it.
    unset: Vec<(usize, usize)>,
}

impl Part {
    /// Adds a row whose values have the types of their columns. `text_bytes` is the length of its texts and bytes; the values at
    /// `unset` get DEFAULTs that are computed for each row.
    pub(crate) fn add(
        &mut self,
        number: u64,
        row: Vec<Value>,
        text_bytes: usize,
        unset: impl IntoIterator<Item = usize>,
    ) {
        self.bytes += ROW_BYTES + VALUE_BYTES * row.len() + text_bytes;
        self.unset.extend(unset.into_iter().map(|place| (self.rows.len(), place)));
        self.numbers.push(number);
        self.rows.push(row);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(crate) fn is_full(&self, limits: PartLimits) -> bool {
        self.rows.len() >= limits.rows || self.bytes >= limits.bytes
    }
}

/// The target of a COPY FROM. If the statement loads dynamic columns, the table gets the hidden column for them.
pub(crate) fn load_target(session: &Session, copy: &CopyFrom, on_conflict: OnConflict) -> Result<UpsertTarget, Error> {
    let name = &copy.table;
    check_own(session, name.schema.as_ref(), &name.name)?;
    let columns = |table: &Arc<Table>| listed_columns(table, copy.columns.as_deref(), &copy.dynamic);
    let mut table = resolve(&*session.catalog()?, name)?;
    if !copy.dynamic.is_empty() {
        columns(&table)?;
        adds_dynamic_columns(session, name)?;
        table = resolve(&*session.catalog()?, name)?;
    }
    let (columns, dynamic) = columns(&table)?;
    Ok(UpsertTarget { dynamic, ..UpsertTarget::new(table, columns, on_conflict)? })
}

/// Writes the parts of one load.
pub(crate) struct Loader {
    /// The target, bound to the newest definition of the table.
    pub(crate) target: UpsertTarget,
    table: TableRef,
    /// The keys of the rows of a part, if rows that replace an earlier row are counted.
    keys: Option<Vec<Vec<u8>>>,
    keys_seen: KeysSeen,
    /// Rows written.
    pub(crate) done: u64,
    /// Rows that were skipped because their keys existed.
    pub(crate) ignored: u64,
}

/// Receives the number and the error of a row that cannot be written. If it returns an error, the load ends with that error; otherwise the
/// load continues with the next row.
pub(crate) type RefusedRow<'a> = dyn FnMut(u64, &ExecError) -> Result<(), Error> + 'a;

impl Loader {
    /// `table` is the name by which the table is found again if it is altered.
    pub(crate) fn new(target: UpsertTarget, table: TableRef) -> Self {
        Self { target, table, keys: None, keys_seen: KeysSeen::new(), done: 0, ignored: 0 }
    }

    /// Counts the rows that replace an earlier row of the load.
    pub(crate) fn counting_repeats(mut self) -> Self {
        let is_counted = self.target.on_conflict == OnConflict::Replace && !self.target.table.def().has_hidden_key();
        self.keys = is_counted.then(Vec::new);
        self
    }

    /// The rows that replaced an earlier row of the load.
    pub(crate) fn repeats(self) -> Repeats {
        self.keys_seen.repeats()
    }

    /// Commits a part. If a row cannot be written, the rows before it and the rows after it are separate commits.
    ///
    /// # Errors
    /// Those that `refused` returns, with the number of committed rows; errors of commits.
    pub(crate) fn write(
        &mut self,
        part: Part,
        computing: &Computing<'_>,
        refused: &mut RefusedRow<'_>,
    ) -> Result<(), Error> {
        let Part { numbers, mut rows, unset, .. } = part;
        let session = computing.session;
        self.compute_defaults(&mut rows, unset, computing)
            .and_then(|()| self.write_all(session, &numbers, &rows, refused))
            .map_err(|error| error.after_commits(session.committed(self.done)))
    }

    /// Sets the values that get a DEFAULT that is computed for each row.
    fn compute_defaults(
        &self,
        rows: &mut [Vec<Value>],
        unset: Vec<(usize, usize)>,
        computing: &Computing<'_>,
    ) -> Result<(), Error> {
        if unset.is_empty() && self.target.computed_defaults.is_empty() {
            return Ok(());
        }
        let snapshot = computing.session.snapshot()?;
        let def = self.target.table.def();
        for (place, &column) in self.target.columns.iter().enumerate() {
            let of_column: Vec<usize> = unset.iter().filter(|unset| unset.1 == place).map(|unset| unset.0).collect();
            let Some(column) = def.columns.get(column).filter(|_| !of_column.is_empty()) else { continue };
            let values = computing.values_of(&snapshot, def, &[column], of_column.len())?;
            for (row, value) in of_column.into_iter().zip(values.into_iter().flatten()) {
                if let Some(to) = rows.get_mut(row).and_then(|row| row.get_mut(place)) {
                    *to = value;
                }
            }
        }
        computing.add_defaults(&snapshot, &self.target, rows)
    }

    /// Writes rows. If one is refused, for example because of its key, the rows before it are written, then the error is reported.
    fn write_all(
        &mut self,
        session: &Session,
        mut numbers: &[u64],
        mut rows: &[Vec<Value>],
        refused: &mut RefusedRow<'_>,
    ) -> Result<(), Error> {
        while let [number, ..] = numbers {
            let failure = match self.write_rows(session, rows)? {
                Ok(count) => {
                    self.done += count;
                    self.ignored += (rows.len() as u64).saturating_sub(count);
                    self.keys.iter().flatten().for_each(|key| self.keys_seen.add(key));
                    return Ok(());
                }
                Err(failure) => failure,
            };
            let code = failure.error.code();
            // The number of rows to write first.
            let before = match failure.row {
                Some(row) if is_of_the_row(code) => row,
                // The sizes of the rows are estimates, and were too low.
                None if code == ErrorCode::StatementTooLarge && rows.len() > 1 => rows.len() / 2,
                _ => return Err(failure.error.into()),
            };
            let (first, rest) = (rows.split_at(before), numbers.split_at(before));
            self.write_all(session, rest.0, first.0, refused)?;
            (rows, numbers) = (first.1, rest.1);
            if failure.row.is_some() {
                refused(numbers.first().copied().unwrap_or(*number), &failure.error)?;
                (rows, numbers) = (rows.get(1..).unwrap_or_default(), numbers.get(1..).unwrap_or_default());
            }
        }
        Ok(())
    }

    /// Writes rows with the newest definition of the table.
    fn write_rows(&mut self, session: &Session, rows: &[Vec<Value>]) -> Result<Result<u64, RowFailure>, Error> {
        loop {
            if let Some(keys) = &mut self.keys {
                keys.clear();
            }
            let written = session.writer().upsert(&self.target, rows, self.keys.as_mut());
            let is_conflict = written.as_ref().is_err_and(|failure| failure.error.code() == ErrorCode::Conflict);
            if !is_conflict || !self.rebind(session)? {
                return Ok(written);
            }
        }
    }

    /// Binds the columns again if the table was altered; returns whether it was.
    fn rebind(&mut self, session: &Session) -> Result<bool, Error> {
        let table = resolve(&*session.catalog()?, &self.table)?;
        let (old, new) = (self.target.table.def(), table.def());
        if (old.id, old.history.version) == (new.id, new.history.version) {
            return Ok(false);
        }
        let mut columns = Vec::with_capacity(self.target.columns.len());
        for &index in &self.target.columns {
            let Some(known) = old.columns.get(index) else {
                // Dynamic columns come after the columns of the table.
                columns.push(index - old.columns.len() + new.columns.len());
                continue;
            };
            // The column may have another name now.
            let is_same = |(other, c): &(usize, &ColumnDef)| {
                (c.family, c.slot) == (known.family, known.slot) && new.key.position(*other) == old.key.position(index)
            };
            let found = new.columns.iter().enumerate().find(is_same).map(|(column, _)| column);
            let Some(column) = found.filter(|_| old.id == new.id) else {
                let text = format!("column {} was dropped meanwhile", known.name);
                return Err(Error::new(ErrorCode::NoSuchColumn, text));
            };
            columns.push(column);
        }
        let target = UpsertTarget::new(table, columns, self.target.on_conflict)?;
        self.target = UpsertTarget { dynamic: std::mem::take(&mut self.target.dynamic), ..target };
        Ok(true)
    }
}

/// Whether an error concerns one row, so that the other rows can be written without it.
fn is_of_the_row(code: ErrorCode) -> bool {
    use ErrorCode::{BadKey, BadText, Check, DuplicateKey, NotNull, OutOfRange, TooLong, TypeMismatch};
    matches!(code, BadKey | BadText | Check | DuplicateKey | NotNull | OutOfRange | TooLong | TypeMismatch)
}
