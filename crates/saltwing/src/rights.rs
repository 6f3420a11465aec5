//! Rights: whether the user of a session may run a statement.
//!
//! # Laws
//! 1. Every statement is checked before it runs, and before a plan is looked for that was kept of it.
//! 2. What was found holds for one user, one version of the definitions and one version of the grants.
//! 3. A refusal of an object that the statement names comes before other errors of the statement, which may tell what is in it.
//! 4. A transaction sees the objects of its beginning. The rights on them are those of now, under the name that they have now.
//! 5. What a view reads is the view's business: who may use the view needs no privilege on that.

use std::sync::Arc;

use saltwing_bind::{QueryRead, system_table};
use saltwing_catalog::{CatalogReader, optional};
use saltwing_sql::{TableRef, quote_name};
use saltwing_types::table::is_same_name;
use saltwing_types::{ErrorCode, ObjectId, Privilege, Privileges, Span, TableName, UserDef};

use crate::Error;
use crate::session::Session;
use crate::session_user::SessionUser;
use crate::statement::{Object, QueryTouches, Target, Touch, TouchedObject, for_each_target, query_touches};
use crate::statement_cache::{CachedStatement, Checked};

/// # Errors
/// [`ErrorCode::InsufficientPrivilege`] if the user of the session lacks a privilege that the statement takes, or is no more; what is
/// wrong with the names of the statement. The owner may do all.
pub(crate) fn check_rights(session: &Session, statement: &CachedStatement) -> Result<(), Error> {
    match session.user() {
        None => Ok(()),
        Some(user) => check_user(session, user, statement),
    }
}

/// Checks the statement unless that was done already.
fn check_user(session: &Session, user: &SessionUser, statement: &CachedStatement) -> Result<(), Error> {
    // Read before the check: what changes meanwhile has another version.
    let checked =
        Checked { user: user.id, definitions: session.catalog_version(), grants: session.shared().catalog.version() };
    if !statement.is_checked(&checked) {
        check_anew(session, user, statement)?;
        statement.set_checked(checked);
    }
    Ok(())
}

/// The grants are the current ones, also inside a transaction: a REVOKE holds for the next statement of every session.
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

/// What a name of a statement means to the rights of a user.
enum Named {
    /// A temporary table, a part of an attached database, or a view of the catalog, which has only what its reader may see.
    Free,
    /// A table, a view or a sequence: its name as spelt, and its number.
    Stored(TableName, ObjectId),
    /// A table of the program's, which has no grants of its own.
    OfProgram,
    /// Nothing that is there.
    Missing,
}

/// A user, and the current catalogs.
struct Rights {
    user: Arc<UserDef>,
    /// As the statement sees them: with the session's own tables, and in a transaction as of its beginning.
    definitions: Arc<dyn CatalogReader>,
    /// The stored ones, as they are now.
    stored: Arc<dyn CatalogReader>,
}

impl Rights {
    /// Checks an object that the statement names, and adds it to those that it writes.
    fn check_target(&self, target: Target<'_>, written: &mut Vec<TableName>) -> Result<(), Error> {
        let Target { object, privilege } = target;
        match object {
            Object::Relation(name) | Object::Stored(name) => {
                let named = match object {
                    Object::Relation(_) => self.named(&*self.definitions, name.parts())?,
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
            Object::Schema(name) => match self.user.grants.on_schema(&name.text).contains(privilege) {
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

    /// Checks what the queries of the statement read. To read the rows that a statement writes is a part of the privilege to write them.
    fn check_queries(&self, touched: &QueryTouches, written: &[TableName]) -> Result<(), Error> {
        for Touch { privilege, object, .. } in &touched.named {
            if let TouchedObject::Relation(name) = object {
                let named = self.named(&*self.definitions, (name.schema.as_deref(), &name.name))?;
                self.check_named(&named, (name, None), *privilege)?;
            }
        }
        let own = |read: &&QueryRead| read.through.is_none() && !written.contains(&read.name);
        for QueryRead { name, .. } in touched.reads.iter().filter(own) {
            // The name as spelt: without a schema it is never that of a temporary table.
            let schema = name.schema.as_deref().unwrap_or_default();
            let named = self.named(&*self.definitions, (Some(schema), &name.name))?;
            self.check_named(&named, (name, None), Privilege::Select)?;
        }
        touched.sequences.iter().try_for_each(|name| self.check_draw(name))
    }

    /// Checks a sequence that the statement takes values of.
    fn check_draw(&self, name: &TableRef) -> Result<(), Error> {
        let (schema, bare) = name.parts();
        match optional(self.stored.sequence(schema, bare))? {
            Some(def) => {
                let named = Named::Stored(def.name.clone(), def.id);
                self.check_named(&named, (&def.name, Some(name.span())), Privilege::Upsert)
            }
            // The run tells that there is none.
            None => Ok(()),
        }
    }

    fn check_named(
        &self,
        named: &Named,
        (written, span): (&TableName, Option<Span>),
        privilege: Privilege,
    ) -> Result<(), Error> {
        let grants = &self.user.grants;
        let (held, granted_on) = match named {
            Named::Free => return Ok(()),
            Named::Stored(name, id) => (self.held_on(name, *id)?, relation_path(name)),
            Named::OfProgram => (grants.on_database(), "DATABASE".to_owned()),
            // Who may make an object may do so in all of its schema. All other statements tell that it is not there.
            Named::Missing if privilege == Privilege::Ddl => {
                let schema = written.schema.as_deref();
                let held = schema.map_or_else(|| grants.on_database(), |schema| grants.on_schema(schema));
                (held, self.schema_or_database(schema)?)
            }
            Named::Missing => return Ok(()),
        };
        match held.contains(privilege) {
            true => Ok(()),
            false => Err(self.refused(privilege, &relation_path(written), Some(granted_on)).at(span)),
        }
    }

    /// The privileges on an object of the definitions, which may have another name by now, or be no more.
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

    /// What a GRANT may name for something in a schema: the schema if it is there, else the database.
    fn schema_or_database(&self, schema: Option<&str>) -> Result<String, Error> {
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

    /// The error of a privilege that the user lacks on an object; a grant on `granted_on` would give it.
    fn refused(&self, privilege: Privilege, object: &str, granted_on: Option<String>) -> Error {
        let (user, privilege) = (quote_name(&self.user.name), privilege.as_str());
        let granted_on = granted_on.unwrap_or_else(|| object.to_owned());
        let text = format!("user {user} has no {privilege} on {object}");
        Error::new(ErrorCode::InsufficientPrivilege, text)
            .with_help(Some(format!("GRANT {privilege} ON {granted_on} TO {user}")))
    }

    /// What a name means in a catalog.
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
            return Ok(Named::Stored(view.name.clone(), view.id));
        }
        if let Some(sequence) = optional(catalog.sequence(schema, name))? {
            return Ok(Named::Stored(sequence.name.clone(), sequence.id));
        }
        let is_bare = schema.is_none_or(str::is_empty);
        Ok(match is_bare && catalog.arrow_table(name).is_some() {
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
