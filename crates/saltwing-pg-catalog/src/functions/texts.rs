//! Definitions of objects as texts.

use saltwing::{Error, Volatility, blocking};

use super::shared::{Shared, number, with};
use crate::pg_type::format_type;
use crate::relations::{constraint_text, index_part_text, index_text, quoted, sequence_of};

/// Definitions as texts.
pub(super) fn texts(connection: &blocking::Connection, shared: &Shared) -> Result<(), Error> {
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
