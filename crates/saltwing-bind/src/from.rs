//! FROM: tables, queries in brackets, and joins of them.

use saltwing_catalog::INFORMATION_SCHEMA;
use saltwing_sql::{dynamic_columns, expr_span, name_span, table_name_parts, tree_span};
use saltwing_types::table::is_same_name;
use saltwing_types::{ColumnRef, CompareOp, Expr, Span, SqlType, TableName, typing};
use sqlparser::ast::{
    self, Join, JoinConstraint, JoinOperator, ObjectName, SelectItem, SetExpr, TableAlias, TableFactor, TableVersion,
    TableWithJoins,
};

use crate::condition::conditions;
use crate::error::{BindError, BindErrorKind, Result};
use crate::lower::Lowerer;
use crate::plain_query::table_parts;
use crate::query_binder::{Bound, CteName, OuterScope, QueryBinder, unsupported};
use crate::resolve::{of_absence, table_of};
use crate::scope::Scope;
use crate::subquery_column::SubqueryBinder;
use crate::system_table::system_table;
use crate::table_call::{TableCall, is_unnest};
use crate::table_constants::constant_conditions;
use crate::tree::{ExternalSource, JoinKind, Output, Relation, Scan, SubqueryColumn};

/// A relation, and how expressions name its columns.
pub(crate) type Named = (Relation, Scope);

impl QueryBinder<'_> {
    /// The relation of a FROM clause.
    pub(crate) fn from(&self, from: &[TableWithJoins]) -> Bound<Named> {
        let Some((first, others)) = from.split_first() else {
            return Ok((Relation::one_row(), Scope::of_no_from()));
        };
        self.beside(self.joined(first, None)?, others)
    }

    /// A relation and the items of FROM after it.
    pub(crate) fn beside(&self, first: Named, others: &[TableWithJoins]) -> Bound<Named> {
        let (relation, scope) = others.iter().try_fold(first, |left: Named, right| -> Bound<Named> {
            if is_unnest(&right.relation) {
                return self.unnest_and_joins(left, right);
            }
            // What LATERAL stands before may be of all rows before it, so that these take part in the joins.
            let (joins, lateral) = (right.joins.as_slice(), is_lateral(&right.relation));
            let takes_part = joins.iter().any(|join| is_lateral(&join.relation));
            if takes_part {
                check_joins_rows_before(joins, "LATERAL")?;
            }
            let (relation, scope) = match takes_part {
                true => self.factor(&right.relation, Some(&left.1))?,
                false => self.joined(right, Some(&left.1))?,
            };
            let all = (joined(JoinKind::Inner, lateral, left.0, relation, Vec::new()), left.1.and(scope));
            if takes_part { joins.iter().try_fold(all, |left, join| self.join(left, join)) } else { Ok(all) }
        })?;
        scope.check_names()?;
        Ok((relation, scope))
    }

    /// An item of FROM: a table, and the joins with it. `left` has the names of the items before it.
    fn joined(&self, item: &TableWithJoins, left: Option<&Scope>) -> Bound<Named> {
        let first = self.factor(&item.relation, left)?;
        item.joins.iter().try_fold(first, |left, join| self.join(left, join))
    }

    /// An UNNEST after a comma, and the joins with it. It is of the rows before it, so that these take part in the joins.
    fn unnest_and_joins(&self, left: Named, item: &TableWithJoins) -> Bound<Named> {
        check_joins_rows_before(&item.joins, "UNNEST")?;
        let first = match TableCall::of(&item.relation) {
            Some(call) => call.and_then(|call| self.unnest(&call, Some(left), false)),
            None => unsupported("an item of FROM"),
        };
        let first = first.map_err(|error| error.at(factor_span(&item.relation)))?;
        item.joins.iter().try_fold(first, |left, join| self.join(left, join))
    }

    fn factor(&self, factor: &TableFactor, left: Option<&Scope>) -> Bound<Named> {
        self.note_relation();
        self.item(factor, left).map_err(|error| error.at(factor_span(factor)))
    }

    fn item(&self, factor: &TableFactor, left: Option<&Scope>) -> Bound<Named> {
        if let Some(call) = TableCall::of(factor) {
            let call = call?;
            return if call.is_unnest() { self.unnest(&call, None, false) } else { self.table_function(&call) };
        }
        if let Some((name, alias, version)) = table_parts(factor) {
            let (relation, scope) = self.table(name, alias, version)?;
            return match alias.filter(|alias| !alias.columns.is_empty()) {
                Some(alias) => Ok((relation, renamed(scope.shown(), Some(alias))?)),
                None => Ok((relation, scope)),
            };
        }
        match factor {
            TableFactor::Derived { lateral, subquery, alias, sample: None } => {
                let outer = left.map(|scope| OuterScope { scope, aggregates: None, around: self.outer });
                let binder = QueryBinder { outer: outer.as_ref().filter(|_| *lateral).or(self.outer), ..*self };
                check_aliases(&subquery.body)?;
                let bound = binder.query(subquery, &[])?;
                Ok((bound.relation, renamed(bound.output, alias.as_ref())?))
            }
            TableFactor::NestedJoin { table_with_joins, alias } => {
                let has_lateral = is_lateral(&table_with_joins.relation)
                    || table_with_joins.joins.iter().any(|join| is_lateral(&join.relation));
                if has_lateral && left.is_some() {
                    return unsupported("LATERAL in brackets");
                }
                let (relation, scope) = self.joined(table_with_joins, None)?;
                match alias {
                    // Under a name of its own it has the columns that `*` shows.
                    Some(alias) => Ok((relation, renamed(scope.shown(), Some(alias))?)),
                    None => Ok((relation, scope)),
                }
            }
            _ => unsupported("an item of FROM"),
        }
    }

    fn table(&self, written: &ObjectName, alias: Option<&TableAlias>, version: Option<&TableVersion>) -> Bound<Named> {
        let (plain, declared) = (table_name_parts(written), dynamic_columns(written).map_err(BindError::from)?);
        let shown = || ObjectName(plain.to_vec()).to_string();
        let (schema, name) = match plain {
            [name] => (None, name.as_ident()),
            [schema, name] => (schema.as_ident().map(|schema| schema.value.as_str()), name.as_ident()),
            _ => (None, None),
        };
        let Some(name) = name else {
            let error = BindErrorKind::Syntax(format!("{} is no name of a table", shown()));
            return Err(BindError::from(error).at(name_span(written)).into());
        };
        let span = expr_span(&ast::Expr::Identifier(name.clone()));
        if schema.is_none()
            && let Some(cte) = self.ctes.map_or(Ok(None), |ctes| ctes.find(&name.value))?
        {
            return match (version, cte) {
                _ if !declared.is_empty() => Err(no_dynamic(&format!("the query {}", name.value), span).into()),
                (Some(_), _) => Err(not_past(span).into()),
                (None, CteName::Query(cte)) => self.named_cte(&cte, alias, span),
                (None, CteName::WorkTable(table)) => self.work_table(table, &name.value, alias, span),
            };
        }
        let here = self.names.schema(schema, &name.value, self.catalog);
        if self.catalog.has_views()
            && let Some(view) =
                self.catalog.view(here.as_deref(), &name.value).map_err(|error| BindError::from(error).at(span))?
        {
            if version.is_some() {
                let what = format!("AS OF TIMESTAMP of the view {}", shown());
                return Err(BindError::from(BindErrorKind::NotSupported(what)).at(name_span(written)).into());
            }
            return self.view(&view, (written, &declared), alias);
        }
        if let Some(table) = system_table(schema, &name.value).filter(|_| version.is_none() && declared.is_empty()) {
            self.names.check_of_tables().map_err(|error| BindError::from(error).at(span))?;
            let columns = table.columns().into_iter().map(|column| (column.name.to_owned(), column.ty, true));
            let columns = self.external_columns(columns.collect());
            return Ok(external(ExternalSource::System(table), columns, alias, span));
        }
        let table = match table_of(self.catalog, here.as_deref(), &name.value) {
            Ok(table) => table,
            Err(error) => {
                self.names.check_of_tables().map_err(|error| BindError::from(error).at(span))?;
                let may_be_arrow = declared.is_empty() && error.is_absence() && self.is_default(here.as_deref())?;
                let arrow = may_be_arrow.then(|| self.catalog.arrow_table(&name.value)).flatten();
                // A file has no schema.
                let arrow = arrow.filter(|_| schema.is_none() || !self.catalog.is_file(&name.value));
                let Some(table) = arrow else {
                    return Err(of_absence(error, schema, &name.value).at(span).into());
                };
                if version.is_some() {
                    return Err(not_past(span).into());
                }
                if !self.catalog.is_file(&name.value) {
                    self.note_read(&TableName::bare(&table.name));
                }
                let columns = self.external_columns(table.columns());
                for (column, field) in columns.iter().zip(table.schema.fields()) {
                    if column.ty == SqlType::Opaque {
                        self.ids.opaque.put(column.index, field.data_type().clone());
                    }
                }
                let is_public = alias.is_none() && self.names.is_public(&TableName::bare(&table.name), self.catalog)?;
                let (relation, scope) = external(ExternalSource::Arrow(table), columns, alias, span);
                return Ok((relation, scope.public(is_public)));
            }
        };
        self.note_read(&table.def().name);
        let (table, as_of) = match version {
            Some(version) => self.table_as_of(table, version)?,
            None => (table, None),
        };
        let named_at = alias.map_or(span, alias_span);
        let is_public = alias.is_none() && self.names.is_public(&table.def().name, self.catalog)?;
        let alias = alias.map(|alias| alias.name.value.clone());
        let first_column = self.ids.take(table.width());
        self.note_source(&table.def().name, || {
            let columns = table.def().columns.iter().enumerate();
            columns.map(|(place, column)| (first_column + place, column.name.clone())).collect()
        });
        let scan = Scan { table, as_of, alias, span, first_column, hints: self.hints.to_vec() };
        let scope = match self.names.attached() {
            // Its query calls the table as its database does.
            Some(_) if scan.alias.is_none() => {
                let name = scan.table.def().name.name.clone();
                Scope::of_scan(&scan, named_at).called(schema.map(str::to_owned), name)
            }
            _ => Scope::of_scan(&scan, named_at),
        };
        let conditions = constant_conditions(&scan.table, first_column);
        let (relation, scope) = self.with_dynamic_columns(scan, scope.public(is_public), &declared)?;
        Ok((relation.filtered(conditions), scope))
    }

    /// Whether a name with this schema, if it has one, is of the default schema.
    fn is_default(&self, schema: Option<&str>) -> Result<bool> {
        schema.map_or(Ok(true), |schema| Ok(self.catalog.canonical_schema(schema)?.is_empty()))
    }

    /// New columns of these names and types, with whether they can be NULL.
    pub(crate) fn external_columns(&self, columns: Vec<(String, SqlType, bool)>) -> Vec<ColumnRef> {
        let first = self.ids.take(columns.len());
        let column = |(place, (name, ty, nullable))| ColumnRef { index: first + place, name, ty, nullable, span: None };
        columns.into_iter().enumerate().map(column).collect()
    }

    fn join(&self, left: Named, join: &Join) -> Bound<Named> {
        self.joined_by(left, join).map_err(|error| error.at(factor_span(&join.relation)))
    }

    fn joined_by(&self, left: Named, join: &Join) -> Bound<Named> {
        let Some((kind, constraint)) = kind_of(&join.join_operator) else { return unsupported("this kind of join") };
        if let Some(call) = TableCall::of(&join.relation)
            && let call = call?
            && call.is_unnest()
        {
            return self.unnest_join(left, &call, kind, constraint);
        }
        if let JoinOperator::RightSemi(_) | JoinOperator::RightAnti(_) = &join.join_operator {
            let right = self.factor(&join.relation, None)?;
            return self.join_with(right, left, kind, constraint, false);
        }
        let lateral = is_lateral(&join.relation);
        if lateral && !matches!(kind, JoinKind::Inner | JoinKind::Left) {
            return unsupported("LATERAL on the right of a RIGHT or FULL JOIN");
        }
        let right = self.factor(&join.relation, Some(&left.1))?;
        self.join_with(left, right, kind, constraint, lateral)
    }

    /// The elements of an array of the rows on the left.
    fn unnest_join(
        &self,
        left: Named,
        call: &TableCall<'_>,
        kind: JoinKind,
        constraint: &JoinConstraint,
    ) -> Bound<Named> {
        let condition = match constraint {
            JoinConstraint::None => None,
            JoinConstraint::On(condition) => Some(condition),
            _ => return unsupported("USING or NATURAL with UNNEST"),
        };
        let unnested = |keeps_rows| self.unnest(call, Some(left), keeps_rows);
        match kind {
            JoinKind::Inner => {
                let (relation, scope) = unnested(false)?;
                let Some(condition) = condition else { return Ok((relation, scope)) };
                let queries = SubqueryBinder::new(self, &scope);
                let lowered = self.on(&queries, condition)?;
                let relation = relation.applied(queries.into_subqueries()).filtered(conditions(lowered));
                Ok((relation, scope))
            }
            JoinKind::Left if condition.is_some_and(is_true) => unnested(true),
            JoinKind::Left => unsupported("LEFT JOIN UNNEST with another condition than TRUE"),
            _ => unsupported("UNNEST on the right of such a join"),
        }
    }

    /// The condition of ON.
    fn on(&self, queries: &SubqueryBinder<'_>, condition: &ast::Expr) -> Bound<Expr> {
        let lowered = Lowerer { clause: Some("ON"), ..queries.lowerer(None) }.lower(condition)?;
        Ok(typing::condition(lowered).map_err(|error| BindError::from(error).at(expr_span(condition)))?)
    }

    fn join_with(
        &self,
        left: Named,
        right: Named,
        kind: JoinKind,
        constraint: &JoinConstraint,
        lateral: bool,
    ) -> Bound<Named> {
        match constraint {
            JoinConstraint::None if kind == JoinKind::Inner => {
                Ok((joined(kind, lateral, left.0, right.0, Vec::new()), left.1.and(right.1)))
            }
            JoinConstraint::None => unsupported("an outer join without a condition"),
            JoinConstraint::On(condition) => self.joined_on(left, right, kind, condition, lateral),
            _ if lateral => unsupported("LATERAL with USING"),
            JoinConstraint::Using(names) => self.merge(kind, left, right, names),
            // A column that a table gets later would join it.
            JoinConstraint::Natural if self.notes_names() => {
                let error = BindError::from(BindErrorKind::NotSupported("NATURAL JOIN in a view".into()));
                Err(error.help("name the columns: JOIN .. USING (a, b)").into())
            }
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

    /// A join of pairs of rows for which a condition holds.
    pub(crate) fn joined_on(
        &self,
        left: Named,
        right: Named,
        kind: JoinKind,
        condition: &ast::Expr,
        lateral: bool,
    ) -> Bound<Named> {
        let size = left.1.size();
        let both = left.1.and(right.1);
        let queries = SubqueryBinder::new(self, &both);
        let condition = self.on(&queries, condition)?;
        let (of_subqueries, plain): (Vec<_>, Vec<_>) =
            conditions(condition).into_iter().partition(|condition| queries.are_named_in(&condition.expr));
        let subqueries = queries.into_subqueries();
        let relation = match kind {
            // As in WHERE.
            JoinKind::Inner => {
                joined(kind, lateral, left.0, right.0, plain).applied(subqueries).filtered(of_subqueries)
            }
            _ => {
                let (left, right) = applied_to_sides(left.0, right.0, subqueries)?;
                joined(kind, lateral, left, right, plain.into_iter().chain(of_subqueries).collect())
            }
        };
        let both = both.nullable(size, kind.fills());
        Ok((relation, if kind.gives_right() { both } else { both.before(size) }))
    }

    /// A join by equal columns of these names, each of which becomes one column of the result: that of the side whose rows all come;
    /// of a full join, the first of both that is not NULL.
    fn merge(&self, kind: JoinKind, left: Named, right: Named, names: &[ObjectName]) -> Bound<Named> {
        let (mut equalities, mut merged, mut computed) = (Vec::new(), Vec::new(), Vec::new());
        for name in names {
            let [part] = name.0.as_slice() else { return unsupported("a qualified name in USING") };
            let Some(name) = part.as_ident() else { return unsupported("a name in USING") };
            let span = expr_span(&ast::Expr::Identifier(name.clone()));
            let of = |scope: &Scope| -> Result<ColumnRef> {
                let column = scope.resolve(&[&name.value], span)?;
                self.note_merged(&column);
                Ok(column)
            };
            let (a, b): (ColumnRef, ColumnRef) = (of(&left.1)?, of(&right.1)?);
            let sides = [a.index, b.index];
            let label = left.1.label(&a).unwrap_or_else(|| name.value.clone());
            let equal = typing::compare(CompareOp::Eq, Expr::Column(a.clone()), Expr::Column(b.clone()))
                .map_err(|error| BindError::from(error).at(span))?;
            equalities.extend(conditions(equal));
            let column = match kind {
                JoinKind::Right => b,
                JoinKind::Full => {
                    let both = [a, b].map(|column| Expr::Column(ColumnRef { nullable: true, ..column }));
                    let first = typing::call_named("COALESCE", both.to_vec());
                    let first = first.map_err(|error| BindError::from(error).at(span))?;
                    let column = self.ids.column_of(first, |_| label.clone());
                    computed.push(column.clone());
                    column.column
                }
                _ => a,
            };
            merged.push((Output { label, column }, sides));
        }
        let relation = joined(kind, false, left.0, right.0, equalities).projected(computed);
        let size = left.1.size();
        let scope = left.1.and(right.1).nullable(size, kind.fills());
        if !kind.gives_right() {
            return Ok((relation, scope.before(size)));
        }
        let scope = merged.into_iter().fold(scope, |scope, (output, sides)| scope.with_merged(output, sides));
        Ok((relation, scope))
    }
}

/// The names of columns under an alias, which may give them other ones.
pub(crate) fn renamed(mut columns: Vec<Output>, alias: Option<&TableAlias>) -> Bound<Scope> {
    if let Some(alias) = alias {
        columns = relabelled(columns, alias)?;
    }
    let span = alias.and_then(alias_span);
    Ok(Scope::of_query(columns, alias.map(|alias| alias.name.value.clone()), span))
}

/// # Errors
/// [`BindErrorKind::DuplicateColumn`] for two aliases of a query that differ only in case: no name outside tells them apart.
pub(crate) fn check_aliases(body: &SetExpr) -> Result<()> {
    let select = match body {
        SetExpr::Select(select) => select,
        SetExpr::Query(query) => return check_aliases(&query.body),
        SetExpr::SetOperation { left, .. } => return check_aliases(left),
        _ => return Ok(()),
    };
    let mut seen: Vec<&ast::Ident> = Vec::new();
    for item in &select.projection {
        let SelectItem::ExprWithAlias { alias, .. } = item else { continue };
        if seen.iter().any(|known| is_same_name(&known.value, &alias.value) && known.value != alias.value) {
            return Err(named_twice(alias));
        }
        seen.push(alias);
    }
    Ok(())
}

fn named_twice(name: &ast::Ident) -> BindError {
    let error = BindError::from(BindErrorKind::DuplicateColumn(name.value.clone()));
    error.at(expr_span(&ast::Expr::Identifier(name.clone())))
}

/// Columns with the labels that an alias gives the first ones of them.
pub(crate) fn relabelled(mut columns: Vec<Output>, alias: &TableAlias) -> Bound<Vec<Output>> {
    let names = &alias.columns;
    if names.len() > columns.len() || names.iter().any(|name| name.data_type.is_some()) {
        return unsupported("a list of columns after an alias");
    }
    for (place, column) in names.iter().enumerate() {
        let before = names.iter().take(place);
        if before.into_iter().any(|known| is_same_name(&known.name.value, &column.name.value)) {
            return Err(named_twice(&column.name).into());
        }
    }
    for (column, name) in columns.iter_mut().zip(names) {
        column.label.clone_from(&name.name.value);
    }
    Ok(columns)
}

pub(crate) fn alias_span(alias: &TableAlias) -> Option<Span> {
    expr_span(&ast::Expr::Identifier(alias.name.clone()))
}

/// Where an item of FROM has its name; of one without a name, its names and literals.
fn factor_span(factor: &TableFactor) -> Option<Span> {
    match factor {
        TableFactor::Table { alias: Some(alias), .. }
        | TableFactor::Derived { alias: Some(alias), .. }
        | TableFactor::NestedJoin { alias: Some(alias), .. }
        | TableFactor::Function { alias: Some(alias), .. }
        | TableFactor::UNNEST { alias: Some(alias), .. } => alias_span(alias),
        TableFactor::Table { name, .. } | TableFactor::Function { name, .. } => name_span(name),
        other => tree_span(other),
    }
}

/// # Errors
/// A join after a comma that would give other rows if it were one with all rows before it; `with` is why it is.
fn check_joins_rows_before(joins: &[Join], with: &str) -> Bound<()> {
    let is_it = |join: &Join| matches!(kind_of(&join.join_operator), Some((JoinKind::Inner | JoinKind::Left, _)));
    match joins.iter().all(is_it) {
        true => Ok(()),
        false => unsupported(&format!("a RIGHT or FULL JOIN with {with}")),
    }
}

fn is_lateral(factor: &TableFactor) -> bool {
    matches!(factor, TableFactor::Derived { lateral: true, .. })
}

fn joined(
    kind: JoinKind,
    lateral: bool,
    left: Relation,
    right: Relation,
    conditions: Vec<saltwing_plan::Condition>,
) -> Relation {
    let (left, right) = (Box::new(left), Box::new(right));
    Relation::Join { kind, left, right, lateral, same: Vec::new(), conditions }
}

/// The sides of an outer join whose condition has subqueries, each applied to the side whose columns it names.
fn applied_to_sides(left: Relation, right: Relation, subqueries: Vec<SubqueryColumn>) -> Bound<(Relation, Relation)> {
    let (mut of_left, mut of_right) = (Vec::new(), Vec::new());
    for subquery in subqueries {
        let mut columns = subquery.outer_columns();
        columns.extend(subquery.values().iter().flat_map(Expr::columns));
        let known = |side: &Relation, others: &[SubqueryColumn]| {
            columns.iter().any(|id| side.has_column(*id) || others.iter().any(|other| other.column.index == *id))
        };
        match (known(&left, &of_left), known(&right, &of_right)) {
            (true, true) => {
                let error = BindErrorKind::NotSupported("a correlated subquery of this form".into());
                let error = BindError::from(error).at(subquery.column.span);
                let help = "name the outer query in the WHERE of the subquery, or join its table instead";
                return Err(error.help(help).into());
            }
            (true, false) => of_left.push(subquery),
            (false, _) => of_right.push(subquery),
        }
    }
    Ok((left.applied(of_left), right.applied(of_right)))
}

/// Rows that no store of ours holds.
fn external(source: ExternalSource, columns: Vec<ColumnRef>, alias: Option<&TableAlias>, span: Option<Span>) -> Named {
    let output = columns.iter().map(Output::of).collect();
    let alias_name = alias.map(|alias| alias.name.value.clone());
    let scope = match (alias, &source) {
        (Some(alias), _) => Scope::of_query(output, alias_name.clone(), alias_span(alias)),
        (None, ExternalSource::Arrow(table)) => Scope::of_named(output, None, table.name.clone(), span),
        (None, ExternalSource::System(table)) => {
            Scope::of_named(output, Some(INFORMATION_SCHEMA.to_owned()), table.name().to_owned(), span)
        }
        (None, ExternalSource::Function { name, .. }) => Scope::of_query(output, Some(name.clone()), span),
    };
    (Relation::External { source, alias: alias_name, columns }, scope)
}

/// The kind of a join, and how its rows meet; of a semi or anti join by the right side, the sides change places.
fn kind_of(operator: &JoinOperator) -> Option<(JoinKind, &JoinConstraint)> {
    Some(match operator {
        JoinOperator::Join(it) | JoinOperator::Inner(it) | JoinOperator::CrossJoin(it) => (JoinKind::Inner, it),
        JoinOperator::Left(it) | JoinOperator::LeftOuter(it) => (JoinKind::Left, it),
        JoinOperator::Right(it) | JoinOperator::RightOuter(it) => (JoinKind::Right, it),
        JoinOperator::FullOuter(it) => (JoinKind::Full, it),
        JoinOperator::Semi(it) | JoinOperator::LeftSemi(it) | JoinOperator::RightSemi(it) => (JoinKind::Semi, it),
        JoinOperator::Anti(it) | JoinOperator::LeftAnti(it) | JoinOperator::RightAnti(it) => (JoinKind::Anti, it),
        _ => return None,
    })
}

fn is_true(e: &ast::Expr) -> bool {
    matches!(e, ast::Expr::Value(value) if value.value == ast::Value::Boolean(true))
}

/// The error of AS OF after what has no past.
fn not_past(span: Option<Span>) -> BindError {
    let error = BindErrorKind::NotSupported("AS OF TIMESTAMP behind what is no table".into());
    BindError::from(error).at(span)
}

/// The error of dynamic columns after what is neither a table nor a view.
fn no_dynamic(what: &str, span: Option<Span>) -> BindError {
    let error = BindErrorKind::NotSupported(format!("dynamic columns of {what}"));
    BindError::from(error).at(span).help("tables and views have dynamic columns")
}
