//! What the names in a query mean, noted while it is bound: a view is stored with its names resolved.
//!
//! ```text
//! CREATE VIEW v AS SELECT * FROM t JOIN u ON a = x     the query as written
//!                         │              │   └── u.x    column 4, of the relation u
//!                         │              └────── t.a    column 1, of the relation t
//!                         └── t.a, t.b, u.x             columns 1, 2 and 4
//! ```

use std::collections::{HashMap, HashSet};

use saltwing_types::{Span, TableName, ViewUse};

/// The name of a column, with the name of its relation apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ColumnPath {
    /// The name that qualifies the column; empty if the relation has none, or a join has merged the column.
    pub(crate) relation: Vec<String>,
    /// The column, perhaps after its family.
    pub(crate) column: Vec<String>,
}

/// What the names in a query mean. Names inside of the views that it reads are not among them.
#[derive(Debug, Default)]
pub(crate) struct ResolvedNames {
    /// The columns by the place of their name, but for those that are qualified there.
    pub(crate) columns: HashMap<Span, ColumnPath>,
    /// The columns that a wildcard stands for, by its place.
    pub(crate) wildcards: HashMap<Span, Vec<ColumnPath>>,
    /// How many relations FROM clauses have.
    pub(crate) relations: usize,
    /// The ids of the columns that are named.
    pub(crate) named: HashSet<usize>,
    pub(crate) sources: Vec<Source>,
}

/// A table or view in FROM.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) name: TableName,
    /// Its columns, by id and name.
    pub(crate) columns: Vec<(usize, String)>,
}

impl ResolvedNames {
    /// The tables and views in FROM clauses, each once, with those of their columns that are named.
    pub(crate) fn uses(&self) -> Vec<ViewUse> {
        let mut uses: Vec<ViewUse> = Vec::new();
        for source in &self.sources {
            let known = uses.iter().position(|used| used.name == source.name).unwrap_or_else(|| {
                uses.push(ViewUse { name: source.name.clone(), columns: Vec::new() });
                uses.len() - 1
            });
            let Some(used) = uses.get_mut(known) else { continue };
            for (_, name) in source.columns.iter().filter(|(id, _)| self.named.contains(id)) {
                if !used.columns.contains(name) {
                    used.columns.push(name.clone());
                }
            }
        }
        uses
    }
}
