//! Values of rows to be written that the relational engine computes.

use saltwing_sql::Statement;
use saltwing_types::{ColumnRef, Expr, SqlType, Value};
use sqlparser::ast::{self, SelectItem, SetExpr};

use crate::error::{BindErrorKind, Result};
use crate::query_binder::{Bound, QueryBinder, unsupported};
use crate::scope::Scope;
use crate::select::QueryClauses;
use crate::select_tree::{Clauses, Item};
use crate::statement_query::ComputedQuery;
use crate::tree::{BoundQuery, ExternalSource, Relation};

/// The function of the engine that gives as many rows as are wanted.
const ROWS: &str = "generate_series";

impl QueryBinder<'_> {
    pub(crate) fn computed(&self, query: &ComputedQuery<'_>) -> Bound<BoundQuery> {
        let first_input = self.ids.next();
        let number = |rows: i64| Expr::Literal(Value::Int(rows), SqlType::BigInt);
        let Ok(rows) = i64::try_from(query.rows) else { return unsupported("VALUES of so many rows") };
        let args = vec![number(1), number(rows)];
        let Some(columns) = self.ids.engine.table(ROWS, &args)? else {
            return unsupported("an expression of this form");
        };
        let columns: Vec<ColumnRef> = self.external_columns(columns);
        let source = ExternalSource::Function { name: ROWS.to_owned(), args };
        let from = (Relation::External { source, alias: None, columns }, Scope::empty());
        self.over(from, first_input, &[], QueryClauses::default(), |binder| {
            let item = |e: &&ast::Expr| binder.item(e.to_string(), binder.item_lowerer.lower(e)?);
            let items = query.exprs.iter().map(item).collect::<Bound<Vec<Item>>>()?;
            Ok(Clauses { items, ..Clauses::default() })
        })
    }
}

/// The expression that a text is.
///
/// # Errors
/// [`BindErrorKind::Sql`]; [`BindErrorKind::Syntax`] where it is none.
pub fn expr_of(text: &str) -> Result<ast::Expr> {
    if let Statement::Query(query) = saltwing_sql::parse_one(&format!("SELECT {text}"))?.statement
        && let SetExpr::Select(select) = *query.query.body
        && let [SelectItem::UnnamedExpr(expr)] = select.projection.as_slice()
    {
        return Ok(expr.clone());
    }
    Err(BindErrorKind::Syntax(format!("{text} is no expression")).into())
}
