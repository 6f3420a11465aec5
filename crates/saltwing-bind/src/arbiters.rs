//! The keys by which a new row may be in conflict with rows that are there.

use saltwing_access::{Index, Table};
use saltwing_plan::implies;
use saltwing_sql::statement::{ConflictTarget, SourceText};
use saltwing_types::{Expr, IndexDef, TableDef, typing};
use sqlparser::ast;

use crate::check::expr_of_row;
use crate::error::{BindError, BindErrorKind, Result};
use crate::index_text::parts_text;
use crate::scope::Scope;
use crate::table_path::column_path;
use crate::target::Target;

/// Where an expression stands, for errors.
const PLACE: &str = "the target of ON CONFLICT";

/// The primary key and unique indexes of a table. A row that is there is in conflict with a new one if they have the same values by
/// one of these.
#[derive(Clone, Debug)]
pub struct Arbiters {
    /// Whether the primary key is one.
    pub primary_key: bool,
    /// The unique indexes among them.
    pub indexes: Vec<Index>,
}

impl Arbiters {
    /// The primary key alone.
    pub(crate) fn primary_key() -> Self {
        Self { primary_key: true, indexes: Vec::new() }
    }

    /// The primary key, unless the table has none, and each unique index. One that is disabled stays unique; one that is being
    /// built has some values already.
    pub(crate) fn all(table: &Table) -> Self {
        let indexes = table.indexes().iter().filter(|index| index.def().unique).cloned().collect();
        Self { primary_key: !table.def().has_hidden_key(), indexes }
    }

    /// Whether rows that are in conflict have the same value in a column.
    pub(crate) fn cover(&self, column: usize, def: &TableDef) -> bool {
        let is_part = |index: &Index| index.def().parts.iter().any(|part| IndexDef::part_column(part) == Some(column));
        (!self.primary_key || def.key.position(column).is_some()) && self.indexes.iter().all(is_part)
    }
}

/// The keys that the target of a clause for conflicts means. If it names none, those are all for rows that are left out, and the
/// primary key for rows that are changed.
///
/// # Errors
/// [`BindErrorKind::NoUniqueKey`], [`BindErrorKind::UnfitUniqueIndex`]; those of its expressions.
pub(crate) fn arbiters(clause: &ConflictTarget, target: &Target<'_>, leaves_out: bool) -> Result<Arbiters> {
    let table = &target.table;
    let (parts, predicate, span) = match clause {
        ConflictTarget::Any if leaves_out => return some(Arbiters::all(table), table.def()),
        ConflictTarget::PrimaryKey | ConflictTarget::Any if !table.def().has_hidden_key() => {
            return Ok(Arbiters::primary_key());
        }
        ConflictTarget::PrimaryKey | ConflictTarget::Any => return Err(without_key(table.def())),
        ConflictTarget::Parts { parts, predicate, span } => (parts, predicate, *span),
    };
    let scope = target.scope_of_keys()?;
    let target_expr = |expr| target_expr(expr, &scope, table);
    let mut bound: Vec<Expr> = Vec::with_capacity(parts.len());
    for (expr, SourceText { text, span }) in parts {
        let part = target_expr(expr).map_err(|error| error.at(Some(*span)))?;
        if bound.contains(&part) {
            return Err(BindError::from(BindErrorKind::DuplicateColumn(text.clone())).at(Some(*span)));
        }
        bound.push(part);
    }
    let predicate = predicate.as_ref().map(|condition| Ok::<_, BindError>(typing::condition(target_expr(condition)?)?));
    let named =
        Named { parts: bound, predicate: predicate.transpose().map_err(|error| error.at(Some(span)))?, texts: parts };
    named.arbiters(table).map_err(|error| error.at(Some(span)))
}

fn some(arbiters: Arbiters, def: &TableDef) -> Result<Arbiters> {
    match arbiters.primary_key || !arbiters.indexes.is_empty() {
        true => Ok(arbiters),
        false => Err(without_key(def)),
    }
}

fn without_key(def: &TableDef) -> BindError {
    let unique = def.indexes.iter().filter(|index| index.unique).map(|index| described(def, index)).collect::<Vec<_>>();
    let text = match unique.is_empty() {
        true => format!("{} has no primary key: its rows have no conflicts", def.name),
        false => format!("{} has no primary key", def.name),
    };
    let error = BindError::from(BindErrorKind::Syntax(text));
    match unique.is_empty() {
        true => error,
        false => error.help(format!("name the columns of a unique index: {}", unique.join(", "))),
    }
}

/// Lowers an expression of the target, which reads the row that would be written.
fn target_expr(expr: &ast::Expr, scope: &Scope, table: &Table) -> Result<Expr> {
    expr_of_row(expr, (scope, table), PLACE).map_err(|error| match error.kind {
        BindErrorKind::MissingParameter(_) => {
            let kind = BindErrorKind::NotSupported(format!("a parameter in {PLACE}"));
            BindError { kind, ..error }.help("write the condition as CREATE INDEX has it")
        }
        _ => error,
    })
}

/// What `(part, ..) [WHERE condition]` names.
struct Named<'a> {
    parts: Vec<Expr>,
    predicate: Option<Expr>,
    texts: &'a [(ast::Expr, SourceText)],
}

impl Named<'_> {
    fn arbiters(&self, table: &Table) -> Result<Arbiters> {
        if self.is_key(table.def()) {
            return Ok(Arbiters::primary_key());
        }
        let meant = || table.indexes().iter().filter(|index| self.has_parts(index.def()) && index.def().unique);
        let indexes: Vec<Index> =
            meant().filter(|index| self.meets(index.def()) && index.is_ready()).cloned().collect();
        match (indexes.is_empty(), meant().next()) {
            (false, _) => Ok(Arbiters { primary_key: false, indexes }),
            (true, Some(index)) => Err(self.unfit(table.def(), index.def())),
            (true, None) => Err(self.unknown(table.def())),
        }
    }

    /// Whether the parts are the columns of the primary key, in any order.
    fn is_key(&self, def: &TableDef) -> bool {
        let key: Vec<usize> = def.key.columns.iter().filter_map(|part| part.column()).collect();
        let is_of_key = |part: &Expr| matches!(part, Expr::Column(column) if key.contains(&column.index));
        !def.has_hidden_key() && self.parts.len() == key.len() && self.parts.iter().all(is_of_key)
    }

    /// Whether the parts are those of an index, in any order.
    fn has_parts(&self, index: &IndexDef) -> bool {
        self.parts.len() == index.parts.len() && index.parts.iter().all(|part| self.parts.contains(&part.expr))
    }

    /// Whether the condition is TRUE only for rows that the index holds.
    fn meets(&self, index: &IndexDef) -> bool {
        let given: Vec<Expr> = self.predicate.iter().cloned().flat_map(Expr::into_conjuncts).collect();
        let given: Vec<&Expr> = given.iter().collect();
        index.predicate.as_ref().is_none_or(|predicate| implies(&given, &predicate.expr))
    }

    fn text(&self) -> String {
        self.texts.iter().map(|(_, part)| part.text.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// The error for an index that has the parts, and cannot be meant.
    fn unfit(&self, def: &TableDef, index: &IndexDef) -> BindError {
        let name = index.name.clone();
        let error =
            |why: String| BindErrorKind::UnfitUniqueIndex { table: def.name.to_string(), index: name.clone(), why };
        match &index.predicate {
            Some(predicate) if !self.meets(index) => {
                let error = error(format!("holds for the rows WHERE {} alone", predicate.text));
                BindError::from(error).help(format!("ON CONFLICT ({}) WHERE {} DO ..", self.text(), predicate.text))
            }
            _ => BindError::from(error(format!("is {}", index.state)))
                .help("ON CONFLICT takes a unique index that is ready"),
        }
    }

    fn unknown(&self, def: &TableDef) -> BindError {
        let key = def.key.columns.iter().filter_map(|part| def.columns.get(part.column()?));
        let key: Vec<String> = key.map(|column| column_path(def, column)).collect();
        let key = (!def.has_hidden_key()).then(|| format!("the primary key ({})", key.join(", ")));
        let indexes = def.indexes.iter().filter(|index| index.unique).map(|index| described(def, index));
        let known: Vec<String> = key.into_iter().chain(indexes).collect();
        let error = BindErrorKind::NoUniqueKey { table: def.name.to_string(), parts: self.text() };
        BindError::from(error).help(match known.is_empty() {
            true => "the table has neither a primary key nor a unique index".to_owned(),
            false => format!("the table has {}", known.join(", ")),
        })
    }
}

/// A unique index with its parts and its condition.
fn described(def: &TableDef, index: &IndexDef) -> String {
    let predicate = index.predicate.as_ref().map(|predicate| format!(" WHERE {}", predicate.text));
    format!("the unique index {} ({}){}", index.name, parts_text(def, index), predicate.unwrap_or_default())
}
