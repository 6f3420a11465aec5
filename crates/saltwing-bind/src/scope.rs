//! The names that an expression may use.
//!
//! A scope has the relations of one FROM clause. A column is found by its name, qualified with any of: the relation's alias, or its name if
//! it has none, that with its schema, and the column's family.

use std::collections::HashSet;
use std::sync::Arc;

use saltwing_access::Table;
use saltwing_catalog::PUBLIC_SCHEMA;
use saltwing_types::suggest;
use saltwing_types::table::{ColumnMatch, ROW_KEY_COLUMN, ROW_TIME_COLUMN, is_same_name};
use saltwing_types::{ColumnDef, ColumnRef, Span, SqlType, TableDef, TableName, ViewDef};

use crate::error::{BindError, BindErrorKind, Result, invalid};
use crate::resolved_names::ColumnPath;
use crate::tree::{Output, Scan};

/// The place of expressions in VALUES.
const VALUES: &str = "VALUES";

/// The name of the row that an INSERT could not write.
const EXCLUDED: &str = "excluded";

/// Most columns that an error lists.
const LISTED_MAX: usize = 20;

/// The columns of some relations, or none.
#[derive(Clone)]
pub struct Scope {
    relations: Vec<ScopeRelation>,
    /// The columns that USING and NATURAL merge.
    merged: Vec<MergedColumn>,
    /// Where expressions without columns stand.
    place: &'static str,
    /// Whether `excluded` is the row that an INSERT could not write.
    has_excluded: bool,
}

/// A number of relations and merged columns.
#[derive(Clone, Copy)]
pub(crate) struct ScopeSize {
    relations: usize,
    merged: usize,
}

/// A relation of a FROM clause.
#[derive(Clone)]
struct ScopeRelation {
    columns: Columns,
    /// How the statement calls it, where it gives it another name; the name of what is no table of a store.
    alias: Option<String>,
    /// The schema of a view, or of what is no table of a store.
    schema: Option<String>,
    /// Whether `public` is a name of its schema.
    is_public: bool,
    /// The columns that the statement declares for rows of a table.
    dynamic: Vec<DynamicOutput>,
    /// Where the statement gives it this name.
    span: Option<Span>,
    /// Whether an outer join adds rows without values for its columns.
    is_nullable: bool,
    /// The view through which a statement writes the table: its columns alone have names, in its order.
    shown: Option<Arc<ViewDef>>,
    /// The own name of the only column of a function, which an alias names, too.
    own_label: Option<String>,
}

/// A column that a statement declares for rows of a table.
#[derive(Clone)]
pub(crate) struct DynamicOutput {
    pub(crate) family: Option<String>,
    pub(crate) output: Output,
}

impl DynamicOutput {
    /// The column under this id.
    pub(crate) fn new(dynamic: &saltwing_sql::DynamicColumn, index: usize) -> Self {
        let saltwing_sql::DynamicColumn { column: name, ty } = dynamic;
        let family = name.family.as_ref().map(|family| family.text.clone());
        let column = ColumnRef { index, name: name.name.text.clone(), ty: *ty, nullable: true, span: None };
        Self { family, output: Output::of(&column) }
    }
}

/// How a qualifier names a relation; the better, the later.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// It names something else.
    Other,
    /// By its name, without the schema that it has.
    WithoutSchema,
    /// By its alias or its whole name.
    Whole,
}

#[derive(Clone)]
enum Columns {
    /// Of a table, by the id of the first one.
    Table(Arc<Table>, usize),
    /// Of a query, by label.
    Query(Vec<Output>),
}

/// A column of a join that stands for one of each side.
#[derive(Clone)]
struct MergedColumn {
    output: Output,
    /// The ids of the columns that `*` does not show beside it.
    sides: Vec<usize>,
}

/// The table of a definition that is being made, whose columns its own expressions name.
///
/// # Errors
/// [`BindErrorKind::InvalidDefinition`] if there can be no such table.
pub(crate) fn table_of(def: TableDef) -> Result<Arc<Table>> {
    Table::new(Arc::new(def)).map(Arc::new).map_err(|error| invalid(error.to_string()))
}

impl Scope {
    /// No columns: VALUES.
    pub fn empty() -> Self {
        Self { relations: Vec::new(), merged: Vec::new(), place: VALUES, has_excluded: false }
    }

    /// No columns: the DEFAULT of one.
    pub fn of_default() -> Self {
        Self { place: "a DEFAULT", ..Self::empty() }
    }

    /// No columns: the arguments of a function in FROM.
    pub(crate) fn of_table_function() -> Self {
        Self { place: "a function in FROM", ..Self::empty() }
    }

    /// No columns: a SELECT without FROM.
    pub(crate) fn of_no_from() -> Self {
        Self { place: "a SELECT without FROM", ..Self::empty() }
    }

    /// The columns of `table`, under its own name or `alias`; their ids are their indices.
    pub fn of(table: Arc<Table>, alias: Option<String>) -> Self {
        Self::of_columns(Columns::Table(table, 0), alias, None)
    }

    /// The columns of a scan.
    pub(crate) fn of_scan(scan: &Scan, span: Option<Span>) -> Self {
        Self::of_columns(Columns::Table(scan.table.clone(), scan.first_column), scan.alias.clone(), span)
    }

    /// The columns of a query.
    pub(crate) fn of_query(mut columns: Vec<Output>, alias: Option<String>, span: Option<Span>) -> Self {
        columns.iter_mut().for_each(|output| output.column.name.clone_from(&output.label));
        Self::of_columns(Columns::Query(columns), alias, span)
    }

    /// The only column of a function under an alias, which names the column, too. Its own name is known as well.
    pub(crate) fn of_function(mut column: Output, alias: &str, span: Option<Span>) -> Self {
        let own_label = Some(std::mem::replace(&mut column.label, alias.to_owned()));
        let mut scope = Self::of_query(vec![column], Some(alias.to_owned()), span);
        scope.relations.iter_mut().for_each(|relation| relation.own_label.clone_from(&own_label));
        scope
    }

    /// The columns of a view, or of what is no table of a store, by its name and perhaps its schema.
    pub(crate) fn of_named(columns: Vec<Output>, schema: Option<String>, name: String, span: Option<Span>) -> Self {
        let mut scope = Self::of_query(columns, Some(name), span);
        scope.relations.iter_mut().for_each(|relation| relation.schema.clone_from(&schema));
        scope
    }

    /// The columns of a table, and those that the statement declares for its rows.
    pub(crate) fn with_dynamic(mut self, columns: Vec<DynamicOutput>) -> Self {
        debug_assert!(self.is_of_one_relation(), "a table is one relation");
        self.relations.iter_mut().for_each(|relation| relation.dynamic.clone_from(&columns));
        self
    }

    fn of_columns(columns: Columns, alias: Option<String>, span: Option<Span>) -> Self {
        Self {
            relations: vec![ScopeRelation {
                columns,
                alias,
                schema: None,
                is_public: false,
                dynamic: Vec::new(),
                span,
                is_nullable: false,
                shown: None,
                own_label: None,
            }],
            ..Self::empty()
        }
    }

    /// The same columns of a table under another name.
    pub(crate) fn called(mut self, schema: Option<String>, name: String) -> Self {
        for relation in &mut self.relations {
            (relation.schema, relation.alias) = (schema.clone(), Some(name.clone()));
            relation.is_public = false;
        }
        self
    }

    /// The same columns of a table or view under its own name, with `public` as a name of its schema if it is one.
    pub(crate) fn public(mut self, is_public: bool) -> Self {
        self.relations.iter_mut().for_each(|relation| relation.is_public = is_public);
        self
    }

    /// The same columns of a table under the name of a view over it, or an alias.
    pub(crate) fn under_view(self, view: &ViewDef, alias: Option<String>) -> Self {
        match alias {
            Some(alias) => self.called(None, alias),
            None => self.called(view.name.schema.clone(), view.name.name.clone()),
        }
    }

    /// The same, but for columns of the table that a view does not show.
    pub(crate) fn shown_by(mut self, view: &Arc<ViewDef>) -> Self {
        self.relations.iter_mut().for_each(|relation| relation.shown = Some(view.clone()));
        self
    }

    /// # Errors
    /// [`BindErrorKind::Syntax`] for a name that two relations have.
    pub(crate) fn check_names(&self) -> Result<()> {
        let mut known = HashSet::new();
        for relation in &self.relations {
            let Some(name) = relation.exposed_name() else { continue };
            let shown = name.join(".");
            if !known.insert(shown.to_lowercase()) {
                let error = BindErrorKind::Syntax(format!("table name {shown} stands twice in FROM"));
                let error = BindError::from(error).at(relation.span);
                return Err(error.help("an alias tells them apart: FROM t AS a, t AS b"));
            }
        }
        Ok(())
    }

    /// The columns of both.
    pub(crate) fn and(mut self, mut other: Self) -> Self {
        self.relations.append(&mut other.relations);
        self.merged.append(&mut other.merged);
        self
    }

    /// How many relations and merged columns it has: what [`Scope::and`] adds comes after them.
    pub(crate) fn size(&self) -> ScopeSize {
        ScopeSize { relations: self.relations.len(), merged: self.merged.len() }
    }

    /// The columns before `size` alone.
    pub(crate) fn before(mut self, size: ScopeSize) -> Self {
        self.relations.truncate(size.relations);
        self.merged.truncate(size.merged);
        self
    }

    /// Whether its columns are of one relation.
    pub(crate) fn is_of_one_relation(&self) -> bool {
        self.relations.len() == 1
    }

    /// The same columns; those before `size` may be NULL, or those after it, or both.
    pub(crate) fn nullable(mut self, size: ScopeSize, (before, after): (bool, bool)) -> Self {
        for (place, relation) in self.relations.iter_mut().enumerate() {
            relation.is_nullable |= if place < size.relations { before } else { after };
        }
        for (place, merged) in self.merged.iter_mut().enumerate() {
            merged.output.column.nullable |= if place < size.merged { before } else { after };
        }
        self
    }

    /// The same, where `output` stands for the columns of this name of both sides of a join.
    pub(crate) fn with_merged(mut self, output: Output, sides: [usize; 2]) -> Self {
        let mut sides = sides.to_vec();
        // One of the sides may be such a column itself: it goes, and what it hides stays hidden.
        self.merged.retain(|known| {
            let is_side = sides.contains(&known.output.column.index);
            if is_side {
                sides.extend(&known.sides);
            }
            !is_side
        });
        self.merged.push(MergedColumn { output, sides });
        self
    }

    /// The same, and the columns of a second row of the table, `excluded`: they come after [`Table::width`], and dynamic ones after those of
    /// the first row.
    #[must_use]
    pub fn with_excluded(self) -> Self {
        Self { has_excluded: true, ..self }
    }

    /// The table that is the first relation, its physical key and all its columns, hidden ones too.
    pub(crate) fn whole_row(&self) -> Option<(&Arc<Table>, Output, Vec<Output>)> {
        let ScopeRelation { columns: Columns::Table(table, first), .. } = self.relations.first()? else { return None };
        let column = |index: usize| Some(ColumnRef { index: first + index, ..table.column_ref(index, None)? });
        let key = column_of_table(table, ROW_KEY_COLUMN, None, None).ok()??;
        let key = Output::of(&ColumnRef { index: first + key.index, ..key });
        let columns = (0..table.def().columns.len()).filter_map(column).map(|column| Output::of(&column));
        Some((table, key, columns.collect()))
    }

    /// Whether there are no columns at all.
    pub fn is_empty(&self) -> bool {
        self.relations.is_empty()
    }

    /// The column that `parts` name: `c`, `family.c`, `table.c`, `schema.table.c`, `alias.c`.
    ///
    /// # Errors
    /// [`BindErrorKind::NoSuchColumn`], with the nearest name; [`BindErrorKind::AmbiguousColumn`] for a name that columns of
    /// several families or relations have.
    pub fn resolve(&self, parts: &[&str], span: Option<Span>) -> Result<ColumnRef> {
        if self.is_empty() {
            return Err(self.no_columns(parts).at(span));
        }
        if let Some(column) = self.excluded(parts, span)? {
            return Ok(column);
        }
        if let [name] = parts
            && let Some(merged) = self.merged.iter().find(|merged| is_same_name(&merged.output.label, name))
        {
            return Ok(ColumnRef { span, ..merged.output.column.clone() });
        }
        let mut found: Option<(ColumnRef, &ScopeRelation)> = None;
        for relation in self.qualified_by(parts) {
            let Some(column) = relation.find(parts, span)? else { continue };
            if let Some((_, other)) = found {
                let name = parts.last().copied().unwrap_or_default();
                let candidates = [other, relation].map(|relation| format!("{}.{name}", relation.name())).join(", ");
                let error = BindErrorKind::AmbiguousColumn { column: parts.join("."), candidates };
                return Err(BindError::from(error).at(span));
            }
            found = Some((column, relation));
        }
        found.map(|(column, _)| column).ok_or_else(|| self.no_such_column(parts).at(span))
    }

    /// The relations that a name may be of: those that its qualifier names, or all of them. `t` is rather a relation called so than
    /// a table `s.t`.
    fn qualified_by(&self, parts: &[&str]) -> impl Iterator<Item = &ScopeRelation> {
        let fit = |relation: &ScopeRelation| {
            let fits = (1..parts.len()).filter_map(|end| parts.get(..end)).map(|it| relation.fit(it));
            fits.max().unwrap_or(Fit::Other)
        };
        let best = self.relations.iter().map(fit).max().unwrap_or(Fit::Other);
        self.relations.iter().filter(move |relation| fit(relation) == best)
    }

    /// The column of `excluded` that `parts` name, if they do.
    fn excluded(&self, parts: &[&str], span: Option<Span>) -> Result<Option<ColumnRef>> {
        let [excluded, rest @ ..] = parts else { return Ok(None) };
        let [relation @ ScopeRelation { columns: Columns::Table(table, _), .. }] = self.relations.as_slice() else {
            return Ok(None);
        };
        if rest.is_empty() || !self.is_excluded(excluded) {
            return Ok(None);
        }
        if let Some(Output { column, .. }) = relation.dynamic(rest) {
            return Ok(Some(ColumnRef { index: column.index + relation.dynamic.len(), span, ..column.clone() }));
        }
        let column = match rest {
            [column] => column_of_table(table, column, None, span)?,
            [family, column] => column_of_table(table, column, Some(family), span)?,
            _ => None,
        };
        let is_shown = |column: &ColumnRef| column.index < table.row_key_index() && relation.shows(table, column.index);
        let column = column.filter(is_shown);
        let column = column.ok_or_else(|| self.no_such_column(parts).at(span))?;
        Ok(Some(ColumnRef { index: table.width() + column.index, ..column }))
    }

    fn no_columns(&self, parts: &[&str]) -> BindError {
        let error = BindErrorKind::ColumnInConstant { place: self.place, column: parts.join(".") };
        BindError::from(error).help(match self.place {
            VALUES => {
                "text stands in single quotes; what is computed from the row that is there is an UPSERT of a query: \
                       UPSERT INTO t (k, v) SELECT k, v + 1 FROM t WHERE k = 1"
            }
            _ => "text stands in single quotes",
        })
    }

    fn no_such_column(&self, parts: &[&str]) -> BindError {
        let name = parts.last().copied().unwrap_or_default();
        let of = match self.qualified_by(parts).collect::<Vec<_>>().as_slice() {
            [only] => only.table_name(),
            _ => "the FROM clause".to_owned(),
        };
        let columns: Vec<String> = self.qualified_by(parts).flat_map(ScopeRelation::labels).collect();
        let help = match suggest(name, columns.iter().map(String::as_str)) {
            Some(near) => format!("there is {near}"),
            None => format!("it has {}", columns.iter().take(LISTED_MAX).cloned().collect::<Vec<_>>().join(", ")),
        };
        BindError::from(BindErrorKind::NoSuchColumn { table: of, column: parts.join(".") }).help(help)
    }

    /// The columns that `*` shows: those that joins merge, then the others.
    pub(crate) fn shown(&self) -> Vec<Output> {
        let merged = self.merged.iter().map(|merged| merged.output.clone());
        let is_side = |output: &Output| self.merged.iter().any(|merged| merged.sides.contains(&output.column.index));
        let others = self.relations.iter().flat_map(|relation| relation.shown(None)).filter(|output| !is_side(output));
        merged.chain(others).collect()
    }

    /// The columns that `parts.*` shows, of a relation or a family; `None` if these name neither.
    pub(crate) fn shown_of(&self, parts: &[&str]) -> Option<Vec<Output>> {
        let named = self.relations.iter().filter(|relation| relation.is_named(parts));
        if let Some(relation) = named.max_by_key(|relation| relation.fit(parts)) {
            return Some(relation.shown(None));
        }
        self.relations.iter().find_map(|relation| relation.shown_of_family(parts))
    }

    /// The label of a column that is an item by itself: its name as declared, without its family. `None` if the item's text is its
    /// label.
    pub(crate) fn label(&self, column: &ColumnRef) -> Option<String> {
        let merged = self.merged.iter().find(|merged| merged.output.column.index == column.index);
        let label = merged.map(|merged| merged.output.label.clone());
        label.or_else(|| self.relations.iter().find_map(|relation| relation.label(column)))
    }

    /// The name of a column that `*` shows.
    pub(crate) fn path(&self, output: &Output) -> ColumnPath {
        let is_merged = self.merged.iter().any(|merged| merged.output.column.index == output.column.index);
        let of = self.relations.iter().filter(|_| !is_merged);
        let found = of.into_iter().find_map(|relation| Some((relation, relation.family_needed(output)?)));
        let label = output.label.clone();
        match found {
            None => ColumnPath { relation: Vec::new(), column: vec![label] },
            Some((relation, family)) => {
                let name = relation.exposed_name().unwrap_or_default();
                let relation = name.into_iter().map(str::to_owned).collect();
                ColumnPath { relation, column: family.into_iter().chain([label]).collect() }
            }
        }
    }

    /// The name of the column that `parts` mean; `None` if they have the name of its relation already, or there is none: the
    /// relation is a query without a name, or a join has merged the column.
    pub(crate) fn unqualified_path(&self, parts: &[&str]) -> Option<ColumnPath> {
        if let [name] = parts
            && self.merged.iter().any(|merged| is_same_name(&merged.output.label, name))
        {
            return None;
        }
        let has_it = |relation: &&ScopeRelation| relation.find(parts, None).is_ok_and(|column| column.is_some());
        let relation = self.qualified_by(parts).find(has_it)?;
        let is_qualified = (1..parts.len()).filter_map(|end| parts.get(..end)).any(|it| relation.is_named(it));
        let name = relation.exposed_name().filter(|_| !is_qualified)?;
        let [relation, column] =
            [name.as_slice(), parts].map(|names| names.iter().map(|it| (*it).to_owned()).collect());
        Some(ColumnPath { relation, column })
    }

    /// The error of `parts.*`, which [`Scope::shown_of`] does not know.
    pub(crate) fn no_such_wildcard(&self, parts: &[&str]) -> BindError {
        let written = parts.join(".");
        let split = parts.split_last().map_or(&[][..], |(_, table)| table);
        let of = self.relations.iter().find(|relation| relation.is_named(split));
        let error = BindError::from(match of {
            Some(relation) => {
                BindErrorKind::NoSuchColumn { table: relation.table_name(), column: format!("{written}.*") }
            }
            None => BindErrorKind::NoSuchQualifier(written),
        });
        let families = self.relations.iter().filter_map(|relation| match &relation.columns {
            Columns::Table(table, _) => Some(table.def().families_text()),
            Columns::Query(_) => None,
        });
        let families: Vec<String> = families.collect();
        if families.is_empty() { error } else { error.help(families.join("; ")) }
    }

    /// Whether `parts`, which stand before a column, are one of the relations, one of their families, or both.
    pub fn is_qualifier(&self, parts: &[&str]) -> bool {
        let is_family = |parts: &[&str]| {
            let is_dynamic = |relation: &ScopeRelation| relation.dynamic_of_family(parts).next().is_some();
            self.family(parts).is_some() || self.relations.iter().any(is_dynamic)
        };
        self.is_row(parts)
            || is_family(parts)
            || matches!(parts, [rest @ .., family] if self.is_excluded_row(rest) && is_family(&[family]))
    }

    /// The family that `parts` name, alone or after the name of its table: its index in the definition.
    pub fn family(&self, parts: &[&str]) -> Option<usize> {
        self.relations.iter().find_map(|relation| relation.family(parts))
    }

    /// Whether `parts`, which stand before a column, are one of the relations or `excluded`.
    pub(crate) fn is_row(&self, parts: &[&str]) -> bool {
        self.is_named(parts) || self.is_excluded_row(parts)
    }

    /// Whether `parts`, which stand before a column, are `excluded`.
    pub(crate) fn is_excluded_row(&self, parts: &[&str]) -> bool {
        matches!(parts, [name] if self.is_excluded(name))
    }

    fn is_excluded(&self, name: &str) -> bool {
        self.has_excluded && name.eq_ignore_ascii_case(EXCLUDED)
    }

    /// Whether `parts` name one of the relations.
    pub fn is_named(&self, parts: &[&str]) -> bool {
        self.relations.iter().any(|relation| relation.is_named(parts))
    }
}

impl ScopeRelation {
    /// Whether a column of its table, by index, has a name here: only a view hides some.
    fn shows(&self, table: &Table, index: usize) -> bool {
        let Some(view) = &self.shown else { return true };
        table.def().columns.get(index).is_none_or(|column| view.column_index(&column.name).is_some())
    }

    /// The column that `parts` name.
    fn find(&self, parts: &[&str], span: Option<Span>) -> Result<Option<ColumnRef>> {
        let column = match &self.columns {
            _ if let Some(output) = self.dynamic(parts) => Some(ColumnRef { span, ..output.column.clone() }),
            Columns::Table(table, first) => {
                let found = match parts {
                    [column] => column_of_table(table, column, None, span)?,
                    [qualifier, column] if self.is_named(&[qualifier]) => column_of_table(table, column, None, span)?,
                    [family, column] => column_of_table(table, column, Some(family), span)?,
                    [schema, name, column] if self.is_named(&[schema, name]) => {
                        column_of_table(table, column, None, span)?
                    }
                    [name, family, column] if self.is_named(&[name]) => {
                        column_of_table(table, column, Some(family), span)?
                    }
                    [schema, name, family, column] if self.is_named(&[schema, name]) => {
                        column_of_table(table, column, Some(family), span)?
                    }
                    _ => None,
                };
                let found = found.filter(|column| self.shows(table, column.index));
                found.map(|column| ColumnRef { index: first + column.index, ..column })
            }
            Columns::Query(columns) => {
                let name = match parts {
                    [column] => column,
                    [qualifier, column] if self.is_named(&[qualifier]) => column,
                    [schema, name, column] if self.is_named(&[schema, name]) => column,
                    _ => return Ok(None),
                };
                let mut named = columns.iter().filter(|output| is_same_name(&output.label, name));
                let first = named.next();
                if let (Some(first), Some(_)) = (first, named.next()) {
                    let candidates = format!("columns of {} called {}", self.name(), first.label);
                    let error = BindErrorKind::AmbiguousColumn { column: parts.join("."), candidates };
                    return Err(BindError::from(error).at(span));
                }
                let is_own = self.own_label.as_ref().is_some_and(|label| is_same_name(label, name));
                let first = first.or_else(|| columns.first().filter(|_| is_own));
                first.map(|output| ColumnRef { span, ..output.column.clone() })
            }
        };
        Ok(column.map(|column| ColumnRef { nullable: column.nullable || self.is_nullable, ..column }))
    }

    /// The columns that a wildcard shows; of a table, those of one family if it is given.
    fn shown(&self, family: Option<usize>) -> Vec<Output> {
        let mut shown: Vec<Output> = match &self.columns {
            Columns::Table(table, first) => {
                let columns = table.def().columns.iter().enumerate();
                let columns = columns.filter(|(index, column)| match family {
                    None => !column.hidden && self.shows(table, *index),
                    Some(_) => column.family == family && self.shows(table, *index),
                });
                let output = |(index, def): (usize, &ColumnDef)| {
                    let column = table.column_ref(index, None)?;
                    Some(Output { label: def.name.clone(), column: ColumnRef { index: first + index, ..column } })
                };
                columns.filter_map(output).collect()
            }
            Columns::Query(columns) => columns.clone(),
        };
        if family.is_none() {
            shown.extend(self.dynamic.iter().map(|dynamic| dynamic.output.clone()));
        }
        if let Some(view) = &self.shown {
            // What the statement declares comes after the columns of the view.
            shown.sort_by_key(|output| view.column_index(&output.label).unwrap_or(usize::MAX));
        }
        shown.iter_mut().for_each(|output| output.column.nullable |= self.is_nullable);
        shown
    }

    /// The columns that a wildcard after a family shows; `None` if it has no such family.
    fn shown_of_family(&self, parts: &[&str]) -> Option<Vec<Output>> {
        let of_table = self.family(parts).map(|family| self.shown(Some(family)));
        let dynamic: Vec<Output> = self.dynamic_of_family(parts).map(|dynamic| dynamic.output.clone()).collect();
        if of_table.is_none() && dynamic.is_empty() {
            return None;
        }
        Some(of_table.unwrap_or_default().into_iter().chain(dynamic).collect())
    }

    /// The dynamic columns of the family that `parts` name, alone or after the name of the table.
    fn dynamic_of_family(&self, parts: &[&str]) -> impl Iterator<Item = &DynamicOutput> {
        let split = parts.split_last().filter(|(_, qualifier)| qualifier.is_empty() || self.is_named(qualifier));
        let family = split.map(|(family, _)| (*family).to_owned());
        self.dynamic.iter().filter(move |dynamic| {
            dynamic.family.as_ref().zip(family.as_ref()).is_some_and(|(own, family)| is_same_name(own, family))
        })
    }

    /// The dynamic column that `parts` name.
    fn dynamic(&self, parts: &[&str]) -> Option<&Output> {
        let (column, qualifier) = parts.split_last()?;
        let is_own = qualifier.is_empty() || self.is_named(qualifier);
        let is_it = |dynamic: &&DynamicOutput| is_same_name(&dynamic.output.label, column);
        let found = match is_own {
            true => self.dynamic.iter().find(is_it),
            false => self.dynamic_of_family(qualifier).find(is_it),
        };
        found.map(|dynamic| &dynamic.output)
    }

    /// The family without which the name of a column that it shows would be that of another one, too; `None` if it does not show it.
    fn family_needed(&self, output: &Output) -> Option<Option<String>> {
        let is_it = |own: &Output| own.column.index == output.column.index && own.label == output.label;
        if let Some(dynamic) = self.dynamic.iter().find(|dynamic| is_it(&dynamic.output)) {
            return Some(dynamic.family.clone());
        }
        match &self.columns {
            Columns::Table(table, first) => {
                let def = table.def();
                let column = def.columns.get(output.column.index.checked_sub(*first)?)?;
                Some(def.needed_family(column).map(str::to_owned))
            }
            Columns::Query(columns) => columns.iter().any(is_it).then_some(None),
        }
    }

    fn label(&self, column: &ColumnRef) -> Option<String> {
        if let Some(dynamic) = self.dynamic.iter().find(|dynamic| dynamic.output.column.index == column.index) {
            return Some(dynamic.output.label.clone());
        }
        match &self.columns {
            Columns::Table(table, first) => {
                let index = column.index.checked_sub(*first).filter(|index| *index < table.width())?;
                let def = table.def().columns.get(index);
                // That of the time of a row is what the statement calls it.
                (index != table.row_time_index())
                    .then(|| def.map_or_else(|| column.name.clone(), |def| def.name.clone()))
            }
            Columns::Query(columns) => {
                // One column may have several labels: the name tells which one the statement means.
                let mut own = columns.iter().filter(|output| output.column.index == column.index);
                own.find(|output| is_same_name(&output.label, &column.name)).map(|output| output.label.clone())
            }
        }
    }

    /// The labels of its columns.
    fn labels(&self) -> Vec<String> {
        match &self.columns {
            Columns::Table(table, _) => {
                let columns = table.def().columns.iter().enumerate();
                let own = columns.filter(|(index, column)| !column.hidden && self.shows(table, *index));
                let own = own.map(|(_, column)| column.name.clone());
                own.chain(self.dynamic.iter().map(|dynamic| dynamic.output.label.clone())).collect()
            }
            Columns::Query(columns) => columns.iter().map(|output| output.label.clone()).collect(),
        }
    }

    /// The family that `parts` name, alone or after the name of its table.
    fn family(&self, parts: &[&str]) -> Option<usize> {
        let Columns::Table(table, _) = &self.columns else { return None };
        let (family, qualifier) = parts.split_last()?;
        let is_of_table = qualifier.is_empty() || self.is_named(qualifier);
        let mut families = table.def().families.iter();
        families.position(|name| is_of_table && name.as_ref().is_some_and(|name| is_same_name(name, family)))
    }

    fn is_named(&self, parts: &[&str]) -> bool {
        self.fit(parts) != Fit::Other
    }

    fn fit(&self, parts: &[&str]) -> Fit {
        let fit = |is_it, fit| if is_it { fit } else { Fit::Other };
        match (parts, &self.alias, &self.columns) {
            ([name], Some(alias), _) => {
                fit(is_same_name(name, alias), if self.schema.is_none() { Fit::Whole } else { Fit::WithoutSchema })
            }
            ([schema, name], Some(alias), _) => {
                fit(self.is_schema(self.schema.as_deref(), schema) && is_same_name(name, alias), Fit::Whole)
            }
            ([name], None, Columns::Table(table, _)) => {
                let TableName { schema, name: table } = &table.def().name;
                fit(is_same_name(name, table), if schema.is_none() { Fit::Whole } else { Fit::WithoutSchema })
            }
            ([schema, name], None, Columns::Table(table, _)) => {
                let TableName { schema: of_table, name: table } = &table.def().name;
                fit(self.is_schema(of_table.as_deref(), schema) && is_same_name(name, table), Fit::Whole)
            }
            _ => Fit::Other,
        }
    }

    /// Whether a name is that of its schema.
    fn is_schema(&self, own: Option<&str>, name: &str) -> bool {
        self.is_public && is_same_name(name, PUBLIC_SCHEMA) || own.is_some_and(|own| is_same_name(own, name))
    }

    /// The name, with its schema, by which expressions may call it; a query may have none.
    fn exposed_name(&self) -> Option<Vec<&str>> {
        match (&self.alias, &self.columns) {
            (Some(alias), _) => Some(self.schema.as_deref().into_iter().chain([alias.as_str()]).collect()),
            (None, Columns::Table(table, _)) => {
                let name = &table.def().name;
                Some(name.schema.as_deref().into_iter().chain([name.name.as_str()]).collect())
            }
            (None, Columns::Query(_)) => None,
        }
    }

    /// How the statement calls it.
    fn name(&self) -> &str {
        match (&self.alias, &self.columns) {
            (Some(alias), _) => alias,
            (None, Columns::Table(table, _)) => &table.def().name.name,
            (None, Columns::Query(_)) => "the query",
        }
    }

    /// The name of its table; of a query, how the statement calls it.
    fn table_name(&self) -> String {
        match &self.columns {
            Columns::Table(..) if let Some(view) = &self.shown => view.name.to_string(),
            Columns::Table(table, _) => table.def().name.to_string(),
            Columns::Query(_) => match &self.schema {
                Some(schema) => format!("{schema}.{}", self.name()),
                None => self.name().to_owned(),
            },
        }
    }
}

/// The column of a table, by its name.
fn column_of_table(table: &Table, name: &str, family: Option<&str>, span: Option<Span>) -> Result<Option<ColumnRef>> {
    if family.is_none() && name.eq_ignore_ascii_case(ROW_KEY_COLUMN) {
        let (index, name) = (table.row_key_index(), ROW_KEY_COLUMN.to_owned());
        return Ok(Some(ColumnRef { index, name, ty: SqlType::Varbinary, nullable: false, span }));
    }
    if family.is_none() && name.eq_ignore_ascii_case(ROW_TIME_COLUMN) {
        let (index, name) = (table.row_time_index(), ROW_TIME_COLUMN.to_owned());
        return Ok(Some(ColumnRef { index, name, ty: SqlType::Date, nullable: true, span }));
    }
    match table.def().find_column(family, name) {
        ColumnMatch::One(index) => Ok(table.column_ref(index, span)),
        ColumnMatch::Several => Err(BindError::from(ambiguous(table.def(), name)).at(span)),
        ColumnMatch::None => Ok(None),
    }
}

/// A name that columns of several families have.
fn ambiguous(def: &TableDef, name: &str) -> BindErrorKind {
    let named = def.columns.iter().filter(|column| is_same_name(&column.name, name));
    let candidates: Vec<String> = named.map(|column| def.unique_name(column)).collect();
    BindErrorKind::AmbiguousColumn { column: name.to_owned(), candidates: candidates.join(", ") }
}
