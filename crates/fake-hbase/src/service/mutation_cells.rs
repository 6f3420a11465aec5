//! The cells of a mutation, which lie in the message or in the cell block.

use bytes::Bytes;
use hbase_client::WireError;
use hbase_client::cell::{Cell, CellKind, CellParts, LATEST_TIMESTAMP};
use hbase_client::frame::CellBlock;
use hbase_client::proto::{DeleteType, MutationProto, MutationType};

use super::regions::check_row_length;
use crate::exception::Exception;
use crate::state::Table;

/// A mutation of a row: values and markers for puts and deletes, amounts and tails for increments and appends.
#[derive(Clone, Debug)]
pub(crate) struct Mutation {
    pub(crate) kind: MutationType,
    pub(crate) row: Bytes,
    pub(crate) cells: Vec<Cell>,
    pub(crate) nonce: Option<u64>,
}

fn wrong(error: WireError) -> Exception {
    Exception::do_not_retry(error.to_string())
}

fn kind_of_deletion(delete_type: Option<i32>) -> CellKind {
    match delete_type.map(DeleteType::try_from) {
        Some(Ok(DeleteType::DeleteMultipleVersions)) => CellKind::DELETE_COLUMN,
        Some(Ok(DeleteType::DeleteFamily)) => CellKind::DELETE_FAMILY,
        Some(Ok(DeleteType::DeleteFamilyVersion)) => CellKind::DELETE_FAMILY_VERSION,
        _ => CellKind::DELETE,
    }
}

/// Passes over the cells of a mutation that is not carried out.
pub(crate) fn skip_cells(message: &MutationProto, block: &mut CellBlock) -> Result<(), Exception> {
    let count = message.associated_cell_count.and_then(|count| u64::try_from(count).ok()).unwrap_or(0);
    block.take(count).map_err(wrong)?;
    Ok(())
}

impl Mutation {
    /// The mutation of a message; its cells are taken off the block.
    pub(crate) fn decode(message: &MutationProto, block: &mut CellBlock) -> Result<Self, Exception> {
        let kind = message.mutate_type.and_then(|kind| MutationType::try_from(kind).ok());
        let kind = kind.ok_or_else(|| Exception::do_not_retry("Unsupported mutate type"))?;
        let count = message.associated_cell_count.and_then(|count| u64::try_from(count).ok()).unwrap_or(0);
        let cells = block.take(count).map_err(wrong)?;
        let row = match (&message.row, cells.first()) {
            (Some(row), _) => row.clone(),
            (None, Some(cell)) => cell.row_bytes(),
            (None, None) => Bytes::new(),
        };
        check_row_length(&row)?;
        let mut mutation = Self { kind, row, cells, nonce: message.nonce };
        if let Some(other) = mutation.cells.iter().find(|cell| cell.row() != mutation.row) {
            let text = format!("The row in {other:?} doesn't match the original one");
            return Err(Exception::new("client.WrongRowIOException", text));
        }
        mutation.add_values(message).map_err(wrong)?;
        Ok(mutation)
    }

    fn add_values(&mut self, message: &MutationProto) -> Result<(), WireError> {
        for column in &message.column_value {
            for value in &column.qualifier_value {
                let is_marker = self.kind == MutationType::Delete || value.delete_type.is_some();
                let kind = if is_marker { kind_of_deletion(value.delete_type) } else { CellKind::PUT };
                self.cells.push(Cell::new(CellParts {
                    row: &self.row,
                    family: &column.family,
                    qualifier: value.qualifier.as_deref().unwrap_or_default(),
                    timestamp: value.timestamp.or(message.timestamp).unwrap_or(LATEST_TIMESTAMP),
                    kind,
                    value: value.value.as_deref().unwrap_or_default(),
                })?);
            }
        }
        Ok(())
    }

    /// A deletion without columns is one of all families.
    pub(crate) fn with_families(mut self, table: &Table, timestamp: Option<u64>) -> Result<Self, Exception> {
        if self.kind == MutationType::Delete && self.cells.is_empty() {
            for family in table.families() {
                self.cells.push(
                    Cell::new(CellParts {
                        row: &self.row,
                        family,
                        qualifier: &[],
                        timestamp: timestamp.unwrap_or(LATEST_TIMESTAMP),
                        kind: CellKind::DELETE_FAMILY,
                        value: &[],
                    })
                    .map_err(wrong)?,
                );
            }
        }
        Ok(self)
    }
}
