//! The queries of views, apart from what their reader has under the same names: temporary tables.

use std::ops::ControlFlow;

use saltwing_catalog::CatalogReader;
use saltwing_sql::parse_query_at;
use saltwing_sql::statement::QueryStatement;
use saltwing_types::table::is_same_name;
use saltwing_types::{Span, ViewDef};
use sqlparser::ast::{Ident, ObjectNamePart, Query, TableAlias, TableFactor, VisitMut, VisitorMut};

use super::name::table_name;
use crate::error::Result;

/// The query of a view. It never reads a temporary table, though one may have the name of its table.
pub(crate) fn query_of_view(view: &ViewDef, span: Span, catalog: &dyn CatalogReader) -> Result<QueryStatement> {
    let mut query = parse_query_at(&view.query, span)?;
    let mut apart = KeptApart { is_taken: &|name| catalog.hides(name), own: Vec::new() };
    let _ = VisitMut::visit(&mut query.query, &mut apart);
    Ok(query)
}

/// Puts the default schema before the names of tables that stand for something else where the view is read.
struct KeptApart<'a> {
    is_taken: &'a dyn Fn(&str) -> bool,
    /// The view's own WITH queries.
    own: Vec<String>,
}

impl VisitorMut for KeptApart<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        let ctes = query.with.iter().flat_map(|with| &with.cte_tables);
        self.own.extend(ctes.map(|cte| cte.alias.name.value.clone()));
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table { name, alias, args: None, .. } = factor
            && let Some((None, _)) = table_name(name)
            && let Some(ObjectNamePart::Identifier(table)) = name.0.first()
            && (self.is_taken)(&table.value)
            && !self.own.iter().any(|own| is_same_name(own, &table.value))
        {
            let table = table.clone();
            let default_schema = Ident { value: String::new(), quote_style: Some('"'), span: table.span };
            alias.get_or_insert_with(|| TableAlias {
                explicit: true,
                name: table.clone(),
                columns: Vec::new(),
                at: None,
            });
            name.0.insert(0, ObjectNamePart::Identifier(default_schema));
        }
        ControlFlow::Continue(())
    }
}
