//! Notes of what the names in a query mean: see [`ResolvedNames`].

use std::cell::RefCell;

use saltwing_types::{ColumnRef, Span, TableName};

use crate::query_binder::QueryBinder;
use crate::resolved_names::{ResolvedNames, Source};
use crate::scope::Scope;
use crate::tree::Output;

impl QueryBinder<'_> {
    /// The notes, if the names of the query are noted; those in a view are not.
    fn notes(&self) -> Option<&RefCell<ResolvedNames>> {
        self.state.names.as_ref().filter(|_| self.view.is_none())
    }

    /// Calls `note` if the names of the query are noted.
    fn note(&self, note: impl FnOnce(&mut ResolvedNames)) {
        if let Some(names) = self.notes() {
            note(&mut names.borrow_mut());
        }
    }

    /// Whether the names of the query are noted.
    pub(crate) fn notes_names(&self) -> bool {
        self.notes().is_some()
    }

    /// Takes note of one more relation of a FROM clause.
    pub(crate) fn note_relation(&self) {
        self.note(|names| names.relations += 1);
    }

    /// Takes note of a table or view in FROM, whose columns have these ids and names.
    pub(crate) fn note_source(&self, name: &TableName, columns: impl FnOnce() -> Vec<(usize, String)>) {
        self.note(|names| names.sources.push(Source { name: name.clone(), columns: columns() }));
    }

    /// Takes note of the column that `parts` name in a scope.
    pub(crate) fn note_column(&self, scope: &Scope, parts: &[&str], column: &ColumnRef) {
        self.note(|names| {
            names.named.insert(column.index);
            if let (Some(span), Some(path)) = (column.span, scope.unqualified_path(parts)) {
                names.columns.insert(span, path);
            }
        });
    }

    /// Takes note of a column that a join merges with another one.
    pub(crate) fn note_merged(&self, column: &ColumnRef) {
        self.note(|names| _ = names.named.insert(column.index));
    }

    /// Takes note of the columns that a wildcard shows; `parts` stand before it.
    pub(crate) fn note_wildcard(&self, scope: &Scope, parts: &[&str], columns: &[Output], span: Option<Span>) {
        self.note(|names| {
            names.named.extend(columns.iter().map(|output| output.column.index));
            let family = parts.last().filter(|_| !scope.is_named(parts));
            let paths = columns.iter().map(|output| {
                let mut path = scope.path(output);
                if let (Some(family), [column]) = (family, path.column.as_slice()) {
                    path.column = vec![(*family).to_owned(), column.clone()];
                }
                path
            });
            names.wildcards.extend(span.map(|span| (span, paths.collect())));
        });
    }
}
