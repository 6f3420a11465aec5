//! The names of the columns that queries return and FROM clauses provide.
//!
//! [`super::merging`] needs them to resolve USING and NATURAL in the tree, before anything is planned. Columns that are
//! not known there, such as those of a table function, are `None`.

use std::collections::HashSet;

use saltwing_catalog::{CatalogReader, catalog_view};
use saltwing_sql::expr_span;
use saltwing_types::{ColumnDef, TableDef};
use sqlparser::ast::{
    BinaryOperator, Cte, ExcludeSelectItem, Expr, Ident, Join, JoinConstraint, JoinOperator, ObjectName, Query, Select,
    SelectItem, SelectItemQualifiedWildcardKind, SetExpr, TableAlias, TableFactor, TableWithJoins,
    WildcardAdditionalOptions, With,
};

use super::tree::{Result, column_name, constraint_of, factor_name, function_call};
use crate::expression::internal_name::field_name;
use crate::{RelationalError, RelationalErrorKind};

/// A column that a query puts out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Output {
    /// Its name in lower case.
    pub(super) name: String,
    /// Its name as spelt.
    pub(super) label: String,
}

impl Output {
    pub(super) fn new(label: &str) -> Self {
        Self { name: label.to_lowercase(), label: label.to_owned() }
    }

    fn of_column(def: &TableDef, column: &ColumnDef) -> Self {
        Self { name: field_name(def, column).to_lowercase(), label: column.name.clone() }
    }
}

/// The columns of a query in order; `None` if they are not known before it is planned.
pub(super) type Outputs = Option<Vec<Output>>;

/// One table of a FROM clause.
#[derive(Clone, Debug)]
pub(super) struct Relation {
    /// The name by which columns are qualified, in lower case.
    pub(super) name: ObjectName,
    pub(super) outputs: Outputs,
    /// Names of its columns that a join merged with others.
    pub(super) merged: Vec<String>,
}

impl Relation {
    /// Whether each of its columns is known, and found by its name.
    pub(super) fn is_plain(&self) -> bool {
        let mut names = HashSet::new();
        self.outputs.as_ref().is_some_and(|outputs| outputs.iter().all(|output| names.insert(&output.name)))
    }

    /// One of its columns, qualified.
    pub(super) fn column(&self, name: &str) -> Expr {
        let mut parts: Vec<Ident> = self.name.0.iter().filter_map(|part| part.as_ident()).cloned().collect();
        parts.push(Ident::with_quote('"', name));
        Expr::CompoundIdentifier(parts)
    }
}

/// A column that a FROM clause shows under a name without a qualifier.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) output: Output,
    /// The expansion of the name: a qualified column, or COALESCE of several.
    pub(super) value: Expr,
    /// Whether a join made it of a column of each side.
    pub(super) is_merged: bool,
}

/// The tables of a FROM clause, or of a part of one.
#[derive(Clone, Debug, Default)]
pub(super) struct FromColumns {
    pub(super) relations: Vec<Relation>,
    /// Merged columns first, then those of the tables in their order.
    pub(super) columns: Vec<Column>,
}

/// The expansion of a name.
pub(super) enum Found<'a> {
    One(&'a Column),
    Several,
    None,
}

impl FromColumns {
    fn of_relation(name: ObjectName, outputs: Outputs) -> Self {
        let relation = Relation { name, outputs, merged: Vec::new() };
        let columns = relation.outputs.iter().flatten().map(|output| Column {
            output: output.clone(),
            value: relation.column(&output.name),
            is_merged: false,
        });
        Self { columns: columns.collect(), relations: vec![relation] }
    }

    /// Whether there are columns whose names are not known.
    pub(super) fn is_open(&self) -> bool {
        self.relations.iter().any(|relation| relation.outputs.is_none())
    }

    pub(super) fn find(&self, name: &str) -> Found<'_> {
        let mut named = self.columns.iter().filter(|column| column.output.name == name);
        match (named.next(), named.next()) {
            (Some(column), None) => Found::One(column),
            (Some(_), Some(_)) => Found::Several,
            (None, _) => Found::None,
        }
    }

    /// The column of one side of USING; of a table of unknown columns it is taken for one.
    fn side(&self, name: &Ident) -> Result<Column> {
        let lower = name.value.to_lowercase();
        let span = expr_span(&Expr::Identifier(name.clone()));
        let mut open = self.relations.iter().filter(|relation| relation.outputs.is_none());
        match (self.find(&lower), open.next(), open.next()) {
            (Found::One(column), ..) => Ok(column.clone()),
            (Found::Several, ..) => {
                let error = RelationalError::from(RelationalErrorKind::AmbiguousColumn(name.value.clone()));
                Err(error.at(span).help("several tables on one side of the join have it: write ON"))
            }
            (Found::None, Some(relation), None) => {
                Ok(Column { output: Output::new(&name.value), value: relation.column(&lower), is_merged: false })
            }
            (Found::None, ..) => {
                let error = RelationalError::from(RelationalErrorKind::NoSuchColumn(name.value.clone()));
                Err(error.at(span).help("USING names columns that both sides of the join have"))
            }
        }
    }

    /// Both side by side.
    pub(super) fn beside(mut self, other: Self) -> Self {
        let (merged, plain): (Vec<Column>, Vec<Column>) = other.columns.into_iter().partition(|c| c.is_merged);
        let behind = self.columns.iter().take_while(|column| column.is_merged).count();
        self.columns.splice(behind..behind, merged);
        self.columns.extend(plain);
        self.relations.extend(other.relations);
        self
    }

    /// Takes out the columns that become part of a merged one.
    fn take_out(&mut self, names: &[String]) {
        self.columns.retain(|column| !names.contains(&column.output.name));
        for relation in &mut self.relations {
            let of_relation = |name: &&String| match &relation.outputs {
                Some(outputs) => outputs.iter().any(|output| output.name == **name),
                None => true,
            };
            let taken: Vec<String> = names.iter().filter(of_relation).cloned().collect();
            relation.merged.extend(taken);
        }
    }
}

/// Which rows of a join's sides come out, as far as merged columns go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PreservedSide {
    Left,
    Right,
    Both,
    /// Of each row the left side alone, or the right one.
    OnlyLeft,
    OnlyRight,
}

fn preserved_side(operator: &JoinOperator) -> PreservedSide {
    match operator {
        JoinOperator::Right(_) | JoinOperator::RightOuter(_) => PreservedSide::Right,
        JoinOperator::FullOuter(_) => PreservedSide::Both,
        JoinOperator::LeftSemi(_) | JoinOperator::LeftAnti(_) | JoinOperator::Semi(_) | JoinOperator::Anti(_) => {
            PreservedSide::OnlyLeft
        }
        JoinOperator::RightSemi(_) | JoinOperator::RightAnti(_) => PreservedSide::OnlyRight,
        _ => PreservedSide::Left,
    }
}

/// The relations by table name.
#[derive(Clone)]
pub(super) struct Relations<'a> {
    pub(super) catalog: &'a dyn CatalogReader,
    /// WITH tables, the innermost last, by their names in lower case.
    pub(super) ctes: Vec<(String, Outputs)>,
}

impl Relations<'_> {
    /// Adds the tables of a WITH clause.
    pub(super) fn add_ctes(&mut self, with: Option<&With>) -> Result<()> {
        let Some(with) = with else { return Ok(()) };
        for cte in &with.cte_tables {
            let outputs = self.cte(cte)?;
            self.ctes.push((cte.alias.name.value.to_lowercase(), outputs));
        }
        Ok(())
    }

    fn cte(&self, cte: &Cte) -> Result<Outputs> {
        // A recursive one has the columns of its first part, which does not name it.
        Ok(renamed(self.query(&cte.query)?, &cte.alias))
    }

    /// The columns of a query.
    pub(super) fn query(&self, query: &Query) -> Result<Outputs> {
        match &query.with {
            None => self.body(&query.body),
            Some(with) => {
                let mut inside = self.clone();
                inside.add_ctes(Some(with))?;
                inside.body(&query.body)
            }
        }
    }

    fn body(&self, body: &SetExpr) -> Result<Outputs> {
        match body {
            SetExpr::Select(select) => self.select(select),
            SetExpr::Query(query) => self.query(query),
            SetExpr::SetOperation { left, .. } => self.body(left),
            SetExpr::Values(values) => {
                let width = values.rows.first().map_or(0, |row| row.content.len());
                Ok(Some((1..=width).map(|place| Output::new(&format!("column{place}"))).collect()))
            }
            _ => Ok(None),
        }
    }

    fn select(&self, select: &Select) -> Result<Outputs> {
        let from = self.from(&select.from)?;
        let mut outputs = Vec::with_capacity(select.projection.len());
        for item in &select.projection {
            let item = match item {
                SelectItem::ExprWithAlias { alias, .. } => Some(vec![Output::new(&alias.value)]),
                SelectItem::UnnamedExpr(expr) => Some(vec![item_output(expr, &from)]),
                SelectItem::Wildcard(options) => wildcard(&from, None, options),
                SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), options) => {
                    wildcard(&from, Some(name), options)
                }
                _ => None,
            };
            match item {
                Some(item) => outputs.extend(item),
                None => return Ok(None),
            }
        }
        Ok(Some(outputs))
    }

    /// The tables of a FROM clause.
    pub(super) fn from(&self, from: &[TableWithJoins]) -> Result<FromColumns> {
        from.iter().try_fold(FromColumns::default(), |before, table| Ok(before.beside(self.joins(table)?)))
    }

    fn joins(&self, table: &TableWithJoins) -> Result<FromColumns> {
        let first = self.factor(&table.relation)?;
        table.joins.iter().try_fold(first, |left, join| Ok(self.joined(left, join)?.0))
    }

    /// One table, or a join in brackets.
    pub(super) fn factor(&self, factor: &TableFactor) -> Result<FromColumns> {
        if let TableFactor::NestedJoin { table_with_joins, alias } = factor {
            let inside = self.joins(table_with_joins)?;
            return Ok(match alias {
                None => inside,
                Some(alias) => {
                    let outputs = match inside.is_open() {
                        true => None,
                        false => Some(inside.columns.into_iter().map(|column| column.output).collect()),
                    };
                    FromColumns::of_relation(alias_name(alias), renamed(outputs, alias))
                }
            });
        }
        let outputs = match factor {
            TableFactor::Table { name, args: None, .. } => self.table(name),
            TableFactor::Table { name, args: Some(_), .. } => of_table_function(name),
            TableFactor::Derived { subquery, .. } => self.query(subquery)?,
            _ => None,
        };
        let name = factor_name(factor).or_else(|| alias_of(factor).map(alias_name)).unwrap_or(ObjectName(Vec::new()));
        let outputs = match alias_of(factor) {
            Some(alias) => renamed(outputs, alias),
            None => outputs,
        };
        Ok(FromColumns::of_relation(name, outputs))
    }

    fn table(&self, name: &ObjectName) -> Outputs {
        let parts: Vec<&str> = name.0.iter().filter_map(|p| p.as_ident()).map(|p| p.value.as_str()).collect();
        let (schema, name) = match parts.as_slice() {
            [name] => (None, *name),
            [schema, name] => (Some(*schema), *name),
            _ => return None,
        };
        if schema.is_none()
            && let Some((_, outputs)) = self.ctes.iter().rev().find(|(cte, _)| cte.eq_ignore_ascii_case(name))
        {
            return outputs.clone();
        }
        if let Some(view) = catalog_view(schema, name) {
            return Some(view.columns.iter().map(|(name, _)| Output::new(name)).collect());
        }
        if let (None, Some(table)) = (schema, self.catalog.arrow_table(name)) {
            return Some(table.schema.fields().iter().map(|field| Output::new(field.name())).collect());
        }
        let table = self.catalog.resolve(schema, name).ok()?;
        let def = table.def();
        let shown = def.columns.iter().filter(|column| !column.hidden);
        Some(shown.map(|column| Output::of_column(def, column)).collect())
    }

    /// A join: its visible columns, and the expansion of USING or NATURAL.
    pub(super) fn joined(&self, left: FromColumns, join: &Join) -> Result<(FromColumns, Option<Expr>)> {
        let right = self.factor(&join.relation)?;
        let kept = preserved_side(&join.join_operator);
        let names: Vec<Ident> = match constraint_of(&join.join_operator) {
            Some(JoinConstraint::Using(names)) => names.iter().map(single_part).collect::<Result<_>>()?,
            Some(JoinConstraint::Natural) => common(&left, &right)?,
            _ => {
                return Ok(match kept {
                    PreservedSide::OnlyLeft => (left, None),
                    PreservedSide::OnlyRight => (right, None),
                    _ => (left.beside(right), None),
                });
            }
        };
        merged(left, right, &names, kept)
    }
}

/// Two sides of a join whose columns of these names are one.
fn merged(
    mut left: FromColumns,
    mut right: FromColumns,
    names: &[Ident],
    kept: PreservedSide,
) -> Result<(FromColumns, Option<Expr>)> {
    let (mut columns, mut condition, mut taken) = (Vec::new(), None, Vec::new());
    for name in names {
        let (a, b) = (left.side(name)?, right.side(name)?);
        let equal = binary(a.value.clone(), BinaryOperator::Eq, b.value.clone());
        condition = Some(match condition {
            None => equal,
            Some(before) => binary(before, BinaryOperator::And, equal),
        });
        let value = match kept {
            PreservedSide::Both => function_call("coalesce".to_owned(), vec![a.value, b.value]),
            PreservedSide::Right => b.value,
            _ => a.value,
        };
        taken.push(a.output.name.clone());
        columns.push(Column { output: a.output, value, is_merged: true });
    }
    let shown = match kept {
        PreservedSide::OnlyLeft => left,
        PreservedSide::OnlyRight => right,
        _ => {
            left.take_out(&taken);
            right.take_out(&taken);
            let mut shown = left.beside(right);
            shown.columns.splice(0..0, columns);
            shown
        }
    };
    Ok((shown, condition))
}

/// The names that both sides of a NATURAL join have, in the left one's order.
fn common(left: &FromColumns, right: &FromColumns) -> Result<Vec<Ident>> {
    if left.is_open() || right.is_open() {
        return Err(RelationalError::not_supported("NATURAL JOIN with a function").help("write USING"));
    }
    let mut seen = HashSet::new();
    let names = left.columns.iter().map(|column| &column.output.name);
    let common = names.filter(|name| seen.insert(*name) && !matches!(right.find(name), Found::None));
    Ok(common.map(|name| Ident::with_quote('"', name)).collect())
}

/// The columns that a wildcard stands for.
fn wildcard(from: &FromColumns, of: Option<&ObjectName>, options: &WildcardAdditionalOptions) -> Outputs {
    if options.opt_ilike.is_some() || options.opt_rename.is_some() || options.opt_alias.is_some() {
        return None;
    }
    let outputs: Vec<Output> = match of {
        None if from.is_open() => return None,
        None => from.columns.iter().map(|column| column.output.clone()).collect(),
        Some(name) => {
            let last = name.0.last()?.as_ident()?.value.to_lowercase();
            let named = |relation: &&Relation| {
                relation.name.0.last().and_then(|part| part.as_ident()).is_some_and(|part| part.value == last)
            };
            from.relations.iter().find(named)?.outputs.clone()?
        }
    };
    let left_out = left_out(options);
    Some(outputs.into_iter().filter(|output| !left_out.contains(&output.name)).collect())
}

/// The names that a wildcard leaves out, in lower case.
pub(super) fn left_out(options: &WildcardAdditionalOptions) -> Vec<String> {
    let except = options.opt_except.iter();
    let mut names: Vec<&Ident> =
        except.flat_map(|e| std::iter::once(&e.first_element).chain(&e.additional_elements)).collect();
    let excluded: &[ObjectName] = match &options.opt_exclude {
        Some(ExcludeSelectItem::Single(name)) => std::slice::from_ref(name),
        Some(ExcludeSelectItem::Multiple(names)) => names,
        None => &[],
    };
    names.extend(excluded.iter().filter_map(|name| name.0.last()?.as_ident()));
    names.into_iter().map(|name| name.value.to_lowercase()).collect()
}

/// The name that an item without an alias goes by.
fn item_output(expr: &Expr, from: &FromColumns) -> Output {
    match column_name(expr) {
        Some(name) => match from.find(&name) {
            Found::One(column) => column.output.clone(),
            _ => Output::new(&name),
        },
        None => Output::new(&expr.to_string()),
    }
}

/// The columns of DataFusion's table functions that have one.
fn of_table_function(name: &ObjectName) -> Outputs {
    let name = name.0.last()?.as_ident()?.value.to_lowercase();
    matches!(name.as_str(), "generate_series" | "range").then(|| vec![Output::new("value")])
}

/// The columns under the names of an alias' list.
fn renamed(outputs: Outputs, alias: &TableAlias) -> Outputs {
    match outputs {
        Some(mut outputs) => {
            for (output, column) in outputs.iter_mut().zip(&alias.columns) {
                *output = Output::new(&column.name.value);
            }
            Some(outputs)
        }
        None if alias.columns.is_empty() => None,
        // Such a list names all columns.
        None => Some(alias.columns.iter().map(|column| Output::new(&column.name.value)).collect()),
    }
}

pub(super) fn alias_of(factor: &TableFactor) -> Option<&TableAlias> {
    match factor {
        TableFactor::Table { alias, .. }
        | TableFactor::Derived { alias, .. }
        | TableFactor::Function { alias, .. }
        | TableFactor::TableFunction { alias, .. }
        | TableFactor::UNNEST { alias, .. }
        | TableFactor::NestedJoin { alias, .. } => alias.as_ref(),
        _ => None,
    }
}

fn alias_name(alias: &TableAlias) -> ObjectName {
    ObjectName::from(vec![Ident::with_quote('"', alias.name.value.to_lowercase())])
}

fn single_part(name: &ObjectName) -> Result<Ident> {
    if let [part] = name.0.as_slice()
        && let Some(name) = part.as_ident()
    {
        return Ok(name.clone());
    }
    Err(RelationalErrorKind::Syntax(format!("USING names columns without their table, and {name} has one")).into())
}

fn binary(left: Expr, op: BinaryOperator, right: Expr) -> Expr {
    Expr::BinaryOp { left: Box::new(left), op, right: Box::new(right) }
}
