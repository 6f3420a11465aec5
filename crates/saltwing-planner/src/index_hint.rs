//! The hints `INDEX(table index ..)` and `NO_INDEX(table, ..)`.

use saltwing_access::Table;
use saltwing_bind::{INDEX, NO_INDEX};
use saltwing_sql::Name;
use saltwing_sql::statement::Hint;
use saltwing_types::TableDef;
use saltwing_types::table::is_same_name;

use crate::error::{PlannerError, Result};

/// What the hints of a statement say about the indexes of one table.
#[derive(Clone, Copy)]
pub(crate) struct IndexHints<'a> {
    hints: &'a [Hint],
    table: &'a Table,
    alias: Option<&'a str>,
}

impl<'a> IndexHints<'a> {
    pub(crate) fn new(hints: &'a [Hint], table: &'a Table, alias: Option<&'a str>) -> Self {
        Self { hints, table, alias }
    }

    /// Whether no index may be read.
    pub(crate) fn forbid(&self) -> bool {
        let is_meant = |hint: &Hint| hint.args.is_empty() || hint.args.iter().any(|name| self.is_table(name));
        self.hints.iter().any(|hint| is_same_name(&hint.name.text, NO_INDEX) && is_meant(hint))
    }

    /// The places of the indexes that are named.
    ///
    /// # Errors
    /// [`PlannerError::NoSuchIndex`].
    pub(crate) fn named(&self) -> Result<Vec<usize>> {
        let of_table = |hint: &&Hint| {
            is_same_name(&hint.name.text, INDEX) && hint.args.first().is_some_and(|name| self.is_table(name))
        };
        let names = self.hints.iter().filter(of_table).flat_map(|hint| hint.args.iter().skip(1));
        names.map(|name| self.place(name)).collect()
    }

    fn place(&self, name: &Name) -> Result<usize> {
        let def = self.table.def();
        def.index_place(&name.text).ok_or_else(|| PlannerError::NoSuchIndex {
            table: def.name.to_string(),
            index: name.text.clone(),
            known: def.indexes.iter().map(|index| index.name.clone()).collect(),
            span: name.span,
        })
    }

    fn is_table(&self, name: &Name) -> bool {
        names_table(name, self.table.def(), [self.alias])
    }
}

/// Whether a hint's argument names a table: by its name, with its schema or without, or as the statement calls it.
pub(crate) fn names_table<'n>(
    argument: &Name,
    def: &TableDef,
    others: impl IntoIterator<Item = Option<&'n str>>,
) -> bool {
    let is_it = |name: &str| is_same_name(name, &argument.text);
    is_it(&def.name.name) || others.into_iter().flatten().any(is_it) || is_it(&def.name.to_string())
}
