//! A key column that ALTER TABLE adds after the last one.
//!
//! NULLs at the end of a row key have no bytes. So the row keys that are there stay as they are, buckets included, and have
//! NULL in the new column.
//!
//! # The old last column
//! It becomes a column inside the key, and two types have values there that only the end of a key can hold: a text with a
//! NUL byte, which would end it, and bytes that begin with `FF` in a nullable VARBINARY_ENCODED DESC, which would read as NULL.
//! No row may have them. A CHECK constraint sees to that: it is added first, the stored rows are checked against it, and the
//! definition with the new column takes its place.

use saltwing_rowkey::RowKeyCodec;
use saltwing_sql::statement::ColumnSpec;
use saltwing_types::table::CheckDef;
use saltwing_types::{ColumnDef, KeyColumn, KeySource, SortOrder, SqlType, TableDef};

use crate::check::free_constraint_name;
use crate::error::{BindError, Result, invalid};
use crate::table_path::column_path;

/// How to get another key.
const WAY_OUT: &str = "make a table with the new key, then UPSERT INTO new SELECT .. FROM old";

/// The constraint that must hold before another key column follows the last one; `None` if no row can break it.
///
/// # Errors
/// `invalid_definition` if rows that a statement cannot check may break it.
pub(crate) fn guard_of_last_column(def: &TableDef) -> Result<Option<CheckDef>> {
    let last = def.key.columns.last();
    let Some((last, column)) = last.and_then(|last| Some((last, def.columns.get(last.column()?)?))) else {
        return Ok(None);
    };
    let path = column_path(def, column);
    let text = match (last.ty, last.order) {
        (SqlType::Varchar(_), SortOrder::Asc) => format!("STRPOS({path}, '\0') = 0"),
        (SqlType::VarbinaryEncoded, SortOrder::Desc) if last.nullable => format!("{path} < X'FF'"),
        _ => return Ok(None),
    };
    if def.kept_versions().is_some() {
        let text = format!("{} keeps older versions of rows, and these may have {}", def.name, unfit_values(last));
        return Err(
            invalid(text).help(format!("ALTER TABLE {} SET VERSIONS = 1, KEEP_VERSIONS = NONE first", def.name))
        );
    }
    match def.checks.iter().find(|check| check.text == text) {
        Some(check) => Ok(Some(check.clone())),
        None => Ok(Some(CheckDef {
            name: free_constraint_name(def, &format!("{}_{}_end", def.name.name, column.name)),
            text,
        })),
    }
}

/// The error of a table whose rows break the constraint of its last key column; `key` is one's, as SQL texts.
pub(crate) fn unfit_last_column(def: &TableDef, key: &str) -> BindError {
    let unfit = def.key.columns.last().map(unfit_values).unwrap_or_default();
    let text =
        format!("a column behind the last key column cannot be told from {unfit}: {} has one in row ({key})", def.name);
    invalid(text).help(WAY_OUT)
}

fn unfit_values(last: &KeyColumn) -> String {
    match last.ty {
        SqlType::VarbinaryEncoded => format!("values of {} that begin with FF", last.name),
        _ => format!("values of {} with a NUL byte", last.name),
    }
}

/// Adds a key column after the last one.
///
/// # Errors
/// `invalid_definition` where row keys would change, or could not be read.
pub(crate) fn add_key_column(def: &mut TableDef, spec: &ColumnSpec) -> Result<()> {
    let (name, key) = (&spec.name.name.text, spec.primary_key);
    let order = key.map_or(SortOrder::Asc, |key| key.order);
    let place = |error: BindError| error.at(key.map(|key| key.span));
    if def.has_hidden_key() {
        let text =
            format!("{} has no primary key: its rows have hidden ones, behind which no column can stand", def.name);
        return Err(place(invalid(text)).help(WAY_OUT));
    }
    if let Some(family) = &spec.name.family {
        let text = format!("key column {name} lies in the row key, not in family {}", family.text);
        return Err(invalid(text).at(Some(spec.name.span())).phoenix(1003));
    }
    if spec.not_null == Some(true) {
        let text = format!("{name} is NOT NULL, and the row keys that are there have no value for it");
        return Err(place(invalid(text)).help("a key column that is added is NULL in them").phoenix(1006));
    }
    if spec.sql_type.fixed_key_bytes().is_some() {
        let text = format!("{name} is {}, of fixed width, which has no form for NULL in a row key", spec.sql_type);
        return Err(place(invalid(text)).help("a type of variable width has one: VARCHAR, DECIMAL, VARBINARY_ENCODED"));
    }
    let given = spec.default.iter().chain(&spec.generated).map(|given| given.span);
    if let Some(span) = given.chain(spec.identity.iter().map(|identity| identity.span)).next() {
        let text = format!("{name} takes no DEFAULT and no expression: it is NULL in the row keys that are there");
        return Err(invalid(text).at(Some(span)));
    }
    if let Some(last) = def.key.columns.last().filter(|last| takes_the_rest(last.ty)) {
        let text =
            format!("no column can stand behind key column {}: {} extends to the end of the key", last.name, last.ty);
        return Err(place(invalid(text)).help(WAY_OUT));
    }
    let column = def.columns.len();
    def.columns.push(ColumnDef::new(name, spec.sql_type));
    def.key.columns.push(KeyColumn {
        source: KeySource::Column(column),
        name: name.clone(),
        ty: spec.sql_type,
        order,
        nullable: true,
    });
    RowKeyCodec::new(&def.key).map(drop).map_err(|error| place(invalid(error.to_string())))
}

fn takes_the_rest(ty: SqlType) -> bool {
    matches!(ty, SqlType::Varbinary | SqlType::Array(..))
}
