//! Views that Phoenix can have.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_catalog::CatalogReader;
use saltwing_sql::{ColumnName, DynamicColumn, dynamic_columns, parse_query_at};
use saltwing_types::{Span, SqlType, TableName, Value, ViewDef};

use super::dynamic::stored_name;
use super::updatable::{Constant, WrittenView};
use crate::error::{BindError, Result, if_bound};
use crate::names::Names;
use crate::plain_query::simple;

/// A view that is `SELECT * FROM table WHERE column = constant AND ..`, with columns of its own, as Phoenix's views are.
pub struct PlainView {
    /// The table or the view below it.
    pub over: TableName,
    /// Whether that is a view.
    pub is_over_view: bool,
    /// The table.
    pub table: Arc<Table>,
    /// The columns of its own, those of the views below it left out.
    pub own: Vec<DynamicColumn>,
    /// The columns of its conditions, with their types and values.
    pub constants: Vec<(ColumnName, SqlType, Value)>,
}

/// The view as one of Phoenix's; `None` if it is none.
///
/// # Errors
/// That of the catalog.
pub fn plain_view(view: &Arc<ViewDef>, catalog: &dyn CatalogReader) -> Result<Option<PlainView>> {
    let nowhere = Span::on_line(1, 1, 1);
    let Some(written) = if_bound(WrittenView::of(view.clone(), nowhere, catalog))? else { return Ok(None) };
    let Some(query) = if_bound(parse_query_at(&view.query, nowhere).map_err(BindError::from))? else {
        return Ok(None);
    };
    let Some(name) = simple(&query.query).map(|query| query.name) else { return Ok(None) };
    let Some(own) = if_bound(dynamic_columns(name).map_err(BindError::from))? else { return Ok(None) };
    let below = Names::of(view, catalog).view(name, catalog)?;
    let (over, mut shown, known): (_, Vec<String>, Vec<String>) = match &below {
        Some(below) => {
            let Some(written) = if_bound(WrittenView::of(below.clone(), nowhere, catalog))? else { return Ok(None) };
            let known = written.constants.iter().map(|(place, _)| stored_name(&written.column_name(*place)));
            let known = known.collect();
            (below.name.clone(), below.columns.iter().map(|column| column.name.clone()).collect(), known)
        }
        None => {
            let def = written.table.def();
            let shown = def.columns.iter().filter(|column| !column.hidden).map(|column| column.name.clone());
            (def.name.clone(), shown.collect(), Vec::new())
        }
    };
    shown.extend(own.iter().map(|column| column.column.name.text.clone()));
    if !shown.iter().eq(view.columns.iter().map(|column| &column.name)) {
        return Ok(None);
    }
    let constant = |(place, value): &Constant| {
        let name = written.column_name(*place);
        let is_new = !known.contains(&stored_name(&name));
        is_new.then(|| (name, written.type_of(*place), value.clone()))
    };
    let constants = written.constants.iter().filter_map(constant).collect();
    Ok(Some(PlainView { over, is_over_view: below.is_some(), table: written.table, own, constants }))
}
