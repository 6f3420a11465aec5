//! Values and names as SQL writes them.

use super::signature::{VARCHAR, of_kind};
use super::text::OF_TEXT;
use super::{ParameterKind, ScalarFunction, Signature, SizeBound};
use crate::text::{hex, literal};
use crate::{SqlType, Value};

pub(super) static ALL: &[&ScalarFunction] = &[&QUOTE, &QUOTE_IDENT, &QUOTE_LITERAL, &QUOTE_NULLABLE];

const DOUBLED: SizeBound = SizeBound { bytes: |args| Ok(args.value(0)?.heap_bytes() * 2 + 64), multiplies: false };
const OF_ANY: &[Signature] = &[Signature::new(&[of_kind("value", ParameterKind::AnyAsText)], VARCHAR)];

static QUOTE: ScalarFunction =
    ScalarFunction::new("QUOTE", &[Signature::new(&[of_kind("value", ParameterKind::Any)], VARCHAR)], |args| {
        Ok(Value::Text(match args.value(0)? {
            Value::Bytes(bytes) => format!("X'{}'", hex(bytes).to_uppercase()),
            value => literal(value, SqlType::Null),
        }))
    })
    .with_own_nulls()
    .size(SizeBound { bytes: |args| Ok(args.value(0)?.heap_bytes() * 4 + 64), multiplies: false })
    .gives("The value as a literal of SQL, as in SQLite; NULL as the word.")
    .example("QUOTE('it''s')", "'it''s'");

static QUOTE_IDENT: ScalarFunction =
    ScalarFunction::new("QUOTE_IDENT", OF_TEXT, |args| Ok(Value::Text(quoted_name(args.text(0)?))))
        .size(DOUBLED)
        .gives("The text as a name of SQL: in double quotes unless it is a word in lower case that is no keyword.")
        .example("QUOTE_IDENT('A b')", "\"A b\"");

static QUOTE_LITERAL: ScalarFunction =
    ScalarFunction::new("QUOTE_LITERAL", OF_ANY, |args| Ok(Value::Text(quoted_text(args.text(0)?))))
        .size(DOUBLED)
        .gives("The text of the value as a string of SQL; one with a backslash as E'..'.")
        .example("QUOTE_LITERAL('it''s')", "'it''s'");

static QUOTE_NULLABLE: ScalarFunction = ScalarFunction::new("QUOTE_NULLABLE", OF_ANY, |args| match args.value(0)? {
    Value::Null => Ok(Value::text("NULL")),
    _ => Ok(Value::Text(quoted_text(args.text(0)?))),
})
.with_own_nulls()
.size(DOUBLED)
.gives("As QUOTE_LITERAL, and the word NULL of NULL.")
.example("QUOTE_NULLABLE(NULL)", "NULL");

/// A string of SQL. Backslashes are doubled, as PostgreSQL does it.
pub(super) fn quoted_text(text: &str) -> String {
    let text = text.replace('\'', "''");
    if text.contains('\\') { format!("E'{}'", text.replace('\\', "\\\\")) } else { format!("'{text}'") }
}

/// A name of SQL.
pub(super) fn quoted_name(name: &str) -> String {
    let is_word = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    match is_word && !KEYWORDS.split(' ').any(|keyword| keyword == name) {
        true => name.to_owned(),
        false => format!("\"{}\"", name.replace('"', "\"\"")),
    }
}

/// Keywords of PostgreSQL 15 that QUOTE_IDENT quotes there: all but the unreserved ones.
const KEYWORDS: &str = "all analyse analyze and any array as asc asymmetric authorization between bigint binary bit boolean both \
    case cast char character check coalesce collate collation column concurrently constraint create cross current_catalog \
    current_date current_role current_schema current_time current_timestamp current_user dec decimal default deferrable desc \
    distinct do else end except exists extract false fetch float for foreign freeze from full grant greatest group grouping \
    having ilike in initially inner inout int integer intersect interval into is isnull join lateral leading least left like \
    limit localtime localtimestamp national natural nchar none normalize not notnull null nullif numeric offset on only or \
    order out outer overlaps overlay placing position precision primary real references returning right row select \
    session_user setof similar smallint some substring symmetric table tablesample then time timestamp to trailing treat trim \
    true union unique user using values varchar variadic verbose when where window with xmlattributes xmlconcat xmlelement \
    xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable";
