//! The views of attached databases. Their queries name tables as their database does, and are read under its alias.
//!
//! ```text
//! the view       SELECT t.host, s.u.w FROM t JOIN s.u ON s.u.k = t.n
//! AS other ──►   SELECT other.t.host, "other.s".u.w FROM other.t JOIN "other.s".u ON "other.s".u.k = other.t.n
//! ```

use std::ops::ControlFlow;

use saltwing_catalog::attached_name;
use saltwing_sql::{parse_query_at, without_dynamic_columns};
use saltwing_types::table::is_same_name;
use saltwing_types::{Span, TableName, ViewDef, ViewUse};
use sqlparser::ast::{
    Expr, Ident, ObjectName, ObjectNamePart, Query, Select, SetExpr, TableAlias, TableFactor, TableWithJoins, VisitMut,
    VisitorMut, With,
};

use super::name::{ident, table_name};
use crate::error::Result;

/// A view under the name that it has where its database is attached. `None` if it reads more than tables and views of its database:
/// views of the catalog itself, and rows of the program, are others where it is read.
///
/// # Errors
/// A query that cannot be parsed.
pub fn attached_view(view: &ViewDef, alias: &str) -> Result<Option<ViewDef>> {
    let mut query = parse_query_at(&view.query, Span::on_line(1, 1, 1))?.query;
    let mut renaming = Renaming { alias, uses: &view.uses, ctes: Vec::new(), queries: Vec::new(), scopes: Vec::new() };
    if VisitMut::visit(&mut *query, &mut renaming).is_break() {
        return Ok(None);
    }
    let used = |used: &ViewUse| ViewUse { name: attached_name(alias, &used.name), columns: used.columns.clone() };
    Ok(Some(ViewDef {
        name: attached_name(alias, &view.name),
        query: saltwing_sql::tree_text(&*query),
        uses: view.uses.iter().map(used).collect(),
        ..view.clone()
    }))
}

struct Renaming<'a> {
    alias: &'a str,
    /// The tables and views of the database that the query names.
    uses: &'a [ViewUse],
    /// WITH queries in sight, the innermost last.
    ctes: Vec<String>,
    queries: Vec<OpenQuery>,
    /// The tables of the open FROM clauses, the innermost last.
    scopes: Vec<Vec<Named>>,
}

/// A query that is visited.
struct OpenQuery {
    /// Its WITH queries, which have been visited: each may name those before it alone.
    with: Option<With>,
    /// The number of WITH queries in sight around it.
    ctes: usize,
}

/// A table of a FROM clause.
struct Named {
    /// What stands before its columns in the database.
    name: Vec<Ident>,
    /// What stands there now, if that is something else.
    renamed: Option<Vec<Ident>>,
}

impl Named {
    fn is_named(&self, qualifier: &[Ident]) -> bool {
        self.name.len() == qualifier.len() && self.ends_with(qualifier)
    }

    fn ends_with(&self, qualifier: &[Ident]) -> bool {
        let (own, other) = (self.name.iter().rev(), qualifier.iter().rev());
        qualifier.len() <= self.name.len() && own.zip(other).all(|(own, other)| is_same_name(&own.value, &other.value))
    }
}

impl Renaming<'_> {
    fn is_cte(&self, schema: Option<&str>, name: &str) -> bool {
        schema.is_none() && self.ctes.iter().any(|cte| is_same_name(cte, name))
    }

    /// The schema that a table has where its database is attached; `None` if the name is none of a table or view of the database.
    fn schema_of(&self, name: &ObjectName) -> Option<Ident> {
        let (schema, bare) = table_name(name)?;
        let is_it = |own: &TableName| {
            is_same_name(&own.name, bare)
                && is_same_name(own.schema.as_deref().unwrap_or_default(), schema.unwrap_or_default())
        };
        let used = self.uses.iter().find(|used| is_it(&used.name))?;
        let span = name.0.first()?.as_ident()?.span;
        attached_name(self.alias, &used.name).schema.map(|schema| ident(&schema, span))
    }

    /// The tables of a FROM clause.
    fn tables_of(&self, from: &[TableWithJoins]) -> Vec<Named> {
        let mut found = Vec::new();
        from.iter().for_each(|from| self.add(from, &mut found));
        found
    }

    fn add(&self, from: &TableWithJoins, found: &mut Vec<Named>) {
        for factor in std::iter::once(&from.relation).chain(from.joins.iter().map(|join| &join.relation)) {
            let alias = |alias: &TableAlias| Named { name: vec![alias.name.clone()], renamed: None };
            match factor {
                TableFactor::NestedJoin { table_with_joins, alias: None } => self.add(table_with_joins, found),
                TableFactor::Table { alias: Some(name), .. }
                | TableFactor::Derived { alias: Some(name), .. }
                | TableFactor::NestedJoin { alias: Some(name), .. }
                | TableFactor::Function { alias: Some(name), .. }
                | TableFactor::TableFunction { alias: Some(name), .. }
                | TableFactor::UNNEST { alias: Some(name), .. } => found.push(alias(name)),
                TableFactor::Table { name, alias: None, .. } => {
                    let listed = without_dynamic_columns(name);
                    let own = listed.as_ref().map_or(name, |(table, _)| table);
                    let name: Vec<Ident> = own.0.iter().filter_map(|part| part.as_ident()).cloned().collect();
                    let is_cte = table_name(own).is_some_and(|(schema, bare)| self.is_cte(schema, bare));
                    let schema = if is_cte { None } else { self.schema_of(own) };
                    let renamed = schema.zip(name.last().cloned()).map(|(schema, table)| vec![schema, table]);
                    found.push(Named { name, renamed });
                }
                _ => {}
            }
        }
    }
}

impl VisitorMut for Renaming<'_> {
    /// The view reads something else.
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        let ctes = self.ctes.len();
        let mut with = query.with.take();
        if let Some(with) = &mut with {
            for cte in &mut with.cte_tables {
                let name = cte.alias.name.value.clone();
                // A recursive one sees itself.
                if with.recursive {
                    self.ctes.push(name.clone());
                }
                VisitMut::visit(&mut *cte.query, self)?;
                self.ctes.push(name);
            }
        }
        self.queries.push(OpenQuery { with, ctes });
        // For ORDER BY.
        self.scopes.push(match query.body.as_ref() {
            SetExpr::Select(select) => self.tables_of(&select.from),
            _ => Vec::new(),
        });
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        if let Some(OpenQuery { with, ctes }) = self.queries.pop() {
            query.with = with;
            self.ctes.truncate(ctes);
        }
        self.scopes.pop();
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        self.scopes.push(self.tables_of(&select.from));
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, _: &mut Select) -> ControlFlow<()> {
        self.scopes.pop();
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        let TableFactor::Table { name, args: None, .. } = factor else { return ControlFlow::Continue(()) };
        match table_name(name) {
            Some((schema, bare)) if self.is_cte(schema, bare) => {}
            Some((schema, _)) => {
                let has_schema = usize::from(schema.is_some());
                let Some(renamed) = self.schema_of(name) else { return ControlFlow::Break(()) };
                name.0.splice(..has_schema, [ObjectNamePart::Identifier(renamed)]);
            }
            None => return ControlFlow::Break(()),
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        let Expr::CompoundIdentifier(parts) = expr else { return ControlFlow::Continue(()) };
        // Behind the table's name may stand a family.
        for scope in self.scopes.iter().rev() {
            for length in (1..parts.len()).rev() {
                let Some(qualifier) = parts.get(..length) else { continue };
                if let Some(table) = scope.iter().find(|table| table.is_named(qualifier)) {
                    if let Some(renamed) = &table.renamed {
                        parts.splice(..length, renamed.iter().cloned());
                    }
                    return ControlFlow::Continue(());
                }
                if scope.iter().any(|table| table.ends_with(qualifier)) {
                    return ControlFlow::Continue(());
                }
            }
        }
        ControlFlow::Continue(())
    }
}
