//! Definitions of tables and of their keys.

use std::fmt;

use crate::dynamic::DYNAMIC_COLUMNS;
use crate::key_form::key_form_of_entry;
use crate::{Expr, ObjectId, SqlType, Value, ValueError, eval, number};

/// The option of a table whose rows are written once.
pub const IMMUTABLE_ROWS: &str = "IMMUTABLE_ROWS";
/// The schema that stands before the names of temporary tables. No schema can be created with this name.
pub const TEMPORARY_SCHEMA: &str = "temp";
/// Most columns of a table.
pub const COLUMNS_MAX: usize = 1000;
/// Most bytes of a row key, bucket byte included.
pub const ROW_KEY_BYTES_MAX: usize = 32_767;
/// Most buckets of a salted table.
pub const BUCKETS_MAX: u16 = 256;
/// The hidden column that every table has: its physical row key, bucket byte included.
pub const ROW_KEY_COLUMN: &str = "_row_key";
/// The hidden column that every table has: when the row was written, or its value of [`TableDef::time_column`].
pub const ROW_TIME_COLUMN: &str = "_row_time";
/// The hidden key column of a table that declares no primary key.
pub const ROW_ID_COLUMN: &str = "_row_id";

/// The names of the hidden columns, which statements may read: [`ROW_KEY_COLUMN`] and [`ROW_TIME_COLUMN`] of every table,
/// [`ROW_ID_COLUMN`] and [`DYNAMIC_COLUMNS`] of some.
pub const HIDDEN_COLUMNS: [&str; 4] = [ROW_KEY_COLUMN, ROW_TIME_COLUMN, ROW_ID_COLUMN, DYNAMIC_COLUMNS];

/// The number under which the rows of a table, or the entries of an index, are stored: never reused. TRUNCATE gives a table another one, and so
/// does a rebuild an index; [`ObjectId`] stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableId(pub u32);

impl From<TableId> for ObjectId {
    /// That of a new table or index, whose first rows are stored under this number.
    fn from(TableId(id): TableId) -> Self {
        Self(id)
    }
}

/// A table's name, with its schema if it has one, as spelt at creation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TableName {
    /// Schema, if not the default one.
    pub schema: Option<String>,
    /// Table.
    pub name: String,
}

impl TableName {
    /// A name in the default schema.
    pub fn bare(name: impl Into<String>) -> Self {
        Self { schema: None, name: name.into() }
    }
}

impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.schema {
            Some(schema) => write!(f, "{schema}.{}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// Sort direction of a key column. NULLs come first in both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SortOrder {
    /// Smallest first.
    Asc,
    /// Largest first: value bytes are inverted.
    Desc,
}

/// How rows are spread over buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Salt {
    /// Number of buckets, 1..=256.
    pub buckets: u16,
    /// `None`: the hash covers the whole key, as in Phoenix. `Some(n)`: the
    /// first n key columns only (`SALT_BY`).
    pub by: Option<usize>,
}

/// Where the values of a key column come from.
#[derive(Clone, Debug, PartialEq)]
pub enum KeySource {
    /// A column of the table: its index in [`TableDef::columns`].
    Column(usize),
    /// Computed for each row from key columns after it: see [`crate::key_expression`].
    Computed(Expr),
    /// Of an index: computed for each entry, and kept [in the type of an index](crate::key_form).
    Indexed(Expr),
}

/// One column of a primary key.
///
/// A computed one is no column of the table: it is in no row, has no name in
/// statements, and is never read back.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyColumn {
    /// The table's column, or the expression.
    pub source: KeySource,
    /// Name as declared; of a computed one its text.
    pub name: String,
    /// Type.
    pub ty: SqlType,
    /// Direction.
    pub order: SortOrder,
    /// Whether NULL may be stored: only in types of variable width.
    pub nullable: bool,
}

impl KeyColumn {
    /// Index of the column in [`TableDef::columns`]; `None` for a computed one.
    pub fn column(&self) -> Option<usize> {
        match self.source {
            KeySource::Column(column) => Some(column),
            KeySource::Computed(_) | KeySource::Indexed(_) => None,
        }
    }

    /// The expression that computes it; `None` for a column of the table.
    pub fn computed(&self) -> Option<&Expr> {
        match &self.source {
            KeySource::Column(_) => None,
            KeySource::Computed(expr) | KeySource::Indexed(expr) => Some(expr),
        }
    }

    /// Its value in a row of all the table's columns; a missing column is NULL.
    ///
    /// # Errors
    /// The error of its computation: such a row cannot be stored.
    pub fn value(&self, row: &[Value]) -> Result<Value, ValueError> {
        match &self.source {
            KeySource::Column(column) => Ok(row.get(*column).cloned().unwrap_or(Value::Null)),
            KeySource::Computed(expr) => number::assign(eval::eval(expr, row)?, self.ty),
            KeySource::Indexed(expr) => {
                key_form_of_entry(&eval::eval(expr, row)?, expr.sql_type().unwrap_or(SqlType::Null), self.ty)
            }
        }
    }
}

/// A primary key: its columns in order, and the salt.
#[derive(Clone, Debug, PartialEq)]
pub struct KeySchema {
    /// Key columns, leading one first; never empty.
    pub columns: Vec<KeyColumn>,
    /// Salt, if the table has buckets.
    pub salt: Option<Salt>,
}

impl KeySchema {
    /// Place in the key of the table column `column`, if it is a key column.
    pub fn position(&self, column: usize) -> Option<usize> {
        self.columns.iter().position(|k| k.column() == Some(column))
    }

    /// Whether a key column is computed: Phoenix has no such keys.
    pub fn has_computed(&self) -> bool {
        self.columns.iter().any(|k| k.computed().is_some())
    }
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnDef {
    /// Name as declared.
    pub name: String,
    /// Type.
    pub ty: SqlType,
    /// Whether NULL may be stored.
    pub nullable: bool,
    /// DEFAULT, or the expression of a generated column.
    pub default: Option<DefaultDef>,
    /// Index in [`TableDef::families`] of a value column; `None` for a key column.
    pub family: Option<usize>,
    /// Slot in its family's stored value: grows, never reused. 0 for key columns.
    pub slot: u16,
    /// Whether `SELECT *` leaves it out (the hidden row id).
    pub hidden: bool,
    /// COMMENT ON COLUMN.
    pub comment: Option<String>,
    /// The value that rows from before the column have in it, if its DEFAULT has changed since it was added. Otherwise they have the
    /// value of the DEFAULT.
    pub absent: Option<Value>,
}

impl ColumnDef {
    /// A column with a name and a type alone: it may be NULL, and lies in no family.
    pub fn new(name: impl Into<String>, ty: SqlType) -> Self {
        let (name, default, family, comment) = (name.into(), None, None, None);
        Self { name, ty, nullable: true, default, family, slot: 0, hidden: false, comment, absent: None }
    }

    /// The expression of a generated column; `None` of another one.
    pub fn generated(&self) -> Option<&str> {
        let default = self.default.as_ref().filter(|default| default.kind == DefaultKind::Generated);
        default.map(|default| default.text.as_str())
    }

    /// How an identity column counts; `None` of another one.
    pub fn identity(&self) -> Option<&IdentityDef> {
        match &self.default.as_ref()?.kind {
            DefaultKind::Identity(identity) => Some(identity),
            _ => None,
        }
    }
}

/// A column's DEFAULT, or how else it gets its values.
#[derive(Clone, Debug, PartialEq)]
pub struct DefaultDef {
    /// As written.
    pub text: String,
    /// The value of [`DefaultKind::Constant`]; NULL for the others.
    pub expr: Expr,
    /// When it is computed.
    pub kind: DefaultKind,
}

/// When the value of a DEFAULT is computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DefaultKind {
    /// Once, when the column is defined.
    Constant,
    /// For each new row that is given no value: the text is SQL, `now()` or `NEXT VALUE FOR s`.
    NewRow,
    /// As [`DefaultKind::NewRow`], from a sequence of the column's own: GENERATED .. AS IDENTITY.
    Identity(IdentityDef),
    /// Each time a row is written: the text is an expression over the row's other columns.
    Generated,
}

/// A column that counts by itself. Its sequence is dropped with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdentityDef {
    /// GENERATED ALWAYS: statements may not give it values, unless they say OVERRIDING SYSTEM VALUE.
    pub always: bool,
    /// Its sequence.
    pub sequence: TableName,
}

impl DefaultDef {
    /// Whether it is computed for each new row.
    pub fn is_of_new_row(&self) -> bool {
        matches!(self.kind, DefaultKind::NewRow | DefaultKind::Identity(_))
    }
}

/// Most indexes of a table.
pub const INDEXES_MAX: usize = 64;

/// A secondary index.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexDef {
    /// The number of its entries, as if they were a table.
    pub id: TableId,
    /// Its number.
    pub object_id: ObjectId,
    /// Name: indexes and other objects of a schema differ in more than case.
    pub name: String,
    /// What its entries are sorted by; never empty.
    pub parts: Vec<IndexPart>,
    /// The columns whose values entries also have, by index in [`TableDef::columns`].
    pub include: Vec<usize>,
    /// Whether no two rows have the same values of all parts. NULL is the same as no value.
    pub unique: bool,
    /// The rows that have an entry; `None`: all of them.
    pub predicate: Option<IndexPredicate>,
    /// Whether an entry lies in the bucket of its row.
    pub local: bool,
    /// The buckets of the entries of a global index. Those of a local one are the buckets of its table.
    pub salt: Option<Salt>,
    /// Whether it can be read.
    pub state: IndexState,
    /// The entries that are to take the place of these. Until then these are in force: read, kept in step and unique.
    pub rebuild: Option<Rebuild>,
}

/// The new entries of an index that is rebuilt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rebuild {
    /// Their number, as if they were a table.
    pub id: TableId,
    /// Their TTL, in seconds: that of the table, or the one that it gets together with them.
    pub ttl_s: Option<u64>,
}

/// One part of the key of an index.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexPart {
    /// A column of the table, or an expression over its columns.
    pub expr: Expr,
    /// The expression as SQL, or the column's name.
    pub text: String,
    /// Direction.
    pub order: SortOrder,
}

/// The condition of a partial index.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexPredicate {
    /// The condition over the columns of the table. A row for which it is TRUE has an entry.
    pub expr: Expr,
    /// The condition as SQL.
    pub text: String,
}

/// What statements do with an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexState {
    /// Writes keep it in step. It does not have the entries of all earlier rows yet, so no statement reads it.
    Building,
    /// Each row has its entry.
    Ready,
    /// Each row has its entry, and no statement may read it.
    Disabled,
}

impl fmt::Display for IndexState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Building => "building",
            Self::Ready => "ready",
            Self::Disabled => "disabled",
        })
    }
}

/// A table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableDef {
    /// The number of its rows.
    pub id: TableId,
    /// Its number.
    pub object_id: ObjectId,
    /// Name.
    pub name: TableName,
    /// Columns in declared order.
    pub columns: Vec<ColumnDef>,
    /// Primary key.
    pub key: KeySchema,
    /// Name of the key's constraint, if it was given one.
    pub key_name: Option<String>,
    /// Column families in order of first use; at least one. `None` is the default family.
    pub families: Vec<Option<String>>,
    /// Seconds after which a row is no longer returned.
    pub ttl_s: Option<u64>,
    /// Options as written that do not have a field of their own, in order.
    pub options: Vec<TableOption>,
    /// Its history since it was created.
    pub history: TableHistory,
    /// COMMENT ON TABLE.
    pub comment: Option<String>,
    /// CHECK constraints, in the order of their creation.
    pub checks: Vec<CheckDef>,
    /// Secondary indexes, in the order of their creation.
    pub indexes: Vec<IndexDef>,
}

/// A CHECK constraint: no row is written for which its condition is FALSE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckDef {
    /// Its name: constraints of a table differ in more than case.
    pub name: String,
    /// The condition over the table's columns, as SQL.
    pub text: String,
}

/// Most slots of a column family, those of dropped columns included: a recent row has room for all of them.
pub const SLOTS_MAX: usize = 4096;

/// The changes of a table by ALTER TABLE.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableHistory {
    /// Counts the changes of the definition.
    pub version: u32,
    /// The version of the definition since which the table keeps older rows ([`TableDef::kept_versions`]); 1 from its
    /// creation on, 0 if it never has.
    pub versions_since: u32,
    /// The columns that are gone: rows may still have their values.
    pub dropped: Vec<DroppedColumn>,
}

/// What is left of a column that was dropped: a slot that is never used again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DroppedColumn {
    /// Index in [`TableDef::families`].
    pub family: usize,
    /// Slot in it.
    pub slot: u16,
    /// Type.
    pub ty: SqlType,
}

/// The option that says how many rows a block of a table has at most, a [`Value::Int`] from 1 to [`BLOCK_ROWS_MAX`].
pub const BLOCK_ROWS: &str = "BLOCK_ROWS";
/// Most rows of a block.
pub const BLOCK_ROWS_MAX: u64 = 65_536;
/// The option that says how many bytes of rows a block of a table has at most, if it has more than one row: a
/// [`Value::Int`] from 1 to [`BLOCK_BYTES_MAX`].
pub const BLOCK_BYTES: &str = "BLOCK_BYTES";
/// Most bytes of rows of a block with more than one row.
pub const BLOCK_BYTES_MAX: u64 = 64 << 20;

/// The columns that a name means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnMatch {
    /// One, by its index in [`TableDef::columns`].
    One(usize),
    /// Columns of several families, none of them the default one.
    Several,
    /// None.
    None,
}

/// Whether two names are the same in any case.
pub fn is_same_name(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b) || !(a.is_ascii() && b.is_ascii()) && a.to_lowercase() == b.to_lowercase()
}

/// The option that says how many versions of a row are kept, the current one included: a [`Value::Int`] from 1 to
/// [`VERSIONS_MAX`].
pub const VERSIONS: &str = "VERSIONS";
/// Most versions of a row, but for those within [`KEEP_VERSIONS`].
pub const VERSIONS_MAX: u64 = 1_000_000;
/// The option that says how many seconds each older version of a row is kept: a [`Value::Int`].
pub const KEEP_VERSIONS: &str = "KEEP_VERSIONS";

/// Which older versions of its rows a table keeps: each that one of the two limits keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptVersions {
    /// Most versions of a row, the current one included; 1 or more.
    pub count: u64,
    /// For how many seconds a row is kept after it was replaced, whatever its number.
    pub keep_s: u64,
    /// The version of the table's definition since which they are kept.
    pub since: u32,
}

impl KeptVersions {
    /// [`KeptVersions::keep_s`] in milliseconds.
    pub fn keep_ms(&self) -> i64 {
        i64::try_from(self.keep_s).unwrap_or(i64::MAX).saturating_mul(1000)
    }
}

/// The option that keeps a table's SPLIT ON: the points in brackets, as written.
pub const SPLIT_ON: &str = "SPLIT ON";
/// The keys that the points of [`SPLIT_ON`] are: in hexadecimal digits, with commas between them. It is internal.
pub const SPLIT_KEYS: &str = "SPLIT KEYS";
/// The option that keeps which key column was declared as `ROW_TIMESTAMP`: a text, as [`TableDef::path`] has it.
pub const ROW_TIMESTAMP: &str = "ROW_TIMESTAMP";
/// The option that says from which column the TTL counts: a text, as [`TableDef::path`] has it.
pub const TTL_COLUMN: &str = "TTL_COLUMN";

/// The column whose values are the times of a table's rows, instead of the times of their writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeColumn {
    /// Its index in [`TableDef::columns`].
    pub column: usize,
    /// Whether it is a key column that takes the time of the write if it is given no value.
    pub is_row_timestamp: bool,
}

/// An option of CREATE TABLE that is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct TableOption {
    /// Name in upper case.
    pub name: String,
    /// Value.
    pub value: Value,
    /// Whether it has an effect on an embedded store.
    pub honoured: bool,
}

impl TableDef {
    /// The column of this name, in any case, of a family or of the whole table.
    ///
    /// Columns of different families may have the same name. Without a family, such a name is that of the key column or of
    /// the column of the default family, as in Phoenix: these have no other name.
    pub fn find_column(&self, family: Option<&str>, name: &str) -> ColumnMatch {
        let is_named = |(_, column): &(usize, &ColumnDef)| is_same_name(&column.name, name);
        let mut named = self.columns.iter().enumerate().filter(is_named);
        if let Some(family) = family {
            let mut found =
                named.filter(|(_, column)| self.family_name(column).is_some_and(|f| is_same_name(f, family)));
            return found.next().map_or(ColumnMatch::None, |(index, _)| ColumnMatch::One(index));
        }
        let is_default = |(_, column): &(usize, &ColumnDef)| self.family_name(column).is_none();
        match named.next() {
            None => ColumnMatch::None,
            Some(first) if is_default(&first) => ColumnMatch::One(first.0),
            Some(first) => match (named.clone().find(is_default), named.next()) {
                (Some(other), _) => ColumnMatch::One(other.0),
                (None, Some(_)) => ColumnMatch::Several,
                (None, None) => ColumnMatch::One(first.0),
            },
        }
    }

    /// The index of the only column of this name, in any case; `None` also if several families have one.
    pub fn column_index(&self, name: &str) -> Option<usize> {
        match self.find_column(None, name) {
            ColumnMatch::One(index) => Some(index),
            ColumnMatch::Several | ColumnMatch::None => None,
        }
    }

    /// The column of this index among those that a statement writes: one of the table, or one of the statement's dynamic columns.
    pub fn written_column<'c>(&'c self, dynamic: &'c [ColumnDef], index: usize) -> Option<&'c ColumnDef> {
        self.columns.get(index).or_else(|| self.dynamic_column(dynamic, index))
    }

    /// The dynamic column of this index: those of a statement come after the columns of the table.
    pub fn dynamic_column<'c>(&self, dynamic: &'c [ColumnDef], index: usize) -> Option<&'c ColumnDef> {
        dynamic.get(index.checked_sub(self.columns.len())?)
    }

    /// The name of a column's family; `None` for a key column and in the default family.
    pub fn family_name(&self, column: &ColumnDef) -> Option<&str> {
        self.families.get(column.family?)?.as_deref()
    }

    /// The family by which a column must be qualified, since its name alone is that of another column too.
    pub fn needed_family(&self, column: &ColumnDef) -> Option<&str> {
        let family = self.family_name(column)?;
        let mut named = self.columns.iter().filter(|other| is_same_name(&other.name, &column.name));
        named.nth(1).map(|_| family)
    }

    /// The name of a column that no other column of the table has: `c`, or `family.c` if its family is needed.
    pub fn unique_name(&self, column: &ColumnDef) -> String {
        match self.needed_family(column) {
            Some(family) => format!("{family}.{}", column.name),
            None => column.name.clone(),
        }
    }

    /// Whether columns have this family.
    pub fn has_family(&self, family: &str) -> bool {
        self.families.iter().flatten().any(|name| is_same_name(name, family))
    }

    /// Its column families in a sentence, for errors about one that it does not have.
    pub fn families_text(&self) -> String {
        let named: Vec<&str> = self.families.iter().flatten().map(String::as_str).collect();
        match named.as_slice() {
            [] => format!("{} has no column families", self.name),
            [family] => format!("{} has the column family {family}", self.name),
            families => format!("{} has the column families {}", self.name, families.join(", ")),
        }
    }

    /// The sequences of its identity columns.
    pub fn own_sequences(&self) -> impl Iterator<Item = &TableName> {
        self.columns.iter().filter_map(|column| Some(&column.identity()?.sequence))
    }

    /// The numbers under which rows are stored: its own, and those of the entries of its indexes.
    pub fn stored_ids(&self) -> impl Iterator<Item = TableId> {
        std::iter::once(self.id).chain(self.indexes.iter().flat_map(IndexDef::ids))
    }

    /// The same numbers, for a caller that assigns other ones.
    pub fn stored_ids_mut(&mut self) -> impl Iterator<Item = &mut TableId> {
        std::iter::once(&mut self.id).chain(self.indexes.iter_mut().flat_map(IndexDef::ids_mut))
    }

    /// For how many seconds rows are kept, `None` for ever: the longest TTL that it or new entries of its indexes have.
    pub fn kept_s(&self) -> Option<u64> {
        let rebuilds = self.indexes.iter().filter_map(|index| index.rebuild);
        rebuilds.map(|rebuild| rebuild.ttl_s).try_fold(self.ttl_s?, |longest, ttl_s| Some(longest.max(ttl_s?)))
    }

    /// Whether the key is the hidden row id.
    pub fn has_hidden_key(&self) -> bool {
        let first = self.key.columns.first().and_then(KeyColumn::column);
        first.is_some_and(|column| self.columns.get(column).is_some_and(|c| c.hidden))
    }

    /// The slots of a family in order: the type of each, and the index of its column; `None` where that is dropped.
    pub fn slots(&self, family: usize) -> Vec<(SqlType, Option<usize>)> {
        let columns = self.columns.iter().enumerate().filter(|(_, column)| column.family == Some(family));
        let dropped = self.history.dropped.iter().filter(|column| column.family == family);
        let mut slots: Vec<(u16, SqlType, Option<usize>)> = columns
            .map(|(index, column)| (column.slot, column.ty, Some(index)))
            .chain(dropped.map(|column| (column.slot, column.ty, None)))
            .collect();
        slots.sort_by_key(|(slot, ..)| *slot);
        slots.into_iter().map(|(_, ty, column)| (ty, column)).collect()
    }

    /// The older versions of its rows that the table keeps; `None` if it keeps the current ones alone.
    pub fn kept_versions(&self) -> Option<KeptVersions> {
        let honoured = |name: &str| {
            let option = self.options.iter().find(|option| option.name == name && option.honoured)?;
            if let Value::Int(number) = option.value { u64::try_from(number).ok() } else { None }
        };
        let (count, keep_s) = (honoured(VERSIONS).unwrap_or(1), honoured(KEEP_VERSIONS).unwrap_or(0));
        (count > 1 || keep_s > 0).then_some(KeptVersions { count, keep_s, since: self.history.versions_since })
    }

    /// The place of an index among those of the table.
    pub fn index_place(&self, name: &str) -> Option<usize> {
        self.indexes.iter().position(|index| is_same_name(&index.name, name))
    }

    /// The column whose values are the times of rows, if they have one.
    pub fn time_column(&self) -> Option<TimeColumn> {
        let named = |name: &str| {
            let path = self.option(name)?.as_text()?;
            self.columns.iter().position(|column| is_same_name(&self.path(column), path))
        };
        let row_timestamp = named(ROW_TIMESTAMP).map(|column| TimeColumn { column, is_row_timestamp: true });
        row_timestamp.or_else(|| named(TTL_COLUMN).map(|column| TimeColumn { column, is_row_timestamp: false }))
    }

    /// Whether a key column was declared as `ROW_TIMESTAMP`.
    pub fn is_row_timestamp(&self, key: &KeyColumn) -> bool {
        self.time_column().is_some_and(|time| time.is_row_timestamp && key.column() == Some(time.column))
    }

    /// The options that CREATE TABLE has as `option = value`: the others have a form of their own, or none.
    pub fn written_options(&self) -> impl Iterator<Item = &TableOption> {
        self.options.iter().filter(|option| ![SPLIT_ON, SPLIT_KEYS, ROW_TIMESTAMP].contains(&option.name.as_str()))
    }

    /// A column's name, with its family if that has a name.
    pub fn path(&self, column: &ColumnDef) -> String {
        self.family_name(column).map_or_else(|| column.name.clone(), |family| format!("{family}.{}", column.name))
    }

    /// The value of an option that is kept in [`TableDef::options`].
    pub fn option(&self, name: &str) -> Option<&Value> {
        self.options.iter().find(|o| o.name == name).map(|o| &o.value)
    }
}
