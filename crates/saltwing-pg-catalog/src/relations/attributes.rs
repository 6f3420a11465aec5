//! `pg_attribute` and `pg_attrdef`: columns and their DEFAULTs.

use super::cells::{Cell, row};
use super::object_text::default_text;
use super::relation::{Entry, Relation, visible};
use crate::CatalogError;
use crate::definitions::{Column, Definitions, IndexPart, PartOids, Table, key_index_oid};
use crate::pg_type::{PgType, of_column};

pub(super) static RELATIONS: &[Entry] = &[
    Entry::empty_table(
        "pg_attribute",
        1249,
        "attrelid oid, attname name, atttypid oid, attstattarget int4, attlen int2, attnum int2, attndims int4, attcacheoff int4, \
         atttypmod int4, attbyval bool, attalign char, attstorage char, attcompression char, attnotnull bool, atthasdef bool, \
         atthasmissing bool, attidentity char, attgenerated char, attisdropped bool, attislocal bool, attinhcount int4, \
         attcollation oid, attacl _aclitem, attoptions _text, attfdwoptions _text, attmissingval text",
    )
    .listing(|definitions, relations| Ok(attributes(definitions, relations)?.iter().map(Attribute::row).collect())),
    Entry::table("pg_attrdef", 2604, "oid oid, adrelid oid, adnum int2, adbin pg_node_tree", |definitions| {
        let row = |it: ColumnDefault<'_>| row![it.oid, it.table.oid, it.column.number, it.text];
        Ok(defaults(definitions)?.into_iter().map(row).collect())
    }),
];

/// A row of `pg_attrdef`.
pub(super) struct ColumnDefault<'a> {
    pub(super) oid: u32,
    pub(super) table: &'a Table,
    pub(super) column: &'a Column,
    text: String,
}

/// The DEFAULTs of all columns, and what generates their values.
///
/// # Errors
/// [`CatalogError::NoOid`].
pub(super) fn defaults(definitions: &Definitions) -> Result<Vec<ColumnDefault<'_>>, CatalogError> {
    let mut oids = PartOids::of_defaults();
    let mut defaults = Vec::new();
    for table in &definitions.tables {
        for (place, column) in table.columns.iter().enumerate() {
            if let Some(text) = default_text(column) {
                defaults.push(ColumnDefault { oid: oids.next(table.oid, place)?, table, column, text });
            }
        }
    }
    Ok(defaults)
}

/// A row of `pg_attribute`.
struct Attribute {
    relation: u32,
    name: String,
    number: i16,
    ty: PgType,
    modifier: i32,
    is_not_null: bool,
    has_default: bool,
    /// `a`, `d`, or nothing.
    identity: &'static str,
    is_generated: bool,
}

impl Attribute {
    fn row(&self) -> Vec<Cell> {
        let entry = self.ty.entry();
        let length = entry.map_or(-1, |entry| entry.length);
        let storage = match (length, self.ty) {
            (-1, PgType::NUMERIC) => 'm',
            (-1, _) => 'x',
            _ => 'p',
        };
        let dimensions = i32::from(self.ty.element().is_some());
        let element = self.ty.element().and_then(PgType::entry);
        let collation = entry.or(element).map_or(0, |entry| entry.collation());
        row![
            self.relation,
            &self.name,
            self.ty.0,
            -1,
            length,
            self.number,
            dimensions,
            -1,
            self.modifier,
            entry.is_some_and(|entry| entry.is_by_value()),
            entry.map_or('i', |entry| entry.alignment()),
            storage,
            "",
            self.is_not_null,
            self.has_default,
            false,
            self.identity,
            if self.is_generated { "s" } else { "" },
            false,
            true,
            0,
            collation,
            Cell::Null,
            Cell::Null,
            Cell::Null,
            Cell::Null
        ]
    }

    fn of_column(relation: u32, column: &Column) -> Self {
        let (ty, modifier) = of_column(column.ty);
        Self {
            relation,
            name: column.name.clone(),
            number: column.number,
            ty,
            modifier,
            is_not_null: !column.is_nullable,
            has_default: default_text(column).is_some(),
            identity: match &column.identity {
                Some(identity) if identity.is_always => "a",
                Some(_) => "d",
                None => "",
            },
            is_generated: column.generated.is_some(),
        }
    }

    /// A column of an index: NOT NULL and DEFAULT are the table's.
    fn of_index(relation: u32, place: usize, of: Self) -> Result<Self, CatalogError> {
        let number = i16::try_from(place.saturating_add(1))
            .map_err(|_| CatalogError::bug("an index has too many columns".into()))?;
        Ok(Self { relation, number, is_not_null: false, has_default: false, identity: "", is_generated: false, ..of })
    }

    fn plain(relation: u32, name: &str, number: i16, ty: PgType) -> Self {
        Self {
            relation,
            name: name.to_owned(),
            number,
            ty,
            modifier: -1,
            is_not_null: false,
            has_default: false,
            identity: "",
            is_generated: false,
        }
    }
}

fn attributes(definitions: &Definitions, relations: &'static [Relation]) -> Result<Vec<Attribute>, CatalogError> {
    let mut attributes = Vec::new();
    for table in &definitions.tables {
        let is_view = table.view.is_some();
        attributes.extend(table.columns.iter().map(|column| {
            let attribute = Attribute::of_column(table.oid, column);
            // In PostgreSQL only columns of tables are NOT NULL.
            Attribute { is_not_null: attribute.is_not_null && !is_view, ..attribute }
        }));
        if table.has_key() {
            let relation = key_index_oid(table.oid);
            for (place, column) in table.key_columns().into_iter().enumerate() {
                attributes.push(Attribute::of_index(relation, place, Attribute::of_column(relation, column))?);
            }
        }
    }
    for index in &definitions.indexes {
        let Some(table) = definitions.table_of(index) else { continue };
        let included =
            index.included.iter().map(|name| IndexPart { text: name.clone(), is_column: true, is_descending: false });
        let mut expressions = 0;
        for (place, part) in index.parts.iter().cloned().chain(included).enumerate() {
            let column = match table.column(&part.text).filter(|_| part.is_column) {
                Some(column) => Attribute::of_column(index.oid, column),
                None => expression_column(index.oid, &mut expressions),
            };
            attributes.push(Attribute::of_index(index.oid, place, column)?);
        }
    }
    for sequence in &definitions.sequences {
        let columns = [("last_value", PgType::INT8), ("log_cnt", PgType::INT8), ("is_called", PgType::BOOL)];
        let columns = columns.iter().zip(1..);
        attributes.extend(columns.map(|((name, ty), number)| Attribute::plain(sequence.oid, name, number, *ty)));
    }
    for relation in visible(relations) {
        let columns = relation.attributes.iter().zip(1..);
        attributes.extend(columns.map(|(column, number)| Attribute {
            is_not_null: relation.is_never_null(column),
            ..Attribute::plain(relation.oid, column.name, number, column.ty)
        }));
    }
    Ok(attributes)
}

/// The column of an index that is an expression: `expr`, then `expr1`, `expr2` ..
fn expression_column(index: u32, before: &mut u32) -> Attribute {
    let name = if *before == 0 { "expr".to_owned() } else { format!("expr{before}") };
    *before = before.saturating_add(1);
    Attribute::plain(index, &name, 1, PgType::TEXT)
}
