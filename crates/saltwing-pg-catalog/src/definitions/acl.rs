//! Grants in the form of PostgreSQL's lists of access rights.
//!
//! A grant on a schema or on the database holds for all that is in it, so a table's list has these, too.
//!
//! | Saltwing | on a table or view | on a sequence |
//! |---|---|---|
//! | SELECT | `r` | `r` |
//! | UPSERT | `a`, `w` (INSERT, UPDATE) | `U`, `w` (USAGE, UPDATE) |
//! | DELETE | `d`, `D` (DELETE, TRUNCATE) | |
//! | DDL | | |
//! | ALL | all of these | all of these |

use super::objects::{Definitions, Grant, GrantedObject};

/// Letters of all rights on a table, in the order in which they are written.
const TABLE_RIGHTS: &str = "arwdDxt";
/// Letters of all rights on a sequence.
const SEQUENCE_RIGHTS: &str = "rwU";

/// The rights of one user in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AclEntry {
    pub(crate) user: String,
    /// Letters, each a right.
    pub(crate) rights: String,
}

/// Rights that a grant gives on a table or a sequence.
fn rights(privileges: &[String], is_sequence: bool) -> String {
    let has = |name: &str| privileges.iter().any(|privilege| privilege == name || privilege == "ALL");
    let letters: &[(&str, &str)] = match is_sequence {
        false => &[("UPSERT", "a"), ("SELECT", "r"), ("UPSERT", "w"), ("DELETE", "dD")],
        true => &[("SELECT", "r"), ("UPSERT", "wU")],
    };
    let all = privileges.iter().any(|privilege| privilege == "ALL");
    match (all, is_sequence) {
        (true, false) => TABLE_RIGHTS.to_owned(),
        (true, true) => SEQUENCE_RIGHTS.to_owned(),
        (false, _) => letters.iter().filter(|(name, _)| has(name)).map(|(_, letters)| *letters).collect(),
    }
}

impl Definitions {
    /// The grants that hold for a relation.
    fn grants_on<'a>(&'a self, schema: &'a str, name: &'a str) -> impl Iterator<Item = &'a Grant> {
        self.grants.iter().filter(move |grant| match &grant.object {
            GrantedObject::Database => true,
            GrantedObject::Schema(granted) => granted == schema,
            GrantedObject::Relation { schema: of, name: granted } => of == schema && granted == name,
        })
    }

    /// The list of a relation, the owner's rights first; `None` if nothing was granted on it, as in PostgreSQL.
    pub(crate) fn relation_acl(&self, schema: &str, name: &str, is_sequence: bool) -> Option<Vec<AclEntry>> {
        let all = if is_sequence { SEQUENCE_RIGHTS } else { TABLE_RIGHTS };
        let mut entries = vec![AclEntry { user: self.owner.clone(), rights: all.to_owned() }];
        for grant in self.grants_on(schema, name) {
            let granted = rights(&grant.privileges, is_sequence);
            if granted.is_empty() {
                continue;
            }
            match entries.iter_mut().skip(1).find(|entry| entry.user == grant.user) {
                Some(entry) => {
                    let both = |right: &char| entry.rights.contains(*right) || granted.contains(*right);
                    entry.rights = all.chars().filter(both).collect();
                }
                None => entries.push(AclEntry { user: grant.user.clone(), rights: granted }),
            }
        }
        (entries.len() > 1).then_some(entries)
    }

    /// Whether a user has a right, such as `SELECT` or `INSERT`, on a relation. The owner has all.
    pub(crate) fn has_right(&self, user: &str, schema: &str, name: &str, is_sequence: bool, right: &str) -> bool {
        if user == self.owner || matches!(schema, "pg_catalog" | "information_schema") {
            return user == self.owner || right.eq_ignore_ascii_case("SELECT");
        }
        let letter = match right.to_ascii_uppercase().as_str() {
            "SELECT" => 'r',
            "INSERT" => 'a',
            "UPDATE" => 'w',
            "DELETE" => 'd',
            "TRUNCATE" => 'D',
            "REFERENCES" => 'x',
            "TRIGGER" => 't',
            "USAGE" => 'U',
            _ => return false,
        };
        let granted = self.grants_on(schema, name).filter(|grant| grant.user == user);
        granted.into_iter().any(|grant| rights(&grant.privileges, is_sequence).contains(letter))
    }

    /// Whether a user may make objects in a schema.
    pub(crate) fn may_create_in(&self, user: &str, schema: &str) -> bool {
        let makes = |grant: &&Grant| grant.privileges.iter().any(|privilege| privilege == "DDL" || privilege == "ALL");
        let holds = |grant: &&Grant| match &grant.object {
            GrantedObject::Database => true,
            GrantedObject::Schema(granted) => granted == schema,
            GrantedObject::Relation { .. } => false,
        };
        user == self.owner
            || self.grants.iter().filter(|grant| grant.user == user).filter(holds).any(|grant| makes(&grant))
    }
}

/// A list as PostgreSQL writes it: `ann=r/owner`.
pub(crate) fn acl_entries(entries: &[AclEntry], owner: &str) -> Vec<Option<String>> {
    entries.iter().map(|entry| Some(format!("{}={}/{}", quoted(&entry.user), entry.rights, quoted(owner)))).collect()
}

/// A user's name as a list has it.
fn quoted(name: &str) -> String {
    match name.chars().all(|c| c.is_alphanumeric() || c == '_') && !name.is_empty() {
        true => name.to_owned(),
        false => format!("\"{}\"", name.replace('"', "\"\"")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grants_become_letters() {
        let privileges = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(rights(&privileges(&["SELECT", "UPSERT"]), false), "arw");
        assert_eq!(rights(&privileges(&["ALL"]), false), TABLE_RIGHTS);
        assert_eq!(rights(&privileges(&["DDL"]), false), "");
        assert_eq!(rights(&privileges(&["UPSERT"]), true), "wU");
        let entries = [AclEntry { user: "Bob B".into(), rights: "r".into() }];
        assert_eq!(acl_entries(&entries, "own"), [Some("\"Bob B\"=r/own".to_owned())]);
    }
}
