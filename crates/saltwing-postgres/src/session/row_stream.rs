//! The rows of a result, on their way to the client.

use std::sync::Arc;
use std::time::Instant;

use bytes::{BufMut, BytesMut};
use pgwire::messages::data::{FieldDescription, RowDescription};
use saltwing::{ColumnOrigin, Description, ResultColumn, Row, Rows, SqlType, TouchedObject, ValueRef};
use saltwing_pg_catalog::PgCatalog;
use saltwing_sessions::RunningStatement;

use super::end::Failure;
use super::failures::cancelled;
use crate::error_fields::{error_info, value_error_info};
use crate::messages::error;
use crate::ready::now;
use crate::values::{Format, WireType, encode_as, is_object_id};
use crate::wire::Wire;

/// Output that is sent before more rows are encoded.
const FLUSH_BYTES: usize = 32 << 10;

/// The columns of a result, as they are sent.
pub(super) type ColumnForms = Arc<[ColumnForm]>;

/// How a column is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ColumnForm {
    pub(super) label: String,
    pub(super) ty: SqlType,
    /// The type in the message to the client.
    pub(super) oid: u32,
    /// The OID of the table and the number of its column that the values are copied from; zeros for others.
    pub(super) origin: (u32, i16),
    pub(super) format: Format,
}

impl ColumnForm {
    /// The columns of a result as texts.
    pub(super) fn of_columns(columns: &[ResultColumn]) -> Vec<Self> {
        let form = |column: &ResultColumn| Self {
            label: column.label.clone(),
            ty: column.ty,
            oid: WireType::of(column.ty).oid,
            origin: (0, 0),
            format: Format::Text,
        };
        columns.iter().map(form).collect()
    }

    /// The columns of a prepared statement as texts, with the tables that they are from.
    pub(super) fn of_description(description: &Description) -> Option<ColumnForms> {
        let columns = description.columns.as_deref()?;
        let mut forms = Self::of_columns(columns);
        // The table behind a view is not the client's, which may have no right on it.
        let is_named = |origin: &ColumnOrigin| {
            description
                .touches
                .iter()
                .any(|touch| touch.through.is_none() && touch.object == TouchedObject::Relation(origin.table.clone()))
        };
        for (form, origin) in forms.iter_mut().zip(&description.origins) {
            let Some(origin) = origin.as_ref().filter(|origin| is_named(origin)) else { continue };
            if let (Some(table), Some(column)) = (PgCatalog::relation_oid(origin.table_id), origin.position) {
                form.origin = (table, column);
            }
        }
        Some(forms.into())
    }

    /// The bytes of each value as PostgreSQL's types have them; negative for values of any length.
    fn size(&self) -> i16 {
        match self.oid {
            oid if is_object_id(oid) => 4,
            18 => 1,
            19 => 64,
            22 | 30 => -1,
            _ => WireType::of(self.ty).size,
        }
    }
}

/// The message that describes these columns.
pub(super) fn row_description(columns: &[ColumnForm]) -> RowDescription {
    let field = |column: &ColumnForm| {
        let own = WireType::of(column.ty);
        let modifier = if own.oid == column.oid { own.modifier } else { -1 };
        let ((table, number), code) = (column.origin, column.format.code());
        FieldDescription::new(column.label.clone(), table as i32, number, column.oid, column.size(), modifier, code)
    };
    RowDescription::new(columns.iter().map(field).collect())
}

/// An open result.
pub(super) struct OpenRows {
    pub(super) rows: Rows,
    pub(super) running: RunningStatement,
    pub(super) tag: &'static str,
    /// The time limit of the statement, for a client that does not read.
    pub(super) deadline: Option<Instant>,
    /// Rows that the client has.
    pub(super) sent: u64,
}

/// How far the rows were sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sent {
    /// There are no more rows.
    All,
    /// As many as the client wanted, and perhaps there are more.
    Some,
}

impl OpenRows {
    /// Sends rows up to the end, or up to as many as `most`.
    ///
    /// # Errors
    /// Errors of the statement, of a cancellation and of the wire. The result is over then.
    pub(super) async fn send(
        &mut self,
        wire: &mut Wire,
        columns: &[ColumnForm],
        most: Option<u64>,
    ) -> Result<Sent, Failure> {
        let mut left = most.unwrap_or(u64::MAX);
        while left > 0 {
            // Most rows are there, and need no future.
            let next = match self.rows.next_ready() {
                Some(row) => Some(row),
                None => self.next(wire).await?,
            };
            let Some(row) = next else { return Ok(Sent::All) };
            put_row(wire.output(), &row, columns)?;
            (self.sent, left) = (self.sent.saturating_add(1), left - 1);
            self.running.add_rows(1);
            if wire.output().len() >= FLUSH_BYTES {
                flush(wire, &self.running, self.deadline).await?;
            }
        }
        Ok(Sent::Some)
    }

    /// Passes over rows; gives how many there were, up to `most`.
    pub(super) async fn skip(&mut self, wire: &mut Wire, most: Option<u64>) -> Result<u64, Failure> {
        let mut passed = 0;
        while most.is_none_or(|most| passed < most) && self.next(wire).await?.is_some() {
            passed += 1;
        }
        Ok(passed)
    }

    /// The next row. A row that is there costs no wait.
    async fn next(&mut self, wire: &mut Wire) -> Result<Option<Row>, Failure> {
        let ready = now(self.rows.next());
        let row = match ready {
            Some(row) => row,
            None => {
                // The client gets what there is while the next rows are computed.
                let Self { rows, running, deadline, .. } = self;
                flush(wire, running, *deadline).await?;
                supervise_read(wire, running, rows.next()).await?
            }
        };
        row.map_err(|error| error_info(&error, None).into())
    }
}

/// Sends the output, unless the statement is stopped first.
async fn flush(wire: &mut Wire, running: &RunningStatement, deadline: Option<Instant>) -> Result<(), Failure> {
    let expired = async {
        match deadline {
            Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        biased;
        () = running.cancelled() => Err(cancelled().into()),
        flushed = wire.flush() => Ok(flushed?),
        () = expired => Err(error("57014", "canceling statement due to statement timeout").into()),
    }
}

/// Waits for a step of a statement. If the statement is cancelled, the step still tells its outcome: a write may have been committed. If the client
/// goes, the step is given up.
pub(super) async fn supervise<T>(
    wire: &mut Wire,
    running: &RunningStatement,
    step: impl Future<Output = T>,
) -> Result<T, Failure> {
    Ok(wire.while_connected(running.outcome(step)).await?)
}

/// Waits for a step of a statement that only reads: if the statement is cancelled, the step is given up.
///
/// # Errors
/// 57014 if it is cancelled; the client is gone.
pub(super) async fn supervise_read<T>(
    wire: &mut Wire,
    running: &RunningStatement,
    step: impl Future<Output = T>,
) -> Result<T, Failure> {
    let supervised = async {
        tokio::select! {
            biased;
            value = step => Ok(value),
            () = running.cancelled() => Err(cancelled()),
        }
    };
    Ok(wire.while_connected(supervised).await??)
}

/// Adds a row to the output; nothing, if it cannot be encoded.
fn put_row(output: &mut BytesMut, row: &Row, columns: &[ColumnForm]) -> Result<(), Failure> {
    let start = output.len();
    let put = try_put_row(output, row, columns);
    if put.is_err() {
        output.truncate(start);
    }
    put
}

fn try_put_row(output: &mut BytesMut, row: &Row, columns: &[ColumnForm]) -> Result<(), Failure> {
    let start = output.len();
    output.put_u8(b'D');
    output.put_i32(0);
    let count = i16::try_from(columns.len()).map_err(|_| error("54011", "the result has more than 32767 columns"))?;
    output.put_i16(count);
    for (index, column) in columns.iter().enumerate() {
        let value = row.get_ref(index).map_err(|error| error_info(&error, None))?;
        put_value(output, &value, column)?;
    }
    let length = i32::try_from(output.len() - start - 1).ok();
    let field = output.get_mut(start + 1..start + 5);
    let (Some(length), Some(field)) = (length, field) else {
        return Err(error("54000", "a row has more than 2 GB in its form for the client").into());
    };
    field.copy_from_slice(&length.to_be_bytes());
    Ok(())
}

fn put_value(output: &mut BytesMut, value: &ValueRef<'_>, column: &ColumnForm) -> Result<(), Failure> {
    encode_as(value, column.ty, column.oid, column.format, output).map_err(|error| value_error_info(&error).into())
}
