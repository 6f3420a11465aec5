//! The state of the rewriting while the statement's tree is visited.

use std::collections::{HashMap, HashSet, VecDeque};

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
    pub(super) has_alias_beside_wildcard: bool,
    pub(super) operations: Operations,
    pub(super) labels: Labels,
    pub(super) names_hidden: bool,
    /// Names of WITH tables anywhere in the statement.
    pub(super) ctes: HashSet<String>,
    pub(super) catalog: &'a dyn CatalogReader,
    /// The SELECT that names the result's columns.
    pub(super) result: ResultSelect,
    /// The texts of its items.
    pub(super) items: &'a [SourceText],
    /// The tables in sight, from the outermost query in.
    pub(super) scopes: Vec<Scope>,
    pub(super) limit_open: bool,
    pub(super) places: Places,
    pub(super) ambiguous: HashSet<String>,
    pub(super) calls: HashMap<String, Span>,
}
