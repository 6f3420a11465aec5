//! The attributes that make the region servers keep indexes.

use super::writing::write_maintainers;
use crate::{Attribute, IndexState, PhoenixError, TableDefinition, TableKind};

/// Names an index update; the servers look for no more than its length where the maintainers come along.
const UPDATE_ID: &str = "IdxUUID";
const MAINTAINERS: &str = "IdxProtoMD";
const VERSION: &str = "_ClientVersion";
/// 5.2.0, as clients of 5.2 say it.
const CLIENT_VERSION: [u8; 4] = [0, 5, 2, 0];

/// The attributes that each mutation of a row of `table` has to have, so that the region servers keep its indexes; none if it
/// has no indexes. They are the same for all rows: all mutations of one batch take those of the first one.
///
/// # Errors
/// [`PhoenixError::IndexNotKept`] for an index that is not understood, in a state other than active, local, uncovered,
/// partial, functional or of columns with a DEFAULT, and for any index of a table that is immutable, of several tenants or a view.
pub fn index_attributes(table: &TableDefinition, update_id: [u8; 16]) -> Result<Vec<Attribute>, PhoenixError> {
    let Some(first) = table.indexes.first() else { return Ok(Vec::new()) };
    let refused = |index: &str, reason: &str| PhoenixError::IndexNotKept { index: index.into(), reason: reason.into() };
    let reason = match table.kind {
        _ if table.immutable => "its table is immutable: clients write the entries",
        _ if table.multi_tenant => "its table is of several tenants",
        TableKind::View(_) => "it is an index of a view",
        TableKind::System | TableKind::Index(_) => "its table is none that programs write",
        TableKind::Table => "",
    };
    if !reason.is_empty() {
        return Err(refused(&first.name, reason));
    }
    let mut indexes = Vec::new();
    for entry in &table.indexes {
        let index = entry.definition.as_ref().map_err(|error| refused(&entry.name, &error.to_string()))?;
        match &index.kind {
            TableKind::Index(definition) if definition.state == IndexState::Active => {
                indexes.push((index.as_ref(), definition))
            }
            _ => return Err(refused(&entry.name, "it is not active")),
        }
    }
    Ok(vec![
        Attribute { name: UPDATE_ID, value: update_id.to_vec() },
        Attribute { name: MAINTAINERS, value: write_maintainers(table, &indexes)? },
        Attribute { name: VERSION, value: CLIENT_VERSION.to_vec() },
    ])
}
