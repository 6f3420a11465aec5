//! SHOW USERS and SHOW GRANTS.

use saltwing_bind::{GRANTS, Objects, USERS};
use saltwing_catalog::CatalogError;
use saltwing_sql::Name;
use saltwing_types::table::is_same_name;

use super::{Listing, system_rows};
use crate::Error;
use crate::session::Session;
use crate::statement::{Privilege, Target};
use crate::text_rows::TextRow;

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
        system_rows(session, USERS, self.labels(), Objects::Own)
    }
}

/// SHOW GRANTS: of a user, or of all users that the session sees.
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
        let mut rows = system_rows(session, GRANTS, self.labels(), Objects::Own)?;
        let Some(name) = self.0 else { return Ok(rows) };
        if session.catalog()?.user(&name.text)?.is_none() {
            let missing = CatalogError::NoSuchUser { name: name.text.clone(), nearest: None };
            return Err(Error::from(missing).at(Some(name.span)));
        }
        rows.retain(|row| matches!(row.as_slice(), [Some(user), ..] if is_same_name(user, &name.text)));
        Ok(rows)
    }
}
