//! ALTER TABLE into a table's next definition.
//!
//! # Laws
//! 1. No row is rewritten: an added column gets a new slot, and rows without that slot read as its DEFAULT; the slot of
//!    a dropped column is never used again.
//! 2. Row keys do not change: none of their columns can be changed, but for its name. A column that is added after the last
//!    one is NULL in them, which has no bytes there.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_sql::statement::{AlterTable, ColumnSpec, OptionSpec, TableChange};
use saltwing_sql::{ColumnName, Name};
use saltwing_types::dynamic::DYNAMIC_COLUMNS;
use saltwing_types::suggest;
use saltwing_types::table::{COLUMNS_MAX, ColumnMatch, DroppedColumn, ROW_KEY_COLUMN};
use saltwing_types::{ColumnDef, Expr, KeyColumn, KeySource, Span, SqlType, TableDef};

use crate::added_key::{add_key_column, guard_of_last_column};
use crate::alter_column::alter_column;
use crate::alter_step::AlterStep;
use crate::check::{add_checks, add_checks_of_new_column, drop_check, drop_checks_of};
use crate::create_table::{check_names, check_not_hidden, default_of, exists, family_index, next_slot};
use crate::error::{BindError, BindErrorKind, Result, invalid};
use crate::generated::generated_from;
use crate::rename;
use crate::scope::Scope;
use crate::table_option::{KEY_OPTIONS, TableOptions};

/// How to get what ALTER TABLE refuses.
const WAY_OUT: &str = "make a table that has it so, then UPSERT INTO new SELECT .. FROM old";

/// A table's next definition, and notices for the user.
#[derive(Debug)]
pub struct AlteredTable {
    /// The definition, whose version the catalog counts; `None` where nothing changes.
    pub def: Option<TableDef>,
    /// Notices.
    pub notices: Vec<String>,
    /// The CHECK constraint that is new, and that the rows that are there may break.
    pub new_check: Option<String>,
    /// What must be done with the rows before the statement is bound again, and has its last definition.
    pub step: Option<AlterStep>,
}

/// Checks an ALTER TABLE and makes the table's next definition. `met` is the [step](AlteredTable::step) that has been done.
///
/// # Errors
/// [`BindErrorKind`] with the place.
pub fn alter_table(statement: &AlterTable, table: &Arc<Table>, met: Option<&AlterStep>) -> Result<AlteredTable> {
    let mut def = TableDef::clone(table.def());
    let changed = |def: TableDef| (def != **table.def()).then_some(def);
    if adds_key_column(&statement.change, &def)
        && let Some(guard) = guard_of_last_column(&def).map_err(|error| error.at(Some(statement.table.span())))?
    {
        let is_met = met.and_then(AlterStep::check) == Some(&guard.name) && def.checks.contains(&guard);
        def.checks.retain(|check| *check != guard);
        if !is_met {
            // What is wrong with the statement is found before any row is read.
            bound(statement, table, &mut def.clone(), None)?;
            let step = Some(AlterStep::LastKeyColumn(guard.name.clone()));
            def.checks.push(guard);
            return Ok(AlteredTable { def: changed(def), notices: Vec::new(), new_check: None, step });
        }
    }
    let Bound { notices, new_check, step } = bound(statement, table, &mut def, met)?;
    Ok(AlteredTable { def: changed(def), notices, new_check, step })
}

/// What belongs to the next definition.
#[derive(Default)]
struct Bound {
    notices: Vec<String>,
    new_check: Option<String>,
    step: Option<AlterStep>,
}

fn adds_key_column(change: &TableChange, def: &TableDef) -> bool {
    let is_new = |spec: &ColumnSpec| spec.primary_key.is_some() && existing(def, &spec.name).is_none();
    matches!(change, TableChange::Add { columns, .. } if columns.iter().any(is_new))
}

/// Makes the next definition.
fn bound(statement: &AlterTable, table: &Arc<Table>, def: &mut TableDef, met: Option<&AlterStep>) -> Result<Bound> {
    let noticed = |notices| Bound { notices, ..Bound::default() };
    Ok(match &statement.change {
        TableChange::Add { if_not_exists, columns } => noticed(add(def, columns, *if_not_exists)?),
        TableChange::Drop { if_exists, columns } => noticed(drop_columns(def, table, columns, *if_exists)?),
        TableChange::AddCheck(check) => Bound { new_check: add_checks(def, [&**check])?.pop(), ..Bound::default() },
        TableChange::DropConstraint { if_exists, name } => noticed(drop_constraint(def, name, *if_exists)?),
        TableChange::Set { options } => noticed(set(def, options)?),
        TableChange::Rename { to } => {
            rename::rename_table(def, table, to)?;
            Bound::default()
        }
        TableChange::RenameColumn { column, to } => {
            rename::rename_column(def, table, column, to)?;
            Bound::default()
        }
        TableChange::AlterColumn { column, change } => {
            Bound { step: alter_column(def, table, (column, change), met)?, ..Bound::default() }
        }
    })
}

fn add(def: &mut TableDef, specs: &[ColumnSpec], if_not_exists: bool) -> Result<Vec<String>> {
    let mut notices = Vec::new();
    for spec in specs {
        let name = &spec.name.name;
        check_not_hidden(name)?;
        if let Some(column) = existing(def, &spec.name) {
            if !if_not_exists {
                return Err(exists(def, column, name));
            }
            notices.push(format!("column {} exists already", name.text));
            continue;
        }
        match spec.primary_key {
            Some(_) => {
                check_count(def, spec)?;
                add_key_column(def, spec)?;
            }
            None => {
                let column = added(def, spec)?;
                def.columns.push(column);
            }
        }
        if def.column_index(DYNAMIC_COLUMNS).is_some() {
            let name = &spec.name.name.text;
            notices.push(format!(
                "values that rows have in a dynamic column {name} are not those of the new column, which hides them"
            ));
        }
        add_checks_of_new_column(def, def.columns.len() - 1, &spec.checks)?;
    }
    check_names(def, specs)?;
    Ok(notices)
}

/// The column that has this name in this family; without a family, in the key or the default family.
fn existing<'a>(def: &'a TableDef, name: &ColumnName) -> Option<&'a ColumnDef> {
    let family = name.family.as_ref().map(|family| family.text.as_str());
    let ColumnMatch::One(index) = def.find_column(family, &name.name.text) else { return None };
    def.columns.get(index).filter(|column| family.is_some() || def.family_name(column).is_none())
}

fn check_count(def: &TableDef, spec: &ColumnSpec) -> Result<()> {
    let count = def.columns.iter().filter(|column| !column.hidden).count() + 1;
    if count > COLUMNS_MAX {
        let error = BindErrorKind::TooManyColumns { count, limit: COLUMNS_MAX };
        return Err(BindError::from(error).at(Some(spec.name.span())));
    }
    Ok(())
}

fn added(def: &mut TableDef, spec: &ColumnSpec) -> Result<ColumnDef> {
    let name = &spec.name.name;
    check_count(def, spec)?;
    if let Some(identity) = &spec.identity {
        let what = "an identity column that is added, which rows that are there have no value for,";
        return Err(BindError::from(BindErrorKind::NotSupported(what.into())).at(Some(identity.span)).help(WAY_OUT));
    }
    if let Some(generated) = &spec.generated {
        let what = "a generated column that is added, which rows that are there have no value for,";
        return Err(BindError::from(BindErrorKind::NotSupported(what.into())).at(Some(generated.span)).help(WAY_OUT));
    }
    let default = default_of(spec, &def.name)?;
    if let Some(default) = default.as_ref().filter(|default| default.is_of_new_row()) {
        let text = format!(
            "DEFAULT {} for a column that is added, which rows that are there have no value for,",
            default.text
        );
        let error = BindError::from(BindErrorKind::NotSupported(text)).at(spec.default.as_ref().map(|d| d.span));
        return Err(error.help("add it without a DEFAULT, or with a constant one; or name it when the table is made"));
    }
    let is_null = default.as_ref().is_none_or(|default| matches!(&default.expr, Expr::Literal(v, _) if v.is_null()));
    if spec.not_null == Some(true) && is_null {
        let text = format!("{} is NOT NULL, and the rows that are there have no value for it", name.text);
        return Err(invalid(text).at(Some(spec.span)).help("give it a DEFAULT: they read as that"));
    }
    let family = family_index(&mut def.families, spec.name.family.as_ref(), spec.span)?;
    let slot = next_slot(def, family)
        .map_err(|error| error.at(Some(spec.name.span())).help("put it into another family: f.c"))?;
    Ok(ColumnDef {
        name: name.text.clone(),
        ty: spec.sql_type,
        nullable: spec.not_null != Some(true),
        default,
        family: Some(family),
        slot,
        hidden: false,
        comment: None,
        absent: None,
    })
}

/// The definition with the hidden column that keeps dynamic columns; `None` if it has it.
///
/// # Errors
/// A column of this name that is another one; a column family without room.
pub fn with_dynamic_columns(def: &TableDef, span: Span) -> Result<Option<TableDef>> {
    if let Some(column) = def.column_index(DYNAMIC_COLUMNS).and_then(|index| def.columns.get(index)) {
        return match column.hidden {
            true => Ok(None),
            false => {
                Err(invalid(format!("{} has a column {DYNAMIC_COLUMNS}, where dynamic columns are kept", def.name))
                    .at(Some(span)))
            }
        };
    }
    let mut def = def.clone();
    let family = family_index(&mut def.families, None, span)?;
    let slot = next_slot(&def, family).map_err(|error| error.at(Some(span)))?;
    let column = ColumnDef::new(DYNAMIC_COLUMNS, SqlType::Json);
    def.columns.push(ColumnDef { family: Some(family), slot, hidden: true, ..column });
    Ok(Some(def))
}

fn drop_columns(def: &mut TableDef, table: &Arc<Table>, names: &[ColumnName], if_exists: bool) -> Result<Vec<String>> {
    let scope = Scope::of(table.clone(), None);
    let (mut notices, mut gone) = (Vec::new(), Vec::new());
    for name in names {
        let index = match scope.resolve(&name.parts(), Some(name.span())) {
            Ok(column) => column.index,
            Err(BindError { kind: BindErrorKind::NoSuchColumn { .. }, .. }) if if_exists => {
                notices.push(format!("there is no column {name}"));
                continue;
            }
            Err(error) => return Err(error),
        };
        if gone.contains(&index) {
            return Err(BindError::from(BindErrorKind::DuplicateColumn(name.name.text.clone())).at(Some(name.span())));
        }
        check_droppable(def, index, name.span())?;
        gone.push(index);
    }
    for index in generated_from(table, &gone)? {
        let name = def.columns.get(index).map(|column| def.unique_name(column)).unwrap_or_default();
        notices.push(format!("generated column {name} is dropped too: it is computed from the column"));
        gone.push(index);
    }
    for constraint in drop_checks_of(def, table, &gone)? {
        notices.push(format!("CHECK constraint {constraint} is dropped too: it names the column"));
    }
    remove(def, gone);
    Ok(notices)
}

fn drop_constraint(def: &mut TableDef, name: &Name, if_exists: bool) -> Result<Vec<String>> {
    let place = |error: BindError| error.at(Some(name.span));
    match drop_check(def, &name.text).map_err(place)? {
        true => Ok(Vec::new()),
        false if if_exists => Ok(vec![format!("there is no constraint {}", name.text)]),
        false => {
            let error = BindErrorKind::NoSuchConstraint { table: def.name.to_string(), name: name.text.clone() };
            let near = suggest(&name.text, def.checks.iter().map(|check| check.name.as_str()));
            let error = place(error.into());
            Err(match near {
                Some(near) => error.help(format!("there is {near}")),
                None => error,
            })
        }
    }
}

/// Refuses what row keys are made of.
fn check_droppable(def: &TableDef, index: usize, span: Span) -> Result<()> {
    let Some(column) = def.columns.get(index) else {
        return Err(invalid(format!("{ROW_KEY_COLUMN} is every table's own")).at(Some(span)));
    };
    if let Some(using) = def.indexes.iter().find(|using| using.inputs(def).contains(&index))
        && def.key.position(index).is_none()
    {
        let text = format!("{} cannot be dropped: index {} has it", column.name, using.name);
        return Err(invalid(text).at(Some(span)).help(format!("DROP INDEX {} ON {} first", using.name, def.name)));
    }
    if def.key.position(index).is_none() {
        return match def.time_column().filter(|time| time.column == index) {
            None => Ok(()),
            Some(_) => Err(invalid(format!("{} cannot be dropped: TTL counts from it", column.name)).at(Some(span))),
        };
    }
    let uses = |key: &&KeyColumn| key.computed().is_some_and(|expr| expr.columns().contains(&index));
    let text = match def.key.columns.iter().find(uses) {
        Some(part) => {
            format!(
                "{} cannot be dropped: it is a key column, and key part {} is computed from it",
                column.name, part.name
            )
        }
        None => format!("{} cannot be dropped: it is a key column", column.name),
    };
    Err(invalid(text).at(Some(span)).help(WAY_OUT).phoenix(506))
}

/// Takes columns out; what names columns by index moves along.
fn remove(def: &mut TableDef, mut gone: Vec<usize>) {
    gone.sort_unstable();
    for &index in gone.iter().rev() {
        if index < def.columns.len()
            && let ColumnDef { family: Some(family), slot, ty, .. } = def.columns.remove(index)
        {
            def.history.dropped.push(DroppedColumn { family, slot, ty });
        }
    }
    let moved = |index: usize| index - gone.iter().filter(|gone| **gone < index).count();
    for key in &mut def.key.columns {
        match &mut key.source {
            KeySource::Column(column) => *column = moved(*column),
            KeySource::Computed(expr) | KeySource::Indexed(expr) => {
                expr.map_columns(&mut |column| column.index = moved(column.index));
            }
        }
    }
    for index in &mut def.indexes {
        let of_predicate = index.predicate.iter_mut().map(|predicate| &mut predicate.expr);
        let exprs = index.parts.iter_mut().map(|part| &mut part.expr).chain(of_predicate);
        exprs.for_each(|expr| expr.map_columns(&mut |column| column.index = moved(column.index)));
        index.include.iter_mut().for_each(|column| *column = moved(*column));
    }
}

fn set(def: &mut TableDef, specs: &[OptionSpec]) -> Result<Vec<String>> {
    let mut options = TableOptions::of(def);
    for spec in specs {
        let name = spec.name.text.to_uppercase();
        if KEY_OPTIONS.contains(&name.as_str()) {
            let text = format!("{name} is fixed when a table is made: it decides where its rows lie");
            return Err(invalid(text).at(Some(spec.span)).help(WAY_OUT));
        }
        options.set(spec)?;
    }
    let had_versions = def.kept_versions().is_some();
    (def.ttl_s, def.options) = (options.ttl_s, options.options);
    if !had_versions && def.kept_versions().is_some() {
        // The version that this definition gets.
        def.history.versions_since = def.history.version + 1;
    }
    Ok(options.notices)
}
