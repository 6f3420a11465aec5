//! The visit of the statement's tree: what becomes of each query, SELECT, table and expression.

use std::collections::HashSet;
use std::ops::ControlFlow;

use saltwing_bind::{LowerError, table_as_of};
use saltwing_sql::{expr_span, with_text_strides};
use saltwing_types::{Expr as OwnExpr, Value, eval, text, typing};
use sqlparser::ast::{
    self, BinaryOperator, Expr, Ident, LimitClause, ObjectName, ObjectNamePart, Query, Select, SelectItem, SetExpr,
    TableAlias, TableFactor, TableVersion, UnaryOperator, VisitorMut,
};

use super::families::Scope;
use super::rewriter::Rewriter;
use super::tree::{Result, broken, lower, lower_object};
use super::{clauses, date_field, families, grouping, items, rows, unnest, windows};
use crate::expression::internal_name::PREFIX;
use crate::{RelationalError, RelationalErrorKind};

impl VisitorMut for Rewriter<'_> {
    type Break = RelationalError;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<RelationalError> {
        self.result.enter_query(query);
        let scope = match query.body.as_ref() {
            SetExpr::Select(select) => self.scope(select),
            _ => Scope::default(),
        };
        self.scopes.push(scope);
        if let SetExpr::Select(select) = query.body.as_mut() {
            broken(windows::resolve_windows(select, query.order_by.as_mut()))?;
        }
        broken(self.query(query))
    }

    fn post_visit_query(&mut self, query: &mut Query) -> ControlFlow<RelationalError> {
        self.scopes.pop();
        self.result.leave_query();
        items::follow_renamed(query);
        items::order_by_items(query);
        if let SetExpr::Values(values) = query.body.as_mut() {
            self.plain_rows(values);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<RelationalError> {
        let scope = self.scope(select);
        self.scopes.push(scope);
        let is_result = self.result.enter_select();
        broken(self.select(select, is_result))
    }

    fn post_visit_select(&mut self, _: &mut Select) -> ControlFlow<RelationalError> {
        self.scopes.pop();
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, name: &mut ObjectName) -> ControlFlow<RelationalError> {
        let span = name.0.last().and_then(|part| part.as_ident()).and_then(|n| expr_span(&Expr::Identifier(n.clone())));
        lower_object(name);
        if let Some(span) = span {
            let parts: Vec<&str> = name.0.iter().filter_map(|p| p.as_ident()).map(|p| p.value.as_str()).collect();
            self.found.places.entry(parts.join(".")).or_default().push_back(span);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<RelationalError> {
        broken(self.table_factor(factor))
    }

    fn post_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<RelationalError> {
        broken(rows::marked(factor))
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<RelationalError> {
        match expr {
            Expr::Identifier(name) => {
                lower(name);
                let checked = families::check_unqualified(name, &self.scopes);
                return broken(checked.map_err(|error| error.at(expr_span(expr))));
            }
            Expr::CompoundIdentifier(parts) => {
                parts.iter_mut().for_each(lower);
                let span = expr_span(&Expr::CompoundIdentifier(parts.clone()));
                let replaced = families::without_family(parts, &self.scopes);
                families::mark_outer(parts, &self.scopes);
                return broken(replaced.map_err(|error| error.at(span)));
            }
            Expr::QualifiedWildcard(name, _) => lower_object(name),
            Expr::Function(call) => {
                // Its arguments are seen next, and an INTERVAL becomes a constant.
                with_text_strides(call);
                lower_object(&mut call.name);
                return broken(date_field::check_call(call));
            }
            // Constants in the operand have no place once they have been seen.
            Expr::Extract { field, expr: operand, .. } => {
                return broken(date_field::check_extract(&field.to_string(), operand));
            }
            // The smallest BIGINT is a literal: the number behind its sign is beyond BIGINT.
            Expr::UnaryOp { op: UnaryOperator::Minus, expr: operand } if matches!(**operand, Expr::Value(_)) => {
                let span = expr_span(expr);
                let literal = self.constant(expr.clone(), span).map_err(|error| error.at(span));
                return broken(literal.map(|literal| *expr = literal));
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<RelationalError> {
        // The place of a long chain would be looked for at every link.
        let is_chain = matches!(expr, Expr::BinaryOp { op: BinaryOperator::And | BinaryOperator::Or, .. });
        grouping::as_sets(expr);
        broken(if is_chain { Ok(()) } else { self.operation(expr) })
    }
}

/// The clauses of a query and its names.
impl Rewriter<'_> {
    fn scope(&mut self, select: &Select) -> Scope {
        let scope = Scope::of(select, self.catalog, &|name| self.ctes.contains(name));
        self.found.ambiguous.extend(scope.ambiguous.iter().cloned());
        scope
    }

    fn query(&mut self, query: &mut Query) -> Result<()> {
        for cte in query.with.iter_mut().flat_map(|with| &mut with.cte_tables) {
            self.alias(&mut cte.alias)?;
        }
        clauses::check_order(query)?;
        for (present, clause) in [
            (query.fetch.is_some(), "FETCH beside LIMIT"),
            (!query.locks.is_empty(), "FOR UPDATE"),
            (query.for_clause.is_some(), "FOR XML, JSON or BROWSE"),
            (query.settings.is_some(), "SETTINGS"),
            (query.format_clause.is_some(), "FORMAT"),
            (!query.pipe_operators.is_empty(), "|>"),
        ] {
            if present {
                return Err(RelationalError::not_supported(clause));
            }
        }
        match &mut query.limit_clause {
            Some(LimitClause::LimitOffset { limit, offset, limit_by }) => {
                if !limit_by.is_empty() {
                    return Err(RelationalError::not_supported("LIMIT BY"));
                }
                for count in limit.iter_mut().chain(offset.iter_mut().map(|o| &mut o.value)) {
                    self.row_count(count)?;
                }
            }
            Some(LimitClause::OffsetCommaLimit { offset, limit }) => {
                self.row_count(offset)?;
                self.row_count(limit)?;
            }
            None => {}
        }
        Ok(())
    }

    /// A LIMIT or OFFSET becomes its value; of a parameter without one, and of a subquery that has not run, no limit is known.
    ///
    /// # Errors
    /// What is no number of rows: DataFusion leaves out a limit that it does not know.
    fn row_count(&mut self, count: &mut Expr) -> Result<()> {
        let is_placeholder = matches!(count, Expr::Value(value) if matches!(value.value, ast::Value::Placeholder(_)));
        if matches!(count, Expr::Value(_)) && !is_placeholder {
            return Ok(());
        }
        let span = expr_span(count);
        let own = match self.lowerer(&saltwing_bind::Scope::empty()).lower(count) {
            Ok(own) => own,
            Err(LowerError::Unsupported(..)) if matches!(count, Expr::Subquery(_)) => {
                let text = "LIMIT or OFFSET of a subquery that does not run by itself";
                return Err(RelationalError::not_supported(text)
                    .at(span)
                    .help("compute the number first, and give it as a parameter"));
            }
            Err(error) => return Err(error.into_error().into()),
        };
        *count = match own {
            own if is_open(&own) => {
                self.found.limit_open = true;
                Expr::value(ast::Value::Null)
            }
            own if own.is_constant() => {
                let value = eval::eval(&own, &[]).map_err(|error| RelationalError::from(error).at(span))?;
                as_row_count(&value).map_err(|error| error.at(span))?
            }
            own => {
                let text = format!("LIMIT and OFFSET take a number of rows, and {own} is none");
                return Err(RelationalError::from(RelationalErrorKind::Syntax(text)).at(span));
            }
        };
        Ok(())
    }

    fn select(&mut self, select: &mut Select, is_result: bool) -> Result<()> {
        for (present, clause) in [
            (select.exclude.is_some(), "EXCLUDE behind the items"),
            (select.into.is_some(), "SELECT INTO"),
            (select.prewhere.is_some(), "PREWHERE"),
            (!select.connect_by.is_empty(), "CONNECT BY"),
            (!select.distribute_by.is_empty(), "DISTRIBUTE BY"),
            (select.value_table_mode.is_some(), "SELECT AS STRUCT"),
            (select.select_modifiers.is_some(), "a modifier of SELECT"),
        ] {
            if present {
                return Err(RelationalError::not_supported(clause));
            }
        }
        for item in &mut select.projection {
            if let SelectItem::Wildcard(options) | SelectItem::QualifiedWildcard(_, options) = item {
                items::lower_options(options);
            }
            if let SelectItem::QualifiedWildcard(ast::SelectItemQualifiedWildcardKind::ObjectName(name), _) = item {
                lower_object(name);
            }
        }
        self.check_clauses(select)?;
        windows::resolve_windows(select, None)?;
        self.name_items(select, is_result)?;
        Ok(())
    }

    fn table_factor(&mut self, factor: &mut TableFactor) -> Result<()> {
        unnest::as_unnest(factor)?;
        match factor {
            TableFactor::Table {
                name, alias, version, sample, partitions, with_hints, json_path, index_hints, ..
            } => {
                for (present, clause) in [
                    (sample.is_some(), "TABLESAMPLE"),
                    (!partitions.is_empty(), "PARTITION"),
                    (!with_hints.is_empty() || !index_hints.is_empty(), "a hint behind a table"),
                    (json_path.is_some(), "a JSON path behind a table"),
                ] {
                    if present {
                        return Err(RelationalError::not_supported(clause));
                    }
                }
                if let Some(moment) = version.take() {
                    self.read_past(name, alias, &moment)?;
                }
                alias.iter_mut().try_for_each(|alias| self.alias(alias))?;
            }
            TableFactor::Derived { alias, .. }
            | TableFactor::TableFunction { alias, .. }
            | TableFactor::Function { alias, .. }
            | TableFactor::UNNEST { alias, .. } => alias.iter_mut().try_for_each(|alias| self.alias(alias))?,
            TableFactor::NestedJoin { alias, .. } => alias.iter_mut().try_for_each(|alias| self.alias(alias))?,
            _ => {}
        }
        Ok(())
    }

    /// Gives a table that is read as it was a name of its own, by which the planner finds it.
    fn read_past(
        &mut self,
        name: &mut ObjectName,
        alias: &mut Option<TableAlias>,
        moment: &TableVersion,
    ) -> Result<()> {
        let is_cte = |name: &str| self.ctes.contains(name);
        let Some(table) = families::table_of(name, self.catalog, &is_cte) else {
            return Err(RelationalError::not_supported("AS OF TIMESTAMP behind what is no table"));
        };
        let Some(ObjectNamePart::Identifier(last)) = name.0.last_mut() else { return Ok(()) };
        if alias.is_none() {
            let name = Ident::with_quote('"', &last.value);
            *alias = Some(TableAlias { explicit: true, name, columns: Vec::new(), at: None });
        }
        let table = table_as_of(table, moment, self.params, self.subqueries)?;
        last.value = format!("{}{PREFIX}{}", last.value, self.found.past_tables.len());
        last.quote_style = Some('"');
        self.found.past_tables.push(table);
        Ok(())
    }

    fn alias(&mut self, alias: &mut TableAlias) -> Result<()> {
        lower(&mut alias.name);
        let mut seen = HashSet::new();
        for column in &mut alias.columns {
            self.found.labels.alias(&column.name.value);
            if !seen.insert(column.name.value.to_lowercase()) {
                let error = RelationalError::from(RelationalErrorKind::DuplicateColumn(column.name.value.clone()));
                return Err(error.at(expr_span(&Expr::Identifier(column.name.clone()))));
            }
            lower(&mut column.name);
        }
        Ok(())
    }
}

/// Whether an expression has a value once parameters and subqueries have theirs.
fn is_open(own: &OwnExpr) -> bool {
    let mut is_open = false;
    own.walk(&mut |part| is_open |= matches!(part, OwnExpr::Param(..) | OwnExpr::Subquery(..)));
    is_open
}

/// A number of rows as LIMIT and OFFSET take it.
fn as_row_count(value: &Value) -> Result<Expr> {
    match value {
        Value::Null => Ok(Expr::value(ast::Value::Null)),
        Value::Int(n) if *n >= 0 => Ok(Expr::value(ast::Value::Number(n.to_string(), false))),
        other => {
            let shown = text::literal(other, typing::natural_type(other));
            Err(RelationalErrorKind::Syntax(format!("{shown} is no number of rows")).into())
        }
    }
}
