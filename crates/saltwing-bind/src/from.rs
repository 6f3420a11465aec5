//! FROM: tables, queries in brackets, and joins of them.

use saltwing_sql::expr_span;
use saltwing_types::table::is_same_name;
use saltwing_types::{ColumnRef, CompareOp, Expr, Span, typing};
use sqlparser::ast::{
    self, Join, JoinConstraint, JoinOperator, ObjectName, Query, TableAlias, TableFactor, TableVersion, TableWithJoins,
};

use crate::as_of::table_as_of;
use crate::condition::conditions;
use crate::error::BindError;
use crate::query_binder::{Bound, NamedCte, QueryBinder, foreign};
use crate::scope::Scope;
use crate::select::plain_table;
use crate::tree::{BoundQuery, JoinKind, Output, Relation, Scan};

/// A relation, and how expressions name its columns.
type Named = (Relation, Scope);

impl QueryBinder<'_> {
    /// The relation of a FROM clause.
    pub(crate) fn from(&self, from: &[TableWithJoins]) -> Bound<Named> {
        let mut items = from.iter().map(|item| self.joined(item));
        let Some(first) = items.next() else {
            let relation = Relation::Values { rows: vec![Vec::new()], columns: Vec::new() };
            return Ok((relation, Scope::of_no_from()));
        };
        let (relation, scope) = items.try_fold(first?, |left: Named, right| -> Bound<Named> {
            let right = right?;
            Ok((joined(JoinKind::Inner, left.0, right.0, Vec::new()), left.1.and(right.1)))
        })?;
        scope.check_names()?;
        Ok((relation, scope))
    }

    fn joined(&self, item: &TableWithJoins) -> Bound<Named> {
        let first = self.factor(&item.relation)?;
        item.joins.iter().try_fold(first, |left, join| self.join(left, join))
    }

    fn factor(&self, factor: &TableFactor) -> Bound<Named> {
        if let Some((name, alias, version)) = plain_table(factor) {
            return self.table(name, alias, version);
        }
        match factor {
            TableFactor::Derived { lateral: false, subquery, alias, sample: None } => {
                self.query_in_brackets(subquery, alias.as_ref())
            }
            TableFactor::NestedJoin { table_with_joins, alias } => {
                let (relation, scope) = self.joined(table_with_joins)?;
                match alias {
                    // Under a name of its own it has the columns that `*` shows.
                    Some(alias) => Ok((relation, renamed(scope.shown(), Some(alias))?)),
                    None => Ok((relation, scope)),
                }
            }
            _ => foreign("an item of FROM"),
        }
    }

    fn table(&self, name: &ObjectName, alias: Option<&TableAlias>, version: Option<&TableVersion>) -> Bound<Named> {
        let (schema, name) = match name.0.as_slice() {
            [name] => (None, name.as_ident()),
            [schema, name] => (schema.as_ident().map(|schema| schema.value.as_str()), name.as_ident()),
            _ => return foreign("a name of three parts"),
        };
        let Some(name) = name else { return foreign("a table function") };
        if schema.is_none()
            && let Some(cte) = self.ctes.map_or(Ok(None), |ctes| ctes.find(&name.value))?
        {
            return match version {
                None => self.named_cte(&cte, alias, expr_span(&ast::Expr::Identifier(name.clone()))),
                Some(_) => foreign("AS OF behind what is no table"),
            };
        }
        if schema.is_some_and(|schema| schema.eq_ignore_ascii_case(saltwing_catalog::INFORMATION_SCHEMA)) {
            return foreign("a view of the catalog");
        }
        let span = expr_span(&ast::Expr::Identifier(name.clone()));
        let table = match self.catalog.resolve(schema, &name.value) {
            Ok(table) => table,
            Err(_) if schema.is_none() && self.catalog.arrow_table(&name.value).is_some() => {
                return foreign("a table of the program");
            }
            Err(error) => return Err(BindError::from(error).at(span).into()),
        };
        let table = match version {
            Some(version) => table_as_of(table, version, self.params, self.subqueries)?,
            None => table,
        };
        let named_at = alias.map_or(span, alias_span);
        let alias = alias.map(|alias| alias.name.value.clone());
        let first_column = self.ids.take(table.width());
        let scan = Scan { table, alias, span, first_column, hints: self.hints.to_vec() };
        let scope = Scope::of_scan(&scan, named_at);
        Ok((Relation::Scan(scan), scope))
    }

    fn query_in_brackets(&self, query: &Query, alias: Option<&TableAlias>) -> Bound<Named> {
        let bound = self.query(query, &[], false)?;
        Ok((bound.relation, renamed(bound.output, alias)?))
    }

    /// The rows of a query of a WITH clause, under its name or an alias.
    fn named_cte(
        &self,
        NamedCte { cte, number, scope }: &NamedCte<'_>,
        alias: Option<&TableAlias>,
        span: Option<Span>,
    ) -> Bound<Named> {
        let BoundQuery { mut relation, output } =
            QueryBinder { ctes: Some(scope), ..*self }.query(&cte.query, &[], false)?;
        if relation.is_volatile() {
            let mut columns: Vec<ColumnRef> = Vec::new();
            for Output { column, .. } in &output {
                if !columns.contains(column) {
                    columns.push(column.clone());
                }
            }
            relation = Relation::Shared { cte: *number, input: Box::new(relation), columns };
        }
        let columns = relabelled(output, &cte.alias)?;
        match alias {
            Some(alias) => Ok((relation, renamed(columns, Some(alias))?)),
            None => Ok((relation, Scope::of_query(columns, Some(cte.alias.name.value.clone()), span))),
        }
    }

    fn join(&self, left: Named, join: &Join) -> Bound<Named> {
        let (kind, constraint) = match &join.join_operator {
            JoinOperator::Join(constraint) | JoinOperator::Inner(constraint) | JoinOperator::CrossJoin(constraint) => {
                (JoinKind::Inner, constraint)
            }
            JoinOperator::Left(constraint) | JoinOperator::LeftOuter(constraint) => (JoinKind::Left, constraint),
            JoinOperator::Right(constraint) | JoinOperator::RightOuter(constraint) => (JoinKind::Right, constraint),
            JoinOperator::FullOuter(constraint) => (JoinKind::Full, constraint),
            _ => return foreign("this kind of join"),
        };
        let right = self.factor(&join.relation)?;
        match constraint {
            JoinConstraint::None if kind == JoinKind::Inner => {
                Ok((joined(kind, left.0, right.0, Vec::new()), left.1.and(right.1)))
            }
            JoinConstraint::None => foreign("an outer join without a condition"),
            JoinConstraint::On(condition) => {
                let size = left.1.size();
                let both = left.1.and(right.1);
                let lowered = self.lowerer(&both, None).lower(condition)?;
                let condition =
                    typing::condition(lowered).map_err(|error| BindError::from(error).at(expr_span(condition)))?;
                let relation = joined(kind, left.0, right.0, conditions(condition));
                Ok((relation, both.nullable(size, kind.fills())))
            }
            JoinConstraint::Using(names) => self.merge(kind, left, right, names),
            JoinConstraint::Natural => {
                let shown = right.1.shown();
                let is_shared = |output: &Output| shown.iter().any(|other| is_same_name(&other.label, &output.label));
                let names = left.1.shown().into_iter().filter(is_shared);
                let names: Vec<ObjectName> =
                    names.map(|output| vec![ast::Ident::with_quote('"', output.label)].into()).collect();
                self.merge(kind, left, right, &names)
            }
        }
    }

    /// A join by equal columns of these names, each of which becomes one column of the result: that of the side whose rows all come;
    /// of a full join, the first of both that is not NULL.
    fn merge(&self, kind: JoinKind, left: Named, right: Named, names: &[ObjectName]) -> Bound<Named> {
        let (mut equalities, mut merged, mut computed) = (Vec::new(), Vec::new(), Vec::new());
        for name in names {
            let [part] = name.0.as_slice() else { return foreign("a qualified name in USING") };
            let Some(name) = part.as_ident() else { return foreign("a name in USING") };
            let span = expr_span(&ast::Expr::Identifier(name.clone()));
            let of = |scope: &Scope| scope.resolve(&[&name.value], span);
            let (a, b): (ColumnRef, ColumnRef) = (of(&left.1)?, of(&right.1)?);
            let sides = [a.index, b.index];
            let label = left.1.label(&a).unwrap_or_else(|| name.value.clone());
            let equal = typing::compare(CompareOp::Eq, Expr::Column(a.clone()), Expr::Column(b.clone()))
                .map_err(|error| BindError::from(error).at(span))?;
            equalities.extend(conditions(equal));
            let column = match kind {
                JoinKind::Inner | JoinKind::Left => a,
                JoinKind::Right => b,
                JoinKind::Full => {
                    let both = [a, b].map(|column| Expr::Column(ColumnRef { nullable: true, ..column }));
                    let first = typing::call_named("COALESCE", both.to_vec());
                    let first = first.map_err(|error| BindError::from(error).at(span))?;
                    let column = self.ids.column_of(first, |_| label.clone());
                    computed.push(column.clone());
                    column.column
                }
            };
            merged.push((Output { label, column }, sides));
        }
        let relation = joined(kind, left.0, right.0, equalities).projected(computed);
        let size = left.1.size();
        let scope = left.1.and(right.1).nullable(size, kind.fills());
        let scope = merged.into_iter().fold(scope, |scope, (output, sides)| scope.with_merged(output, sides));
        Ok((relation, scope))
    }
}

/// The names of columns under an alias, which may give them other ones.
fn renamed(mut columns: Vec<Output>, alias: Option<&TableAlias>) -> Bound<Scope> {
    if let Some(alias) = alias {
        columns = relabelled(columns, alias)?;
    }
    let span = alias.and_then(alias_span);
    Ok(Scope::of_query(columns, alias.map(|alias| alias.name.value.clone()), span))
}

/// Columns with the labels that an alias gives the first ones of them.
fn relabelled(mut columns: Vec<Output>, alias: &TableAlias) -> Bound<Vec<Output>> {
    let names = &alias.columns;
    if names.len() > columns.len() || names.iter().any(|name| name.data_type.is_some()) {
        return foreign("a list of columns after an alias");
    }
    for (column, name) in columns.iter_mut().zip(names) {
        column.label.clone_from(&name.name.value);
    }
    Ok(columns)
}

fn alias_span(alias: &TableAlias) -> Option<Span> {
    expr_span(&ast::Expr::Identifier(alias.name.clone()))
}

fn joined(kind: JoinKind, left: Relation, right: Relation, conditions: Vec<saltwing_plan::Condition>) -> Relation {
    Relation::Join { kind, left: Box::new(left), right: Box::new(right), conditions }
}
