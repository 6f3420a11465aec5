//! The rows of an appender: collected on the caller's thread, written on a thread of the library.
//!
//! ```text
//! caller:   part 1 ──> part 2 ──> waits ──> part 3
//! library:             writes part 1 ─────> writes part 2
//! ```
//! At most one part is being written while the next one is collected, which bounds the memory.

use std::sync::{Arc, Weak};

use arrow::array::RecordBatch;
use async_channel::Receiver;
use saltwing_access::Table;
use saltwing_bind::{OnConflict, ParamValues};
use saltwing_expr::{sql_type, value_at};
use saltwing_sql::Statement;
use saltwing_types::{ColumnDef, ErrorCode, SqlType, Value};

use crate::computed::{assigned, computing};
use crate::load::{Loader, Part, PartLimits, load_target};
use crate::outcome::{ExecResult, Outcome};
use crate::rights::check_rights;
use crate::session::Session;
use crate::statement_cache::CachedStatement;
use crate::transaction::SessionTransaction;
use crate::transaction_closure::check_outside;
use crate::{Error, Params};

/// The state that an [`Appender`](crate::Appender) and its blocking form share.
pub(crate) struct Appending {
    session: Session,
    /// The `COPY .. FROM STDIN` that the appender runs as.
    statement: Arc<CachedStatement>,
    /// The transaction to which the rows belong.
    transaction: Option<Weak<SessionTransaction>>,
    table: Arc<Table>,
    /// The columns of the rows.
    columns: Vec<ColumnDef>,
    limits: PartLimits,
    part: Part,
    rows_taken: u64,
    writing: Writing,
}

/// The state of the writer of the parts.
enum Writing {
    Idle(Box<Loader>),
    /// On a thread of the library.
    Busy(Receiver<PartWritten>),
    /// A part has failed with this error, and the later rows are lost.
    Failed(ErrorCode, String),
}

/// The end of a part.
type PartWritten = (Box<Loader>, Result<(), Error>);

impl Appending {
    /// `table` and `columns` are written as in SQL. An error fails the transaction, as an error of the COPY would.
    pub(crate) fn new(session: &Session, table: &str, columns: &[impl AsRef<str>]) -> Result<Self, Error> {
        Self::made(session, table, columns).inspect_err(|error| session.transaction.fail(error))
    }

    fn made(session: &Session, table: &str, columns: &[impl AsRef<str>]) -> Result<Self, Error> {
        session.writable()?;
        let columns: Vec<&str> = columns.iter().map(AsRef::as_ref).collect();
        let list = if columns.is_empty() { String::new() } else { format!(" ({})", columns.join(", ")) };
        let statement = session.cached(&format!("COPY {table}{list} FROM STDIN"))?;
        let copy = match &statement.parsed.statement {
            Statement::CopyFrom(copy) if copy.path().is_none() => copy,
            _ => return Err(Error::new(ErrorCode::BadArgument, format!("{table} is no name of a table"))),
        };
        let name = copy.table.clone();
        let transaction = session.open_transaction()?;
        let within = transaction.as_ref().map(|transaction| transaction.check().map(|()| session.within(transaction)));
        let within = within.transpose()?;
        let session_within = within.as_ref().unwrap_or(session);
        let target = check_rights(session_within, &statement)
            .and_then(|()| load_target(session_within, copy, OnConflict::Replace));
        let target = target.map_err(|error| error.in_sql(&statement.text))?;
        let column = |&column: &usize| Some(target.column(column)?.clone());
        let columns = target.columns.iter().filter_map(column).collect();
        Ok(Self {
            session: session.clone(),
            transaction: transaction.as_ref().map(Arc::downgrade),
            table: target.table.clone(),
            columns,
            limits: PartLimits::of(session),
            part: Part::default(),
            rows_taken: 0,
            writing: Writing::Idle(Box::new(Loader::new(target, name))),
            statement,
        })
    }

    /// Sets the treatment of rows whose keys exist. The appender must not have rows yet.
    pub(crate) fn set_on_conflict(&mut self, on_conflict: OnConflict) {
        if let Writing::Idle(loader) = &mut self.writing {
            loader.target.set_on_conflict(on_conflict);
        }
    }

    /// Adds a row. If the part is full, starts to write it first.
    pub(crate) async fn append_row(&mut self, row: Params) -> Result<(), Error> {
        self.make_room().await?;
        self.check()?;
        self.check_transaction()?;
        let row = match row {
            Params::Positional(values) if values.len() == self.columns.len() => values,
            Params::Positional(values) => {
                let text = format!("it has {} values for {} columns", values.len(), self.columns.len());
                return Err(self.refused(Error::new(ErrorCode::BadParameter, text)));
            }
            Params::Named(named) => self.in_order(named).map_err(|error| self.refused(error))?,
        };
        self.add_values(row.into_iter())
    }

    /// The values of a row with column names, in the order of the columns.
    fn in_order(&self, mut named: Vec<(String, Value)>) -> Result<Vec<Value>, Error> {
        let wrong = |text: String| Error::new(ErrorCode::BadParameter, text);
        let mut row = Vec::with_capacity(self.columns.len());
        for column in &self.columns {
            let place = place_of(&column.name, named.iter().map(|(name, _)| name));
            let place = place.ok_or_else(|| wrong(format!("it has no value for the column {}", column.name)))?;
            row.push(named.swap_remove(place).1);
        }
        match named.first() {
            Some((name, _)) => Err(wrong(format!("the appender has no column {name}"))),
            None => Ok(row),
        }
    }

    /// The position of each column of the appender in a batch, with the column's type.
    fn places(&self, batch: &RecordBatch) -> Result<Vec<(usize, SqlType)>, Error> {
        self.check()?;
        let schema = batch.schema_ref();
        let wrong = |text: String| Error::new(ErrorCode::BadParameter, text);
        let place = |column: &ColumnDef| {
            let place = place_of(&column.name, schema.fields().iter().map(|field| field.name()));
            let place = place.ok_or_else(|| wrong(format!("the batch has no column {}", column.name)))?;
            let data_type = schema.field(place).data_type();
            let ty = sql_type(data_type);
            let ty = ty.ok_or_else(|| wrong(format!("column {}: {data_type} is no SQL type", column.name)))?;
            Ok((place, ty))
        };
        let places = self.columns.iter().map(place).collect::<Result<Vec<_>, Error>>()?;
        let is_known = |index: &usize| places.iter().any(|(place, _)| place == index);
        match (0..schema.fields().len()).find(|index| !is_known(index)) {
            Some(index) => Err(wrong(format!("the appender has no column {}", schema.field(index).name()))),
            None => Ok(places),
        }
    }

    /// Adds the rows of a batch.
    pub(crate) async fn append_batch(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        let places = self.places(batch)?;
        for row in 0..batch.num_rows() {
            self.make_room().await?;
            self.add_row_of(batch, &places, row)?;
        }
        Ok(())
    }

    /// Writes all rows; returns the number of all rows written.
    pub(crate) async fn flush(&mut self) -> Result<u64, Error> {
        self.write(true).await?;
        Ok(self.rows_written())
    }

    /// Starts to write the part if it is full.
    async fn make_room(&mut self) -> Result<(), Error> {
        match self.part.is_full(self.limits) {
            // Statements of a transaction run one after the other, so the part must be written before the caller continues.
            true => self.write(self.transaction.is_some()).await,
            false => Ok(()),
        }
    }

    /// Starts to write the part, and waits for its end if `is_awaited`.
    async fn write(&mut self, is_awaited: bool) -> Result<(), Error> {
        self.wait().await?;
        self.start()?;
        if is_awaited { self.wait().await } else { Ok(()) }
    }

    /// Waits for the end of the part that is being written, if there is one.
    async fn wait(&mut self) -> Result<(), Error> {
        let written = match &self.writing {
            Writing::Busy(receiver) => receiver.recv().await,
            _ => return Ok(()),
        };
        let closing = |_| Error::new(ErrorCode::Cancelled, "the database is closing");
        let error = match written.map_err(closing) {
            Ok((loader, Ok(()))) => {
                self.writing = Writing::Idle(loader);
                return Ok(());
            }
            Ok((_, Err(error))) | Err(error) => error,
        };
        self.writing = Writing::Failed(error.code(), error.to_string());
        self.part = Part::default();
        Err(error)
    }

    /// Adds a row of a batch to the part.
    fn add_row_of(&mut self, batch: &RecordBatch, places: &[(usize, SqlType)], row: usize) -> Result<(), Error> {
        self.check_transaction()?;
        let values = places.iter().map(|(place, ty)| value_at(batch.column(*place), row, *ty));
        let values = values.collect::<Result<Vec<_>, _>>().map_err(|error| self.refused(error.into()))?;
        self.add_values(values.into_iter())
    }

    /// Checks that a row joins the transaction in which the appender was made, or none.
    ///
    /// # Errors
    /// [`ErrorCode::ActiveTransaction`] if the appender was made outside of the transaction that is open now.
    fn check_transaction(&self) -> Result<(), Error> {
        check_outside(&self.session.transaction)?;
        if self.transaction.is_some() || !self.session.transaction.is_open() {
            return Ok(());
        }
        let text = "the appender was made before BEGIN, and its rows would be no part of the transaction";
        let help = "close it before BEGIN, and make another one inside the transaction";
        Err(Error::new(ErrorCode::ActiveTransaction, text).with_help(Some(help)))
    }

    fn add_values(&mut self, values: impl Iterator<Item = Value>) -> Result<(), Error> {
        let def = self.table.def();
        let columns = values.zip(&self.columns);
        let row = columns.map(|(value, column)| assigned(value, column, def)).collect::<Result<Vec<_>, _>>();
        let row = row.map_err(|error| self.refused(error))?;
        let text_bytes = row.iter().map(Value::heap_bytes).sum();
        self.rows_taken += 1;
        self.part.add(self.rows_taken, row, text_bytes, []);
        Ok(())
    }

    /// Adds the number of the next row to an error.
    fn refused(&self, error: Error) -> Error {
        Error::new(error.code(), format!("row {}: {error}", self.rows_taken + 1))
    }

    /// # Errors
    /// The error of a failed appender.
    fn check(&self) -> Result<(), Error> {
        match &self.writing {
            Writing::Failed(code, text) => {
                Err(Error::new(*code, format!("the appender failed before, and takes no more rows: {text}")))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn has_failed(&self) -> bool {
        matches!(self.writing, Writing::Failed(..))
    }

    /// Starts to write the part; no other part is being written.
    fn start(&mut self) -> Result<(), Error> {
        self.check()?;
        if self.part.is_empty() {
            return Ok(());
        }
        let (sender, receiver) = async_channel::bounded(1);
        let Writing::Idle(mut loader) = std::mem::replace(&mut self.writing, Writing::Busy(receiver)) else {
            debug_assert!(false, "two parts at once");
            return Err(Error::new(ErrorCode::Bug, "two parts of an appender are written at once"));
        };
        let part = std::mem::take(&mut self.part);
        let write = write_part(&self.session, &self.transaction, &self.statement);
        self.session.shared().pools.spawn_blocking(move || {
            let written = write(&mut loader, part);
            // If the receiver is gone, the result is not needed.
            let _ = sender.send_blocking((loader, written));
        })
    }

    /// Rows written so far.
    fn rows_written(&self) -> u64 {
        match &self.writing {
            Writing::Idle(loader) => loader.done,
            _ => 0,
        }
    }
}

impl Drop for Appending {
    fn drop(&mut self) {
        if self.part.is_empty() {
            return;
        }
        let part = std::mem::take(&mut self.part);
        let writing = std::mem::replace(&mut self.writing, Writing::Failed(ErrorCode::Cancelled, String::new()));
        let write = write_part(&self.session, &self.transaction, &self.statement);
        let spawned = self.session.shared().pools.spawn_blocking(move || {
            let idle = match writing {
                Writing::Idle(loader) => Some(loader),
                Writing::Busy(running) => {
                    running.recv_blocking().ok().and_then(|(loader, written)| log(written).is_ok().then_some(loader))
                }
                Writing::Failed(..) => None,
            };
            if let Some(mut loader) = idle {
                let _ = log(write(&mut loader, part));
            }
        });
        let _ = log(spawned);
    }
}

/// Logs an error that has no caller.
pub(crate) fn log(result: Result<(), Error>) -> Result<(), Error> {
    result.inspect_err(|error| {
        tracing::error!(target: "saltwing::statement", %error, "a dropped appender could not write its last rows");
    })
}

/// Writes a part as a statement of its own, or as one of the transaction.
fn write_part(
    session: &Session,
    transaction: &Option<Weak<SessionTransaction>>,
    statement: &Arc<CachedStatement>,
) -> impl FnOnce(&mut Loader, Part) -> Result<(), Error> + Send + 'static {
    let (session, transaction, statement) = (session.fork(), transaction.clone(), statement.clone());
    move |loader, part| {
        let run = |session: &Session| {
            let context = session.begin();
            context.check()?;
            let mut refused = |number, error: &saltwing_exec::ExecError| {
                Err(Error::new(error.code(), format!("row {number}: {error}")))
            };
            loader.write(part, &computing(session, &[], ParamValues::NONE, &context), &mut refused)?;
            Ok(Outcome::Done(ExecResult::default()))
        };
        session.check_bound()?;
        let ended = || Error::new(ErrorCode::NoTransaction, "the transaction has ended in which the appender was made");
        let transaction = transaction.map(|transaction| transaction.upgrade().ok_or_else(ended)).transpose()?;
        session.run_in(transaction, &statement, run).map(drop)
    }
}

/// The position of a column among names, compared like names without quotes.
fn place_of<'a>(column: &str, mut names: impl Iterator<Item = &'a String> + Clone) -> Option<usize> {
    let exact = names.clone().position(|name| name == column);
    exact.or_else(|| names.position(|name| name.eq_ignore_ascii_case(column)))
}
