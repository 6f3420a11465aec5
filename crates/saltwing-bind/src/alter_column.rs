//! ALTER TABLE .. ALTER COLUMN: another DEFAULT, NOT NULL or type.
//!
//! # Laws
//! 1. Another DEFAULT changes no row: rows from before the column keep the value that they read as ([`ColumnDef::absent`]).
//! 2. A column is NOT NULL only if no row has NULL in it. A CHECK constraint sees to that until all rows have been read.
//! 3. A column gets another type only if each row has a value of it. If stored values have another form in the new type, a hidden
//!    generated column gets the new values; after all rows have one, it takes the place of the column.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_sql::ColumnName;
use saltwing_sql::statement::{ColumnChange, ColumnSpec, DefaultSpec};
use saltwing_types::table::{CheckDef, DefaultDef, DefaultKind, DroppedColumn, is_same_name};
use saltwing_types::{ColumnDef, Expr, KeyColumn, SqlType, TableDef, Value, number};

use crate::alter_step::AlterStep;
use crate::check::{RowChecks, free_constraint_name};
use crate::create_table::{default_of, next_slot};
use crate::error::{BindError, BindErrorKind, Result, invalid};
use crate::generated::{check_generated_column, generated_from};
use crate::scope::{Scope, table_of};
use crate::table_path::{column_path, free_name, table_path};

/// How to get a column that ALTER COLUMN cannot make.
const OTHER_WAY: &str = "make a table that has it so, then UPSERT INTO new SELECT .. FROM old";

/// Makes the next definition, and the work that must be done before the one after it. `met` is the step whose work is done.
///
/// # Errors
/// [`BindErrorKind`] with the place.
pub(crate) fn alter_column(
    def: &mut TableDef,
    table: &Arc<Table>,
    (name, change): (&ColumnName, &ColumnChange),
    met: Option<&AlterStep>,
) -> Result<Option<AlterStep>> {
    let span = name.span();
    let index = Scope::of(table.clone(), None).resolve(&name.parts(), Some(span))?.index;
    let Some(column) = def.columns.get(index).filter(|column| !column.hidden) else {
        return Err(invalid(format!("{} is the table's own", name.name.text)).at(Some(span)));
    };
    let place = |error: BindError| error.at(Some(span));
    match change {
        ColumnChange::SetDefault(default) => {
            let default = new_default(column, name, default, def)?;
            set_default(def, table, index, Some(default)).map_err(place)?;
            Ok(None)
        }
        ColumnChange::DropDefault => {
            set_default(def, table, index, None).map_err(place)?;
            Ok(None)
        }
        ColumnChange::SetNotNull => set_not_null(def, table, index, met).map_err(place),
        ColumnChange::DropNotNull => {
            drop_not_null(def, index).map_err(place)?;
            Ok(None)
        }
        ColumnChange::Type { sql_type, using, .. } => {
            set_type(def, table, &NewType { index, ty: *sql_type, using: using.as_ref() }, met).map_err(place)
        }
    }
}

fn new_default(column: &ColumnDef, name: &ColumnName, default: &DefaultSpec, def: &TableDef) -> Result<DefaultDef> {
    let mut spec = ColumnSpec::new(name.clone(), column.ty, name.span());
    spec.default = Some(default.clone());
    let bound = default_of(&spec, &def.name)?;
    bound.ok_or_else(|| invalid(format!("{} has no value", default.text)).at(Some(default.span)))
}

fn set_default(def: &mut TableDef, table: &Table, index: usize, default: Option<DefaultDef>) -> Result<()> {
    let Some(column) = def.columns.get_mut(index) else { return Ok(()) };
    if let Some(text) = column.generated() {
        let text = format!("{} is generated from {text}, and has no DEFAULT", column.name);
        return Err(BindError::from(BindErrorKind::GeneratedColumn(text)));
    }
    if column.identity().is_some() {
        let text = format!("{} is an identity column, and has no DEFAULT of another kind", column.name);
        return Err(invalid(text).help("ALTER SEQUENCE changes how it counts"));
    }
    column.default = default;
    let of_default = match &column.default {
        Some(DefaultDef { expr: Expr::Literal(value, _), .. }) => value,
        _ => &Value::Null,
    };
    // A key column has a value in every row.
    let absent = table.absent(index);
    column.absent = (column.family.is_some() && absent != of_default).then(|| absent.clone());
    Ok(())
}

/// The column becomes NOT NULL if a CHECK constraint says so and all rows meet it.
fn set_not_null(
    def: &mut TableDef,
    table: &Arc<Table>,
    index: usize,
    met: Option<&AlterStep>,
) -> Result<Option<AlterStep>> {
    let Some(column) = def.columns.get(index).filter(|column| column.nullable) else { return Ok(None) };
    if column.family.is_none() {
        let text = format!("{} is a key column: NOT NULL is part of the key's form", column.name);
        return Err(invalid(text).help(OTHER_WAY));
    }
    check_unindexed(def, index)?;
    refuse_older_versions(def, index, "NULL")?;
    let text = format!("{} IS NOT NULL", column_path(def, column));
    let known = table.def().checks.iter().find(|check| check.text == text);
    if let (Some(known), Some(AlterStep::NotNull { check, .. })) = (known, met)
        && known.name == *check
    {
        let name = known.name.clone();
        def.checks.retain(|check| check.name != name);
        if let Some(column) = def.columns.get_mut(index) {
            column.nullable = false;
        }
        return Ok(None);
    }
    let column = column.name.clone();
    let check = match known {
        Some(known) => known.name.clone(),
        None => {
            let name = free_constraint_name(def, &format!("{}_{column}_not_null", def.name.name));
            def.checks.push(CheckDef { name: name.clone(), text });
            name
        }
    };
    Ok(Some(AlterStep::NotNull { check, column }))
}

fn drop_not_null(def: &mut TableDef, index: usize) -> Result<()> {
    let Some(column) = def.columns.get(index).filter(|column| !column.nullable) else { return Ok(()) };
    if column.family.is_none() {
        let text = format!("{} is a key column, whose form has no NULL", column.name);
        return Err(invalid(text).help(OTHER_WAY));
    }
    if column.identity().is_some() {
        return Err(invalid(format!("{} is an identity column, which is never NULL", column.name)));
    }
    check_unindexed(def, index)?;
    if let Some(column) = def.columns.get_mut(index) {
        column.nullable = true;
    }
    Ok(())
}

/// An index keeps a column in a form that depends on its type, and on whether it may be NULL.
fn check_unindexed(def: &TableDef, index: usize) -> Result<()> {
    let Some(using) = def.indexes.iter().find(|using| using.inputs(def).contains(&index)) else { return Ok(()) };
    let column = def.columns.get(index).map_or("", |column| column.name.as_str());
    let text = format!("{column} cannot be changed so: index {} has it in another form", using.name);
    Err(invalid(text).help(format!("DROP INDEX {} ON {} first, and create it again after it", using.name, def.name)))
}

fn refuse_older_versions(def: &TableDef, index: usize, what: &str) -> Result<()> {
    if def.kept_versions().is_none() {
        return Ok(());
    }
    let column = def.columns.get(index).map_or("", |column| column.name.as_str());
    let text = format!("{} keeps older versions of rows, and these may have {what} in {column}", def.name);
    Err(invalid(text).help(format!("ALTER TABLE {} SET VERSIONS = 1, KEEP_VERSIONS = NONE first", def.name)))
}

/// The type that a column gets.
struct NewType<'a> {
    index: usize,
    ty: SqlType,
    using: Option<&'a DefaultSpec>,
}

fn set_type(
    def: &mut TableDef,
    table: &Arc<Table>,
    new: &NewType<'_>,
    met: Option<&AlterStep>,
) -> Result<Option<AlterStep>> {
    let Some(column) = def.columns.get(new.index) else { return Ok(None) };
    if column.ty == new.ty && new.using.is_none() {
        return Ok(None);
    }
    if column.family.is_none() && (new.using.is_some() || !has_same_form(column.ty, new.ty)) {
        let text = format!(
            "{} is a key column, and a row key holds {} and {} in different forms",
            column.name, column.ty, new.ty
        );
        return Err(invalid(text).help(OTHER_WAY));
    }
    check_retypable(def, table, new.index)?;
    if new.using.is_none() && has_same_form(column.ty, new.ty) {
        let absent = column.absent.clone().map(|value| number::assign(value, new.ty)).transpose()?;
        let column = retyped(column, new.ty, absent)?;
        for key in def.key.columns.iter_mut().filter(|key| key.column() == Some(new.index)) {
            key.ty = new.ty;
        }
        put_column(def, new.index, column);
        return check_constraints(def).map(|()| None);
    }
    check_rewritable(def, new)?;
    match met {
        Some(AlterStep::NewValues { column, .. }) => {
            take_place(def, new, column)?;
            check_constraints(def).map(|()| None)
        }
        _ => add_new_values(def, new).map(Some),
    }
}

/// Refuses what is made from the column's values.
fn check_retypable(def: &TableDef, table: &Arc<Table>, index: usize) -> Result<()> {
    let Some(column) = def.columns.get(index) else { return Ok(()) };
    check_unindexed(def, index)?;
    let name = &column.name;
    if column.generated().is_some() || column.identity().is_some() {
        let text = format!("{name} gets its values by itself, in its own type");
        return Err(invalid(text).help("add a column of the type, DROP COLUMN the old one and RENAME the new one"));
    }
    if def.time_column().is_some_and(|time| time.column == index) {
        return Err(invalid(format!("{name} cannot be changed: TTL counts from it")));
    }
    let generated = generated_from(table, &[index])?.into_iter().filter_map(|other| table.def().columns.get(other));
    if let Some(other) = generated.into_iter().find(|other| !other.hidden) {
        let text = format!("{name} cannot get another type: generated column {} is computed from it", other.name);
        return Err(invalid(text).help(format!("DROP COLUMN {} first, and add it again after it", other.name)));
    }
    let uses = |key: &&KeyColumn| key.computed().is_some_and(|expr| expr.columns().contains(&index));
    match def.key.columns.iter().find(uses) {
        None => Ok(()),
        Some(part) => {
            let text = format!("{name} cannot get another type: key part {} is computed from it", part.name);
            Err(invalid(text).help(OTHER_WAY))
        }
    }
}

/// Refuses tables with rows that no statement can write again as they are.
fn check_rewritable(def: &TableDef, new: &NewType<'_>) -> Result<()> {
    refuse_older_versions(def, new.index, "values of the old type")?;
    if let (Some(column), Some(_)) = (def.columns.get(new.index).filter(|column| !column.nullable), new.using) {
        let text = format!("{} is NOT NULL, and an expression after USING may be NULL", column.name);
        return Err(invalid(text).help("DROP NOT NULL first, and SET NOT NULL after it"));
    }
    if def.ttl_s.is_some() && def.time_column().is_none() {
        let text = format!("{} has a TTL, which would count from now on for rows that are written again", def.name);
        return Err(invalid(text).help(OTHER_WAY));
    }
    Ok(())
}

/// Whether all values of a type are values of another one that has the same bytes for them, in rows and in row keys.
fn has_same_form(from: SqlType, to: SqlType) -> bool {
    match (from, to) {
        (SqlType::Varchar(_), SqlType::Varchar(None)) => true,
        (SqlType::Varchar(Some(from)), SqlType::Varchar(Some(to))) => from <= to,
        (SqlType::Decimal(Some((from, scale))), SqlType::Decimal(Some((to, same)))) => from <= to && scale == same,
        _ => from == to,
    }
}

/// A column in another type, with its DEFAULT.
fn retyped(column: &ColumnDef, ty: SqlType, absent: Option<Value>) -> Result<ColumnDef> {
    let mut column = ColumnDef { ty, absent, ..column.clone() };
    if let Some(default) = column.default.as_mut().filter(|default| default.kind == DefaultKind::Constant)
        && let Expr::Literal(value, from) = default.expr.clone()
    {
        let value = number::assign_from(value, from, ty).map_err(|_| {
            let text = format!("DEFAULT {} of {} is no {ty}", default.text, column.name);
            invalid(text).help("DROP DEFAULT first, and SET DEFAULT after it")
        })?;
        default.expr = Expr::Literal(value, ty);
    }
    Ok(column)
}

fn put_column(def: &mut TableDef, index: usize, column: ColumnDef) {
    if let Some(place) = def.columns.get_mut(index) {
        *place = column;
    }
}

/// # Errors
/// A CHECK constraint that is no condition over the new types.
fn check_constraints(def: &TableDef) -> Result<()> {
    RowChecks::of(&table_of(def.clone())?).map(drop).map_err(|error| {
        let help = "DROP CONSTRAINT first, and add it again after it";
        if error.help.is_some() { error } else { error.help(help) }
    })
}

/// Adds the hidden column that gets the new values. One that an unfinished statement has left is replaced.
fn add_new_values(def: &mut TableDef, new: &NewType<'_>) -> Result<AlterStep> {
    let Some(column) = def.columns.get(new.index).cloned() else { return Err(invalid("no column")) };
    let name = format!("_{}_retyped", column.name);
    if let Some(cleared) = without_new_values(def, &name) {
        *def = cleared;
    }
    let name = free_name(&name, |name| def.columns.iter().any(|other| is_same_name(&other.name, name)));
    // The definition that follows must be one.
    retyped(&column, new.ty, None)?;
    let text = match new.using {
        Some(using) => using.text.clone(),
        None => format!("CAST({} AS {})", column_path(def, &column), new.ty),
    };
    let family = column.family.unwrap_or_default();
    let slot = next_slot(def, family)?;
    let default = DefaultDef { text, expr: Expr::NULL, kind: DefaultKind::Generated };
    def.columns.push(ColumnDef {
        default: Some(default),
        family: Some(family),
        slot,
        hidden: true,
        ..ColumnDef::new(&name, new.ty)
    });
    let placed = |error: BindError| match new.using {
        // Positions are those of the kept text.
        Some(using) => BindError { span: Some(using.span), ..error },
        None => BindError { span: None, ..error },
    };
    check_generated_column(def, def.columns.len() - 1).map_err(placed)?;
    Ok(AlterStep::NewValues { column: name, set: column_path(def, &column), table: table_path(&def.name) })
}

/// Puts the hidden column in the place of the old one.
fn take_place(def: &mut TableDef, new: &NewType<'_>, hidden: &str) -> Result<()> {
    let at = def.columns.iter().position(|column| column.hidden && column.name == hidden);
    let (Some(at), Some(old)) = (at, def.columns.get(new.index)) else {
        return Err(invalid(format!("another statement has changed {} meanwhile", def.name)));
    };
    let (family, old_slot, old_type) = (old.family, old.slot, old.ty);
    let mut column = retyped(old, new.ty, None)?;
    column.slot = def.columns.remove(at).slot;
    if let Some(family) = family {
        def.history.dropped.push(DroppedColumn { family, slot: old_slot, ty: old_type });
    }
    put_column(def, new.index, column);
    Ok(())
}

/// The definition without the hidden column of an ALTER COLUMN TYPE that failed; `None` if it is not there.
#[must_use]
pub fn without_new_values(def: &TableDef, hidden: &str) -> Option<TableDef> {
    let at = def.columns.iter().position(|column| column.hidden && column.name == hidden)?;
    let mut def = def.clone();
    let ColumnDef { family, slot, ty, .. } = def.columns.remove(at);
    def.history.dropped.extend(family.map(|family| DroppedColumn { family, slot, ty }));
    Some(def)
}
