//! Connections of users, and the verifiers of their passwords.

use std::sync::Arc;

use saltwing_catalog::CatalogError;
use saltwing_types::{ErrorCode, ScramVerifier, UserDef};

use crate::password::{is_password, made_up_verifier};
use crate::session::Session;
use crate::{Connection, Database, Error, blocking};

impl Database {
    /// A connection of a user, without its password: the program vouches for it. Statements may do what the user was granted
    /// (`docs/users.md`).
    ///
    /// ```
    /// # fn main() -> Result<(), saltwing::Error> {
    /// let database = saltwing::Database::memory()?;
    /// let owner = database.connect().blocking();
    /// owner.execute_batch("CREATE TABLE t (k BIGINT PRIMARY KEY); CREATE USER ann PASSWORD 'correct horse'; GRANT SELECT ON t TO ann")?;
    /// let ann = database.connect_as("ann")?.blocking();
    /// assert_eq!(ann.query_one::<(i64,)>("SELECT count(*) FROM t WHERE k > 0", ())?, (0,));
    /// let refused = ann.execute("UPSERT INTO t VALUES (1)", ()).unwrap_err();
    /// assert_eq!(refused.to_string(), "user ann has no UPSERT on t");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorCode::NoSuchUser`]; the catalog's.
    pub fn connect_as(&self, user: &str) -> Result<Connection, Error> {
        let no_user = || CatalogError::NoSuchUser { name: user.to_owned(), nearest: None };
        let def = self.user(user)?.ok_or_else(no_user)?;
        Ok(self.connection_of(&def))
    }

    /// A connection of the user who has this password. It takes some milliseconds, as many for a user who is not there.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidPassword`] for a wrong password, and for a user who is not there; the catalog's.
    pub fn authenticate(&self, user: &str, password: &str) -> Result<Connection, Error> {
        let def = self.user(user)?;
        let verifier = self.verifier_of(def.as_deref(), user)?;
        let is_right = is_password(password, &verifier);
        match def.filter(|_| is_right) {
            Some(def) => Ok(self.connection_of(&def)),
            None => {
                let text = "the password is wrong, or there is no such user";
                Err(Error::new(ErrorCode::InvalidPassword, text))
            }
        }
    }

    /// The verifier of a user's password, for a server that speaks SCRAM-SHA-256. Of a user who is not there it is made up, and always the
    /// same: who connects cannot tell.
    ///
    /// # Errors
    /// The catalog's.
    pub fn scram_verifier(&self, user: &str) -> Result<ScramVerifier, Error> {
        self.verifier_of(self.user(user)?.as_deref(), user)
    }

    /// Whether the database has users. A server lets clients in without a password if it has none.
    ///
    /// # Errors
    /// The catalog's.
    pub fn has_users(&self) -> Result<bool, Error> {
        Ok(!self.shared.catalog.snapshot()?.users()?.is_empty())
    }

    fn user(&self, name: &str) -> Result<Option<Arc<UserDef>>, Error> {
        Ok(self.shared.catalog.snapshot()?.user(name)?)
    }

    fn verifier_of(&self, def: Option<&UserDef>, name: &str) -> Result<ScramVerifier, Error> {
        let stored = self.shared.catalog.snapshot()?.user_secret()?;
        let secret = match stored {
            Some(secret) => secret,
            None => self.shared.secret_without_users()?,
        };
        let made_up = made_up_verifier(&secret, name);
        Ok(def.map_or(made_up, |def| def.verifier.clone()))
    }

    fn connection_of(&self, def: &UserDef) -> Connection {
        let user = self.shared.session_users.of(def);
        Connection { blocking: blocking::Connection { session: Session::of_user(self.shared.clone(), user) } }
    }
}

impl Connection {
    /// Checks that the user of this connection is still there. Statements check it themselves; a program asks before it shows the user what it
    /// has kept. An owner's connection always passes.
    ///
    /// # Errors
    /// [`ErrorCode::InsufficientPrivilege`] if the user was dropped, also if another one has the name now; the catalog's.
    pub fn check_user(&self) -> Result<(), Error> {
        let session = self.session();
        let Some(user) = session.user() else { return Ok(()) };
        user.def(&*session.shared().catalog.snapshot()?).map(|_| ())
    }
}
