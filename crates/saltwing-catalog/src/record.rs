//! The record of a table: the form in which the catalog stores a definition.
//!
//! ```json
//! {"record_version":2, "id":100, "object_id":100, "name":{"schema":null,"name":"t"}, "columns":[{"name":"k","type":"BIGINT",..}], "key":{..}, ..}
//! ```
//!
//! The field names and the structure are the record's own: types and functions have their names in SQL, and nothing depends on the
//! names of Rust types. So a Rust type can be renamed, and existing databases still open. A change of the record needs
//! a new [`RECORD_VERSION`], and a reader for the earlier versions.
//!
//! Catalogs of the formats 1 to 4 hold records without a version. They have other names for some fields, which are the
//! aliases below, and other forms of types and some values, whose Rust names begin with "Earlier".

use std::fmt::Display;

use saltwing_types::table::{CheckDef, DefaultDef, DefaultKind, DroppedColumn, IdentityDef, TableHistory, TableOption};
use saltwing_types::{
    ColumnDef, ColumnRef, Expr, IndexDef, IndexPart, IndexPredicate, IndexState, KeyColumn, KeySchema, KeySource,
    ObjectId, Rebuild, Salt, SortOrder, TableDef, TableId, TableName,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::CatalogError;

mod expression;
pub(crate) mod schema;
pub(crate) mod sequence;
mod sql_type;
#[cfg(test)]
mod tests;
pub(crate) mod user;
pub(crate) mod view;

use expression::{ExprRecord, ValueRecord};
use sql_type::TypeRecord;

/// The latest version that can be read. Only records that need it have it, so that earlier releases read the others.
const RECORD_VERSION: u32 = 3;
/// The version of records without a column that has [`ColumnRecord::absent`].
const VERSION_WITHOUT_ABSENT: u32 = 2;

/// The record of a definition.
///
/// # Errors
/// [`CatalogError::Corrupt`] for a definition that no statement creates.
pub(crate) fn write(def: &TableDef) -> Result<String, CatalogError> {
    let cannot =
        |why| CatalogError::Corrupt(format!("table {} has a definition that cannot be stored: {why}", def.name));
    let record = TableRecord::of(def).map_err(cannot)?;
    serde_json::to_string(&record).map_err(|error| cannot(error.to_string()))
}

/// The definition in the record `text`; `table` is the name of the table, for messages.
///
/// # Errors
/// [`CatalogError::NewerRecord`]; [`CatalogError::UnreadableDefinition`].
pub(crate) fn read(table: &str, text: &str) -> Result<TableDef, CatalogError> {
    let unreadable = |why| CatalogError::UnreadableDefinition { table: table.into(), why };
    parsed::<TableRecord>(("table", table), text, RECORD_VERSION)?.map_err(unreadable)?.into_def().map_err(unreadable)
}

/// The text of the record of an object; `of` is its kind and its name.
///
/// # Errors
/// [`CatalogError::Corrupt`], which no statement causes.
fn stored((what, name): (&str, &dyn Display), record: &impl Serialize) -> Result<String, CatalogError> {
    serde_json::to_string(record)
        .map_err(|error| CatalogError::Corrupt(format!("{what} {name} cannot be stored: {error}")))
}

/// The error of an object's record that cannot be read.
fn unreadable((what, name): (&str, &str), why: impl Display) -> CatalogError {
    CatalogError::Corrupt(format!("the definition of {what} {name} cannot be read: {why}"))
}

/// Parses a record of a version up to `supported`; the result is the record, or the reason why it cannot be read. `of` has the kind and the
/// name of the object.
///
/// # Errors
/// [`CatalogError::NewerRecord`].
fn parsed<T: DeserializeOwned>(
    of: (&'static str, &str),
    text: &str,
    supported: u32,
) -> Result<Result<T, String>, CatalogError> {
    // A newer record may have fields or variants that `T` refuses.
    let found = serde_json::from_str::<VersionOnly>(text).map_or(0, |only| only.record_version);
    if found > supported {
        return Err(CatalogError::NewerRecord { what: of.0, name: of.1.into(), found, supported });
    }
    Ok(serde_json::from_str(text).map_err(|error| error.to_string()))
}

/// The version of a record whose other fields are unknown.
#[derive(Deserialize)]
struct VersionOnly {
    #[serde(default)]
    record_version: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TableRecord {
    /// Absent in catalogs of the formats 1 to 4.
    #[serde(default)]
    record_version: u32,
    id: u32,
    /// Absent before version 2: then the number of the table is the id of its rows.
    object_id: Option<u32>,
    name: NameRecord,
    columns: Vec<ColumnRecord>,
    key: KeyRecord,
    key_name: Option<String>,
    families: Vec<Option<String>>,
    ttl_s: Option<u64>,
    options: Vec<OptionRecord>,
    #[serde(default)]
    history: HistoryRecord,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    comment: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    checks: Vec<CheckRecord>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    indexes: Vec<IndexRecord>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct IndexRecord {
    id: u32,
    /// Absent before version 2: then the number of the index is the id of its entries.
    object_id: Option<u32>,
    name: String,
    parts: Vec<IndexPartRecord>,
    include: Vec<usize>,
    #[serde(default, skip_serializing_if = "is_false")]
    unique: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    predicate: Option<PredicateRecord>,
    #[serde(default, skip_serializing_if = "is_false")]
    local: bool,
    salt: Option<SaltRecord>,
    state: IndexStateRecord,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rebuild: Option<RebuildRecord>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RebuildRecord {
    id: u32,
    ttl_s: Option<u64>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PredicateRecord {
    expr: ExprRecord,
    text: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum IndexStateRecord {
    Building,
    Ready,
    Disabled,
}

/// A part of an index has either a column's index or an expression.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct IndexPartRecord {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expr: Option<ExprRecord>,
    text: String,
    #[serde(with = "OrderRecord")]
    order: SortOrder,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CheckRecord {
    name: String,
    text: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NameRecord {
    schema: Option<String>,
    name: String,
}

impl NameRecord {
    fn of(name: &TableName) -> Self {
        Self { schema: name.schema.clone(), name: name.name.clone() }
    }

    fn into_name(self) -> TableName {
        TableName { schema: self.schema, name: self.name }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ColumnRecord {
    name: String,
    #[serde(rename = "type", alias = "ty")]
    sql_type: TypeRecord,
    nullable: bool,
    default: Option<DefaultRecord>,
    family: Option<usize>,
    slot: u16,
    hidden: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    comment: Option<String>,
    /// Present in records of version 3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    absent: Option<ValueRecord>,
}

/// The text of a DEFAULT, and its value as an expression, unless it is computed for each row.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DefaultRecord {
    text: String,
    expr: ExprRecord,
    #[serde(default)]
    computed: bool,
    /// Whether the text is the expression of a generated column.
    #[serde(default, skip_serializing_if = "is_false")]
    generated: bool,
    /// Present if the text takes a value of the column's own sequence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    identity: Option<IdentityRecord>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct IdentityRecord {
    always: bool,
    sequence: NameRecord,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyRecord {
    columns: Vec<KeyColumnRecord>,
    salt: Option<SaltRecord>,
}

/// A key column has either a column's index or an expression.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyColumnRecord {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expr: Option<ExprRecord>,
    name: String,
    #[serde(rename = "type", alias = "ty")]
    sql_type: TypeRecord,
    #[serde(with = "OrderRecord")]
    order: SortOrder,
    nullable: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "SortOrder")]
enum OrderRecord {
    #[serde(rename = "asc", alias = "Asc")]
    Asc,
    #[serde(rename = "desc", alias = "Desc")]
    Desc,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SaltRecord {
    buckets: u16,
    by: Option<usize>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OptionRecord {
    name: String,
    value: ValueRecord,
    honoured: bool,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HistoryRecord {
    version: u32,
    #[serde(default, skip_serializing_if = "is_zero")]
    versions_since: u32,
    dropped: Vec<DroppedRecord>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DroppedRecord {
    family: usize,
    slot: u16,
    #[serde(rename = "type", alias = "ty")]
    sql_type: TypeRecord,
}

impl TableRecord {
    fn of(def: &TableDef) -> Result<Self, String> {
        let options = def.options.iter().map(|option| OptionRecord {
            name: option.name.clone(),
            value: ValueRecord::of(&option.value),
            honoured: option.honoured,
        });
        let check = |check: &CheckDef| CheckRecord { name: check.name.clone(), text: check.text.clone() };
        let has_absent = def.columns.iter().any(|column| column.absent.is_some());
        Ok(Self {
            record_version: if has_absent { RECORD_VERSION } else { VERSION_WITHOUT_ABSENT },
            id: def.id.0,
            object_id: Some(def.object_id.0),
            name: NameRecord::of(&def.name),
            columns: def.columns.iter().map(ColumnRecord::of).collect::<Result<_, _>>()?,
            key: KeyRecord {
                columns: def.key.columns.iter().map(KeyColumnRecord::of).collect::<Result<_, _>>()?,
                salt: def.key.salt.map(|Salt { buckets, by }| SaltRecord { buckets, by }),
            },
            key_name: def.key_name.clone(),
            families: def.families.clone(),
            ttl_s: def.ttl_s,
            options: options.collect(),
            history: HistoryRecord::of(&def.history),
            comment: def.comment.clone(),
            checks: def.checks.iter().map(check).collect(),
            indexes: def.indexes.iter().map(IndexRecord::of).collect::<Result<_, _>>()?,
        })
    }

    fn into_def(self) -> Result<TableDef, String> {
        let columns = self.columns.into_iter().map(ColumnRecord::into_def).collect::<Result<Vec<_>, _>>()?;
        let key_columns = self.key.columns.into_iter().map(|key| key.into_def(&columns)).collect::<Result<_, _>>()?;
        let indexes = self.indexes.into_iter().map(|index| index.into_def(&columns)).collect::<Result<_, _>>()?;
        let option = |option: OptionRecord| {
            Ok(TableOption { name: option.name, value: option.value.into_value()?, honoured: option.honoured })
        };
        Ok(TableDef {
            id: TableId(self.id),
            object_id: ObjectId(self.object_id.unwrap_or(self.id)),
            name: self.name.into_name(),
            columns,
            key: KeySchema {
                columns: key_columns,
                salt: self.key.salt.map(|SaltRecord { buckets, by }| Salt { buckets, by }),
            },
            key_name: self.key_name,
            families: self.families,
            ttl_s: self.ttl_s,
            options: self.options.into_iter().map(option).collect::<Result<_, String>>()?,
            history: self.history.into_history(),
            comment: self.comment,
            checks: self.checks.into_iter().map(|CheckRecord { name, text }| CheckDef { name, text }).collect(),
            indexes,
        })
    }
}

impl IndexRecord {
    fn of(index: &IndexDef) -> Result<Self, String> {
        let part = |part: &IndexPart| {
            let column = IndexDef::part_column(part);
            let expr = if column.is_some() { None } else { Some(ExprRecord::of(&part.expr)?) };
            Ok::<_, String>(IndexPartRecord { column, expr, text: part.text.clone(), order: part.order })
        };
        Ok(Self {
            id: index.id.0,
            object_id: Some(index.object_id.0),
            name: index.name.clone(),
            parts: index.parts.iter().map(part).collect::<Result<_, _>>()?,
            include: index.include.clone(),
            predicate: index.predicate.as_ref().map(PredicateRecord::of).transpose()?,
            local: index.local,
            salt: index.salt.map(|Salt { buckets, by }| SaltRecord { buckets, by }),
            unique: index.unique,
            state: match index.state {
                IndexState::Building => IndexStateRecord::Building,
                IndexState::Ready => IndexStateRecord::Ready,
                IndexState::Disabled => IndexStateRecord::Disabled,
            },
            rebuild: index.rebuild.map(|Rebuild { id, ttl_s }| RebuildRecord { id: id.0, ttl_s }),
        })
    }

    fn into_def(self, columns: &[ColumnDef]) -> Result<IndexDef, String> {
        let part = |part: IndexPartRecord| {
            let expr = match (part.column, part.expr) {
                (Some(index), None) => {
                    let column = columns.get(index).ok_or_else(|| format!("index {} has no column", self.name))?;
                    let (name, ty, nullable) = (column.name.clone(), column.ty, column.nullable);
                    Expr::Column(ColumnRef { index, name, ty, nullable, span: None })
                }
                (None, Some(expr)) => expr.into_expr(columns)?,
                _ => return Err(format!("index part {} is neither a column nor an expression", part.text)),
            };
            Ok(IndexPart { expr, text: part.text, order: part.order })
        };
        let predicate = self.predicate.map(|predicate| predicate.into_predicate(columns)).transpose()?;
        Ok(IndexDef {
            id: TableId(self.id),
            object_id: ObjectId(self.object_id.unwrap_or(self.id)),
            predicate,
            local: self.local,
            parts: self.parts.into_iter().map(part).collect::<Result<_, String>>()?,
            name: self.name.clone(),
            include: self.include,
            salt: self.salt.map(|SaltRecord { buckets, by }| Salt { buckets, by }),
            unique: self.unique,
            state: match self.state {
                IndexStateRecord::Building => IndexState::Building,
                IndexStateRecord::Ready => IndexState::Ready,
                IndexStateRecord::Disabled => IndexState::Disabled,
            },
            rebuild: self.rebuild.map(|RebuildRecord { id, ttl_s }| Rebuild { id: TableId(id), ttl_s }),
        })
    }
}

impl PredicateRecord {
    fn of(predicate: &IndexPredicate) -> Result<Self, String> {
        Ok(Self { expr: ExprRecord::of(&predicate.expr)?, text: predicate.text.clone() })
    }

    fn into_predicate(self, columns: &[ColumnDef]) -> Result<IndexPredicate, String> {
        Ok(IndexPredicate { expr: self.expr.into_expr(columns)?, text: self.text })
    }
}

impl ColumnRecord {
    fn of(column: &ColumnDef) -> Result<Self, String> {
        let default = |default: &DefaultDef| {
            let expr = ExprRecord::of(&default.expr)?;
            let (computed, generated) = (default.is_of_new_row(), default.kind == DefaultKind::Generated);
            let identity = match &default.kind {
                DefaultKind::Identity(IdentityDef { always, sequence }) => {
                    Some(IdentityRecord { always: *always, sequence: NameRecord::of(sequence) })
                }
                _ => None,
            };
            Ok::<_, String>(DefaultRecord { text: default.text.clone(), expr, computed, generated, identity })
        };
        Ok(Self {
            name: column.name.clone(),
            sql_type: TypeRecord(column.ty),
            nullable: column.nullable,
            default: column.default.as_ref().map(default).transpose()?,
            family: column.family,
            slot: column.slot,
            hidden: column.hidden,
            comment: column.comment.clone(),
            absent: column.absent.as_ref().map(ValueRecord::of),
        })
    }

    fn into_def(self) -> Result<ColumnDef, String> {
        let default = |DefaultRecord { text, expr, computed, generated, identity }| {
            let kind = match (identity, generated, computed) {
                (Some(IdentityRecord { always, sequence }), ..) => {
                    DefaultKind::Identity(IdentityDef { always, sequence: sequence.into_name() })
                }
                (None, true, _) => DefaultKind::Generated,
                (None, false, true) => DefaultKind::NewRow,
                (None, false, false) => DefaultKind::Constant,
            };
            Ok::<_, String>(DefaultDef { text, expr: expr.into_expr(&[])?, kind })
        };
        Ok(ColumnDef {
            name: self.name,
            ty: self.sql_type.0,
            nullable: self.nullable,
            default: self.default.map(default).transpose()?,
            family: self.family,
            slot: self.slot,
            hidden: self.hidden,
            comment: self.comment,
            absent: self.absent.map(ValueRecord::into_value).transpose()?,
        })
    }
}

impl KeyColumnRecord {
    fn of(key: &KeyColumn) -> Result<Self, String> {
        Ok(Self {
            column: key.column(),
            expr: key.computed().map(ExprRecord::of).transpose()?,
            name: key.name.clone(),
            sql_type: TypeRecord(key.ty),
            order: key.order,
            nullable: key.nullable,
        })
    }

    fn into_def(self, columns: &[ColumnDef]) -> Result<KeyColumn, String> {
        let source = match (self.column, self.expr) {
            (Some(column), None) => KeySource::Column(column),
            (None, Some(expr)) => KeySource::Computed(expr.into_expr(columns)?),
            _ => return Err(format!("key column {} is neither a column nor an expression", self.name)),
        };
        Ok(KeyColumn { source, name: self.name, ty: self.sql_type.0, order: self.order, nullable: self.nullable })
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde passes a reference
fn is_false(flag: &bool) -> bool {
    !flag
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde passes a reference
fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl HistoryRecord {
    fn of(history: &TableHistory) -> Self {
        let dropped = history.dropped.iter().map(|&DroppedColumn { family, slot, ty }| DroppedRecord {
            family,
            slot,
            sql_type: TypeRecord(ty),
        });
        Self { version: history.version, versions_since: history.versions_since, dropped: dropped.collect() }
    }

    fn into_history(self) -> TableHistory {
        let dropped = self.dropped.into_iter().map(|DroppedRecord { family, slot, sql_type }| DroppedColumn {
            family,
            slot,
            ty: sql_type.0,
        });
        TableHistory { version: self.version, versions_since: self.versions_since, dropped: dropped.collect() }
    }
}
