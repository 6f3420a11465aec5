//! Names of tables.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use bytes::Bytes;

use crate::error::Error;
use crate::proto;

const DEFAULT_NAMESPACE: &str = "default";

/// The name of a table, in a namespace. Its text is `NAMESPACE:NAME`, or `NAME` alone in the namespace `default`. A clone is cheap.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TableName(Arc<str>);

impl TableName {
    /// The name's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The namespace.
    pub fn namespace(&self) -> &str {
        self.0.split_once(':').map_or(DEFAULT_NAMESPACE, |(namespace, _)| namespace)
    }

    /// The name without its namespace.
    pub fn qualifier(&self) -> &str {
        self.0.split_once(':').map_or(&self.0, |(_, qualifier)| qualifier)
    }

    /// The name in a message.
    pub(crate) fn message(&self) -> proto::TableName {
        proto::TableName {
            namespace: Bytes::copy_from_slice(self.namespace().as_bytes()),
            qualifier: Bytes::copy_from_slice(self.qualifier().as_bytes()),
        }
    }

    /// The name that a message has.
    ///
    /// # Errors
    /// [`Error::TableName`].
    pub(crate) fn of_message(message: &proto::TableName) -> Result<Self, Error> {
        let namespace = String::from_utf8_lossy(&message.namespace);
        format!("{namespace}:{}", String::from_utf8_lossy(&message.qualifier)).parse()
    }
}

impl FromStr for TableName {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let (namespace, qualifier) = text.split_once(':').unwrap_or((DEFAULT_NAMESPACE, text));
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let is_qualifier = |c: char| is_word(c) || c == '-' || c == '.';
        let starts_well = !qualifier.is_empty() && !qualifier.starts_with(['.', '-']);
        if namespace.is_empty()
            || !namespace.chars().all(is_word)
            || !starts_well
            || !qualifier.chars().all(is_qualifier)
        {
            return Err(Error::TableName { name: text.to_owned() });
        }
        if namespace == DEFAULT_NAMESPACE { Ok(Self(qualifier.into())) } else { Ok(Self(text.into())) }
    }
}

impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_a_namespace() {
        let name: TableName = "default:t".parse().unwrap();
        assert_eq!((name.as_str(), name.namespace(), name.qualifier()), ("t", "default", "t"));
        let name: TableName = "SYSTEM:CATALOG".parse().unwrap();
        assert_eq!((name.as_str(), name.namespace(), name.qualifier()), ("SYSTEM:CATALOG", "SYSTEM", "CATALOG"));
        assert_eq!(TableName::of_message(&name.message()), Ok(name));
        assert!("SYSTEM.CATALOG".parse::<TableName>().is_ok());
        for wrong in ["", ":", "a:", ":a", "a,b", "a:b:c", ".a", "a b"] {
            assert!(wrong.parse::<TableName>().is_err(), "{wrong}");
        }
    }
}
