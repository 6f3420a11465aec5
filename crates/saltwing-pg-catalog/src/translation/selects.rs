//! SELECT: its list, its conditions, its order.

use sqlparser::ast::{
    Distinct, Expr, GroupByExpr, NamedWindowExpr, OrderBy, Select, SelectItem, SelectItemQualifiedWildcardKind,
};

use super::build::{folded, name};
use super::casts::in_its_width;
use super::expansion::Expansion;
use super::labels::label;
use super::outputs::for_client;
use super::queries::{Place, nulls_as_in_postgres, order_keys};
use super::scope::{Output, Scope, Source, Type};
use super::translator::{Translator, not_supported};
use crate::CatalogError;

impl Translator<'_> {
    pub(super) fn select(
        &mut self,
        select: &mut Select,
        outer: Scope<'_>,
        order_by: Option<&mut OrderBy>,
        place: Place,
    ) -> Result<Vec<Output>, CatalogError> {
        check_clauses(select)?;
        let (mut sources, mut merged) = (Vec::new(), Vec::new());
        for table in &mut select.from {
            self.table_with_joins(table, &mut sources, &mut merged, outer)?;
        }
        let scope = Scope { sources: &sources, merged: &merged, outer: Some(&outer) };
        let expansion = self.expansion.replace(Expansion::new(&mut self.made_up));
        let outputs = self.list(&mut select.projection, scope, place);
        let expansion = std::mem::replace(&mut self.expansion, expansion);
        let outputs = outputs?;
        let around = self.expansion.take();
        let rest = self.clauses(select, scope, order_by, &outputs);
        self.expansion = around;
        rest?;
        if let Some(expansion) = expansion.filter(Expansion::is_used) {
            if !matches!(&select.group_by, GroupByExpr::Expressions(keys, _) if keys.is_empty()) {
                return Err(not_supported("calls with several rows beside GROUP BY"));
            }
            expansion.join(select);
        }
        Ok(outputs)
    }

    /// All clauses but FROM and the list.
    fn clauses(
        &mut self,
        select: &mut Select,
        scope: Scope<'_>,
        order_by: Option<&mut OrderBy>,
        outputs: &[Output],
    ) -> Result<(), CatalogError> {
        for condition in [&mut select.selection, &mut select.having, &mut select.qualify].into_iter().flatten() {
            self.expr(condition, scope)?;
        }
        if let GroupByExpr::Expressions(keys, _) = &mut select.group_by {
            for key in keys {
                self.key(key, scope, outputs, Prefers::Columns)?;
            }
        }
        if let Some(Distinct::On(keys)) = &mut select.distinct {
            for key in keys {
                self.key(key, scope, outputs, Prefers::Labels)?;
            }
        }
        for window in &mut select.named_window {
            window.0 = name(&folded(&window.0));
            match &mut window.1 {
                NamedWindowExpr::WindowSpec(window) => self.window(window, scope)?,
                NamedWindowExpr::NamedWindow(other) => *other = name(&folded(other)),
            }
        }
        for key in order_keys(order_by)? {
            self.key(&mut key.expr, scope, outputs, Prefers::Labels)?;
            nulls_as_in_postgres(key);
        }
        Ok(())
    }

    /// A key of GROUP BY or ORDER BY: the place or the label of a column of the list, or an expression.
    fn key(
        &mut self,
        key: &mut Expr,
        scope: Scope<'_>,
        outputs: &[Output],
        prefers: Prefers,
    ) -> Result<(), CatalogError> {
        if matches!(key, Expr::Value(_)) {
            return Ok(());
        }
        if let Expr::Identifier(ident) = &*key {
            let label = folded(ident);
            let is_column = || Ok::<_, CatalogError>(scope.resolve(std::slice::from_ref(ident))?.is_some());
            if let Some(output) = outputs.iter().find(|output| output.name == label)
                && (prefers == Prefers::Labels || !is_column()?)
            {
                *key = Expr::Identifier(name(&output.physical));
                return Ok(());
            }
        }
        self.expr(key, scope).map(|_| ())
    }

    fn list(
        &mut self,
        list: &mut Vec<SelectItem>,
        scope: Scope<'_>,
        place: Place,
    ) -> Result<Vec<Output>, CatalogError> {
        let mut columns = Vec::new();
        for item in std::mem::take(list) {
            self.item(item, scope, &mut columns)?;
        }
        let mut outputs: Vec<Output> = Vec::new();
        for (label, expr, ty) in columns {
            let (expr, ty) = if place == Place::Top { for_client(expr, ty) } else { (expr, ty) };
            // A second column of a name gets another one here, so that a `*` outside can name it.
            let is_taken = outputs.iter().any(|output| output.physical == label);
            let physical = if is_taken { format!("{label} {}", outputs.len()) } else { label.clone() };
            match (&ty, expr) {
                (Type::Record(fields), Expr::Tuple(values)) => {
                    let fields = fields.iter().zip(values);
                    list.extend(fields.map(|((field, _), value)| aliased(value, &format!("{physical}.{field}"))));
                }
                (_, expr) => list.push(aliased(in_its_width(expr, &ty), &physical)),
            }
            outputs.push(Output { name: label, physical, ty });
        }
        Ok(outputs)
    }

    fn item(
        &mut self,
        item: SelectItem,
        scope: Scope<'_>,
        columns: &mut Vec<(String, Expr, Type)>,
    ) -> Result<(), CatalogError> {
        match item {
            SelectItem::UnnamedExpr(mut expr) => {
                let label = label(&expr);
                let ty = self.expr(&mut expr, scope)?;
                columns.push((label, expr, ty));
            }
            SelectItem::ExprWithAlias { mut expr, alias } => {
                let ty = self.expr(&mut expr, scope)?;
                columns.push((folded(&alias), expr, ty));
            }
            SelectItem::Wildcard(_) => columns.extend(scope.star()),
            SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(of), _) => {
                let of = of.0.last().and_then(|part| part.as_ident()).map(folded).unwrap_or_default();
                let source = scope.sources.iter().find(|source| source.alias == of);
                let source: &Source = source.ok_or_else(|| CatalogError::NoRelation(of.clone()))?;
                let all = source.columns.iter().map(|it| (it.name.clone(), source.expr(it), it.ty.clone()));
                columns.extend(all);
            }
            SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::Expr(mut expr), _) => {
                let Type::Record(fields) = self.expr(&mut expr, scope)? else {
                    return Err(not_supported("`.*` of what is no row"));
                };
                let Expr::Tuple(values) = without_brackets(expr) else {
                    return Err(CatalogError::bug("a row is no tuple".into()));
                };
                columns.extend(fields.into_iter().zip(values).map(|((name, ty), value)| (name, value, ty)));
            }
            SelectItem::ExprWithAliases { .. } => return Err(not_supported("lists of aliases")),
        }
        Ok(())
    }
}

/// Which of two meanings a name in a key has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Prefers {
    Columns,
    Labels,
}

/// An expression that stands in brackets.
pub(super) fn without_brackets(expr: Expr) -> Expr {
    match expr {
        Expr::Nested(inner) => without_brackets(*inner),
        other => other,
    }
}

fn aliased(expr: Expr, alias: &str) -> SelectItem {
    SelectItem::ExprWithAlias { expr, alias: name(alias) }
}

fn check_clauses(select: &Select) -> Result<(), CatalogError> {
    let is_plain = select.into.is_none()
        && select.top.is_none()
        && select.exclude.is_none()
        && select.select_modifiers.is_none()
        && select.prewhere.is_none()
        && select.value_table_mode.is_none()
        && select.connect_by.is_empty()
        && select.lateral_views.is_empty()
        && [&select.cluster_by, &select.distribute_by].iter().all(|keys| keys.is_empty())
        && select.sort_by.is_empty();
    match is_plain && !matches!(select.group_by, GroupByExpr::All(_)) {
        true => Ok(()),
        false => Err(not_supported("SELECT INTO and clauses of other databases")),
    }
}
