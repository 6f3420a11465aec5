//! The rows of a result, on their way to the client.

use std::time::Instant;

use bytes::{BufMut, BytesMut};
use pgwire::messages::data::{FieldDescription, RowDescription};
use saltwing::{ResultColumn, Row, Rows, SqlType, ValueRef};
use saltwing_sessions::RunningStatement;

use super::end::Failure;
use super::failures::cancelled;
use crate::error_fields::{error_info, value_error_info};
use crate::messages::error;
use crate::ready::now;
use crate::values::{Format, WireType, encode};
use crate::wire::Wire;

/// Output that is sent before more rows are encoded.
const FLUSH_BYTES: usize = 32 << 10;

/// How a column is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ColumnForm {
    pub(super) label: String,
    pub(super) ty: SqlType,
    /// The type in the message to the client.
    pub(super) oid: u32,
    pub(super) format: Format,
}

impl ColumnForm {
    /// The columns of a result, each in its format; `formats` has as many.
    pub(super) fn of_columns(columns: &[ResultColumn], formats: &[Format]) -> Vec<Self> {
        let typed = columns.iter().zip(formats.iter());
        let form = |(column, format): (&ResultColumn, &Format)| Self {
            label: column.label.clone(),
            ty: column.ty,
            oid: WireType::of(column.ty).oid,
            format: *format,
        };
        typed.map(form).collect()
    }

    /// Whether its binary form is an unsigned number of 32 bits: a column of PostgreSQL's catalog whose values are our 64-bit numbers.
    fn is_object_id(&self) -> bool {
        // oid and regproc; regclass, regtype, regnamespace, regrole.
        matches!(self.oid, 26 | 24 | 2205 | 2206 | 4089 | 4096)
    }
}

/// The message that describes these columns.
pub(super) fn row_description(columns: &[ColumnForm]) -> RowDescription {
    let field = |column: &ColumnForm| {
        let own = WireType::of(column.ty);
        let (size, modifier) = if own.oid == column.oid { (own.size, own.modifier) } else { (own.size, -1) };
        FieldDescription::new(column.label.clone(), 0, 0, column.oid, size, modifier, column.format.code())
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
            let Some(row) = self.next(wire).await? else { return Ok(Sent::All) };
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
    if let (Format::Binary, true, ValueRef::Int(id)) = (column.format, column.is_object_id(), value)
        && let Ok(id) = u32::try_from(*id)
    {
        output.put_i32(4);
        output.put_u32(id);
        return Ok(());
    }
    encode(value, column.ty, column.format, output).map_err(|error| value_error_info(&error).into())
}
