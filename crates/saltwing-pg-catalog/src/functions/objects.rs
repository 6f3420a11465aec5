//! Numbers of objects from names, and names from numbers.

use saltwing::{Error, Volatility, blocking};

use super::shared::{Shared, number, with};

/// The kinds of objects that have names as texts and numbers as values.
const KINDS: [&str; 5] = ["regclass", "regtype", "regproc", "regnamespace", "regrole"];

/// Numbers of objects from names, and names from numbers.
pub(super) fn objects(connection: &blocking::Connection, shared: &Shared) -> Result<(), Error> {
    for kind in KINDS {
        let read = with(shared, move |it, name: String| it.object_number(kind, &name));
        connection.register_function(&format!("{kind}_in"), Volatility::Stable, read)?;
        let find = with(shared, move |it, name: String| it.object_number(kind, &name).ok());
        connection.register_function(&format!("{kind}_find"), Volatility::Stable, find)?;
        let write = with(shared, move |it, oid: i64| it.object_name(kind, oid));
        connection.register_function(&format!("{kind}_out"), Volatility::Stable, write)?;
    }
    // The names of several objects: numbers with commas between them give names with separators of units between them.
    let names = with(shared, |it, (kind, numbers): (String, String)| {
        let numbers = numbers.split(',').filter_map(|number| number.parse().ok());
        numbers.map(|number| it.object_name(&kind, number)).collect::<Vec<_>>().join("\u{1f}")
    });
    connection.register_function("object_names", Volatility::Stable, move |kind: String, numbers: String| {
        names((kind, numbers))
    })?;
    let visible = with(shared, |it, oid: i64| number(oid).and_then(|oid| it.is_class_visible(oid)));
    connection.register_function("class_is_visible", Volatility::Stable, visible)?;
    // All types, functions and operators are of pg_catalog.
    connection.register_function("oid_is_visible", Volatility::Stable, |_: i64| true)?;
    let user = with(shared, |it, oid: i64| {
        number(oid).and_then(|oid| it.user_name(oid)).unwrap_or_else(|| format!("unknown (OID={oid})"))
    });
    connection.register_function("user_name", Volatility::Stable, user)
}
