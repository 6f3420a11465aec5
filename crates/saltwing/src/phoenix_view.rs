//! Views in an EXPORT .. AS PHOENIX.

use saltwing_bind::{BindError, PlainView, in_order_of_use, is_temporary, plain_view};
use saltwing_catalog::CatalogReader;
use saltwing_sql::ColumnName;
use saltwing_types::{TableDef, TableName, ViewDef};

use crate::phoenix_literal::{phoenix_literal, phoenix_type};
use crate::phoenix_name::{path, phoenix_name, phoenix_path};

/// CREATE VIEW for each view that Phoenix supports, after the views that it uses, and a comment for each other view.
/// `is_exported` returns whether Phoenix supports a table.
pub(crate) fn view_lines(
    catalog: &dyn CatalogReader,
    is_in: impl Fn(&TableName) -> bool,
    is_exported: impl Fn(&TableDef) -> bool,
) -> Result<Vec<String>, BindError> {
    let (mut lines, mut exported) = (Vec::new(), Vec::new());
    for view in
        in_order_of_use(catalog.views()?).iter().filter(|view| is_in(&view.name) && !is_temporary(&view.name, catalog))
    {
        let plain = plain_view(view, catalog)?.filter(|plain| match plain.is_over_view {
            true => exported.contains(&plain.over),
            false => is_exported(plain.table.def()),
        });
        match plain {
            Some(plain) => {
                exported.push(view.name.clone());
                lines.extend(created(view, &plain));
            }
            None => lines.push(left_out(view)),
        }
    }
    Ok(lines)
}

/// CREATE VIEW, with comments on the parts that are left out.
fn created(view: &ViewDef, plain: &PlainView) -> Vec<String> {
    let (name, mut lines) = (phoenix_path(&view.name), Vec::new());
    let mut own = Vec::with_capacity(plain.own.len());
    for column in &plain.own {
        let (ty, note) = phoenix_type(column.ty);
        lines.extend(note.map(|note| format!("-- {name}: {} is {}: {note}", written(&column.column), column.ty)));
        own.push(format!("{} {ty}", written(&column.column)));
    }
    let own = if own.is_empty() { String::new() } else { format!(" ({})", own.join(", ")) };
    let constants = plain.constants.iter().map(|(column, ty, value)| {
        let value = phoenix_literal(value, *ty);
        format!("{} = {}", phoenix_name(&column.name.text), value.text)
    });
    let conditions = constants.collect::<Vec<_>>().join(" AND ");
    let conditions = if conditions.is_empty() { conditions } else { format!(" WHERE {conditions}") };
    let over = phoenix_path(&plain.over);
    lines.push(format!("CREATE VIEW IF NOT EXISTS {name}{own} AS SELECT * FROM {over}{conditions};"));
    lines
}

fn written(column: &ColumnName) -> String {
    path(column.family.as_ref().map(|family| family.text.as_str()), &column.name.text)
}

/// The comment for a view that Phoenix does not support.
fn left_out(view: &ViewDef) -> String {
    let query = view.query.replace('\n', " ");
    format!(
        "-- view {} is left out: Phoenix's views are SELECT * FROM table WHERE ..: {query}",
        phoenix_path(&view.name)
    )
}
