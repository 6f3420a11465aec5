//! The places where a statement names views.

use saltwing_catalog::CatalogReader;
use saltwing_sql::name_span;
use saltwing_types::Span;

use crate::error::Result;
use crate::lookups::Lookups;
use crate::object_name::table_name;
use crate::statement_query::StatementQuery;

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
pub fn view_places(query: StatementQuery<'_>, catalog: &dyn CatalogReader) -> Result<Vec<ViewPlace>> {
    let mut places = Vec::new();
    if !catalog.has_views() {
        return Ok(places);
    }
    let lookups = Lookups::new(catalog);
    if let Some(target) = query.target() {
        let (schema, bare) = target.parts();
        let view = lookups.view(schema, bare);
        places.extend(view.map(|view| ViewPlace { name: view.name.to_string(), span: target.span() }));
    }
    query.for_each_relation(&mut |name| {
        if let Some((schema, bare)) = table_name(name)
            && let (Some(view), Some(span)) = (lookups.view(schema, bare), name_span(name))
        {
            places.push(ViewPlace { name: view.name.to_string(), span });
        }
    });
    lookups.finish()?;
    Ok(places)
}
