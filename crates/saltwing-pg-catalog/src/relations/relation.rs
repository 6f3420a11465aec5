//! The form of a relation.

use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Field, Schema};

use super::cells::{Cell, array, data_type};
use crate::CatalogError;
use crate::definitions::Definitions;
use crate::pg_type::PgType;

/// The schema of PostgreSQL's own catalog.
pub(crate) const PG_CATALOG_NAME: &str = "pg_catalog";
/// The schema of the standard's catalog.
pub(crate) const INFORMATION_SCHEMA_NAME: &str = "information_schema";

/// The schema of relations that only rewritten queries name.
pub(crate) const INTERNAL_NAME: &str = "internal";

/// The relations among these that clients see.
pub(super) fn visible(relations: &'static [Relation]) -> impl Iterator<Item = &'static Relation> {
    relations.iter().filter(|relation| !relation.is_internal())
}

/// The first number of relations whose number in PostgreSQL nobody knows by heart.
const OTHER_RELATIONS: u32 = 12_000;

/// Makes the rows of a relation.
pub(super) type Rows = fn(&Definitions) -> Result<Vec<Vec<Cell>>, CatalogError>;

/// Makes the rows of a relation that also lists the relations of the catalog, which it gets.
pub(super) type ListingRows = fn(&Definitions, &'static [Relation]) -> Result<Vec<Vec<Cell>>, CatalogError>;

/// The rows of a relation.
#[derive(Clone, Copy)]
enum Source {
    /// There are never any.
    Nothing,
    Definitions(Rows),
    DefinitionsAndCatalog(ListingRows),
}

/// A relation as its module declares it.
pub(super) struct Entry {
    schema: &'static str,
    name: &'static str,
    /// PostgreSQL's number, by which `classoid` and the like name the relation; `None` if no client does so.
    number: Option<u32>,
    /// `r` of a table, `v` of a view.
    kind: char,
    /// Names and types (those of `pg_type`) of the columns: `oid oid, nspname name`.
    columns: &'static str,
    rows: Source,
}

impl Entry {
    /// A table of `pg_catalog` with its number there.
    pub(super) const fn table(name: &'static str, number: u32, columns: &'static str, rows: Rows) -> Self {
        Self {
            schema: PG_CATALOG_NAME,
            name,
            number: Some(number),
            kind: 'r',
            columns,
            rows: Source::Definitions(rows),
        }
    }

    /// A view of `pg_catalog`.
    pub(super) const fn view(name: &'static str, columns: &'static str, rows: Rows) -> Self {
        Self { schema: PG_CATALOG_NAME, name, number: None, kind: 'v', columns, rows: Source::Definitions(rows) }
    }

    /// A view of `information_schema`.
    pub(super) const fn information(name: &'static str, columns: &'static str, rows: Rows) -> Self {
        Self {
            schema: INFORMATION_SCHEMA_NAME,
            name,
            number: None,
            kind: 'v',
            columns,
            rows: Source::Definitions(rows),
        }
    }

    /// A table of `pg_catalog` for what Saltwing does not have.
    pub(super) const fn empty_table(name: &'static str, number: u32, columns: &'static str) -> Self {
        Self { schema: PG_CATALOG_NAME, name, number: Some(number), kind: 'r', columns, rows: Source::Nothing }
    }

    /// A view of `pg_catalog` for what Saltwing does not have.
    pub(super) const fn empty_view(name: &'static str, columns: &'static str) -> Self {
        Self { schema: PG_CATALOG_NAME, name, number: None, kind: 'v', columns, rows: Source::Nothing }
    }

    /// A view of `information_schema` for what Saltwing does not have.
    pub(super) const fn empty_information(name: &'static str, columns: &'static str) -> Self {
        Self { schema: INFORMATION_SCHEMA_NAME, name, number: None, kind: 'v', columns, rows: Source::Nothing }
    }

    /// The same relation with rows that also list the relations of the catalog.
    pub(super) const fn listing(self, rows: ListingRows) -> Self {
        Self { rows: Source::DefinitionsAndCatalog(rows), ..self }
    }

    /// A relation that only rewritten queries name.
    pub(super) const fn internal(name: &'static str, columns: &'static str, rows: Rows) -> Self {
        Self { schema: INTERNAL_NAME, name, number: None, kind: 'v', columns, rows: Source::Definitions(rows) }
    }
}

/// A relation of the catalog.
pub(crate) struct Relation {
    pub(crate) schema: &'static str,
    pub(crate) name: &'static str,
    pub(crate) oid: u32,
    /// `r` of a table, `v` of a view.
    pub(crate) kind: char,
    pub(crate) attributes: Vec<Attribute>,
    rows: Source,
}

/// A column of a relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attribute {
    pub(crate) name: &'static str,
    pub(crate) ty: PgType,
}

impl Relation {
    /// The relation of an entry at a place among all. A column of an unknown type is a text; a test finds such.
    pub(super) fn new(entry: &Entry, place: usize) -> Self {
        let Entry { schema, name, number, kind, columns, rows } = *entry;
        let column = |text: &'static str| {
            let (column, ty) = text.trim().split_once(' ').unwrap_or((text.trim(), "text"));
            let known = PgType::by_catalog_name(ty.trim());
            debug_assert!(known.is_some(), "{name}.{column}: no type {ty}");
            Attribute { name: column, ty: known.unwrap_or(PgType::TEXT) }
        };
        let place = u32::try_from(place).unwrap_or(u32::MAX);
        let oid = number.unwrap_or_else(|| OTHER_RELATIONS.saturating_add(place));
        Self { schema, name, oid, kind, attributes: columns.split(',').map(column).collect(), rows }
    }

    /// Whether it never has rows.
    pub(crate) fn is_empty(&self) -> bool {
        matches!(self.rows, Source::Nothing)
    }

    /// Whether a column of it is NOT NULL: in tables of PostgreSQL, values of a fixed length and vectors, and some texts.
    pub(crate) fn is_never_null(&self, column: &Attribute) -> bool {
        const TEXTS: [&str; 7] = ["adbin", "datcollate", "datctype", "description", "extversion", "prosrc", "tgargs"];
        let has_length = column.ty.entry().is_some_and(|entry| entry.length > 0)
            || matches!(column.ty, PgType::INT2VECTOR | PgType::OIDVECTOR);
        let is_timestamp = matches!(column.ty.0, 1114 | 1184);
        let may_lack = matches!(column.name, "tgoldtable" | "tgnewtable" | "subslotname" | "prattrs" | "srsublsn");
        self.kind == 'r' && ((has_length && !is_timestamp && !may_lack) || TEXTS.contains(&column.name))
    }

    /// Whether it serves rewritten queries, and is no relation of PostgreSQL.
    pub(crate) fn is_internal(&self) -> bool {
        self.schema == INTERNAL_NAME
    }

    /// The name of its table in the database of the relations.
    pub(crate) fn table_name(&self) -> String {
        match self.schema {
            PG_CATALOG_NAME => self.name.to_owned(),
            schema => format!("{schema} {}", self.name),
        }
    }

    /// Its rows as a batch; `relations` are all relations of the catalog.
    ///
    /// # Errors
    /// A row that does not fit the columns is a bug.
    pub(crate) fn batch(
        &self,
        definitions: &Definitions,
        relations: &'static [Relation],
    ) -> Result<RecordBatch, CatalogError> {
        let rows = match self.rows {
            Source::Nothing => Vec::new(),
            Source::Definitions(rows) => rows(definitions)?,
            Source::DefinitionsAndCatalog(rows) => rows(definitions, relations)?,
        };
        let attributes = &self.attributes;
        if let Some(row) = rows.iter().find(|row| row.len() != attributes.len()) {
            let (have, want) = (row.len(), attributes.len());
            return Err(CatalogError::bug(format!("a row of {} has {have} values and not {want}", self.name)));
        }
        let field = |attribute: &Attribute| Field::new(attribute.name, data_type(attribute.ty.storage()), true);
        let schema = Schema::new(attributes.iter().map(field).collect::<Vec<_>>());
        let column = |(place, attribute): (usize, &Attribute)| {
            array(attribute.ty.storage(), rows.iter().map(|row| row.get(place).unwrap_or(&Cell::Null)))
        };
        let columns = attributes.iter().enumerate().map(column).collect::<Result<Vec<_>, _>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
        RecordBatch::try_new_with_options(Arc::new(schema), columns, &options)
            .map_err(|error| CatalogError::bug(format!("{}: {error}", self.name)))
    }
}
