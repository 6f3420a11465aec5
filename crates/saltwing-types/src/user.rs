//! Users: how their passwords are checked, and what they were granted.

use std::collections::BTreeMap;

use crate::{ObjectId, Privileges, ScramVerifier, TableName};

/// A user of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserDef {
    /// Its number: so a user is told from a later one of its name.
    pub id: ObjectId,
    /// Its name; names of users differ in more than case.
    pub name: String,
    /// By which its password is checked.
    pub verifier: ScramVerifier,
    /// What it was granted.
    pub grants: Grants,
}

/// An object on which privileges are granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GrantedObject {
    /// All objects of the database, later ones as well.
    Database,
    /// All tables, views and sequences of a schema, later ones as well.
    Schema(String),
    /// A table, a view or a sequence.
    Relation(TableName),
}

/// The kind of an object, its schema and its name, in lower case: names match in any case.
type Key = (u8, Option<String>, String);

impl GrantedObject {
    fn key(&self) -> Key {
        match self {
            Self::Database => (0, None, String::new()),
            Self::Schema(name) => (1, None, name.to_lowercase()),
            Self::Relation(TableName { schema, name }) => {
                (2, schema.as_ref().map(|schema| schema.to_lowercase()), name.to_lowercase())
            }
        }
    }
}

/// The privileges of a user, by object. No entry is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grants(BTreeMap<Key, (GrantedObject, Privileges)>);

impl Grants {
    /// The objects as spelt, each with what was granted on it alone: the database, then schemas, then the others.
    pub fn iter(&self) -> impl Iterator<Item = (&GrantedObject, Privileges)> {
        self.0.values().map(|(object, privileges)| (object, *privileges))
    }

    /// What was granted on an object alone.
    pub fn on(&self, object: &GrantedObject) -> Privileges {
        self.0.get(&object.key()).map(|(_, privileges)| *privileges).unwrap_or_default()
    }

    /// What the user may do to all of the database.
    pub fn on_database(&self) -> Privileges {
        self.on(&GrantedObject::Database)
    }

    /// What the user may do to all of a schema.
    pub fn on_schema(&self, schema: &str) -> Privileges {
        self.on_database().and(self.on(&GrantedObject::Schema(schema.to_owned())))
    }

    /// What the user may do to a table, a view or a sequence.
    pub fn on_relation(&self, name: &TableName) -> Privileges {
        let around = name.schema.as_deref().map_or_else(|| self.on_database(), |schema| self.on_schema(schema));
        around.and(self.on(&GrantedObject::Relation(name.clone())))
    }

    /// Whether the user may do anything to a schema, or to an object in it.
    pub fn shows_schema(&self, schema: &str) -> bool {
        let lower = schema.to_lowercase();
        let is_in = |(object, _): &(GrantedObject, Privileges)| match object {
            GrantedObject::Relation(name) => name.schema.as_ref().is_some_and(|schema| schema.to_lowercase() == lower),
            _ => false,
        };
        !self.on_schema(schema).is_empty() || self.0.values().any(is_in)
    }

    /// Adds privileges to those on an object.
    pub fn grant(&mut self, object: GrantedObject, privileges: Privileges) {
        let all = self.on(&object).and(privileges);
        self.set(object, all);
    }

    /// Takes privileges from those on an object alone.
    pub fn revoke(&mut self, object: &GrantedObject, privileges: Privileges) {
        let left = self.on(object).without(privileges);
        self.set(object.clone(), left);
    }

    /// Gives the grants on a table, a view or a sequence to its new name; whether there were any.
    pub fn rename(&mut self, old: &TableName, new: &TableName) -> bool {
        let moved = self.0.remove(&GrantedObject::Relation(old.clone()).key());
        let is_any = moved.is_some();
        if let Some((_, privileges)) = moved {
            self.set(GrantedObject::Relation(new.clone()), privileges);
        }
        is_any
    }

    /// Drops the grants on objects that are no more; whether there were any.
    pub fn retain(&mut self, mut is_there: impl FnMut(&GrantedObject) -> bool) -> bool {
        let count = self.0.len();
        self.0.retain(|_, (object, _)| is_there(object));
        self.0.len() < count
    }

    fn set(&mut self, object: GrantedObject, privileges: Privileges) {
        match privileges.is_empty() {
            true => self.0.remove(&object.key()),
            false => self.0.insert(object.key(), (object, privileges)),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Privilege;

    fn set(privileges: &[Privilege]) -> Privileges {
        privileges.iter().copied().collect()
    }

    fn relation(schema: Option<&str>, name: &str) -> TableName {
        TableName { schema: schema.map(str::to_owned), name: name.into() }
    }

    #[test]
    fn what_is_around_an_object_holds_for_it() {
        let mut grants = Grants::default();
        grants.grant(GrantedObject::Database, set(&[Privilege::Select]));
        grants.grant(GrantedObject::Schema("Sales".into()), set(&[Privilege::Upsert]));
        grants.grant(GrantedObject::Relation(relation(Some("Sales"), "T")), set(&[Privilege::Delete]));
        let on = |schema, name| grants.on_relation(&relation(schema, name)).to_string();
        assert_eq!(on(Some("sales"), "t"), "SELECT, UPSERT, DELETE");
        assert_eq!((on(Some("SALES"), "u"), on(None, "t")), ("SELECT, UPSERT".to_owned(), "SELECT".to_owned()));
        let shown: Vec<String> = grants.iter().map(|(object, held)| format!("{object:?} {held}")).collect();
        assert!(shown[0].starts_with("Database") && shown[2].contains("\"T\"") && shown.len() == 3, "{shown:?}");
    }

    #[test]
    fn a_schema_shows_if_something_in_it_does() {
        let mut grants = Grants::default();
        grants.grant(GrantedObject::Relation(relation(Some("S"), "t")), set(&[Privilege::Ddl]));
        assert!(grants.shows_schema("s") && !grants.shows_schema("other"));
        assert!(grants.on_schema("s").is_empty());
    }

    #[test]
    fn grants_end_and_move() {
        let (t, u) = (relation(None, "t"), relation(None, "U"));
        let mut grants = Grants::default();
        grants.grant(GrantedObject::Relation(t.clone()), set(&[Privilege::All]));
        grants.revoke(&GrantedObject::Relation(relation(None, "T")), set(&[Privilege::Ddl]));
        assert!(grants.rename(&t, &u) && !grants.rename(&t, &u));
        assert_eq!(
            (grants.on_relation(&u).to_string().as_str(), grants.on_relation(&t).is_empty()),
            ("SELECT, UPSERT, DELETE", true)
        );
        assert!(!grants.retain(|_| true) && grants.retain(|_| false));
        assert_eq!(grants, Grants::default());
        grants.grant(GrantedObject::Database, set(&[Privilege::Select]));
        grants.revoke(&GrantedObject::Database, set(&[Privilege::All]));
        assert_eq!(grants, Grants::default(), "no entry is empty");
    }
}
