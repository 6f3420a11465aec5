//! The state of the rewriting while the statement's tree is visited.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use saltwing_access::Table;
use saltwing_bind::{Params, Subquery};
use saltwing_catalog::CatalogReader;
use saltwing_sql::statement::SourceText;
use saltwing_types::Span;

use super::families::Scope;
use super::label::Labels;
use super::result_select::ResultSelect;
use crate::expression::operation_function::Operations;
use crate::function::function_names::FunctionNames;

/// Places by name.
pub(crate) type Places = HashMap<String, VecDeque<Span>>;

/// How far aliases are renamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Renaming {
    /// Only where two explicit items collide.
    Collisions,
    /// All beside a wildcard, whose columns they may collide with.
    BesideWildcards,
}

/// The state of the rewriting.
pub(super) struct Rewriter<'a> {
    pub(super) params: Params<'a>,
    pub(super) subqueries: &'a [Subquery],
    pub(super) functions: &'a FunctionNames<'a>,
    pub(super) renaming: Renaming,
    /// Names of WITH tables anywhere in the statement.
    pub(super) ctes: HashSet<String>,
    pub(super) catalog: &'a dyn CatalogReader,
    /// The SELECT that names the result's columns.
    pub(super) result: ResultSelect,
    /// The texts of its items.
    pub(super) items: &'a [SourceText],
    /// The tables in sight, from the outermost query in.
    pub(super) scopes: Vec<Scope>,
    pub(super) found: Findings,
}

/// What is known of a statement once it has been rewritten.
pub(crate) struct Findings {
    /// What its calls stand for.
    pub(crate) operations: Operations,
    /// Its labels.
    pub(crate) labels: Labels,
    /// Whether it names a hidden column.
    pub(crate) names_hidden: bool,
    /// Whether a LIMIT or OFFSET is a parameter without a value.
    pub(crate) limit_open: bool,
    /// Where each table is named, in text order, by its name in lower case.
    pub(crate) places: Places,
    /// Names that several columns of some subquery have, in lower case: none of these is found by its name.
    pub(crate) ambiguous: HashSet<String>,
    /// Where functions that are not ours are called first, by their names in lower case.
    pub(crate) calls: HashMap<String, Span>,
    /// Whether an item with an alias stands beside a wildcard.
    pub(crate) has_alias_beside_wildcard: bool,
    /// The tables that are read as they were; the name of each ends with its number here.
    pub(crate) past_tables: Vec<Arc<Table>>,
    /// Names in lower case that a single WITH query has.
    pub(crate) single_ctes: HashSet<String>,
}

impl Findings {
    pub(super) fn new(operations: Operations, names_hidden: bool) -> Self {
        Self {
            operations,
            labels: Labels::default(),
            names_hidden,
            limit_open: false,
            places: Places::new(),
            ambiguous: HashSet::new(),
            calls: HashMap::new(),
            has_alias_beside_wildcard: false,
            past_tables: Vec::new(),
            single_ctes: HashSet::new(),
        }
    }
}
