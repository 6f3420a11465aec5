//! Definitions of secondary indexes.
//!
//! An index is a second key over the rows of a table. Its entries are the rows of a table of their own, of which
//! [`entries_def`] makes the definition from those of table and index.
//!
//! ```text
//! table    t (id BIGINT PRIMARY KEY, city VARCHAR, age INTEGER, note VARCHAR)
//! index    i ON t (city, age DESC) INCLUDE (note)
//! entries  key     city, age DESC as DECIMAL, id
//!          values  city, age, note
//! ```
//!
//! The key of an entry is Apache Phoenix's: the index's parts, then the columns of the table's key that are not among
//! them. An entry of a local index lies in the bucket of its row. A part that is no key column of the table is kept in the type in which NULL has a form
//! ([`index_type`]). Its value is stored as it is, too: the key does not tell NULL from ''.

use crate::key_form::index_type;
use crate::table::{IndexDef, IndexPart, IndexState, Rebuild, TableHistory};
use crate::{ColumnDef, Expr, KeyColumn, KeySchema, KeySource, Salt, SqlType, TableDef, TableId, TableName};

impl IndexDef {
    /// The numbers of its entries, and of those that are to take their place.
    pub fn ids(&self) -> impl Iterator<Item = TableId> + use<> {
        [Some(self.id), self.rebuild.map(|rebuild| rebuild.id)].into_iter().flatten()
    }

    /// The same numbers, for a caller that assigns other ones.
    pub fn ids_mut(&mut self) -> impl Iterator<Item = &mut TableId> {
        std::iter::once(&mut self.id).chain(self.rebuild.as_mut().map(|rebuild| &mut rebuild.id))
    }

    /// The index with its new entries, which are not complete yet, while it is rebuilt.
    pub fn rebuilt(&self) -> Option<Self> {
        let Rebuild { id, .. } = self.rebuild?;
        Some(Self { id, state: IndexState::Building, rebuild: None, ..self.clone() })
    }

    /// The columns of the table that an entry has, by index, ascending: those of the parts, of the table's key, and those
    /// that are included.
    pub fn columns(&self, def: &TableDef) -> Vec<usize> {
        let of_parts = self.parts.iter().flat_map(|part| part.expr.columns());
        let of_key = def.key.columns.iter().filter_map(KeyColumn::column);
        let mut columns: Vec<usize> = of_parts.chain(of_key).chain(self.include.iter().copied()).collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// The columns of the table that an entry is computed from, by index, ascending: [`IndexDef::columns`], and those of the
    /// predicate.
    pub fn inputs(&self, def: &TableDef) -> Vec<usize> {
        let of_predicate = self.predicate.iter().flat_map(|predicate| predicate.expr.columns());
        let mut columns: Vec<usize> = self.columns(def).into_iter().chain(of_predicate).collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// For each column of the table's key, its place in the key of entries.
    pub fn places_of_row_key(&self, def: &TableDef) -> Vec<usize> {
        let key = self.key(def);
        let place = |column: &KeyColumn| key.columns.iter().position(|other| other.source == column.source);
        def.key.columns.iter().filter_map(place).collect()
    }

    /// The column of the table that a part is; `None` for an expression.
    pub fn part_column(part: &IndexPart) -> Option<usize> {
        match &part.expr {
            Expr::Column(column) => Some(column.index),
            _ => None,
        }
    }

    /// The key of its entries over the columns of the table, by which statements are planned.
    pub fn key(&self, def: &TableDef) -> KeySchema {
        self.key_over(def, |column| column)
    }

    /// The key of its entries; `place` tells where a column of the table is.
    fn key_over(&self, def: &TableDef, place: impl Fn(usize) -> usize) -> KeySchema {
        let moved = |expr: &Expr| {
            let mut expr = expr.clone();
            expr.map_columns(&mut |column| column.index = place(column.index));
            expr
        };
        let key_column = |column: usize| def.key.position(column).and_then(|position| def.key.columns.get(position));
        let part = |part: &IndexPart| match Self::part_column(part) {
            Some(column) if let Some(key) = key_column(column) => {
                KeyColumn { source: KeySource::Column(place(column)), order: part.order, ..key.clone() }
            }
            column => KeyColumn {
                source: match column {
                    Some(column) => KeySource::Column(place(column)),
                    None => KeySource::Indexed(moved(&part.expr)),
                },
                name: part.text.clone(),
                ty: index_type(part.expr.sql_type().unwrap_or(SqlType::Null)),
                order: part.order,
                nullable: true,
            },
        };
        let rest = def.key.columns.iter().filter(|key| {
            let is_part = |part: &IndexPart| Self::part_column(part).is_some_and(|column| key.column() == Some(column));
            !self.parts.iter().any(is_part)
        });
        let rest = rest.map(|key| KeyColumn {
            source: match &key.source {
                KeySource::Column(column) => KeySource::Column(place(*column)),
                KeySource::Computed(expr) | KeySource::Indexed(expr) => KeySource::Computed(moved(expr)),
            },
            ..key.clone()
        });
        let salt = match self.local {
            true => def.key.salt.map(|salt| Salt { by: None, ..salt }),
            false => self.salt,
        };
        KeySchema { columns: self.parts.iter().map(part).chain(rest).collect(), salt }
    }
}

impl TableDef {
    /// Puts the entries of this number in force, which are complete now: they are those of their index, which is ready. Does nothing if
    /// there is no index that waits for them; an index that is rebuilt for another TTL waits for that TTL.
    pub fn put_in_force(&mut self, entries: TableId) {
        for index in &mut self.indexes {
            let awaits = |rebuild: Rebuild| rebuild.id == entries && rebuild.ttl_s == self.ttl_s;
            if index.rebuild.is_some_and(awaits) {
                (index.id, index.state, index.rebuild) = (entries, IndexState::Ready, None);
            } else if index.id == entries && index.state == IndexState::Building {
                index.state = IndexState::Ready;
            }
        }
    }

    /// Takes out the entries of this number if they are not in force: a rebuilt index keeps those that it has, and a new one is gone.
    pub fn discard_entries(&mut self, entries: TableId) {
        self.indexes.retain(|index| index.id != entries || index.state != IndexState::Building);
        for index in &mut self.indexes {
            index.rebuild = index.rebuild.filter(|rebuild| rebuild.id != entries);
        }
    }
}

/// The definition of an index's entries as the rows of a table. Its columns are [`IndexDef::columns`].
///
/// A part that is a value column of the table is a computed part here: the entry stores the column's value, and its form
/// in the key besides.
pub fn entries_def(def: &TableDef, index: &IndexDef) -> TableDef {
    let columns = index.columns(def);
    let place = |column: usize| columns.binary_search(&column).unwrap_or_default();
    let mut key = index.key_over(def, place);
    let is_value = |column: usize| columns.get(column).is_some_and(|column| def.key.position(*column).is_none());
    for part in &mut key.columns {
        if let KeySource::Column(column) = part.source
            && is_value(column)
            && let Some(source) = index.parts.iter().find(|part| IndexDef::part_column(part).map(place) == Some(column))
        {
            let mut expr = source.expr.clone();
            expr.map_columns(&mut |named| named.index = column);
            part.source = KeySource::Indexed(expr);
        }
    }
    let mut slots = 0u16..;
    let entry_column = |&column: &usize| {
        let of_table = def.columns.get(column)?;
        let is_key = def.key.position(column).is_some();
        Some(ColumnDef {
            name: def.unique_name(of_table),
            default: None,
            family: (!is_key).then_some(0),
            slot: if is_key { 0 } else { slots.next().unwrap_or_default() },
            comment: None,
            absent: None,
            ..of_table.clone()
        })
    };
    TableDef {
        id: index.id,
        object_id: index.object_id,
        name: TableName { schema: def.name.schema.clone(), name: index.name.clone() },
        columns: columns.iter().filter_map(entry_column).collect(),
        key,
        key_name: None,
        families: vec![None],
        ttl_s: def.ttl_s,
        options: Vec::new(),
        history: TableHistory { version: def.history.version, ..TableHistory::default() },
        comment: None,
        checks: Vec::new(),
        indexes: Vec::new(),
    }
}

#[cfg(test)]
mod tests;
