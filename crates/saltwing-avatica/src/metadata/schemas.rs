//! Catalogs and schemas.

use saltwing::Value;

use crate::error::AvaticaError;

use super::catalog::Catalog;
use super::listing::{Listing, TEXT};
use super::pattern::Pattern;

/// The catalogs: none, as in Phoenix.
pub(crate) fn catalogs() -> Listing {
    Listing::new(&[("TABLE_CAT", TEXT)], Vec::new())
}

/// The schemas by name. The first one, NULL, is that of tables without a schema.
pub(crate) async fn schemas(catalog: &Catalog<'_>, pattern: &Pattern) -> Result<Listing, AvaticaError> {
    let mut names = catalog.schemas().await?;
    names.sort_unstable();
    let without = pattern.fits_schema(None).then_some(Value::Null);
    let named = names.into_iter().filter(|name| pattern.fits_schema(Some(name))).map(Value::Text);
    let rows = without.into_iter().chain(named).map(|name| vec![name, Value::Null]).collect();
    Ok(Listing::new(&[("TABLE_SCHEM", TEXT), ("TABLE_CATALOG", TEXT)], rows))
}
