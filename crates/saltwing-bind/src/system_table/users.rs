//! `information_schema.users`: all users, or the session's own alone if it may not make others.

use std::sync::Arc;

use saltwing_types::UserDef;

use super::definition::{Column, Definition, SystemFacts};
use crate::error::Result;

pub(super) static USERS: Definition<Arc<UserDef>> = Definition {
    name: "users",
    columns: &[
        Column::text("user_name", |it: &Arc<UserDef>| Some(it.name.clone())),
        Column::object_id(|it| Some(it.id)),
    ],
    objects: users,
};

fn users(facts: &SystemFacts<'_>) -> Result<Vec<Arc<UserDef>>> {
    Ok(facts.catalog.users()?)
}
