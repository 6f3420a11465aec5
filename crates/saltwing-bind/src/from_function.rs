//! Functions in FROM: those that give rows, and UNNEST, which gives the elements of arrays.

use saltwing_sql::expr_span;
use saltwing_types::{ColumnRef, CompareOp, EngineOperation, Expr, Span, SqlType, Value, typing};

use crate::engine::no_such_function;
use crate::error::BindError;
use crate::from::{Named, alias_span, renamed};
use crate::lower::Queries;
use crate::query_binder::{Bound, QueryBinder, unsupported};
use crate::scope::Scope;
use crate::subquery_column::SubqueryBinder;
use crate::table_call::{TableCall, UNNEST, json_columns};
use crate::tree::{ExternalSource, Output, Relation, UnnestColumn};

impl QueryBinder<'_> {
    /// The rows of a table function of the engine.
    pub(crate) fn table_function(&self, call: &TableCall<'_>) -> Bound<Named> {
        let TableCall { name, span, args, alias, has_places } = call;
        if *has_places {
            return unsupported(&format!("WITH ORDINALITY of {}", name.to_uppercase()));
        }
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
        let mut output: Vec<Output> = columns.iter().map(Output::of).collect();
        let relation = Relation::External { source, alias: alias_name, columns };
        let scope = match alias {
            Some(alias) if alias.columns.is_empty() && output.len() == 1 => {
                Scope::of_function(output.remove(0), &alias.name.value, alias_span(alias))
            }
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
        let arrays = call.args.iter().map(|arg| lowerer.lower(arg)).collect::<Bound<Vec<Expr>>>()?;
        let span = call.args.first().and_then(|arg| expr_span(arg));
        let arrays = match call.is_series_of_columns() {
            true => {
                let columns = queries.columns();
                let series = EngineOperation::Function(call.name.clone());
                let ty =
                    columns.engine.scalar(&series, &arrays, &columns.opaque).map_err(|error| error.at(call.span))?;
                let name = call.alias.map_or(&call.name, |alias| &alias.name.value);
                vec![(ty.call(series, arrays), name.clone(), false)]
            }
            false => named_arrays(call, arrays).map_err(|error| error.at(span))?,
        };
        let mut columns = Vec::with_capacity(arrays.len() + 1);
        let places = match call.has_places {
            true => Some(self.places(&queries, arrays.iter().map(|(array, ..)| array))?),
            false => None,
        };
        let (mut computed, mut output) = (Vec::new(), Vec::new());
        for (array, name, is_json) in arrays {
            let column = self.unnest_column(&queries, array, name.clone(), span, keeps_rows)?;
            if is_json {
                let json = typing::cast(Expr::Column(column.column.clone()), SqlType::Json)?;
                let json = self.ids.new_column_of(json, |_| name);
                output.push(Output::of(&json.column));
                computed.push(json);
            } else {
                output.push(Output::of(&column.column));
            }
            columns.push(column);
        }
        if let Some(places) = places {
            let column = self.unnest_column(&queries, places, "ordinality".to_owned(), span, keeps_rows)?;
            output.push(Output::of(&column.column));
            columns.push(column);
        }
        let scope = match call.alias {
            Some(_) => renamed(output, call.alias)?,
            None => Scope::of_query(output, Some(call.name.clone()), call.span),
        };
        let input = Box::new(relation.applied(queries.into_subqueries()));
        let scope = match left {
            Some(left) => left.and(scope),
            None => scope,
        };
        let relation = Relation::Unnest { input, columns, keeps_rows };
        Ok((relation.projected(computed), scope))
    }

    /// The places of the elements of arrays, from 1 to the end of the longest one, as an array.
    fn places<'e>(&self, queries: &dyn Queries, arrays: impl Iterator<Item = &'e Expr>) -> Bound<Expr> {
        let columns = queries.columns();
        let one = Expr::Literal(Value::Int(1), SqlType::BigInt);
        let length = |array: &Expr| -> Bound<Expr> {
            let length = match array.sql_type() {
                Some(SqlType::Opaque) => {
                    let (cardinality, args) = (EngineOperation::Function("cardinality".into()), vec![array.clone()]);
                    columns.engine.scalar(&cardinality, &args, &columns.opaque)?.call(cardinality, args)
                }
                _ => typing::call_named("ARRAY_LENGTH", vec![array.clone()])?,
            };
            Ok(typing::cast(length, SqlType::BigInt)?)
        };
        let mut lengths = arrays.map(length).collect::<Bound<Vec<Expr>>>()?;
        let longest = match lengths.pop() {
            Some(only) if lengths.is_empty() => only,
            // It passes NULL over, the length of an array that is NULL.
            last => typing::call_named("GREATEST", lengths.into_iter().chain(last).collect())?,
        };
        let (series, args) = (EngineOperation::Function("generate_series".into()), vec![one, longest]);
        Ok(columns.engine.scalar(&series, &args, &columns.opaque)?.call(series, args))
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

/// The arrays whose elements a call gives, the names of their columns, and whether the elements are JSON.
fn named_arrays(call: &TableCall<'_>, args: Vec<Expr>) -> Bound<Vec<(Expr, String, bool)>> {
    if let Some(columns) = json_columns(&call.name) {
        let [json] = args.as_slice() else {
            return unsupported(&format!("{} of {} values", call.name.to_uppercase(), args.len()));
        };
        let only = columns.len() == 1;
        let of = |(function, name, is_json): &(&str, &str, bool)| {
            let array = typing::call_named(function, vec![json.clone()])?;
            // As of UNNEST, the alias of the table names a single column.
            let name = call.alias.filter(|_| only).map_or_else(|| (*name).to_owned(), |alias| alias.name.value.clone());
            Ok((array, name, *is_json))
        };
        return columns.iter().map(of).collect();
    }
    let first = call.alias.map_or(UNNEST, |alias| &alias.name.value);
    let name = |place| if place == 0 { first.to_owned() } else { format!("{UNNEST}{}", place + 1) };
    Ok(args.into_iter().enumerate().map(|(place, array)| (array, name(place), false)).collect())
}
