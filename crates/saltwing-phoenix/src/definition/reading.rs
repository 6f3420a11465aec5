//! Definitions of messages.

use prost::Message;
use saltwing_rowkey::ValueCodec;
use saltwing_types::table::BUCKETS_MAX;
use saltwing_types::{SortOrder, SqlType, Value};

use super::column::ColumnDefinition;
use super::column_type::column_type;
use super::error::DefinitionError;
use super::message::{PColumn, PTable, QualifierCounter};
use super::table::{
    IndexDefinition, IndexEntry, IndexKind, IndexState, TableDefinition, TableKind, ViewDefinition, ViewKind,
};
use crate::{CellCodec, QualifierScheme, StorageScheme};

/// The number of this kind of table.
const VIEW: i32 = 2;
/// The number of columns that a view has of its table if it has dropped one of them.
const DIVERGED: i32 = -100;

/// A reason without the name of the table, which is added above.
type Reason = String;

impl TableDefinition {
    /// Reads a definition: the message `PTable` of Phoenix.
    ///
    /// # Errors
    /// [`DefinitionError`] for damaged bytes, and for a table that is not understood. An index that is not understood is no
    /// error: it has its reason in [`TableDefinition::indexes`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DefinitionError> {
        let message = PTable::decode(bytes).map_err(DefinitionError::damaged)?;
        let mut table = of_message(&message)?;
        table.indexes = message.indexes.iter().map(|index| read_index(index)).collect::<Result<_, _>>()?;
        Ok(table)
    }
}

fn read_index(bytes: &[u8]) -> Result<IndexEntry, DefinitionError> {
    let message = PTable::decode(bytes).map_err(DefinitionError::damaged)?;
    let definition = of_message(&message).and_then(|index| match message.indexes.is_empty() {
        true => Ok(Box::new(index)),
        false => Err(DefinitionError::NotUnderstood { object: index.full_name(), what: "indexes of an index".into() }),
    });
    Ok(IndexEntry { name: String::from_utf8_lossy(&message.name).into_owned(), definition })
}

/// The definition in a message, without its indexes.
fn of_message(table: &PTable) -> Result<TableDefinition, DefinitionError> {
    let columns = table.columns.iter().map(|column| PColumn::decode(column.as_slice()));
    let mut columns = columns.collect::<Result<Vec<_>, _>>().map_err(DefinitionError::damaged)?;
    columns.sort_by_key(|column| column.position);
    read(table, &columns).map_err(|what| {
        let object = String::from_utf8_lossy(&table.name).into_owned();
        DefinitionError::NotUnderstood { object, what }
    })
}

fn read(table: &PTable, columns: &[PColumn]) -> Result<TableDefinition, Reason> {
    // A view may have no columns of its own.
    if table.name.is_empty() || columns.is_empty() && table.kind != VIEW {
        return Err("a table without a name or without columns".into());
    }
    if table.kind == VIEW && table.base_columns == Some(DIVERGED) {
        return Err("a view that has dropped a column of its table".into());
    }
    if table.transactional == Some(true) {
        return Err("transactional tables".into());
    }
    if table.transforming_table.is_some() {
        return Err("a table that is being transformed".into());
    }
    if table.view_ttl.is_some_and(|ttl| ttl > 0) {
        return Err("rows of a view that expire".into());
    }
    let salt_buckets = match table.buckets {
        ..=0 => None,
        buckets => match u16::try_from(buckets) {
            Ok(count) if count <= BUCKETS_MAX => Some(count),
            _ => return Err(format!("{buckets} salt buckets")),
        },
    };
    let schema = optional(text(&table.schema)?);
    let name = text(&table.name)?;
    let namespace_mapped = table.namespace_mapped == Some(true);
    Ok(TableDefinition {
        tenant: table.tenant.as_deref().map(text).transpose()?,
        kind: kind(table)?,
        physical_name: physical_name(table, schema.as_deref(), &name, namespace_mapped)?,
        sequence_number: table.sequence_number,
        timestamp: table.timestamp,
        salt_buckets,
        key_name: table.key_name.as_deref().map(text).transpose()?.and_then(optional),
        columns: columns.iter().map(|column| read_column(table, column)).collect::<Result<_, _>>()?,
        default_family: table.default_family.as_deref().map(text).transpose()?,
        qualifiers: numbered(&table.encoding, 0, QualifierScheme::from_number, "encoding scheme")?,
        counters: table.counters.iter().map(counter).collect::<Result<_, _>>()?,
        storage: numbered(&table.storage, 1, StorageScheme::from_number, "storage scheme")?,
        immutable: table.immutable,
        store_nulls: table.store_nulls == Some(true),
        row_key_order_optimizable: table.row_key_order_optimizable == Some(true),
        wal_disabled: table.wal_disabled,
        multi_tenant: table.multi_tenant,
        namespace_mapped,
        indexes: Vec::new(),
        schema,
        name,
    })
}

fn counter(counter: &QualifierCounter) -> Result<(String, u32), Reason> {
    let next = u32::try_from(counter.next).map_err(|_| format!("column number {}", counter.next))?;
    Ok((counter.family.clone(), next))
}

fn physical_name(table: &PTable, schema: Option<&str>, name: &str, namespace_mapped: bool) -> Result<String, Reason> {
    if let Some(first) = table.physical_names.first() {
        return text(first);
    }
    // A transformation leaves a table with another physical name than its own.
    let transformed = table.physical_table_name.as_deref().filter(|name| !name.is_empty());
    let name = transformed.map(text).transpose()?.unwrap_or_else(|| name.to_owned());
    Ok(schema.map_or_else(|| name.clone(), |schema| joined(schema, &name, namespace_mapped)))
}

fn joined(schema: &str, name: &str, namespace_mapped: bool) -> String {
    format!("{schema}{}{name}", if namespace_mapped { ':' } else { '.' })
}

fn kind(table: &PTable) -> Result<TableKind, Reason> {
    Ok(match table.kind {
        0 => TableKind::System,
        1 => TableKind::Table,
        VIEW => TableKind::View(ViewDefinition {
            kind: match table.view_type.as_deref() {
                Some([1]) => ViewKind::Mapped,
                Some([2]) => ViewKind::ReadOnly,
                Some([3]) => ViewKind::Updatable,
                other => return Err(format!("view type {other:?}")),
            },
            statement: table.view_statement.as_deref().map(text).transpose()?.and_then(optional),
            parent: table.parent.as_deref().map(text).transpose()?.and_then(optional),
        }),
        3 => TableKind::Index(IndexDefinition {
            kind: match table.index_type.as_deref() {
                Some([1]) => IndexKind::Global,
                Some([2]) => IndexKind::Local,
                Some([3]) => IndexKind::UncoveredGlobal,
                other => return Err(format!("index type {other:?}")),
            },
            state: index_state(table.index_state.as_deref())?,
            data_table: table.data_table.as_deref().map(text).transpose()?.and_then(optional),
            view_index_id: table.view_index_id,
            condition: table.index_where.as_deref().map(text).transpose()?.and_then(optional),
        }),
        other => return Err(format!("table type {other}")),
    })
}

fn index_state(state: Option<&str>) -> Result<IndexState, Reason> {
    let mut letters = state.unwrap_or_default().chars();
    match (letters.next(), letters.next()) {
        (Some('a'), None) => Ok(IndexState::Active),
        (Some('b'), None) => Ok(IndexState::Building),
        (Some(letter), None) => Ok(IndexState::Other(letter)),
        _ => Err(format!("index state {state:?}")),
    }
}

fn read_column(table: &PTable, column: &PColumn) -> Result<ColumnDefinition, Reason> {
    let name = text(&column.name)?;
    let named = |reason: Reason| format!("column {name}: {reason}");
    let ty = column_type(column).map_err(named)?;
    let family = column.family.as_deref().map(text).transpose().map_err(named)?;
    let order = match column.sort_order {
        Some(1) => SortOrder::Desc,
        Some(2) | None => SortOrder::Asc,
        Some(other) => return Err(named(format!("sort order {other}"))),
    };
    // Separators of descending columns were other ones before Phoenix 4.5.
    let varies = family.is_none() && ty.fixed_key_bytes().is_none();
    if order == SortOrder::Desc && varies && table.row_key_order_optimizable != Some(true) {
        return Err(named("a descending key column of the form before Phoenix 4.5".into()));
    }
    let qualifier = match (&family, &column.qualifier) {
        (None, _) => None,
        (Some(_), Some(qualifier)) => Some(qualifier.clone()),
        (Some(_), None) => Some(column.name.clone()),
    };
    let constant = column.view_constant.as_deref().map(|stored| view_constant(stored, ty, order));
    let view_constant = constant.transpose().map_err(named)?;
    Ok(ColumnDefinition {
        ty,
        family,
        nullable: column.nullable,
        order,
        expression: column.expression.clone().and_then(optional),
        qualifier,
        view_constant,
        is_row_timestamp: column.is_row_timestamp == Some(true),
        name,
    })
}

/// The value has the bytes of its column, and one more, so that NULL has bytes, too.
fn view_constant(stored: &[u8], ty: SqlType, order: SortOrder) -> Result<Value, Reason> {
    let (_, value) = stored.split_last().ok_or("a view constant of no bytes")?;
    let codec = CellCodec::new(ty).map_err(|error| error.to_string())?;
    match order {
        SortOrder::Asc => codec.decode(value).map_err(|error| format!("a view constant: {error}")),
        SortOrder::Desc if value.is_empty() => Ok(Value::Null),
        SortOrder::Desc => {
            ValueCodec::new(ty, order).decode(value).map_err(|error| format!("a view constant: {error}"))
        }
    }
}

/// A number of one byte that names a scheme; `absent` stands for none.
fn numbered<T>(
    stored: &Option<Vec<u8>>,
    absent: u8,
    scheme: impl Fn(u8) -> Option<T>,
    what: &str,
) -> Result<T, Reason> {
    let number = match stored.as_deref() {
        None => absent,
        Some([number]) => *number,
        Some(other) => return Err(format!("{what} {other:?}")),
    };
    scheme(number).ok_or_else(|| format!("{what} {number}"))
}

fn text(bytes: &[u8]) -> Result<String, Reason> {
    String::from_utf8(bytes.to_vec()).map_err(|_| "a name that is not UTF-8".into())
}

fn optional(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}
