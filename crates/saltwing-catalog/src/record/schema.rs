//! The record of a schema.
//!
//! ```json
//! {"record_version":1, "id":100, "name":"s"}
//! ```

use saltwing_types::{ObjectId, SchemaDef};
use serde::{Deserialize, Serialize};

use super::{parsed, stored, unreadable};
use crate::CatalogError;

/// The version of the records that are written, and the latest that can be read.
const RECORD_VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SchemaRecord {
    record_version: u32,
    id: u32,
    name: String,
}

/// # Errors
/// [`CatalogError::Corrupt`], which no statement causes.
pub(crate) fn write(def: &SchemaDef) -> Result<String, CatalogError> {
    let record = SchemaRecord { record_version: RECORD_VERSION, id: def.id.0, name: def.name.clone() };
    stored(("schema", &def.name), &record)
}

/// # Errors
/// [`CatalogError::NewerRecord`]; [`CatalogError::Corrupt`].
pub(crate) fn read(name: &str, text: &str) -> Result<SchemaDef, CatalogError> {
    let of = ("schema", name);
    let it = parsed::<SchemaRecord>(of, text, RECORD_VERSION)?.map_err(|why| unreadable(of, why))?;
    Ok(SchemaDef { id: ObjectId(it.id), name: it.name })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Databases hold these bytes. A change of the record needs a new version, and a reader that still accepts this one.
    #[test]
    fn a_record_is_these_bytes() {
        let text = r#"{"record_version":1,"id":4000000000,"name":"App \"x\""}"#;
        let def = SchemaDef { id: ObjectId(4_000_000_000), name: "App \"x\"".into() };
        assert_eq!((write(&def).unwrap().as_str(), read("s", text).unwrap()), (text, def));
    }

    #[test]
    fn a_record_that_cannot_be_read_says_why() {
        for (text, why) in [
            (r#"{"record_version":1,"name":"s"}"#, "missing field `id`"),
            (r#"{"record_version":1,"id":1,"name":"s","owner":1}"#, "unknown field"),
            (r#"{"record_version":2,"id":1}"#, "record version 2"),
        ] {
            let error = read("s", text).unwrap_err().to_string();
            assert!(error.contains("schema s") && error.contains(why), "{error}");
        }
    }
}
