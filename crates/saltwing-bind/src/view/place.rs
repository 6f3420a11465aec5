//! The places where a statement names views.

use std::ops::ControlFlow;

use saltwing_catalog::CatalogReader;
use saltwing_sql::name_span;
use saltwing_types::Span;
use sqlparser::ast::{Query, visit_relations};

use crate::error::Result;
use crate::lookups::Lookups;
use crate::object_name::table_name;

/// Where a statement names a view. All parts of the view's query stand there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewPlace {
    /// The view.
    pub name: String,
    /// The place of its name.
    pub span: Span,
}

/// The places where a query names views, but for views inside views.
///
/// # Errors
/// That of the catalog.
pub fn view_places(query: &Query, catalog: &dyn CatalogReader) -> Result<Vec<ViewPlace>> {
    let mut places = Vec::new();
    if !catalog.has_views() {
        return Ok(places);
    }
    let lookups = Lookups::new(catalog);
    let _ = visit_relations(query, |name| {
        if let Some((schema, bare)) = table_name(name)
            && let (Some(view), Some(span)) = (lookups.view(schema, bare), name_span(name))
        {
            places.push(ViewPlace { name: view.name.to_string(), span });
        }
        ControlFlow::<()>::Continue(())
    });
    lookups.finish()?;
    Ok(places)
}
