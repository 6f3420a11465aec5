//! The statements that a connection keeps under names.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use saltwing_sql::Name;
use saltwing_types::ErrorCode;

use crate::Error;
use crate::statement_cache::CachedStatement;

/// Most bytes of the texts of a connection's statements.
const TEXTS_BYTES_MAX: usize = 16 << 20;

/// Prepared statements by their names in lower case.
#[derive(Default)]
pub(crate) struct NamedStatements(Mutex<HashMap<String, Arc<CachedStatement>>>);

impl NamedStatements {
    /// Keeps a statement.
    ///
    /// # Errors
    /// [`ErrorCode::DuplicateStatement`]; [`ErrorCode::OutOfMemory`] if the texts of all of them have more than 16 MB.
    pub(crate) fn add(&self, name: &Name, statement: Arc<CachedStatement>) -> Result<(), Error> {
        let mut statements = self.0.lock();
        let bytes: usize = statements.values().chain([&statement]).map(|it| it.text.len()).sum();
        if bytes > TEXTS_BYTES_MAX {
            let text =
                format!("the prepared statements have {bytes} bytes of text, and a connection keeps {TEXTS_BYTES_MAX}");
            return Err(
                Error::new(ErrorCode::OutOfMemory, text).with_help(Some("DEALLOCATE those that are not needed"))
            );
        }
        let key = key(name);
        if statements.contains_key(&key) {
            let text = format!("prepared statement {name} exists already");
            let help = format!("DEALLOCATE {name} gives the name free");
            return Err(Error::new(ErrorCode::DuplicateStatement, text).at(Some(name.span)).with_help(Some(help)));
        }
        statements.insert(key, statement);
        Ok(())
    }

    /// # Errors
    /// [`ErrorCode::NoSuchStatement`].
    pub(crate) fn get(&self, name: &Name) -> Result<Arc<CachedStatement>, Error> {
        self.0.lock().get(&key(name)).cloned().ok_or_else(|| missing(name))
    }

    /// Forgets a statement.
    ///
    /// # Errors
    /// [`ErrorCode::NoSuchStatement`].
    pub(crate) fn remove(&self, name: &Name) -> Result<(), Error> {
        self.0.lock().remove(&key(name)).map(drop).ok_or_else(|| missing(name))
    }

    /// Forgets all statements.
    pub(crate) fn clear(&self) {
        self.0.lock().clear();
    }
}

fn key(name: &Name) -> String {
    name.text.to_lowercase()
}

fn missing(name: &Name) -> Error {
    let help = format!("PREPARE {name} AS .. keeps a statement for this connection");
    Error::new(ErrorCode::NoSuchStatement, format!("no prepared statement {name}"))
        .at(Some(name.span))
        .with_help(Some(help))
}
