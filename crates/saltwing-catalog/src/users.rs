//! Users and their grants.
//!
//! A user's row contains the user's grants. Grants end with their object, so every change that removes an object also writes the users
//! that had grants on it, in the same commit.

use std::sync::Arc;

use saltwing_access::{Durability, TableError, WriteBatch};
use saltwing_types::{GrantedObject, Grants, Privileges, ScramVerifier, TableName, UserDef, Value, suggest, text};

use crate::boot::Catalog;
use crate::change::{ChangeError, GivenObject, GrantList, at};
use crate::definitions::{Definitions, key, optional};
use crate::{CatalogError, CatalogReader, record};

/// The setting with the random bytes of [`CatalogReader::user_secret`](crate::CatalogReader::user_secret), in hex.
const SECRET_SETTING: &str = "user_secret";

impl Catalog {
    pub(crate) fn create_user(&self, mut def: UserDef, secret: [u8; 32]) -> Result<(), CatalogError> {
        let _one_by_one = self.changing.lock();
        let mut view = Definitions::clone(&self.definitions());
        if let Some(known) = view.users.get(&def.name.to_lowercase()) {
            let existing = (known.name != def.name).then(|| known.name.clone());
            return Err(CatalogError::DuplicateUser { name: def.name, existing });
        }
        let (mut writes, mut ids) = (self.store.batch(), self.new_ids()?);
        def.id = ids.object()?;
        self.put_ids(&mut *writes, ids)?;
        def.grants.retain(|object| view.has_granted(object));
        if view.user_secret.is_none() {
            self.put_setting(&mut *writes, SECRET_SETTING, text::hex(&secret))?;
            view.user_secret = Some(secret);
        }
        self.put_user(&mut view, &mut *writes, def)?;
        writes.commit(Durability::Synced)?;
        self.publish(view);
        Ok(())
    }

    pub(crate) fn alter_user(&self, name: &str, verifier: ScramVerifier) -> Result<(), CatalogError> {
        self.change_users(&[name], |_, def| def.verifier = verifier.clone()).map_err(|failed| failed.error)
    }

    pub(crate) fn drop_user(&self, name: &str) -> Result<(), CatalogError> {
        let _one_by_one = self.changing.lock();
        let mut view = Definitions::clone(&self.definitions());
        let def = view.existing_user(name)?;
        let mut writes = self.store.batch();
        let row_key = self.own.users.codec().encode(&[Value::text(&def.name)]).map_err(TableError::from)?;
        writes.delete(&self.own.users, row_key)?;
        writes.commit(Durability::Synced)?;
        view.users.remove(&def.name.to_lowercase());
        self.publish(view);
        Ok(())
    }

    pub(crate) fn change_grants(
        &self,
        list: &GrantList<'_>,
        change: impl Fn(&mut Grants, GrantedObject, Privileges),
    ) -> Result<(), ChangeError> {
        let mut missing = None;
        self.change_users(list.users, |view, def| match view.granted(list.object) {
            Ok(object) => change(&mut def.grants, object, list.privileges),
            Err(error) => missing = Some(error),
        })?;
        missing.map_or(Ok(()), |error| Err(error.into()))
    }

    /// Changes the definitions of users, for each name of the list in order.
    fn change_users(
        &self,
        names: &[&str],
        mut change: impl FnMut(&Definitions, &mut UserDef),
    ) -> Result<(), ChangeError> {
        let _one_by_one = self.changing.lock();
        let mut view = Definitions::clone(&self.definitions());
        let (mut writes, mut is_changed) = (self.store.batch(), false);
        for (place, name) in names.iter().enumerate() {
            let known = view.existing_user(name).map_err(at(place))?;
            let mut def = UserDef::clone(&known);
            change(&view, &mut def);
            if def != *known {
                is_changed = true;
                self.put_user(&mut view, &mut *writes, def)?;
            }
        }
        if !is_changed {
            return Ok(());
        }
        writes.commit(Durability::Synced)?;
        self.publish(view);
        Ok(())
    }

    /// Writes the users with grants on objects that a change removes, without these grants. `view` has the objects after the change.
    pub(crate) fn end_grants(&self, view: &mut Definitions, writes: &mut dyn WriteBatch) -> Result<(), CatalogError> {
        let mut changed = Vec::new();
        for user in view.users.values() {
            let mut def = UserDef::clone(user);
            if def.grants.retain(|object| view.has_granted(object)) {
                changed.push(def);
            }
        }
        changed.into_iter().try_for_each(|def| self.put_user(view, writes, def))
    }

    /// Writes the users with grants on a renamed object, with its new name.
    pub(crate) fn rename_grants(
        &self,
        view: &mut Definitions,
        writes: &mut dyn WriteBatch,
        (old, new): (&TableName, &TableName),
    ) -> Result<(), CatalogError> {
        let mut changed = Vec::new();
        for user in view.users.values() {
            let mut def = UserDef::clone(user);
            if def.grants.rename(old, new) {
                changed.push(def);
            }
        }
        changed.into_iter().try_for_each(|def| self.put_user(view, writes, def))
    }

    fn put_user(&self, view: &mut Definitions, writes: &mut dyn WriteBatch, def: UserDef) -> Result<(), CatalogError> {
        writes.put(&self.own.users, vec![Value::text(&def.name), Value::Text(record::user::write(&def)?)])?;
        view.insert_user(def);
        Ok(())
    }

    /// The random bytes that were stored with the first user.
    pub(crate) fn stored_user_secret(&self) -> Result<Option<[u8; 32]>, CatalogError> {
        let Some(hex) = self.setting(SECRET_SETTING)? else { return Ok(None) };
        let secret = text::unhex(&hex).and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
        secret.map(Some).ok_or_else(|| CatalogError::Corrupt("the secret of its users cannot be read".into()))
    }
}

impl Definitions {
    pub(crate) fn insert_user(&mut self, user: UserDef) {
        self.users.insert(user.name.to_lowercase(), Arc::new(user));
    }

    /// # Errors
    /// [`CatalogError::NoSuchUser`].
    fn existing_user(&self, name: &str) -> Result<Arc<UserDef>, CatalogError> {
        self.user(name)?.ok_or_else(|| {
            let nearest = suggest(name, self.users.values().map(|user| user.name.as_str())).map(str::to_owned);
            CatalogError::NoSuchUser { name: name.to_owned(), nearest }
        })
    }

    /// The object that a grant names, as spelt in the catalog.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`], [`CatalogError::NoSuchSchema`], [`CatalogError::DefaultSchemaGrant`].
    fn granted(&self, object: GivenObject<'_>) -> Result<GrantedObject, CatalogError> {
        match object {
            GivenObject::Database => Ok(GrantedObject::Database),
            GivenObject::Schema(name) => {
                let spelt = self.schemas.get(&name.to_lowercase());
                spelt.map(|schema| GrantedObject::Schema(schema.name.clone())).ok_or_else(|| {
                    match self.canonical(name).is_empty() {
                        true => CatalogError::DefaultSchemaGrant(name.to_owned()),
                        false => CatalogError::NoSuchSchema(name.to_owned()),
                    }
                })
            }
            GivenObject::Relation((schema, name)) => {
                let view = self.view(schema, name)?.map(|view| view.name.clone());
                let sequence = || optional(self.sequence(schema, name));
                let known = match view {
                    Some(view) => Some(view),
                    None => sequence()?.map(|sequence| sequence.name.clone()),
                };
                let known = known.map_or_else(|| Ok(self.resolve(schema, name)?.def().name.clone()), Ok);
                known.map(GrantedObject::Relation)
            }
        }
    }

    /// Whether the object of a grant exists.
    fn has_granted(&self, object: &GrantedObject) -> bool {
        match object {
            GrantedObject::Database => true,
            GrantedObject::Schema(name) => self.schemas.contains_key(&name.to_lowercase()),
            GrantedObject::Relation(name) => {
                let key = key(name.schema.as_deref(), &name.name);
                self.tables.contains_key(&key) || self.views.contains_key(&key) || self.sequences.contains_key(&key)
            }
        }
    }
}
