//! Parts of the syntax tree: names, calls, joins, and a SELECT to be filled in.

use std::ops::ControlFlow;

use sqlparser::ast::{
    Expr, Ident, JoinConstraint, JoinOperator, ObjectName, ObjectNamePart, Query, SelectItem, SetExpr, Statement,
    TableFactor, TableWithJoins,
};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::Parser;

use crate::RelationalError;

pub(super) type Result<T> = std::result::Result<T, RelationalError>;

pub(super) fn broken(result: Result<()>) -> ControlFlow<RelationalError> {
    match result {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => ControlFlow::Break(error),
    }
}

/// The error at which a visit ended, if it did not reach the end of the tree.
pub(super) fn visited(end: ControlFlow<RelationalError>) -> Result<()> {
    end.break_value().map_or(Ok(()), Err)
}

/// In lower case, where DataFusion leaves it.
pub(super) fn lower(name: &mut Ident) {
    name.value = name.value.to_lowercase();
}

pub(super) fn lower_object(name: &mut ObjectName) {
    for part in &mut name.0 {
        if let ObjectNamePart::Identifier(ident) = part {
            lower(ident);
        }
    }
}

/// The name of an item that is a column.
pub(super) fn column_name(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Nested(inner) => column_name(inner),
        Expr::Identifier(name) => Some(name.value.to_lowercase()),
        Expr::CompoundIdentifier(parts) => parts.last().map(|name| name.value.to_lowercase()),
        _ => None,
    }
}

/// The tables of one item of FROM: the first one, and those that are joined with it.
pub(super) fn factors(from: &TableWithJoins) -> impl Iterator<Item = &TableFactor> {
    std::iter::once(&from.relation).chain(from.joins.iter().map(|join| &join.relation))
}

/// How wildcards name a table of FROM.
pub(super) fn factor_name(factor: &TableFactor) -> Option<ObjectName> {
    let mut name = match factor {
        TableFactor::Table { alias: Some(alias), .. } | TableFactor::Derived { alias: Some(alias), .. } => {
            ObjectName(vec![ObjectNamePart::Identifier(alias.name.clone())])
        }
        TableFactor::Table { name, .. } => name.clone(),
        _ => return None,
    };
    lower_object(&mut name);
    Some(name)
}

/// A call of a function by its name as it is.
pub(super) fn function_call(name: String, args: Vec<Expr>) -> Expr {
    saltwing_sql::function_call(Ident::with_quote('"', name), args)
}

/// A query of these items of one table.
pub(super) fn select_from(projection: Vec<SelectItem>, relation: TableFactor) -> Result<Box<Query>> {
    // Its fields are many, and the parser knows them.
    let mut statements = Parser::parse_sql(&GenericDialect {}, "SELECT 1")
        .map_err(|error| RelationalError::bug(format!("SELECT 1: {error}")))?;
    let Some(Statement::Query(mut query)) = statements.pop() else { return Err(RelationalError::bug("no query")) };
    let SetExpr::Select(select) = query.body.as_mut() else { return Err(RelationalError::bug("no SELECT")) };
    (select.projection, select.from) = (projection, vec![TableWithJoins { relation, joins: Vec::new() }]);
    Ok(query)
}

/// The constraint of a join operator, borrowed as the operator is.
macro_rules! constraint {
    ($join:expr) => {
        match $join {
            JoinOperator::Join(c)
            | JoinOperator::Inner(c)
            | JoinOperator::Left(c)
            | JoinOperator::LeftOuter(c)
            | JoinOperator::Right(c)
            | JoinOperator::RightOuter(c)
            | JoinOperator::FullOuter(c)
            | JoinOperator::CrossJoin(c)
            | JoinOperator::Semi(c)
            | JoinOperator::LeftSemi(c)
            | JoinOperator::RightSemi(c)
            | JoinOperator::Anti(c)
            | JoinOperator::LeftAnti(c)
            | JoinOperator::RightAnti(c) => Some(c),
            _ => None,
        }
    };
}

pub(super) fn constraint_mut(join: &mut JoinOperator) -> Option<&mut JoinConstraint> {
    constraint!(join)
}

pub(super) fn constraint_of(join: &JoinOperator) -> Option<&JoinConstraint> {
    constraint!(join)
}
