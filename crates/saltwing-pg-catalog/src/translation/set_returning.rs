//! Calls that give several rows.
//!
//! In a list, all such calls go forward together: row n has the n-th value of each. So the rows are joined with the numbers up to the greatest
//! length, and each call becomes its n-th value:
//!
//! ```sql
//! SELECT conname, unnest(indkey), generate_subscripts(indkey, 1) FROM c
//! SELECT conname, indkey[i.n], i.n - 1 FROM c, numbers AS i WHERE i.n <= array_length(indkey, 1)
//! ```
//!
//! In FROM a call becomes a query over the numbers, which may name what stands before it.

use std::ops::ControlFlow;

use sqlparser::ast::{BinaryOperator, Expr, FunctionArg, FunctionArgExpr, Query, TableFactor, visit_expressions};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::parser::Parser;

use super::build::{alias, alias_column, binary, call, cast, column, folded, folded_all, int, nested, table_factor};
use super::casts::{engine_type, in_its_width};
use super::expansion::{INTERNAL, table_name};
use super::from::{RowsCall, outputs_of};
use super::queries::rename;
use super::scope::{Output, Scope, Source, Type};
use super::translator::{Translator, not_supported};
use crate::CatalogError;
use crate::pg_type::PgType;
use crate::relations::relation_named;

/// A call that gives rows: its n-th value, how many there are, and its type.
struct Expanded {
    value: Expr,
    length: Expr,
    ty: Type,
}

/// Whether a function gives several rows.
pub(super) fn gives_rows(function: &str) -> bool {
    matches!(function, "unnest" | "generate_series" | "generate_subscripts" | "_pg_expandarray")
}

impl Translator<'_> {
    /// A call in a list, with translated arguments.
    pub(super) fn rows_in_list(
        &mut self,
        function: &str,
        arguments: Vec<(Expr, Type)>,
    ) -> Result<(Expr, Type), CatalogError> {
        let Some(expansion) = &mut self.expansion else {
            return Err(not_supported("calls with several rows outside of a list"));
        };
        let Expanded { value, length, ty } = expanded(function, arguments, column(&expansion.alias, "n"))?;
        expansion.lengths.push(length);
        Ok((value, ty))
    }

    /// A call in FROM.
    pub(super) fn rows_of_call(
        &mut self,
        call: RowsCall,
        scope: Scope<'_>,
    ) -> Result<(TableFactor, Source), CatalogError> {
        let RowsCall { path, args, given, with_ordinality } = call;
        let function = path.0.last().and_then(|part| part.as_ident()).map(folded).unwrap_or_default();
        if let Some(found) = relation_named(INTERNAL, &function).filter(|_| args.is_empty()) {
            let source = given.as_ref().map_or_else(|| function.clone(), |given| folded(&given.name));
            let columns = outputs_of(found);
            let factor = table_factor(&found.table_name(), Some(alias(&source)));
            return Ok((factor, Source { alias: source, columns, relation: None, is_hidden: false }));
        }
        let around = self.expansion.take();
        let arguments = self.arguments(args, scope);
        self.expansion = around;
        let arguments = arguments?;
        // Only what names relations before it is evaluated for each of their rows.
        let is_lateral = arguments.iter().any(|(argument, _)| names_columns(argument));
        let numbers = self.made_up_name();
        let Expanded { value, length, ty } = match gives_rows(&function) {
            true => expanded(&function, arguments, column(&numbers, "n"))?,
            // A function of one value is a relation of one row.
            false => {
                let (value, ty) = self.one_value(&path.to_string(), &function, arguments)?;
                Expanded { value, length: int(1), ty }
            }
        };
        let (source, names) = match given {
            Some(given) => {
                let names: Vec<_> = given.columns.into_iter().map(|column| column.name).collect();
                (folded(&given.name), folded_all(&names))
            }
            None => (function.clone(), Vec::new()),
        };
        let (mut columns, mut values) = match (ty, value) {
            (Type::Record(fields), Expr::Tuple(values)) => {
                (fields.into_iter().map(|(name, ty)| Output::new(&name, ty)).collect(), values)
            }
            (ty, value) => {
                let value = in_its_width(value, &ty);
                (vec![Output::new(&source, ty)], vec![value])
            }
        };
        if with_ordinality {
            columns.push(Output::new("ordinality", Type::Of(PgType::INT8)));
            values.push(cast(column(&numbers, "n"), engine_type(PgType::INT8)));
        }
        rename(&mut columns, &names)?;
        let condition = binary(column(&numbers, "n"), BinaryOperator::LtEq, length);
        let subquery = rows_query(&numbers, values, condition)?;
        let mut quoted = alias(&source);
        quoted.columns = columns.iter().map(|output| alias_column(&output.physical)).collect();
        let factor = TableFactor::Derived {
            lateral: is_lateral,
            subquery: Box::new(subquery),
            alias: Some(quoted),
            sample: None,
        };
        Ok((factor, Source { alias: source, columns, relation: None, is_hidden: false }))
    }

    /// The value of a function that gives no rows: of the session, or any other.
    fn one_value(
        &mut self,
        written: &str,
        function: &str,
        arguments: Vec<(Expr, Type)>,
    ) -> Result<(Expr, Type), CatalogError> {
        let exprs = arguments.iter().map(|(expr, _)| expr.clone()).collect();
        let of_session = match call(function, exprs) {
            Expr::Function(function) => self.session_call(&function)?,
            _ => None,
        };
        of_session.map_or_else(|| self.translated_call(written, function, arguments), Ok)
    }

    /// The arguments of a call in FROM.
    fn arguments(&mut self, args: Vec<FunctionArg>, scope: Scope<'_>) -> Result<Vec<(Expr, Type)>, CatalogError> {
        let argument = |arg: FunctionArg| match arg {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(mut expr)) => {
                let ty = self.expr(&mut expr, scope)?;
                Ok((expr, ty))
            }
            _ => Err(not_supported("named arguments")),
        };
        args.into_iter().map(argument).collect()
    }
}

/// Whether an expression has names of columns.
fn names_columns(expr: &Expr) -> bool {
    let found = visit_expressions(expr, |expr| match expr {
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    found.is_break()
}

/// `SELECT value, .. FROM numbers WHERE condition`.
fn rows_query(numbers: &str, values: Vec<Expr>, condition: Expr) -> Result<Query, CatalogError> {
    let table = table_factor(&table_name(), Some(alias(numbers)));
    let values: Vec<String> = values.iter().map(ToString::to_string).collect();
    parsed(&format!("SELECT {} FROM {table} WHERE {condition}", values.join(", ")))
}

/// A query that was put together from trees.
pub(super) fn parsed(sql: &str) -> Result<Query, CatalogError> {
    let parser = Parser::new(&PostgreSqlDialect {}).try_with_sql(sql);
    let query = parser.and_then(|mut parser| parser.parse_query());
    query.map(|query| *query).map_err(|error| CatalogError::bug(format!("{sql}: {error}")))
}

fn expanded(function: &str, arguments: Vec<(Expr, Type)>, n: Expr) -> Result<Expanded, CatalogError> {
    let length = |array: &Expr| call("array_length", vec![array.clone(), int(1)]);
    let mut arguments = arguments.into_iter();
    let first = arguments.next();
    match (function, first, arguments.next(), arguments.next()) {
        ("unnest", Some((array, ty)), None, None) => {
            Ok(Expanded { length: length(&array), value: element(array, n), ty: ty.element() })
        }
        // In FROM, several arrays stand beside each other.
        ("unnest", Some((array, ty)), Some((other, of_other)), None) => {
            let lengths = call("greatest", vec![length(&array), length(&other)]);
            let fields = vec![("unnest".to_owned(), ty.element()), ("unnest".to_owned(), of_other.element())];
            let value = Expr::Tuple(vec![element(array, n.clone()), element(other, n)]);
            Ok(Expanded { length: lengths, value, ty: Type::Record(fields) })
        }
        ("generate_subscripts", Some((array, ty)), Some(_), None) => {
            let place = if ty.counts_from_zero() { nested(binary(n, BinaryOperator::Minus, int(1))) } else { n };
            Ok(Expanded { length: length(&array), value: place, ty: Type::Of(PgType::INT4) })
        }
        ("_pg_expandarray", Some((array, ty)), None, None) => {
            let fields = vec![("x".to_owned(), ty.element()), ("n".to_owned(), Type::Of(PgType::INT4))];
            let value = Expr::Tuple(vec![element(array.clone(), n.clone()), n]);
            Ok(Expanded { length: length(&array), value, ty: Type::Record(fields) })
        }
        ("generate_series", Some((start, _)), Some((end, _)), step) => {
            let step = step.map_or_else(|| int(1), |(step, _)| step);
            // The n-th value is start + (n - 1) * step.
            let gone = nested(binary(n, BinaryOperator::Minus, int(1)));
            let gone = binary(gone, BinaryOperator::Multiply, nested(step.clone()));
            let value = nested(binary(nested(start.clone()), BinaryOperator::Plus, gone));
            let distance = nested(binary(nested(end), BinaryOperator::Minus, nested(start)));
            let steps = nested(binary(distance, BinaryOperator::Divide, nested(step)));
            let length = binary(steps, BinaryOperator::Plus, int(1));
            Ok(Expanded { value, length, ty: Type::Of(PgType::INT4) })
        }
        _ => Err(not_supported(format!("{function} of these arguments"))),
    }
}

/// The n-th element of an array.
fn element(array: Expr, n: Expr) -> Expr {
    call("array_elem", vec![array, n])
}
