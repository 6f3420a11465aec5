//! The tables of FROM clauses, and the names of their columns.

use saltwing_catalog::CatalogReader;
use saltwing_sql::{dynamic_columns, name_span, without_dynamic_columns};
use saltwing_types::Span;
use saltwing_types::table::is_same_name;
use sqlparser::ast::{
    Expr, Ident, Join, JoinConstraint, JoinOperator, Query, Select, SelectItem, SelectItemQualifiedWildcardKind,
    SetExpr, TableAlias, TableFactor, With,
};

use crate::error::BindError;
use crate::lookups::Lookups;
use crate::object_name::{quoted, table_name};
use crate::resolve::table_of;
use crate::system_table::system_table;

/// The columns of a table or query in order; `None` if they are known only when it is planned.
pub(super) type Columns = Option<Vec<String>>;

/// A table of a FROM clause.
#[derive(Clone, Debug)]
pub(super) struct Relation {
    /// The name that qualifies its columns.
    pub(super) name: Vec<Ident>,
    pub(super) columns: Columns,
}

impl Relation {
    pub(super) fn has(&self, column: &str) -> bool {
        self.columns.iter().flatten().any(|known| is_same_name(known, column))
    }

    /// Whether `qualifier` stands for it before a column.
    pub(super) fn is_named(&self, qualifier: &[Ident]) -> bool {
        let (own, other) = (self.name.iter().rev(), qualifier.iter().rev());
        qualifier.len() <= self.name.len() && own.zip(other).all(|(own, other)| is_same_name(&own.value, &other.value))
    }
}

/// The tables by name.
#[derive(Clone)]
pub(super) struct Relations<'a> {
    pub(super) lookups: &'a Lookups<'a>,
    pub(super) catalog: &'a dyn CatalogReader,
    /// WITH queries, the innermost last.
    pub(super) ctes: Vec<(String, Columns)>,
}

impl Relations<'_> {
    pub(super) fn is_cte(&self, schema: Option<&str>, name: &str) -> bool {
        schema.is_none() && self.ctes.iter().any(|(cte, _)| is_same_name(cte, name))
    }

    /// Adds the queries of a WITH clause.
    pub(super) fn add(&mut self, with: &With) {
        for cte in &with.cte_tables {
            // A recursive one has the columns of its first part, which does not name it.
            let columns = renamed(self.of_query(&cte.query), Some(&cte.alias));
            self.ctes.push((cte.alias.name.value.clone(), columns));
        }
    }

    /// The tables of a FROM clause.
    pub(super) fn of_select(&self, select: &Select) -> Vec<Relation> {
        let mut found = Vec::new();
        for from in &select.from {
            self.add_factor(&from.relation, &mut found);
            from.joins.iter().for_each(|join| self.add_factor(&join.relation, &mut found));
        }
        found
    }

    fn add_factor(&self, factor: &TableFactor, found: &mut Vec<Relation>) {
        let (columns, alias, name) = match factor {
            TableFactor::Table { name, alias, args: None, .. } => {
                let listed = without_dynamic_columns(name);
                let own = listed.as_ref().map_or(name, |(table, _)| table);
                let idents = own.0.iter().filter_map(|part| part.as_ident()).cloned().collect();
                let mut columns = table_name(name).and_then(|(schema, name)| self.of_table(schema, name));
                if let (Some((_, list)), Some(columns)) = (&listed, &mut columns) {
                    let dynamic = dynamic_columns(&list.value, Span::on_line(1, 1, 1)).unwrap_or_default();
                    columns.extend(dynamic.into_iter().map(|dynamic| dynamic.column.name.text));
                }
                (columns, alias.as_ref(), idents)
            }
            TableFactor::Derived { subquery, alias, .. } => (self.of_query(subquery), alias.as_ref(), Vec::new()),
            TableFactor::NestedJoin { table_with_joins, alias: None } => {
                self.add_factor(&table_with_joins.relation, found);
                return table_with_joins.joins.iter().for_each(|join| self.add_factor(&join.relation, found));
            }
            TableFactor::Table { alias, .. }
            | TableFactor::NestedJoin { alias, .. }
            | TableFactor::Function { alias, .. }
            | TableFactor::TableFunction { alias, .. }
            | TableFactor::UNNEST { alias, .. } => (None, alias.as_ref(), Vec::new()),
            _ => (None, None, Vec::new()),
        };
        let name = alias.map_or(name, |alias| vec![alias.name.clone()]);
        found.push(Relation { name, columns: renamed(columns, alias) });
    }

    fn of_table(&self, schema: Option<&str>, name: &str) -> Columns {
        let cte = self.ctes.iter().rev().find(|(cte, _)| schema.is_none() && is_same_name(cte, name));
        if let Some((_, columns)) = cte {
            return columns.clone();
        }
        if let Some(view) = self.lookups.view(schema, name) {
            return Some(view.columns.iter().map(|column| column.name.clone()).collect());
        }
        if let Some(table) = system_table(schema, name) {
            return Some(table.columns().iter().map(|column| column.name.to_owned()).collect());
        }
        let table = self.lookups.table(schema, name)?;
        Some(table.def().columns.iter().filter(|column| !column.hidden).map(|column| column.name.clone()).collect())
    }

    /// The columns of a query; `None` if one of them has no name of its own.
    pub(super) fn of_query(&self, query: &Query) -> Columns {
        match &query.with {
            None => self.of_body(&query.body),
            Some(with) => {
                let mut inside = self.clone();
                inside.add(with);
                inside.of_body(&query.body)
            }
        }
    }

    fn of_body(&self, body: &SetExpr) -> Columns {
        match body {
            SetExpr::Query(query) => self.of_query(query),
            SetExpr::SetOperation { left, .. } => self.of_body(left),
            SetExpr::Select(select) => {
                let mut columns = Vec::new();
                for item in &select.projection {
                    match item {
                        SelectItem::ExprWithAlias { alias, .. } => columns.push(alias.value.clone()),
                        SelectItem::UnnamedExpr(Expr::Identifier(name)) => columns.push(name.value.clone()),
                        SelectItem::UnnamedExpr(Expr::CompoundIdentifier(parts)) => {
                            columns.push(parts.last()?.value.clone());
                        }
                        SelectItem::UnnamedExpr(_) | SelectItem::ExprWithAliases { .. } => return None,
                        wildcard => {
                            columns.extend(self.of_wildcard(wildcard, select)?.into_iter().map(|(_, column)| column));
                        }
                    }
                }
                Some(columns)
            }
            _ => None,
        }
    }

    /// The columns that `family.*` or `table.family.*` stands for, each with its family, and with its table if it `qualifies`.
    pub(super) fn of_family(&self, item: &SelectItem, select: &Select, qualifies: bool) -> Option<Vec<Vec<Ident>>> {
        let SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), _) = item else {
            return None;
        };
        let parts: Vec<Ident> = name.0.iter().filter_map(|part| part.as_ident()).cloned().collect();
        let (family, qualifier) = parts.split_last()?;
        if self.of_select(select).iter().any(|relation| relation.is_named(&parts)) {
            return None;
        }
        factors_of(select).find_map(|factor| {
            let columns = self.family_of(factor, &family.value)?;
            let mut relations = Vec::new();
            self.add_factor(factor, &mut relations);
            let relation = relations.pop().filter(|it| qualifier.is_empty() || it.is_named(qualifier))?;
            let table = if qualifies { relation.name } else { Vec::new() };
            let column = |column: String| table.iter().cloned().chain([family.clone(), quoted(&column)]).collect();
            Some(columns.into_iter().map(column).collect())
        })
    }

    /// The error of the first table of a FROM clause that is not there.
    pub(super) fn missing(&self, select: &Select) -> Option<BindError> {
        factors_of(select).find_map(|factor| {
            let TableFactor::Table { name, args: None, .. } = factor else { return None };
            let (schema, bare) = table_name(name)?;
            let is_known = self.is_cte(schema, bare)
                || self.lookups.view(schema, bare).is_some()
                || self.catalog.arrow_table(bare).is_some()
                || system_table(schema, bare).is_some();
            let missing = if is_known { None } else { table_of(self.catalog, schema, bare).err() };
            missing.map(|error| BindError::from(error).at(name_span(name)))
        })
    }

    /// The columns of a family of a table, dynamic ones too; `None` if it has none.
    fn family_of(&self, factor: &TableFactor, family: &str) -> Option<Vec<String>> {
        let TableFactor::Table { name, args: None, .. } = factor else { return None };
        let (schema, bare) = table_name(name)?;
        if self.is_cte(schema, bare) || self.lookups.view(schema, bare).is_some() {
            return None;
        }
        let table = self.lookups.table(schema, bare)?;
        let def = table.def();
        let is_it = |name: &str| is_same_name(name, family);
        let own = def.columns.iter().filter(|column| !column.hidden && def.family_name(column).is_some_and(is_it));
        let mut columns: Vec<String> = own.map(|column| column.name.clone()).collect();
        if let Some((_, list)) = without_dynamic_columns(name) {
            let dynamic = dynamic_columns(&list.value, Span::on_line(1, 1, 1)).ok()?.into_iter();
            let of_family = dynamic.filter(|it| it.column.family.as_ref().is_some_and(|family| is_it(&family.text)));
            columns.extend(of_family.map(|it| it.column.name.text));
        }
        (!columns.is_empty()).then_some(columns)
    }

    /// The columns that `*` or `t.*` stands for, each with the name of its table.
    pub(super) fn of_wildcard(&self, item: &SelectItem, select: &Select) -> Option<Vec<(Vec<Ident>, String)>> {
        let relations = self.of_select(select);
        let (options, relations) = match item {
            SelectItem::Wildcard(options) if !merges_columns(select) => (options, relations),
            SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), options) => {
                let qualifier: Vec<Ident> = name.0.iter().filter_map(|part| part.as_ident()).cloned().collect();
                (options, relations.into_iter().filter(|relation| relation.is_named(&qualifier)).take(1).collect())
            }
            _ => return None,
        };
        let plain = crate::plain_query::is_plain(options);
        let mut columns = Vec::new();
        for relation in relations {
            columns.extend(relation.columns?.into_iter().map(|column| (relation.name.clone(), column)));
        }
        (plain && !columns.is_empty()).then_some(columns)
    }
}

/// Whether a join makes one column of two.
fn merges_columns(select: &Select) -> bool {
    joins_of(select).any(|join| !matches!(constraint(join), None | Some(JoinConstraint::On(_) | JoinConstraint::None)))
}

/// The tables of a FROM clause, but for those in brackets.
fn factors_of(select: &Select) -> impl Iterator<Item = &TableFactor> {
    select
        .from
        .iter()
        .flat_map(|from| std::iter::once(&from.relation).chain(from.joins.iter().map(|join| &join.relation)))
}

/// The joins of a FROM clause, but for those in brackets.
pub(super) fn joins_of(select: &Select) -> impl Iterator<Item = &Join> {
    select.from.iter().flat_map(|from| &from.joins)
}

/// The condition of a join.
pub(super) fn constraint(join: &Join) -> Option<&JoinConstraint> {
    match &join.join_operator {
        JoinOperator::Join(constraint)
        | JoinOperator::Inner(constraint)
        | JoinOperator::Left(constraint)
        | JoinOperator::LeftOuter(constraint)
        | JoinOperator::Right(constraint)
        | JoinOperator::RightOuter(constraint)
        | JoinOperator::FullOuter(constraint)
        | JoinOperator::Semi(constraint)
        | JoinOperator::LeftSemi(constraint)
        | JoinOperator::RightSemi(constraint)
        | JoinOperator::Anti(constraint)
        | JoinOperator::LeftAnti(constraint)
        | JoinOperator::RightAnti(constraint) => Some(constraint),
        _ => None,
    }
}

/// The columns under the names of an alias' list.
fn renamed(columns: Columns, alias: Option<&TableAlias>) -> Columns {
    let names = alias.iter().flat_map(|alias| &alias.columns).map(|column| column.name.value.clone());
    match columns {
        Some(columns) => {
            let mut renamed: Vec<String> = names.take(columns.len()).collect();
            renamed.extend(columns.into_iter().skip(renamed.len()));
            Some(renamed)
        }
        None => Some(names.collect::<Vec<_>>()).filter(|names| !names.is_empty()),
    }
}
