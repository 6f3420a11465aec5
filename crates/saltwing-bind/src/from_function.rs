//! Functions in FROM: those that give rows, and UNNEST, which gives the elements of arrays.

use saltwing_sql::expr_span;
use saltwing_types::{ColumnRef, CompareOp, EngineOperation, Expr, Span, SqlType, Value, typing};

use crate::engine::no_such_function;
use crate::error::BindError;
use crate::from::{Named, renamed};
use crate::lower::Queries;
use crate::query_binder::{Bound, QueryBinder, unsupported};
use crate::scope::Scope;
use crate::subquery_column::SubqueryBinder;
use crate::table_call::{TableCall, UNNEST};
use crate::tree::{ExternalSource, Output, Relation, UnnestColumn};

impl QueryBinder<'_> {
    /// The rows of a table function of the engine.
    pub(crate) fn table_function(&self, call: &TableCall<'_>) -> Bound<Named> {
        let TableCall { name, span, args, alias } = call;
        let engine = self.ids.engine;
        let scope = Scope::of_table_function();
        let queries = SubqueryBinder::new(self, &scope);
        let lowerer = queries.lowerer(None);
        let args = args.iter().map(|arg| lowerer.lower(arg)).collect::<Bound<Vec<Expr>>>()?;
        if args.iter().any(|arg| !arg.columns().is_empty()) {
            return unsupported(&format!("{} of the columns of another table", name.to_uppercase()));
        }
        let Some(columns) = engine.table(name, &args).map_err(|error| error.at(*span))? else {
            return Err(no_such_function(engine, name, *span).into());
        };
        let source = ExternalSource::Function { name: name.clone(), args };
        let alias_name = alias.map(|alias| alias.name.value.clone());
        let columns: Vec<ColumnRef> = self.external_columns(columns);
        let output = columns.iter().map(Output::of).collect();
        let relation = Relation::External { source, alias: alias_name, columns };
        let scope = match alias {
            Some(_) => renamed(output, *alias)?,
            None => Scope::of_query(output, Some(name.clone()), *span),
        };
        Ok((relation, scope))
    }

    /// The rows on the left, each with the elements of arrays that may be computed of it. With `keeps_rows` a row without elements
    /// comes once, as in a LEFT JOIN.
    pub(crate) fn unnest(&self, call: &TableCall<'_>, left: Option<Named>, keeps_rows: bool) -> Bound<Named> {
        let (relation, left) = match left {
            Some((relation, scope)) => (relation, Some(scope)),
            None => (Relation::one_row(), None),
        };
        let names = left.clone().unwrap_or_else(Scope::of_no_from);
        let queries = SubqueryBinder::new(self, &names);
        let lowerer = queries.lowerer(None);
        let first_name = call.alias.map_or(UNNEST, |alias| &alias.name.value);
        let mut columns = Vec::with_capacity(call.args.len());
        for (place, arg) in call.args.iter().enumerate() {
            let array = lowerer.lower(arg)?;
            let name = if place == 0 { first_name.to_owned() } else { format!("{UNNEST}{}", place + 1) };
            columns.push(self.unnest_column(&queries, array, name, expr_span(arg), keeps_rows)?);
        }
        let output: Vec<Output> = columns.iter().map(|column| Output::of(&column.column)).collect();
        let scope = match call.alias {
            Some(_) => renamed(output, call.alias)?,
            None => Scope::of_query(output, Some(UNNEST.to_owned()), call.span),
        };
        let input = Box::new(relation.applied(queries.into_subqueries()));
        let scope = match left {
            Some(left) => left.and(scope),
            None => scope,
        };
        Ok((Relation::Unnest { input, columns, keeps_rows }, scope))
    }

    /// The elements of an array as a column.
    pub(crate) fn unnest_column(
        &self,
        queries: &dyn Queries,
        array: Expr,
        name: String,
        span: Option<Span>,
        keeps_rows: bool,
    ) -> Bound<UnnestColumn> {
        let one = Expr::Literal(Value::Int(1), SqlType::BigInt);
        let (ty, data_type) = match array.sql_type().and_then(SqlType::element) {
            Some(element) => (element, None),
            None if array.sql_type() == Some(SqlType::Opaque) => {
                let columns = queries.columns();
                let element = EngineOperation::Function("array_element".into());
                let args = [array.clone(), one];
                let ty = columns.engine.scalar(&element, &args, &columns.opaque).map_err(|error| error.at(span))?;
                (ty.ty, Some(ty.data_type))
            }
            None => {
                let ty = array.sql_type().unwrap_or(SqlType::Null);
                let text = format!("UNNEST takes arrays, and {array} is {ty}");
                return Err(BindError::from(saltwing_types::ValueError::TypeMismatch(text)).at(span).into());
            }
        };
        // The engine keeps the rows whose array is NULL, but not those whose array is empty.
        let array = match (keeps_rows, array.sql_type()) {
            (true, Some(SqlType::Array(..))) => {
                let length = typing::call_named("ARRAY_LENGTH", vec![array.clone()])?;
                let zero = Expr::Literal(Value::Int(0), SqlType::BigInt);
                let is_empty = typing::compare(CompareOp::Eq, length, zero)?;
                typing::case(None, vec![(is_empty, Expr::NULL)], Some(array))?
            }
            _ => array,
        };
        let column = ColumnRef { index: self.ids.take(1), name, ty, nullable: true, span: None };
        if let Some(data_type) = data_type.filter(|_| ty == SqlType::Opaque) {
            self.ids.opaque.put(column.index, data_type);
        }
        Ok(UnnestColumn { column, array })
    }
}
