//! The direction of an order, as it is written.

use saltwing_types::SortOrder;
use sqlparser::ast;

/// The direction of an item of ORDER BY, and whether NULLs come first.
pub(crate) fn direction(options: &ast::OrderByOptions) -> (SortOrder, bool) {
    let order = if options.asc == Some(false) { SortOrder::Desc } else { SortOrder::Asc };
    (order, options.nulls_first.unwrap_or(true))
}
