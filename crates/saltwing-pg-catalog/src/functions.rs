//! The functions of the catalog, which rewritten queries call.
//!
//! They look objects up in the current definitions. A number that belongs to no object gives NULL.

use std::sync::Arc;

use parking_lot::RwLock;
use saltwing::{Error, Volatility, blocking};

use crate::definitions::Size;
use crate::lookups::Lookups;
use crate::name_path::name_parts;
use crate::pg_type::format_type;
use crate::relations::{constraint_text, index_part_text, index_text, quoted, sequence_of};

/// The definitions that the functions see.
pub(crate) type Shared = Arc<RwLock<Arc<Lookups>>>;

/// The kinds of objects that have names as texts and numbers as values.
const KINDS: [&str; 5] = ["regclass", "regtype", "regproc", "regnamespace", "regrole"];

/// Makes all functions known to a database.
///
/// # Errors
/// The database's.
pub(crate) fn register(connection: &blocking::Connection, shared: &Shared) -> Result<(), Error> {
    objects(connection, shared)?;
    texts(connection, shared)?;
    comments(connection, shared)?;
    sizes(connection, shared)?;
    rights(connection, shared)?;
    plain(connection)
}

fn number(oid: i64) -> Option<u32> {
    u32::try_from(oid).ok()
}

/// A function that reads the current definitions.
fn with<A, T, F: Fn(&Lookups, A) -> T>(shared: &Shared, function: F) -> impl Fn(A) -> T + use<A, T, F> {
    let shared = shared.clone();
    move |argument| {
        let lookups = shared.read().clone();
        function(&lookups, argument)
    }
}

/// Numbers of objects from names, and names from numbers.
fn objects(connection: &blocking::Connection, shared: &Shared) -> Result<(), Error> {
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

/// Definitions as texts.
fn texts(connection: &blocking::Connection, shared: &Shared) -> Result<(), Error> {
    connection.register_function("format_type", Volatility::Immutable, |oid: i64, modifier: Option<i64>| {
        format_type(oid, modifier)
    })?;
    let index = with(shared, |it, oid: i64| index_text(&it.definitions, number(oid)?, false));
    connection.register_function("index_text", Volatility::Stable, index)?;
    let part = with(shared, |it, (oid, place, is_pretty): (i64, i64, bool)| match place {
        0 => index_text(&it.definitions, number(oid)?, is_pretty),
        place => index_part_text(&it.definitions, number(oid)?, place),
    });
    connection.register_function(
        "index_part_text",
        Volatility::Stable,
        move |oid: i64, place: i64, is_pretty: bool| part((oid, place, is_pretty)),
    )?;
    let constraint =
        with(shared, |it, (oid, is_pretty): (i64, bool)| constraint_text(&it.definitions, number(oid)?, is_pretty));
    connection.register_function("constraint_text", Volatility::Stable, move |oid: i64, is_pretty: bool| {
        constraint((oid, is_pretty))
    })?;
    let view = with(shared, |it, oid: i64| {
        let view = it.definitions.table(number(oid)?)?.view.as_ref()?;
        Some(format!("{};", view.query.trim_end().trim_end_matches(';')))
    });
    connection.register_function("view_text", Volatility::Stable, view)?;
    let arguments = with(shared, |it, oid: i64| it.function(number(oid)?).map(|(arguments, _)| arguments.to_owned()));
    connection.register_function("function_arguments", Volatility::Stable, arguments)?;
    let result =
        with(shared, |it, oid: i64| it.function(number(oid)?).map(|(_, result)| format_type(result.into(), None)));
    connection.register_function("function_result", Volatility::Stable, result)?;
    let sequence = with(shared, |it, (table, column): (String, String)| {
        let table = it.definitions.table(number(it.object_number("regclass", &table).ok()?)?)?;
        let sequence = sequence_of(&it.definitions, table.column(&column)?)?;
        Some(format!("{}.{}", quoted(&sequence.schema), quoted(&sequence.name)))
    });
    connection.register_function("serial_sequence", Volatility::Stable, move |table: String, column: String| {
        sequence((table, column))
    })
}

fn comments(connection: &blocking::Connection, shared: &Shared) -> Result<(), Error> {
    let of_object = with(shared, |it, (oid, class): (i64, Option<String>)| {
        let class = match class {
            Some(class) => Some(number(it.object_number("regclass", &class).ok()?)?),
            None => None,
        };
        it.comment(number(oid)?, class, 0).map(str::to_owned)
    });
    connection.register_function("object_comment", Volatility::Stable, move |oid: i64, class: Option<String>| {
        of_object((oid, class))
    })?;
    let of_column = with(shared, |it, (oid, column): (i64, i32)| {
        it.comment(number(oid)?, Some(1259), column).filter(|_| column > 0).map(str::to_owned)
    });
    connection
        .register_function("column_comment", Volatility::Stable, move |oid: i64, column: i32| of_column((oid, column)))
}

fn sizes(connection: &blocking::Connection, shared: &Shared) -> Result<(), Error> {
    fn bytes(it: &Lookups, oid: u32) -> Option<i64> {
        it.class(oid)?;
        Some(it.definitions.sizes.get(&oid).map_or(0, |size| size.bytes))
    }
    fn index_bytes(it: &Lookups, oid: u32) -> Option<i64> {
        it.class(oid)?;
        let Some(table) = it.definitions.table(oid) else { return Some(0) };
        let sizes = it.definitions.indexes_of(table).filter_map(|index| bytes(it, index.oid));
        Some(sizes.fold(0, i64::saturating_add))
    }
    let own = with(shared, |it, oid: i64| bytes(it, number(oid)?));
    connection.register_function("relation_bytes", Volatility::Stable, own)?;
    let indexes = with(shared, |it, oid: i64| index_bytes(it, number(oid)?));
    connection.register_function("index_bytes", Volatility::Stable, indexes)?;
    let total = with(shared, |it, oid: i64| {
        let oid = number(oid)?;
        Some(bytes(it, oid)?.saturating_add(index_bytes(it, oid)?))
    });
    connection.register_function("total_bytes", Volatility::Stable, total)?;
    let shared = shared.clone();
    connection.register_function("database_bytes", Volatility::Stable, move || {
        let lookups = shared.read().clone();
        lookups.definitions.sizes.values().map(|size: &Size| size.bytes).fold(0, i64::saturating_add)
    })?;
    connection.register_function("pretty_size", Volatility::Immutable, pretty_size)
}

fn rights(connection: &blocking::Connection, shared: &Shared) -> Result<(), Error> {
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

/// Functions of their arguments alone.
fn plain(connection: &blocking::Connection) -> Result<(), Error> {
    let start = std::time::SystemTime::now();
    connection.register_function("server_start", Volatility::Stable, move || start)?;
    connection.register_function("quote_ident", Volatility::Immutable, |name: String| quoted(&name))?;
    connection.register_function("quote_literal", Volatility::Immutable, |text: String| {
        let escaped = text.replace('\'', "''");
        if text.contains('\\') { format!("E'{}'", escaped.replace('\\', "\\\\")) } else { format!("'{escaped}'") }
    })?;
    connection.register_function("parse_ident", Volatility::Immutable, |text: String| {
        let parts = name_parts(&text).map(|parts| parts.join("\u{1f}"));
        parts.ok_or_else(|| format!("string is not a valid identifier: \"{text}\""))
    })?;
    connection.register_function("json_text", Volatility::Immutable, |text: String| json_text(&text))?;
    connection.register_function("encoding_name", Volatility::Immutable, |number: i64| {
        if number == 6 { "UTF8".to_owned() } else { String::new() }
    })?;
    connection.register_function("encoding_number", Volatility::Immutable, |name: String| {
        if matches!(name.to_ascii_uppercase().as_str(), "UTF8" | "UTF-8" | "UNICODE") { 6_i32 } else { -1 }
    })?;
    connection.register_function("pg_substring", Volatility::Immutable, |text: String, from: i64| {
        substring(&text, from, i64::MAX)
    })?;
    connection.register_function(
        "pg_substring_for",
        Volatility::Immutable,
        |text: String, from: i64, count: i64| substring(&text, from, count),
    )?;
    Ok(())
}

/// The characters from a place on, at most so many; places before the first character count.
fn substring(text: &str, from: i64, count: i64) -> Result<String, &'static str> {
    if count < 0 {
        return Err("negative substring length not allowed");
    }
    let end = from.saturating_add(count);
    let places = 1_i64..;
    let inside = text.chars().zip(places).filter(|(_, place)| *place >= from && *place < end);
    Ok(inside.map(|(c, _)| c).collect())
}

/// A text as JSON.
fn json_text(text: &str) -> String {
    let mut json = String::with_capacity(text.len().saturating_add(2));
    json.push('"');
    for c in text.chars() {
        match c {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            c if u32::from(c) < 0x20 => json.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => json.push(c),
        }
    }
    json.push('"');
    json
}

/// A number of bytes for people: `8192 bytes`, `16 kB`.
fn pretty_size(bytes: i64) -> String {
    const UNITS: [&str; 6] = ["bytes", "kB", "MB", "GB", "TB", "PB"];
    const STEP: i64 = 1024;
    // PostgreSQL goes to the next unit from ten times its size on.
    let limit = 10 * STEP;
    let mut size = bytes;
    let mut last = "bytes";
    for unit in UNITS {
        last = unit;
        if size.abs() < limit || unit == "PB" {
            break;
        }
        size = size.checked_add(STEP / 2).unwrap_or(size).div_euclid(STEP);
    }
    format!("{size} {last}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_written_for_people() {
        let cases =
            [(0, "0 bytes"), (10_239, "10239 bytes"), (10_240, "10 kB"), (10_485_760, "10 MB"), (i64::MAX, "8192 PB")];
        for (bytes, text) in cases {
            assert_eq!(pretty_size(bytes), text);
        }
    }

    #[test]
    fn places_before_the_first_character_count() {
        assert_eq!(substring("TABLE(a)", 0, 6).as_deref(), Ok("TABLE"));
        assert_eq!(substring("äöü", 2, 1).as_deref(), Ok("ö"));
        assert_eq!(substring("ab", 5, 1).as_deref(), Ok(""));
        assert!(substring("ab", 1, -1).is_err());
    }

    #[test]
    fn texts_are_json() {
        assert_eq!(json_text("a\"b\\\n"), "\"a\\\"b\\\\\\u000a\"");
    }
}
