//! Rights: whether the user of a session may run a statement.
//!
//! # Laws
//! 1. Every statement is checked before it runs, and before its cached plan is looked up.
//! 2. The result of a check holds for one user, one version of the definitions and one version of the grants.
//! 3. A refusal of an object that the statement names comes before other errors of the statement, which may reveal what the object contains.
//! 4. A transaction sees the objects at its beginning. The rights on them are the current ones, for the current names of the objects.
//! 5. Objects are checked by their names in the catalog, so a grant holds for every name that a statement has for its object.
//! 6. A user who may use a view needs no privilege on the objects that the view reads.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_bind::{QueryRead, is_temporary, system_table};
use saltwing_catalog::{CatalogReader, optional};
use saltwing_sql::{TableRef, quote_name};
use saltwing_types::table::is_same_name;
use saltwing_types::{ErrorCode, ObjectId, Privilege, Privileges, Span, TableName, UserDef};

use crate::Error;
use crate::description::{Touch, TouchedObject};
use crate::session::Session;
use crate::session_user::SessionUser;
use crate::statement::{Object, QueryTouches, Target, for_each_target, query_touches};
use crate::statement_cache::{CachedStatement, Checked};

/// # Errors
/// [`ErrorCode::InsufficientPrivilege`] if the user of the session lacks a privilege that the statement needs, or no longer exists; errors
/// in the names of the statement. The owner may do everything.
pub(crate) fn check_rights(session: &Session, statement: &CachedStatement) -> Result<(), Error> {
    match session.user() {
        None => Ok(()),
        Some(user) => check_user(session, user, statement),
    }
}

/// Checks a privilege on a table of the session's catalog, for a call that is no statement.
///
/// # Errors
/// As [`check_rights`].
pub(crate) fn check_table(session: &Session, table: &Table, privilege: Privilege) -> Result<(), Error> {
    let Some(user) = session.user() else { return Ok(()) };
    let definitions = session.whole_catalog()?;
    if table.is_attached() || definitions.is_temporary(table.def()) {
        return Ok(());
    }
    let stored = session.shared().catalog.snapshot()?;
    let rights = Rights { user: user.def(&*stored)?, definitions, stored };
    let def = table.def();
    let named = Named::Stored(def.name.clone(), def.object_id);
    rights.check_named(&named, (&def.name, None), privilege)
}

/// Checks the statement, unless it has already passed this check.
fn check_user(session: &Session, user: &SessionUser, statement: &CachedStatement) -> Result<(), Error> {
    // The versions are read before the check, so that a concurrent change makes the result outdated.
    let checked =
        Checked { user: user.id, definitions: session.catalog_version(), grants: session.shared().catalog.version() };
    if !statement.is_checked(&checked) {
        check_anew(session, user, statement)?;
        statement.set_checked(checked);
    }
    Ok(())
}

/// Checks the statement against the current grants, also inside a transaction: a REVOKE holds for the next statement of every session.
fn check_anew(session: &Session, user: &SessionUser, statement: &CachedStatement) -> Result<(), Error> {
    let stored = session.shared().catalog.snapshot()?;
    let def = user.def(&*stored)?;
    if def.grants.on_database().contains(Privilege::All) {
        return Ok(());
    }
    let rights = Rights { user: def, definitions: session.whole_catalog()?, stored };
    let (mut checked, mut written) = (Ok(()), Vec::new());
    for_each_target(&statement.parsed.statement, &mut |target| {
        if checked.is_ok() {
            checked = rights.check_target(target, &mut written);
        }
    });
    checked?;
    let parameters = (statement.parameter_count, &*statement.types);
    let touched = query_touches(session, &statement.parsed.statement, parameters);
    rights.check_queries(&touched, &written)?;
    touched.error.map_or(Ok(()), Err)
}

/// The kinds of objects that a name in a statement can mean, as far as rights distinguish them.
enum Named {
    /// A temporary table or view, an object of an attached database, or a system table, which shows only what the user may see.
    Free,
    /// A table, a view or a sequence: its name as spelt in the catalog, and its number.
    Stored(TableName, ObjectId),
    /// A registered table of the program, which has no grants of its own.
    OfProgram,
    /// No existing object.
    Missing,
}

/// A user, and the current catalogs.
struct Rights {
    user: Arc<UserDef>,
    /// The catalog that the statement sees: with the session's own tables, and in a transaction the catalog at its beginning.
    definitions: Arc<dyn CatalogReader>,
    /// The current stored catalog.
    stored: Arc<dyn CatalogReader>,
}

impl Rights {
    /// Checks an object that the statement names, and adds it to `written` if the statement writes it.
    fn check_target(&self, target: Target<'_>, written: &mut Vec<TableName>) -> Result<(), Error> {
        let Target { object, privilege } = target;
        match object {
            Object::Relation(name) | Object::Stored(name) | Object::View(name) => {
                let named = match object {
                    Object::Relation(_) => self.named(&*self.definitions, name.parts())?,
                    Object::View(_) if self.is_temporary_view(name)? => Named::Free,
                    _ => self.named(&*self.stored, name.parts())?,
                };
                if let Named::Stored(spelt, _) = &named
                    && matches!(privilege, Privilege::Upsert | Privilege::Delete)
                {
                    written.push(spelt.clone());
                }
                self.check_named(&named, (&name.to_name(), Some(name.span())), privilege)
            }
            Object::Temporary(_) => Ok(()),
            Object::Schema(name) if self.definitions.is_attached(&name.text) => Ok(()),
            Object::Schema(name) => match self.held_in(Some(&name.text))?.contains(privilege) {
                true => Ok(()),
                false => {
                    let granted_on = self.schema_or_database(Some(&name.text))?;
                    Err(self.refused(privilege, &schema_path(&name.text), Some(granted_on)).at(Some(name.span)))
                }
            },
            Object::Database => self.check_database(privilege),
            Object::User(name) if is_same_name(&name.text, &self.user.name) => Ok(()),
            Object::User(name) => self.check_database(Privilege::All).map_err(|error| error.at(Some(name.span))),
        }
    }

    /// Checks the objects that the queries of the statement read. The privilege to write a table includes reading the rows to be written.
    fn check_queries(&self, touched: &QueryTouches, written: &[TableName]) -> Result<(), Error> {
        for Touch { privilege, object, .. } in &touched.named {
            if let TouchedObject::Relation(name) = object {
                let named = self.named(&*self.definitions, (name.schema.as_deref(), &name.name))?;
                self.check_named(&named, (name, None), *privilege)?;
            }
        }
        let own = |read: &&QueryRead| read.through.is_none() && !written.contains(&read.name);
        for QueryRead { name, .. } in touched.reads.iter().filter(own) {
            // The name is as spelt in the catalog: without a schema it never means a temporary table.
            let schema = name.schema.as_deref().unwrap_or_default();
            let named = self.named(&*self.definitions, (Some(schema), &name.name))?;
            self.check_named(&named, (name, None), Privilege::Select)?;
        }
        touched.sequences.iter().try_for_each(|name| self.check_draw(name))
    }

    /// Checks a sequence from which the statement takes values.
    fn check_draw(&self, name: &TableRef) -> Result<(), Error> {
        let (schema, bare) = name.parts();
        match optional(self.stored.sequence(schema, bare))? {
            Some(def) => {
                let named = Named::Stored(def.name.clone(), def.id);
                self.check_named(&named, (&def.name, Some(name.span())), Privilege::Upsert)
            }
            // The run reports that the sequence does not exist.
            None => Ok(()),
        }
    }

    fn check_named(
        &self,
        named: &Named,
        (written, span): (&TableName, Option<Span>),
        privilege: Privilege,
    ) -> Result<(), Error> {
        let (held, granted_on) = match named {
            Named::Free => return Ok(()),
            Named::Stored(name, id) => (self.held_on(name, *id)?, relation_path(name)),
            Named::OfProgram => (self.user.grants.on_database(), "DATABASE".to_owned()),
            // A privilege to create an object holds for the whole schema. All other statements report that the object does not exist.
            Named::Missing if privilege == Privilege::Ddl => {
                let schema = written.schema.as_deref();
                (self.held_in(schema)?, self.schema_or_database(schema)?)
            }
            Named::Missing => return Ok(()),
        };
        match held.contains(privilege) {
            true => Ok(()),
            false => Err(self.refused(privilege, &relation_path(written), Some(granted_on)).at(span)),
        }
    }

    /// The privileges on an object of the definitions, which may have another name by now, or no longer exist.
    fn held_on(&self, name: &TableName, id: ObjectId) -> Result<Privileges, Error> {
        let grants = &self.user.grants;
        let schema = name.schema.as_deref().unwrap_or_default();
        if let Named::Stored(_, now) = self.named(&*self.stored, (Some(schema), &name.name))?
            && now == id
        {
            return Ok(grants.on_relation(name));
        }
        let renamed = self.stored.tables()?.into_iter().find(|table| table.def().object_id == id);
        Ok(match renamed {
            Some(table) => grants.on_relation(&table.def().name),
            None if schema.is_empty() => grants.on_database(),
            None => grants.on_schema(schema),
        })
    }

    /// The privileges on all objects of a schema. Those on the default schema are those on the database.
    fn held_in(&self, schema: Option<&str>) -> Result<Privileges, Error> {
        let schema = schema.map(|schema| self.stored.canonical_schema(schema)).transpose()?;
        Ok(match schema.filter(|schema| !schema.is_empty()) {
            Some(schema) => self.user.grants.on_schema(schema),
            None => self.user.grants.on_database(),
        })
    }

    /// The object that a GRANT for a new object in a schema must name: the schema if it exists, else the database.
    fn schema_or_database(&self, schema: Option<&str>) -> Result<String, Error> {
        let schema = schema.map(|schema| self.stored.canonical_schema(schema)).transpose()?;
        Ok(match schema.filter(|schema| !schema.is_empty()) {
            Some(schema) if self.stored.has_schema(schema)? => schema_path(schema),
            _ => "DATABASE".to_owned(),
        })
    }

    fn check_database(&self, privilege: Privilege) -> Result<(), Error> {
        match self.user.grants.on_database().contains(privilege) {
            true => Ok(()),
            false => Err(self.refused(privilege, "DATABASE", None)),
        }
    }

    /// The error for a privilege that the user lacks on an object; a grant on `granted_on` would give the privilege.
    fn refused(&self, privilege: Privilege, object: &str, granted_on: Option<String>) -> Error {
        let (user, privilege) = (quote_name(&self.user.name), privilege.as_str());
        let granted_on = granted_on.unwrap_or_else(|| object.to_owned());
        let text = format!("user {user} has no {privilege} on {object}");
        Error::new(ErrorCode::InsufficientPrivilege, text)
            .with_help(Some(format!("GRANT {privilege} ON {granted_on} TO {user}")))
    }

    fn is_temporary_view(&self, name: &TableRef) -> Result<bool, Error> {
        let (schema, bare) = name.parts();
        let view = self.definitions.view(schema, bare)?;
        Ok(view.is_some_and(|view| is_temporary(&view.name, &*self.definitions)))
    }

    /// The object that a name means in a catalog.
    fn named(&self, catalog: &dyn CatalogReader, (schema, name): (Option<&str>, &str)) -> Result<Named, Error> {
        if schema.is_some_and(|schema| catalog.is_attached(schema)) || system_table(schema, name).is_some() {
            return Ok(Named::Free);
        }
        if let Some(table) = optional(catalog.resolve(schema, name))? {
            return Ok(match catalog.is_temporary(table.def()) {
                true => Named::Free,
                false => Named::Stored(table.def().name.clone(), table.def().object_id),
            });
        }
        if let Some(view) = catalog.view(schema, name)? {
            if is_temporary(&view.name, catalog) {
                return Ok(Named::Free);
            }
            return Ok(Named::Stored(view.name.clone(), view.id));
        }
        if let Some(sequence) = optional(catalog.sequence(schema, name))? {
            return Ok(Named::Stored(sequence.name.clone(), sequence.id));
        }
        let is_default =
            schema.map_or(Ok(true), |schema| Ok::<_, Error>(catalog.canonical_schema(schema)?.is_empty()))?;
        Ok(match is_default && catalog.arrow_table(name).is_some() {
            true => Named::OfProgram,
            false => Named::Missing,
        })
    }
}

fn relation_path(name: &TableName) -> String {
    let bare = quote_name(&name.name);
    match name.schema.as_deref().filter(|schema| !schema.is_empty()) {
        Some(schema) => format!("{}.{bare}", quote_name(schema)),
        None => bare,
    }
}

fn schema_path(name: &str) -> String {
    format!("SCHEMA {}", quote_name(name))
}
