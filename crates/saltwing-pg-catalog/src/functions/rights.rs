//! Rights of users on objects.

use saltwing::{Error, Volatility, blocking};

use super::shared::{Shared, number, with};

pub(super) fn rights(connection: &blocking::Connection, shared: &Shared) -> Result<(), Error> {
    // Which of INSERT, UPDATE and DELETE may change a relation, as bits: all or none.
    let events = with(shared, |it, oid: i64| {
        let table = it.definitions.table(number(oid)?);
        Some(if table.is_some_and(|table| table.view.as_ref().is_none_or(|view| view.is_updatable)) { 28 } else { 0 })
    });
    connection
        .register_function("updatable_events", Volatility::Stable, move |oid: i64| -> Option<i32> { events(oid) })?;
    let class = with(shared, |it, (user, oid, rights): (String, i64, String)| {
        let (schema, name, kind) = it.class(number(oid)?)?;
        Some(any_right(&rights, |right| it.definitions.has_right(&user, schema, name, kind == 'S', right)))
    });
    connection.register_function(
        "has_class_right",
        Volatility::Stable,
        move |user: String, oid: i64, rights: String| class((user, oid, rights)),
    )?;
    let schema = with(shared, |it, (user, oid, rights): (String, i64, String)| {
        let schema = it.schema_name(number(oid)?)?;
        // No right is needed to use what is in a schema.
        Some(any_right(&rights, |right| match right.eq_ignore_ascii_case("CREATE") {
            true => it.definitions.may_create_in(&user, &schema),
            false => right.eq_ignore_ascii_case("USAGE"),
        }))
    });
    connection.register_function(
        "has_schema_right",
        Volatility::Stable,
        move |user: String, oid: i64, rights: String| schema((user, oid, rights)),
    )?;
    let database = with(shared, |it, (user, rights): (String, String)| {
        any_right(&rights, |right| match right.eq_ignore_ascii_case("CREATE") {
            true => it.definitions.may_create_in(&user, ""),
            false => ["CONNECT", "TEMP", "TEMPORARY"].iter().any(|free| right.eq_ignore_ascii_case(free)),
        })
    });
    connection.register_function("has_database_right", Volatility::Stable, move |user: String, rights: String| {
        database((user, rights))
    })?;
    let role = with(shared, |it, (user, oid): (String, i64)| {
        let role = it.user_name(number(oid)?)?;
        Some(role == user || user == it.definitions.owner)
    });
    connection.register_function("has_role", Volatility::Stable, move |user: String, oid: i64| role((user, oid)))
}

/// Whether one of the rights of a list holds. None can be granted further.
fn any_right(list: &str, holds: impl Fn(&str) -> bool) -> bool {
    list.split(',').map(str::trim).filter(|right| !right.to_ascii_uppercase().ends_with("WITH GRANT OPTION")).any(holds)
}
