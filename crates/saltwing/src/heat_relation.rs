//! The table or the index that a name means, as a relation of keys.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_catalog::{CatalogReader, optional};
use saltwing_sql::{Dialect, Lexeme, lexemes_in};
use saltwing_types::{ErrorCode, Privilege};

use crate::Error;
use crate::rights::check_table;
use crate::session::Session;

/// A table, or the entries of an index.
pub(crate) struct Relation {
    /// The table, or `table.index`.
    pub(crate) name: String,
    /// The table whose keys are meant.
    pub(crate) keys: Arc<Table>,
}

impl Relation {
    /// The relation of a name: `t`, `schema.t`, `i`, `t.i` or `schema.t.i`. A table takes precedence over an index.
    ///
    /// # Errors
    /// [`ErrorCode::NoSuchTable`]; [`ErrorCode::BadArgument`] for a text that is no name, and for the name of several indexes;
    /// [`ErrorCode::InsufficientPrivilege`]; [`ErrorCode::NotSupported`] for a table of an attached database.
    pub(crate) fn named(session: &Session, catalog: &dyn CatalogReader, name: &str) -> Result<Self, Error> {
        let parts = name_parts(name, session.dialect())?;
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let found = match parts.as_slice() {
            [table] => {
                let of_table = optional(catalog.resolve(None, table))?.map(|table| Self::of(&table, None));
                of_table.map_or_else(|| by_index(catalog, table), |found| Ok(Some(found)))?
            }
            [first, second] => match optional(catalog.resolve(Some(first), second))? {
                Some(table) => Some(Self::of(&table, None)),
                None => optional(catalog.resolve(None, first))?.and_then(|table| Self::of_index(&table, second)),
            },
            [schema, table, index] => {
                optional(catalog.resolve(Some(schema), table))?.and_then(|table| Self::of_index(&table, index))
            }
            _ => None,
        };
        let Some((relation, table)) = found else {
            if let [table] = parts.as_slice() {
                // Its error names the nearest table, or says that it is a view.
                catalog.resolve(None, table)?;
            }
            return Err(Error::new(ErrorCode::NoSuchTable, format!("there is no table or index {name}")));
        };
        check_table(session, &table, Privilege::Select)?;
        if table.is_attached() {
            let text = format!("the keys of {name} are not counted: it is a table of an attached database");
            return Err(Error::new(ErrorCode::NotSupported, text));
        }
        Ok(relation)
    }

    /// A table or one of its indexes, with the table.
    fn of(table: &Arc<Table>, index: Option<&str>) -> (Self, Arc<Table>) {
        let of_table = table.def().name.to_string();
        let entries = index.and_then(|name| Some((name, table.indexes().get(table.def().index_place(name)?)?)));
        let relation = match entries {
            None => Self { name: of_table, keys: table.clone() },
            Some((_, index)) => {
                Self { name: format!("{of_table}.{}", index.def().name), keys: index.entries().clone() }
            }
        };
        (relation, table.clone())
    }

    fn of_index(table: &Arc<Table>, index: &str) -> Option<(Self, Arc<Table>)> {
        table.def().index_place(index)?;
        Some(Self::of(table, Some(index)))
    }
}

/// The index of this name of the tables that the session sees.
fn by_index(catalog: &dyn CatalogReader, name: &str) -> Result<Option<(Relation, Arc<Table>)>, Error> {
    let mut found = catalog.tables()?.into_iter().filter_map(|table| Relation::of_index(&table, name));
    match (found.next(), found.next()) {
        (Some((one, _)), Some((other, _))) => {
            let text = format!("several tables have an index {name}: {} and {}", one.name, other.name);
            Err(Error::new(ErrorCode::BadArgument, text).with_help(Some("name the table as well: table.index")))
        }
        (found, _) => Ok(found),
    }
}

/// The names between the dots.
pub(crate) fn name_parts(name: &str, dialect: Dialect) -> Result<Vec<String>, Error> {
    let wrong = || Error::new(ErrorCode::BadArgument, format!("{name} is no name of a table or an index"));
    let (mut parts, mut is_name_next) = (Vec::new(), true);
    for (kind, range) in lexemes_in(name, dialect) {
        let text = name.get(range).unwrap_or_default();
        match kind {
            Lexeme::Blank => continue,
            Lexeme::Word if is_name_next => parts.push(text.to_owned()),
            Lexeme::QuotedName if is_name_next => {
                let inner = text.get(1..text.len().saturating_sub(1)).unwrap_or_default();
                parts.push(inner.replace("\"\"", "\""));
            }
            Lexeme::Symbol if text == "." && !is_name_next => {}
            _ => return Err(wrong()),
        }
        is_name_next = !is_name_next;
    }
    if is_name_next { Err(wrong()) } else { Ok(parts) }
}
