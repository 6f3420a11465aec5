//! Queries of clients that the engine cannot run in any words, known by their form.

use sqlparser::ast::{Expr, Query, SetExpr};

use super::build::folded;
use super::set_returning::parsed;

/// The look-up of types that asyncpg does: a recursive query, with recursive queries inside of its branches.
const TYPE_TREE: &str = "typeinfo_tree";

/// Puts a query over a relation that has the answers in the place of one of these.
pub(super) fn replace_known(query: &mut Query) {
    if let Some(replacement) = types_of_asyncpg(query) {
        *query = replacement;
    }
}

/// `WITH RECURSIVE typeinfo_tree (..) AS (SELECT .. WHERE ti.oid = any($1::oid[]) UNION ALL ..) SELECT DISTINCT *, ..`.
fn types_of_asyncpg(query: &Query) -> Option<Query> {
    let with = query.with.as_ref().filter(|with| with.recursive)?;
    let [cte] = with.cte_tables.as_slice() else { return None };
    let is_it = folded(&cte.alias.name) == TYPE_TREE
        && cte.alias.columns.iter().map(|column| folded(&column.name)).eq(CTE_COLUMNS.iter().copied());
    let SetExpr::SetOperation { left, .. } = &*cte.query.body else { return None };
    let SetExpr::Select(first) = &**left else { return None };
    let Some(Expr::AnyOp { right, .. }) = first.selection.as_ref().filter(|_| is_it) else { return None };
    let columns = CTE_COLUMNS.join(", ");
    let sql = format!(
        "SELECT DISTINCT {columns}, basetype_name, elemtype_name, range_subtype_name FROM type_tree() WHERE root = ANY({right}) \
         ORDER BY depth DESC"
    );
    parsed(&sql).ok()
}

/// The columns of the recursive query.
const CTE_COLUMNS: &[&str] = &[
    "oid",
    "ns",
    "name",
    "kind",
    "basetype",
    "elemtype",
    "elemdelim",
    "range_subtype",
    "attrtypoids",
    "attrnames",
    "depth",
];
