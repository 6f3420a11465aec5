//! Definitions of objects as statements of PostgreSQL write them.

use super::constraints::constraints;
use super::keywords::is_reserved;
use crate::definitions::{Column, Definitions, Function, Index, IndexPart, Sequence, Table, key_index_oid};
use crate::name_path::name_parts;
use crate::pg_type::format_type;

/// A name, in quotes if it needs some.
pub(crate) fn quoted(name: &str) -> String {
    let mut chars = name.chars();
    let begins = chars.next().is_some_and(|c| c.is_ascii_lowercase() || c == '_');
    let is_plain = begins && chars.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '$'));
    match is_plain && !is_reserved(name) {
        true => name.to_owned(),
        false => format!("\"{}\"", name.replace('"', "\"\"")),
    }
}

/// The parts of the primary key's index.
fn key_parts(table: &Table) -> Vec<IndexPart> {
    let part = |column: &Column| IndexPart {
        text: column.name.clone(),
        is_column: true,
        is_descending: column.key.is_some_and(|(_, is_descending)| is_descending),
    };
    table.key_columns().into_iter().map(part).collect()
}

/// A part without its direction: a column, or an expression in brackets unless it is a call.
fn part_text(part: &IndexPart) -> String {
    let is_call = part.text.ends_with(')') && part.text.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_');
    match (part.is_column, is_call) {
        (true, _) => quoted(&part.text),
        (false, true) => part.text.clone(),
        (false, false) => format!("({})", part.text),
    }
}

/// The CREATE INDEX of an index, of a primary key's index too. `is_pretty` leaves out a visible schema and unneeded brackets.
pub(crate) fn index_text(definitions: &Definitions, oid: u32, is_pretty: bool) -> Option<String> {
    let path = |schema: &str, name: &str| match is_pretty && schema == "public" {
        true => quoted(name),
        false => format!("{}.{}", quoted(schema), quoted(name)),
    };
    if let Some(index) = definitions.indexes.iter().find(|index| index.oid == oid) {
        return Some(secondary_index_text(index, &path(&index.schema, &index.table), is_pretty));
    }
    let table = definitions.tables.iter().find(|table| table.has_key() && key_index_oid(table.oid) == oid)?;
    let parts = key_parts(table);
    Some(statement(true, &table.key_index_name(), &path(&table.schema, &table.name), &parts))
}

fn secondary_index_text(index: &Index, table: &str, is_pretty: bool) -> String {
    let mut text = statement(index.is_unique, &index.name, table, &index.parts);
    if !index.included.is_empty() {
        let included: Vec<String> = index.included.iter().map(|column| quoted(column)).collect();
        text.push_str(&format!(" INCLUDE ({})", included.join(", ")));
    }
    if let Some(predicate) = &index.predicate {
        text.push_str(&if is_pretty { format!(" WHERE {predicate}") } else { format!(" WHERE ({predicate})") });
    }
    text
}

fn statement(is_unique: bool, name: &str, table: &str, parts: &[IndexPart]) -> String {
    let part = |part: &IndexPart| part_text(part) + if part.is_descending { " DESC" } else { "" };
    let parts: Vec<String> = parts.iter().map(part).collect();
    let unique = if is_unique { "UNIQUE " } else { "" };
    format!("CREATE {unique}INDEX {} ON {table} USING btree ({})", quoted(name), parts.join(", "))
}

/// A column of an index, from 1, those beside the key after it; empty if there is none.
pub(crate) fn index_part_text(definitions: &Definitions, oid: u32, place: i64) -> Option<String> {
    let place = usize::try_from(place).ok().and_then(|place| place.checked_sub(1));
    let texts: Vec<String> = match definitions.indexes.iter().find(|index| index.oid == oid) {
        Some(index) => {
            let included = index.included.iter().map(|column| quoted(column));
            index.parts.iter().map(part_text).chain(included).collect()
        }
        None => {
            let table = definitions.tables.iter().find(|table| table.has_key() && key_index_oid(table.oid) == oid)?;
            key_parts(table).iter().map(part_text).collect()
        }
    };
    Some(place.and_then(|place| texts.get(place)).cloned().unwrap_or_default())
}

/// A constraint as CREATE TABLE has it. `is_pretty` is without brackets that are not needed.
pub(crate) fn constraint_text(definitions: &Definitions, oid: u32, is_pretty: bool) -> Option<String> {
    let constraints = constraints(definitions).ok()?;
    let constraint = constraints.iter().find(|constraint| constraint.oid == oid)?;
    let Some(condition) = constraint.condition else {
        let columns: Vec<String> = constraint.columns().iter().map(|column| quoted(&column.name)).collect();
        return Some(format!("PRIMARY KEY ({})", columns.join(", ")));
    };
    Some(if is_pretty { format!("CHECK ({condition})") } else { format!("CHECK (({condition}))") })
}

/// The sequence of an identity column.
pub(crate) fn sequence_of<'a>(definitions: &'a Definitions, column: &Column) -> Option<&'a Sequence> {
    let (schema, name) = column.identity.as_ref()?.sequence.as_ref()?;
    definitions.sequences.iter().find(|sequence| sequence.schema == *schema && sequence.name == *name)
}

/// The DEFAULT of a column as an expression, or the one that generates its values. A sequence's next value is a call of `nextval`, by which
/// clients know that the column counts.
pub(super) fn default_text(column: &Column) -> Option<String> {
    if let Some(generated) = &column.generated {
        return Some(generated.clone());
    }
    let default = column.default.as_deref()?;
    Some(match default.strip_prefix("NEXT VALUE FOR ") {
        Some(sequence) if name_parts(sequence).is_some() => {
            format!("nextval('{}'::regclass)", sequence.replace('\'', "''"))
        }
        _ => default.to_owned(),
    })
}

/// The arguments of a function, with their names.
pub(crate) fn function_arguments(function: &Function) -> String {
    let argument = |(name, ty): &(String, u32)| format!("{} {}", quoted(name), format_type((*ty).into(), None));
    function.arguments.iter().map(argument).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_if_they_need_it() {
        for (name, text) in [
            ("a1", "a1"),
            ("A", "\"A\""),
            ("select", "\"select\""),
            ("a\"b", "\"a\"\"b\""),
            ("", "\"\""),
            ("ä", "\"ä\""),
        ] {
            assert_eq!(quoted(name), text);
        }
    }

    #[test]
    fn parts_that_are_no_calls_stand_in_brackets() {
        let part = |text: &str, is_column| IndexPart { text: text.into(), is_column, is_descending: true };
        let parts = [part("name", true), part("LOWER(name)", false), part("a + b", false)];
        let text = statement(true, "i", "s.t", &parts);
        assert_eq!(text, "CREATE UNIQUE INDEX i ON s.t USING btree (name DESC, LOWER(name) DESC, (a + b) DESC)");
    }
}
