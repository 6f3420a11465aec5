//! The record of a user, with its grants.
//!
//! ```json
//! {"record_version":1, "id":100, "name":"u", "verifier":"SCRAM-SHA-256$4096:..$..:..",
//!  "grants":[{"on":"relation","schema":"s","name":"t","privileges":["select","upsert"]}, {"on":"database","privileges":["ddl"]}]}
//! ```

use saltwing_types::{GrantedObject, Grants, ObjectId, Privilege, Privileges, ScramVerifier, TableName, UserDef};
use serde::{Deserialize, Serialize};

use super::{parsed, stored, unreadable};
use crate::CatalogError;

/// The version of the records that are written, and the latest that can be read.
const RECORD_VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct UserRecord {
    record_version: u32,
    id: u32,
    name: String,
    verifier: String,
    grants: Vec<GrantRecord>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct GrantRecord {
    on: ObjectKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    schema: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    privileges: Vec<PrivilegeRecord>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ObjectKind {
    Database,
    Schema,
    Relation,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum PrivilegeRecord {
    Select,
    Upsert,
    Delete,
    Ddl,
}

/// # Errors
/// [`CatalogError::Corrupt`], which no statement causes.
pub(crate) fn write(def: &UserDef) -> Result<String, CatalogError> {
    let record = UserRecord {
        record_version: RECORD_VERSION,
        id: def.id.0,
        name: def.name.clone(),
        verifier: def.verifier.to_text(),
        grants: def.grants.iter().map(|(object, privileges)| GrantRecord::of(object, privileges)).collect(),
    };
    stored(("user", &def.name), &record)
}

/// # Errors
/// [`CatalogError::NewerRecord`]; [`CatalogError::Corrupt`].
pub(crate) fn read(name: &str, text: &str) -> Result<UserDef, CatalogError> {
    let of = ("user", name);
    let it = parsed::<UserRecord>(of, text, RECORD_VERSION)?.map_err(|why| unreadable(of, why))?;
    let verifier = ScramVerifier::from_text(&it.verifier).ok_or_else(|| unreadable(of, "its verifier is none"))?;
    let mut grants = Grants::default();
    for grant in it.grants {
        let (object, privileges) = grant.into_grant().ok_or_else(|| unreadable(of, "a grant names no object"))?;
        grants.grant(object, privileges);
    }
    Ok(UserDef { id: ObjectId(it.id), name: it.name, verifier, grants })
}

impl GrantRecord {
    fn of(object: &GrantedObject, privileges: Privileges) -> Self {
        let (on, schema, name) = match object {
            GrantedObject::Database => (ObjectKind::Database, None, None),
            GrantedObject::Schema(schema) => (ObjectKind::Schema, Some(schema.clone()), None),
            GrantedObject::Relation(it) => (ObjectKind::Relation, it.schema.clone(), Some(it.name.clone())),
        };
        let privilege = |privilege| match privilege {
            Privilege::Select => vec![PrivilegeRecord::Select],
            Privilege::Upsert => vec![PrivilegeRecord::Upsert],
            Privilege::Delete => vec![PrivilegeRecord::Delete],
            Privilege::Ddl => vec![PrivilegeRecord::Ddl],
            // `each` never returns it.
            Privilege::All => Vec::new(),
        };
        Self { on, schema, name, privileges: privileges.each().flat_map(privilege).collect() }
    }

    fn into_grant(self) -> Option<(GrantedObject, Privileges)> {
        let object = match (self.on, self.schema, self.name) {
            (ObjectKind::Database, None, None) => GrantedObject::Database,
            (ObjectKind::Schema, Some(schema), None) => GrantedObject::Schema(schema),
            (ObjectKind::Relation, schema, Some(name)) => GrantedObject::Relation(TableName { schema, name }),
            _ => return None,
        };
        let privilege = |record| match record {
            PrivilegeRecord::Select => Privilege::Select,
            PrivilegeRecord::Upsert => Privilege::Upsert,
            PrivilegeRecord::Delete => Privilege::Delete,
            PrivilegeRecord::Ddl => Privilege::Ddl,
        };
        Some((object, self.privileges.into_iter().map(privilege).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{"record_version":1,"id":104,"name":"Ann","verifier":"SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=","grants":[{"on":"database","privileges":["ddl"]},{"on":"schema","schema":"S","privileges":["delete"]},{"on":"relation","name":"t","privileges":["select"]},{"on":"relation","schema":"S","name":"u","privileges":["select","upsert","delete","ddl"]}]}"#;

    /// Databases hold these bytes. A change of the record needs a new version, and a reader that still accepts this one.
    #[test]
    fn a_record_is_these_bytes() {
        let def = read("Ann", TEXT).unwrap();
        assert_eq!((def.id, def.name.as_str(), def.verifier.iterations), (ObjectId(104), "Ann", 4096));
        let shown: Vec<String> = def.grants.iter().map(|(_, privileges)| privileges.to_string()).collect();
        assert_eq!(shown, ["DDL", "DELETE", "SELECT", "ALL"]);
        assert_eq!(write(&def).unwrap(), TEXT);
    }

    #[test]
    fn a_record_that_cannot_be_read_says_why() {
        for (from, to, why) in [
            ("$4096:", "$1:", "verifier"),
            (r#""on":"schema","schema":"S""#, r#""on":"schema""#, "names no object"),
            ("upsert", "eat", "unknown variant"),
            (r#""grants""#, r#""rights""#, "unknown field"),
            (r#""record_version":1"#, r#""record_version":2,"new":[]"#, "record version 2"),
        ] {
            let error = read("Ann", &TEXT.replacen(from, to, 1)).unwrap_err().to_string();
            assert!(error.contains("user Ann") && error.contains(why) && !error.contains("W22Z"), "{error}");
        }
    }
}
