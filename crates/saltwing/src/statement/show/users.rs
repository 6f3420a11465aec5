//! SHOW USERS and SHOW GRANTS.

use std::sync::Arc;

use saltwing_catalog::{CatalogError, CatalogReader, optional};
use saltwing_sql::Name;
use saltwing_types::{GrantedObject, Privilege, TableName, UserDef};

use super::Listing;
use crate::Error;
use crate::session::Session;
use crate::statement::Target;
use crate::text_rows::TextRow;

/// The users that a session sees: all, or its own user if that may not make others.
fn shown_users(session: &Session) -> Result<Vec<Arc<UserDef>>, Error> {
    let catalog = session.shared().catalog.snapshot()?;
    match session.user() {
        None => Ok(catalog.users()?),
        Some(user) => {
            let own = user.def(&*catalog)?;
            let is_admin = own.grants.on_database().contains(Privilege::All);
            Ok(if is_admin { catalog.users()? } else { vec![own] })
        }
    }
}

/// SHOW USERS.
pub(crate) struct Users;

impl Listing for Users {
    fn labels(&self) -> &'static [&'static str] {
        &["user_name"]
    }

    fn what(&self) -> String {
        "users".into()
    }

    fn rows(&self, session: &Session) -> Result<Vec<TextRow>, Error> {
        Ok(shown_users(session)?.iter().map(|user| vec![Some(user.name.clone())]).collect())
    }
}

/// SHOW GRANTS: of a user, or of all that the session sees.
pub(crate) struct Grants<'a>(pub(crate) Option<&'a Name>);

impl Listing for Grants<'_> {
    fn labels(&self) -> &'static [&'static str] {
        &["user_name", "object_type", "object_schema", "object_name", "privileges"]
    }

    fn what(&self) -> String {
        self.0.map_or_else(|| "grants".into(), |user| format!("the grants of user {user}"))
    }

    fn target(&self) -> Option<Target<'_>> {
        self.0.map(|user| Target::user(user, Privilege::Select))
    }

    fn rows(&self, session: &Session) -> Result<Vec<TextRow>, Error> {
        let catalog = session.shared().catalog.snapshot()?;
        let users = match self.0 {
            None => shown_users(session)?,
            Some(name) => {
                let missing = || CatalogError::NoSuchUser { name: name.text.clone(), nearest: None };
                let user = catalog.user(&name.text)?.ok_or_else(missing);
                vec![user.map_err(|error| Error::from(error).at(Some(name.span)))?]
            }
        };
        let mut rows = Vec::new();
        for user in users {
            for (object, privileges) in user.grants.iter() {
                let (kind, schema, name) = match object {
                    GrantedObject::Database => ("DATABASE", None, None),
                    GrantedObject::Schema(schema) => ("SCHEMA", Some(schema.clone()), None),
                    GrantedObject::Relation(it) => (kind_of(&*catalog, it)?, it.schema.clone(), Some(it.name.clone())),
                };
                rows.push(vec![Some(user.name.clone()), Some(kind.into()), schema, name, Some(privileges.to_string())]);
            }
        }
        Ok(rows)
    }
}

fn kind_of(catalog: &dyn CatalogReader, of: &TableName) -> Result<&'static str, Error> {
    let (schema, name) = (of.schema.as_deref(), of.name.as_str());
    if catalog.view(schema, name)?.is_some() {
        return Ok("VIEW");
    }
    Ok(if optional(catalog.sequence(schema, name))?.is_some() { "SEQUENCE" } else { "TABLE" })
}
