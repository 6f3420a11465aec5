//! The rows of system tables as texts.

use saltwing_bind::{Objects, SystemFacts, SystemTable};
use saltwing_types::{Value, text};

use crate::Error;
use crate::session::Session;
use crate::text_rows::TextRow;

/// The rows of a system table, in its order, with these columns.
///
/// # Errors
/// Errors of the catalog.
pub(super) fn system_rows(
    session: &Session,
    table: &dyn SystemTable,
    columns: &[&str],
    objects: Objects,
) -> Result<Vec<TextRow>, Error> {
    let catalog = session.catalog()?;
    let facts = SystemFacts::of(&*catalog).with(objects);
    let (all, places) = (table.columns(), table.places(columns)?);
    let types: Vec<_> = places.iter().filter_map(|place| Some(all.get(*place)?.ty)).collect();
    let texts = |row: Vec<Value>| row.iter().zip(&types).map(|(value, ty)| text::format(value, *ty)).collect();
    Ok(table.rows(&facts, &places)?.into_iter().map(texts).collect())
}
