//! Views in FROM: a view is the relation of its query.

use std::borrow::Cow;
use std::sync::Arc;

use saltwing_sql::guard::TreeSize;
use saltwing_sql::statement::QueryStatement;
use saltwing_sql::{DynamicColumn, name_span, parse_query_at};
use saltwing_types::{Span, ViewDef};
use sqlparser::ast::{ObjectName, TableAlias, TableAliasColumnDef};

use crate::error::{BindError, BindErrorKind, Result};
use crate::from::{Named, relabelled, renamed};
use crate::names::{Names, is_temporary};
use crate::object_name::{quoted, table_name};
use crate::plan_budget::check_plan_budget;
use crate::query_binder::{Bound, QueryBinder};
use crate::scope::Scope;
use crate::target::NamedTarget;
use crate::tree::{BoundQuery, Scan};
use crate::view::{WrittenView, with_columns};

/// How many views a statement may read, those that views read among them.
pub const VIEWS_MAX: usize = 256;

impl QueryBinder<'_> {
    /// The rows of a view with the dynamic columns that the statement declares after its name, under that name or an alias. All parts of
    /// the view stand where the statement names it, and none of its names is one of the statement's.
    pub(crate) fn view(
        &self,
        view: &Arc<ViewDef>,
        (name, declared): (&ObjectName, &[DynamicColumn]),
        alias: Option<&TableAlias>,
    ) -> Bound<Named> {
        let span = name_span(name).unwrap_or_else(|| self.state.root.span());
        let mut inner = parse_query_at(&view.query, span).map_err(BindError::from)?;
        self.note_read(&view.name);
        let around = self.enter(view, &inner, span)?;
        let shown = match declared {
            [] => Cow::Borrowed(&**view),
            declared => Cow::Owned(with_columns(view, &mut inner, declared)?),
        };
        // What a temporary view reads is read by its user, who needs the rights: nobody has granted the view.
        let is_own = is_temporary(&view.name, self.catalog);
        let outermost = self.view.or_else(|| (!is_own).then_some(view));
        let names = Names::of(view, self.catalog);
        let binder = QueryBinder {
            ctes: None,
            outer: None,
            merge_action: None,
            around: Some(around),
            view: outermost,
            names,
            ..*self
        };
        let bound = binder.query(&inner.query, &[]).map_err(|error| error.at(Some(span)));
        let BoundQuery { mut relation, output } = bound?;
        if let Some(scan) = relation.only_scan_mut() {
            scan.alias = Some(alias.map_or(&view.name.name, |alias| &alias.name.value).clone());
        }
        let column = |name: &String| TableAliasColumnDef { name: quoted(name), data_type: None };
        let columns = shown.columns.iter().map(|it| column(&it.name)).collect();
        let own = TableAlias { explicit: true, name: quoted(&view.name.name), columns, at: None };
        let output = relabelled(output, &own)?;
        self.note_source(&view.name, || {
            let own = output.iter().filter(|output| view.column_index(&output.label).is_some());
            own.map(|output| (output.column.index, output.label.clone())).collect()
        });
        let scope = match alias {
            Some(alias) => renamed(output, Some(alias))?,
            None => {
                let schema = match self.names.attached() {
                    None => view.name.schema.clone(),
                    // A query in its database calls it so.
                    Some(_) => table_name(name).and_then(|(schema, _)| schema.map(str::to_owned)),
                };
                let is_public = self.names.is_public(&view.name, self.catalog)?;
                Scope::of_named(output, schema, view.name.name.clone(), Some(span)).public(is_public)
            }
        };
        Ok((relation, scope))
    }

    /// The rows of the table that the statement writes through a view: those that the view shows, or that it has written. The view's columns
    /// have names, and what the statement needs beside them has none.
    pub(crate) fn target_view(&self, view: &Arc<ViewDef>, named: &NamedTarget<'_>, is_written: bool) -> Bound<Named> {
        let span = named.table.span();
        let written = WrittenView::of(view.clone(), span, self.catalog)?;
        self.note_read(&view.name);
        let binder = QueryBinder { view: self.view.or(Some(view)), ..*self };
        written.reads.iter().for_each(|name| binder.note_read(name));
        self.state.views.borrow_mut().push(view.clone());
        let known = written.known_columns(named.dynamic)?;
        let name = named.alias.map(|alias| alias.text.clone());
        let (first_column, span) = (self.ids.take(written.table.width()), Some(span));
        let scan = Scan {
            table: written.table.clone(),
            as_of: None,
            alias: Some(name.clone().unwrap_or_else(|| view.name.name.clone())),
            span,
            first_column,
            hints: self.hints.to_vec(),
        };
        let scope = Scope::of_scan(&scan, named.alias.map_or(span, |alias| Some(alias.span)));
        let (relation, scope) = self.with_dynamic_columns(scan, scope, &known)?;
        let conditions = if is_written { Vec::new() } else { written.conditions_from(first_column) };
        let is_public = name.is_none() && self.names.is_public(&view.name, self.catalog)?;
        Ok((relation.filtered(conditions), scope.under_view(view, name).shown_by(view).public(is_public)))
    }

    /// Counts one more view; the size of the statement and the views around its parts.
    ///
    /// # Errors
    /// More than [`VIEWS_MAX`] views; a statement that is deeper or larger than one that was written so may be.
    fn enter(&self, view: &Arc<ViewDef>, inner: &QueryStatement, span: Span) -> Result<TreeSize> {
        let mut views = self.state.views.borrow_mut();
        if views.len() == VIEWS_MAX {
            return Err(BindError::from(BindErrorKind::TooManyViews(VIEWS_MAX)).at(Some(span)));
        }
        views.push(view.clone());
        check_plan_budget(inner.into())?;
        let root = self.state.root;
        let all = self.state.size.get().map_or_else(|| root.size(), Ok)?;
        let own = TreeSize::of(&*inner.query, span)?;
        self.state.size.set(Some(all.beside(own, span)?));
        Ok(self.around.unwrap_or(all).around(own, span)?)
    }
}
