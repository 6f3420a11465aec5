//! Users as roles, and the database.
//!
//! The owner of the database is a role, too. A user sees itself and the owner, and all roles if it has ALL ON DATABASE.

use super::cells::{Cell, row};
use super::relation::Entry;
use crate::definitions::{Definitions, GrantedObject, OWNER};

/// The number of the only database.
pub(crate) const DATABASE: u32 = 5;

pub(super) static RELATIONS: &[Entry] = &[
    Entry::view(
        "pg_roles",
        "rolname name, rolsuper bool, rolinherit bool, rolcreaterole bool, rolcreatedb bool, rolcanlogin bool, rolreplication bool, \
         rolconnlimit int4, rolpassword text, rolvaliduntil timestamptz, rolbypassrls bool, rolconfig _text, oid oid",
        |definitions| {
            let role = |role: Role<'_>| {
                row![
                    role.name,
                    role.is_owner,
                    true,
                    role.is_admin,
                    false,
                    true,
                    false,
                    -1,
                    "********",
                    Cell::Null,
                    role.is_owner,
                    Cell::Null,
                    role.oid
                ]
            };
            Ok(roles(definitions).into_iter().map(role).collect())
        },
    ),
    Entry::table(
        "pg_authid",
        1260,
        "oid oid, rolname name, rolsuper bool, rolinherit bool, rolcreaterole bool, rolcreatedb bool, rolcanlogin bool, \
         rolreplication bool, rolbypassrls bool, rolconnlimit int4, rolpassword text, rolvaliduntil timestamptz",
        |definitions| {
            let role = |role: Role<'_>| {
                row![
                    role.oid,
                    role.name,
                    role.is_owner,
                    true,
                    role.is_admin,
                    false,
                    true,
                    false,
                    role.is_owner,
                    -1,
                    Cell::Null,
                    Cell::Null
                ]
            };
            Ok(roles(definitions).into_iter().map(role).collect())
        },
    ),
    Entry::view(
        "pg_user",
        "usename name, usesysid oid, usecreatedb bool, usesuper bool, userepl bool, usebypassrls bool, passwd text, \
         valuntil timestamptz, useconfig _text",
        |definitions| {
            let user = |role: Role<'_>| {
                row![
                    role.name,
                    role.oid,
                    false,
                    role.is_owner,
                    false,
                    role.is_owner,
                    "********",
                    Cell::Null,
                    Cell::Null
                ]
            };
            Ok(roles(definitions).into_iter().map(user).collect())
        },
    ),
    Entry::table(
        "pg_database",
        1262,
        "oid oid, datname name, datdba oid, encoding int4, datlocprovider char, datistemplate bool, datallowconn bool, \
         datconnlimit int4, datfrozenxid xid, datminmxid xid, dattablespace oid, datcollate text, datctype text, daticulocale text, \
         datcollversion text, datacl _aclitem",
        |definitions| {
            let utf8 = 6;
            Ok(vec![row![
                DATABASE,
                &definitions.database,
                OWNER,
                utf8,
                'c',
                false,
                true,
                -1,
                1,
                1,
                TABLESPACE,
                "C.UTF-8",
                "C.UTF-8",
                Cell::Null,
                Cell::Null,
                Cell::Null
            ]])
        },
    ),
    Entry::table(
        "pg_tablespace",
        1213,
        "oid oid, spcname name, spcowner oid, spcacl _aclitem, spcoptions _text",
        |_| Ok(vec![row![TABLESPACE, "pg_default", OWNER, Cell::Null, Cell::Null]]),
    ),
    Entry::information("information_schema_catalog_name", "catalog_name name", |definitions| {
        Ok(vec![row![&definitions.database]])
    }),
    Entry::information("enabled_roles", "role_name name", |definitions| Ok(vec![row![definitions.user_name()]])),
];

/// The number of the only tablespace.
const TABLESPACE: u32 = 1663;

/// A user, or the owner.
struct Role<'a> {
    oid: u32,
    name: &'a str,
    is_owner: bool,
    /// Whether it makes users.
    is_admin: bool,
}

fn roles(definitions: &Definitions) -> Vec<Role<'_>> {
    let owner = Role { oid: OWNER, name: &definitions.owner, is_owner: true, is_admin: true };
    let is_admin = |name: &str| {
        let granted = definitions.grants.iter().filter(|grant| grant.user == name);
        granted
            .into_iter()
            .any(|grant| grant.object == GrantedObject::Database && grant.privileges.iter().any(|it| it == "ALL"))
    };
    // A client of a database without users gives the owner any name; it is none of a user.
    let users = definitions.users.iter().filter(|user| user.name != definitions.owner);
    let users =
        users.map(|user| Role { oid: user.oid, name: &user.name, is_owner: false, is_admin: is_admin(&user.name) });
    std::iter::once(owner).chain(users).collect()
}
