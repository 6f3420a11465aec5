//! Finds the table columns that a file names.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_bind::UpsertTarget;
use saltwing_types::table::is_same_name;
use saltwing_types::{ColumnDef, ErrorCode, TableDef};

use crate::Error;
use crate::files::advice;

/// The column with this name in a file. The name has the family if COPY TO writes it.
pub(super) fn column_called(def: &TableDef, name: &str) -> Option<usize> {
    // Most names belong to one column alone, and are found without building a text for each column.
    let named = || def.columns.iter().position(|column| !column.hidden && is_same_name(&def.unique_name(column), name));
    def.column_index(name).filter(|&index| def.columns.get(index).is_some_and(|column| !column.hidden)).or_else(named)
}

/// The columns of a table with these names; `place` describes where the file has the names.
///
/// # Errors
/// A name that no column has, a name that occurs twice.
pub(super) fn named_columns(table: &Arc<Table>, names: &[String], place: &str) -> Result<Vec<usize>, Error> {
    let def = table.def();
    let mut columns = Vec::with_capacity(names.len());
    for name in names {
        let Some(column) = column_called(def, name) else {
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

/// The positions of the statement's listed columns among the file's columns, which have the names `names`.
///
/// # Errors
/// A listed column that the file does not have, or has twice.
pub(super) fn listed_columns(target: &UpsertTarget, names: &[String], file: &str) -> Result<Vec<usize>, Error> {
    let def = target.table.def();
    let wanted = target.columns.iter().filter_map(|&column| target.column(column));
    let place = |column: &ColumnDef| {
        let wanted = def.unique_name(column);
        let places = |is_wanted: &dyn Fn(&String) -> bool| -> Vec<usize> {
            names.iter().enumerate().filter(|(_, name)| is_wanted(name)).map(|(place, _)| place).collect()
        };
        let exact = places(&|name| *name == wanted);
        let found = if exact.is_empty() { places(&|name| is_same_name(name, &wanted)) } else { exact };
        match found.as_slice() {
            [place] => Ok(*place),
            [] => {
                let near = saltwing_types::suggest(&wanted, names.iter().map(String::as_str));
                let near = near.map(|near| format!("there is {near}"));
                Err(Error::new(ErrorCode::NoSuchColumn, format!("{file} has no column {wanted}")).with_help(near))
            }
            _ => Err(Error::new(ErrorCode::DuplicateColumn, format!("{file} has several columns {wanted}"))),
        }
    };
    wanted.map(place).collect()
}
