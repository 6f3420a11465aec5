//! Quoted names in Phoenix's dialect, which are exact.

use saltwing_catalog::{CatalogReader, optional};
use saltwing_sql::ExactNames;
use saltwing_types::Span;
use saltwing_types::table::is_same_name;

use crate::error::{BindError, BindErrorKind, Result};

/// Something that a name may mean.
struct Known {
    name: String,
    /// Whether it is a column, or another thing.
    is_column: bool,
}

/// Checks that each quoted name is spelt as the table, column or other object that it means. The binder refuses a name that means
/// nothing in any case.
///
/// # Errors
/// [`BindErrorKind::OtherCase`], with the place; that of the catalog.
pub fn check_exact(names: &ExactNames, catalog: &dyn CatalogReader) -> Result<()> {
    let known = known(names, catalog)?;
    for reference in &names.references {
        let name = &reference.text;
        let mut same = known.iter().filter(|known| is_same_name(&known.name, name));
        let Some(other) = same.clone().next() else { continue };
        if same.all(|known| known.name != *name) && !names.given.contains(name) {
            return Err(other_case(name, other, reference.span));
        }
    }
    Ok(())
}

fn other_case(name: &str, known: &Known, span: Span) -> BindError {
    let (name, is_column) = (name.to_owned(), known.is_column);
    let kind = BindErrorKind::OtherCase { name, known: known.name.clone(), is_column };
    BindError::from(kind).at(Some(span)).help("in the dialect 'phoenix' a name in quotes is exact")
}

/// The tables, views and sequences that the statement may name, their columns, and the names that it gives.
fn known(names: &ExactNames, catalog: &dyn CatalogReader) -> Result<Vec<Known>> {
    let other = |name: &str| Known { name: name.to_owned(), is_column: false };
    let column = |name: &str| Known { name: name.to_owned(), is_column: true };
    let mut known: Vec<Known> = catalog.schemas()?.iter().map(|schema| other(&schema.name)).collect();
    known.extend(names.given.iter().map(|given| column(given)));
    for (schema, name) in &names.tables {
        let schema = schema.as_deref();
        if let Some(table) = optional(catalog.resolve(schema, name))? {
            known.push(other(&table.def().name.name));
            known.extend(table.def().columns.iter().map(|of_table| column(&of_table.name)));
            known.extend(table.def().families.iter().flatten().map(|family| other(family)));
        }
        if let Some(view) = catalog.view(schema, name)? {
            known.push(other(&view.name.name));
            known.extend(view.columns.iter().map(|of_view| column(&of_view.name)));
        }
        if let Some(sequence) = optional(catalog.sequence(schema, name))? {
            known.push(other(&sequence.name.name));
        }
    }
    Ok(known)
}
