//! `pg_description`: the comments.

use super::cells::row;
use super::relation::Entry;
use crate::definitions::Definitions;

/// The numbers of the relations whose objects have comments.
const CLASSES: u32 = 1259;
const FUNCTIONS: u32 = 1255;

pub(super) static RELATIONS: &[Entry] = &[Entry::table(
    "pg_description",
    2609,
    "objoid oid, classoid oid, objsubid int4, description text",
    |definitions| Ok(descriptions(definitions).map(|it| row![it.object, it.class, it.column, it.text]).collect()),
)];

/// A comment.
pub(crate) struct Description<'a> {
    pub(crate) object: u32,
    /// The relation in which the object is.
    pub(crate) class: u32,
    /// The number of the column that is described; 0 of an object.
    pub(crate) column: i32,
    pub(crate) text: &'a str,
}

/// All comments.
pub(crate) fn descriptions(definitions: &Definitions) -> impl Iterator<Item = Description<'_>> {
    let tables = definitions.tables.iter().flat_map(|table| {
        let of_table =
            table.comment.as_deref().map(|text| Description { object: table.oid, class: CLASSES, column: 0, text });
        let columns = table.columns.iter().filter_map(|column| {
            let text = column.comment.as_deref()?;
            Some(Description { object: table.oid, class: CLASSES, column: column.number.into(), text })
        });
        of_table.into_iter().chain(columns)
    });
    let functions = definitions.functions.iter().filter(|function| !function.description.is_empty());
    let functions =
        functions.map(|it| Description { object: it.oid, class: FUNCTIONS, column: 0, text: &it.description });
    tables.chain(functions)
}
