//! The columns of a table that a file names.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_types::table::is_same_name;
use saltwing_types::{ColumnDef, ErrorCode};

use super::advice;
use crate::Error;

/// The columns of a table with these names, which stand at `place` of a file.
///
/// # Errors
/// A name that no column has, a name that is there twice.
pub(super) fn named_columns(table: &Arc<Table>, names: &[String], place: &str) -> Result<Vec<usize>, Error> {
    let def = table.def();
    let mut columns = Vec::with_capacity(names.len());
    for name in names {
        // A family stands before a name if COPY TO needs it.
        let is_named = |column: &ColumnDef| !column.hidden && is_same_name(&def.unique_name(column), name);
        let Some(column) = def.columns.iter().position(is_named) else {
            let known: Vec<String> = def.columns.iter().filter(|c| !c.hidden).map(|c| def.unique_name(c)).collect();
            let near = saltwing_types::suggest(name, known.iter().map(String::as_str));
            let named = || match near {
                Some(near) => format!("there is {near}; or name the columns: COPY t (a, b) FROM .."),
                None => "name the columns: COPY t (a, b) FROM ..".to_owned(),
            };
            let help = advice::of_header(names, &def.columns).unwrap_or_else(named);
            let text = format!("{place}: {} has no column {name}", def.name);
            return Err(Error::new(ErrorCode::NoSuchColumn, text).with_help(Some(help)));
        };
        if columns.contains(&column) {
            return Err(Error::new(ErrorCode::DuplicateColumn, format!("{place}: column {name} is named twice")));
        }
        columns.push(column);
    }
    Ok(columns)
}
