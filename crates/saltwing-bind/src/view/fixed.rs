//! The query of a new view with its names resolved.
//!
//! `*` becomes the list of its columns. In a query over several tables, columns get the names of their tables before them: so a
//! column that a table gets later neither makes a name ambiguous nor takes it over.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use saltwing_catalog::CatalogReader;
use saltwing_sql::statement::QueryStatement;
use saltwing_types::{TableName, ViewUse};
use sqlparser::ast::{
    Expr, Ident, JoinConstraint, ObjectName, Query, Select, SelectItem, Visit, VisitMut, Visitor, VisitorMut,
    visit_relations,
};

use super::relations::{Relation, Relations, constraint, joins_of};
use crate::error::{BindError, BindErrorKind, Result};
use crate::lookups::Lookups;
use crate::object_name::{quoted, table_name};

/// A query with fixed names.
pub(super) struct Fixed {
    pub(super) query: Query,
    pub(super) uses: Vec<ViewUse>,
    /// Whether its text is another one than before.
    pub(super) is_changed: bool,
}

/// # Errors
/// A `*` whose columns are not known without planning; NATURAL JOIN.
pub(super) fn fixed(statement: &QueryStatement, catalog: &dyn CatalogReader) -> Result<Fixed> {
    let mut query = Query::clone(&statement.query);
    let mut counted = 0;
    let _ = visit_relations(&query, |_| {
        counted += 1;
        ControlFlow::<()>::Continue(())
    });
    let lookups = Lookups::new(catalog);
    let mut fixing = Fixing {
        relations: Relations { lookups: &lookups, catalog, ctes: Vec::new() },
        open: Vec::new(),
        qualifies: counted > 1,
        is_changed: false,
    };
    let fixed = VisitMut::visit(&mut query, &mut fixing);
    let is_changed = fixing.is_changed;
    let uses = uses(&query, &lookups);
    lookups.finish()?;
    if let ControlFlow::Break(error) = fixed {
        return Err(BindError::at(*error, Some(statement.span)));
    }
    Ok(Fixed { query, uses, is_changed })
}

/// The part of the query that is visited.
enum Open {
    /// A query outside its SELECTs: ORDER BY, LIMIT. It names labels.
    Query {
        ctes: usize,
    },
    Select(Vec<Relation>),
}

struct Fixing<'a> {
    relations: Relations<'a>,
    open: Vec<Open>,
    /// Whether columns get the names of their tables.
    qualifies: bool,
    is_changed: bool,
}

impl VisitorMut for Fixing<'_> {
    type Break = Box<BindError>;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<Self::Break> {
        self.open.push(Open::Query { ctes: self.relations.ctes.len() });
        if let Some(with) = &query.with {
            self.relations.add(with);
        }
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<Self::Break> {
        if let Some(Open::Query { ctes }) = self.open.pop() {
            self.relations.ctes.truncate(ctes);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<Self::Break> {
        if joins_of(select).any(|join| matches!(constraint(join), Some(JoinConstraint::Natural))) {
            return refused("NATURAL JOIN in a view", "name the columns: JOIN .. USING (a, b)");
        }
        let mut projection = Vec::with_capacity(select.projection.len());
        for item in &select.projection {
            if !matches!(item, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..)) {
                projection.push(item.clone());
                continue;
            }
            if let Some(columns) = self.relations.of_family(item, select, self.qualifies) {
                projection.extend(
                    columns.into_iter().map(|column| SelectItem::UnnamedExpr(Expr::CompoundIdentifier(column))),
                );
                self.is_changed = true;
                continue;
            }
            let Some(columns) = self.relations.of_wildcard(item, select) else {
                if let Some(missing) = self.relations.missing(select) {
                    return ControlFlow::Break(Box::new(missing));
                }
                return refused(&format!("{item} in this view"), "write the columns one by one");
            };
            let is_one = columns.iter().all(|(table, _)| columns.first().is_some_and(|(first, _)| first == table));
            projection.extend(columns.into_iter().map(|(table, column)| {
                let column = quoted(&column);
                SelectItem::UnnamedExpr(match is_one && !self.qualifies || table.is_empty() {
                    true => Expr::Identifier(column),
                    false => Expr::CompoundIdentifier(table.into_iter().chain([column]).collect()),
                })
            }));
            self.is_changed = true;
        }
        select.projection = projection;
        self.open.push(Open::Select(self.relations.of_select(select)));
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, _: &mut Select) -> ControlFlow<Self::Break> {
        self.open.pop();
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Self::Break> {
        if let Expr::Identifier(column) = expr
            && self.qualifies
            && matches!(self.open.last(), Some(Open::Select(_)))
            && let Some(table) = self.table_of(column)
        {
            *expr = Expr::CompoundIdentifier(table.iter().cloned().chain([column.clone()]).collect());
            self.is_changed = true;
        }
        ControlFlow::Continue(())
    }
}

impl Fixing<'_> {
    /// The table of the innermost FROM that has the column; `None` if it is no column, or one that a join has merged.
    fn table_of(&self, column: &Ident) -> Option<&[Ident]> {
        let froms = self.open.iter().rev().filter_map(|open| match open {
            Open::Select(relations) => Some(relations),
            Open::Query { .. } => None,
        });
        for relations in froms {
            let mut found = relations.iter().filter(|relation| relation.has(&column.value));
            match (found.next(), found.next()) {
                (Some(relation), None) => {
                    return Some(&relation.name).filter(|name| !name.is_empty()).map(Vec::as_slice);
                }
                (Some(_), Some(_)) => return None,
                // A table of unknown columns may have it.
                (None, _) if relations.iter().any(|relation| relation.columns.is_none()) => return None,
                (None, _) => {}
            }
        }
        None
    }
}

fn refused(what: &str, help: &str) -> ControlFlow<Box<BindError>> {
    ControlFlow::Break(Box::new(BindError::from(BindErrorKind::NotSupported(what.to_owned())).help(help)))
}

/// The tables and views that a query names, and those of their columns whose names stand anywhere in it.
fn uses(query: &Query, lookups: &Lookups<'_>) -> Vec<ViewUse> {
    let mut names = Names::default();
    let _ = Visit::visit(query, &mut names);
    let mut uses: Vec<ViewUse> = Vec::new();
    let _ = visit_relations(query, |name| {
        if let Some(used) = use_of(name, lookups, &names.columns)
            && !uses.iter().any(|known| known.name == used.name)
        {
            uses.push(used);
        }
        ControlFlow::<()>::Continue(())
    });
    uses
}

fn use_of(name: &ObjectName, lookups: &Lookups<'_>, named: &BTreeSet<String>) -> Option<ViewUse> {
    let (schema, name) = table_name(name)?;
    let (name, columns): (TableName, Vec<String>) = match lookups.view(schema, name) {
        Some(view) => (view.name.clone(), view.columns.iter().map(|column| column.name.clone()).collect()),
        None => {
            let table = lookups.table(schema, name)?;
            let def = table.def();
            (def.name.clone(), def.columns.iter().map(|column| column.name.clone()).collect())
        }
    };
    Some(ViewUse {
        name,
        columns: columns.into_iter().filter(|column| named.contains(&column.to_lowercase())).collect(),
    })
}

/// The names in expressions and in USING, in lower case.
#[derive(Default)]
struct Names {
    columns: BTreeSet<String>,
}

impl Names {
    fn add(&mut self, names: &[Ident]) {
        self.columns.extend(names.iter().map(|name| name.value.to_lowercase()));
    }
}

impl Visitor for Names {
    type Break = ();

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        for join in joins_of(select) {
            if let Some(JoinConstraint::Using(names)) = constraint(join) {
                names.iter().for_each(|name| {
                    name.0.iter().filter_map(|part| part.as_ident()).for_each(|part| {
                        self.add(std::slice::from_ref(part));
                    })
                });
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        match expr {
            Expr::Identifier(name) => self.add(std::slice::from_ref(name)),
            Expr::CompoundIdentifier(names) => self.add(names),
            _ => {}
        }
        ControlFlow::Continue(())
    }
}
