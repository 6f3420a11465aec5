//! COPY TO STDOUT in a format of PostgreSQL.

use pgwire::messages::PgWireBackendMessage as Message;
use pgwire::messages::copy::{CopyDone, CopyOutResponse};
use saltwing::Row;

use super::super::end::Failure;
use super::super::postgres_session::PostgresSession;
use super::super::row_stream::{ColumnForm, OpenRows, supervise, supervise_read};
use super::super::run::{Outcome, tag};
use super::super::statement::{Prepared, PreparedKind};
use super::super::statement_text::StatementText;
use super::Supervision;
use super::columns::{Column, columns_of};
use crate::copy::{CopySource, CopyTable, CopyTo, RowWriter, WrittenColumn};
use crate::error_fields::error_info;
use crate::messages::{complete, error};
use crate::values::WireType;
use crate::wire::Wire;

/// Output that is sent before more rows are encoded.
const FLUSH_BYTES: usize = 32 << 10;

impl PostgresSession {
    /// Runs a COPY TO STDOUT in a format of PostgreSQL.
    pub(super) async fn copy_out(&mut self, statement: &StatementText, copy: &CopyTo) -> Result<(), Failure> {
        let prepared = match &copy.source {
            CopySource::Query { sql, offset } => {
                let offset = statement.offset.saturating_add(*offset);
                self.prepare(&StatementText { text: sql.as_str().into(), offset }, &[]).await?
            }
            CopySource::Table(table) => self.prepare_table(statement, table).await?,
        };
        let columns = written_columns(&prepared)?;
        let open =
            match self.start_portal(&prepared, Vec::new()).await.map_err(|failure| placed(failure, &copy.source))? {
                Outcome::Rows(open) => *open,
                Outcome::Done { .. } => return Err(no_rows()),
            };
        let columns = columns.unwrap_or_else(|| {
            let columns = open.rows.columns().iter();
            let oid = |ty| WireType::of(ty).oid;
            columns
                .map(|column| WrittenColumn { label: column.label.clone(), ty: column.ty, oid: oid(column.ty) })
                .collect()
        });
        let writer = RowWriter::new(&copy.format, columns)?;
        let (count, code) = (writer.column_count(), writer.value_format().code());
        let formats = vec![code; usize::try_from(count).unwrap_or_default()];
        self.wire.put(&Message::CopyOutResponse(CopyOutResponse::new(i8::from(code == 1), count, formats)))?;
        let OpenRows { rows, running, deadline, .. } = open;
        let supervision = Supervision { running, deadline, phase: self.phase.clone() };
        let mut outgoing = Outgoing { wire: &mut self.wire, supervision, rows, writer };
        let sent = outgoing.send().await;
        let Outgoing { mut supervision, rows, .. } = outgoing;
        let count = supervision.note(sent)?;
        self.wire.put(&Message::CopyDone(CopyDone::new()))?;
        self.put_notices(rows.notices())?;
        Ok(self.wire.put(&complete(tag("COPY", count)))?)
    }

    /// Prepares the query for the rows of a table. It names the whole table, so the guard lets it read all of it.
    async fn prepare_table(&mut self, statement: &StatementText, table: &CopyTable) -> Result<Prepared, Failure> {
        let connection = self.connection.clone();
        let mut supervision = self.begin_copy(statement);
        let columns = supervise_read(&mut self.wire, &supervision.running, columns_of(&connection, table)).await?;
        let columns = columns.map_err(|failed| Failure::from(error_info(&failed, None)));
        let columns = supervision.note(columns)?;
        drop(supervision);
        let query = StatementText { text: table_query(table, &columns).into(), offset: 0 };
        self.prepare(&query, &[]).await.map_err(without_position)
    }
}

/// The query for the rows of a table.
fn table_query(table: &CopyTable, columns: &[Column]) -> String {
    let items: Vec<&str> = columns.iter().map(|column| column.sql.as_str()).collect();
    let items = if items.is_empty() { "*".to_owned() } else { items.join(", ") };
    let dynamic = columns.iter().filter(|column| column.declared != column.sql);
    let dynamic: Vec<&str> = dynamic.map(|column| column.declared.as_str()).collect();
    let declared = if dynamic.is_empty() { String::new() } else { format!(" ({})", dynamic.join(", ")) };
    format!("SELECT /*+ FULL_SCAN */ {items} FROM {}{declared}", table.sql)
}

/// The columns of a prepared query, as far as they are known before it runs.
fn written_columns(prepared: &Prepared) -> Result<Option<Vec<WrittenColumn>>, Failure> {
    let PreparedKind::Library { properties, columns, .. } = &prepared.kind else { return Err(no_rows()) };
    if !properties.gives_rows {
        return Err(no_rows());
    }
    if !prepared.parameters.is_empty() {
        return Err(error("42P02", "a query of COPY has no parameters").into());
    }
    let column = |column: &ColumnForm| WrittenColumn { label: column.label.clone(), ty: column.ty, oid: column.oid };
    Ok(columns.as_ref().map(|columns| columns.iter().map(column).collect()))
}

fn no_rows() -> Failure {
    error("0A000", "COPY query must give rows: a SELECT, or a statement with RETURNING").into()
}

/// An error of the statement that gives the rows, with a position if the client has written it.
fn placed(failure: Failure, source: &CopySource) -> Failure {
    match source {
        CopySource::Query { .. } => failure,
        CopySource::Table(_) => without_position(failure),
    }
}

/// An error of a text that the client has not written.
fn without_position(failure: Failure) -> Failure {
    match failure {
        Failure::Statement(mut info) => {
            info.position = None;
            Failure::Statement(info)
        }
        ended @ Failure::Ended(_) => ended,
    }
}

/// A COPY TO whose rows are sent, at the pace of the client.
struct Outgoing<'a> {
    wire: &'a mut Wire,
    supervision: Supervision,
    rows: saltwing::Rows,
    writer: RowWriter,
}

impl Outgoing<'_> {
    /// Sends all rows; gives how many there were.
    async fn send(&mut self) -> Result<u64, Failure> {
        self.writer.put_names(self.wire.output())?;
        let mut count = 0_u64;
        while let Some(row) = self.next().await? {
            let value = |place: usize| row.get_ref(place).map_err(|failed| error_info(&failed, None));
            self.writer.put_row(self.wire.output(), value)?;
            count = count.saturating_add(1);
            self.supervision.running.add_rows(1);
            if self.wire.output().len() >= FLUSH_BYTES {
                self.supervision.flush(self.wire).await?;
            }
        }
        self.writer.finish(self.wire.output())?;
        Ok(count)
    }

    /// The next row. The client gets the rows before it while it is computed.
    async fn next(&mut self) -> Result<Option<Row>, Failure> {
        let ready = tokio::select! {
            biased;
            row = self.rows.next() => Some(row),
            () = std::future::ready(()) => None,
        };
        let row = match ready {
            Some(row) => row,
            None => {
                self.supervision.flush(self.wire).await?;
                supervise(self.wire, &self.supervision.running, self.rows.next()).await?
            }
        };
        row.map_err(|failed| error_info(&failed, None).into())
    }
}
