//! Names of things, as written.

use std::fmt;

use saltwing_types::{Span, TableName};
use sqlparser::ast::{Ident, ObjectName, ObjectNamePart};

use crate::place::token_span;
use crate::words;

/// One name as it was written, with its place.
///
/// Names keep the case they are written with. An unquoted name matches in any
/// case; a quoted one matches exactly, else the one name that differs only in
/// case (`docs/semantics.md#names`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The name, without quotes.
    pub text: String,
    /// Whether it stood in double quotes.
    pub quoted: bool,
    /// Where it stands.
    pub span: Span,
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.quoted {
            true => write_quoted(f, &self.text),
            false => f.write_str(&self.text),
        }
    }
}

fn write_quoted(f: &mut impl fmt::Write, text: &str) -> fmt::Result {
    write!(f, "\"{}\"", text.replace('"', "\"\""))
}

/// `name` as it must be written so that it is read back as itself: quoted only where it has to be.
pub fn quote_name(name: &str) -> String {
    let mut chars = name.chars();
    let plain = chars.next().is_some_and(crate::scanner::is_name_start) && chars.all(crate::scanner::is_name_part);
    if plain && !is_reserved_word(name) {
        return name.to_owned();
    }
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write_quoted(&mut out, name);
    out
}

/// Whether `word` names something only in quotes.
pub fn is_reserved_word(word: &str) -> bool {
    match sqlparser::tokenizer::Token::make_keyword(word) {
        sqlparser::tokenizer::Token::Word(word) => words::is_reserved(word.keyword),
        _ => false,
    }
}

fn span_of(qualifier: Option<&Name>, name: &Name) -> Span {
    qualifier.map_or(name.span, |qualifier| qualifier.span.union(name.span))
}

fn write_name(f: &mut fmt::Formatter<'_>, qualifier: Option<&Name>, name: &Name) -> fmt::Result {
    // The default schema has no name in texts.
    let qualifier = qualifier.filter(|qualifier| !qualifier.text.is_empty());
    qualifier.map_or(Ok(()), |qualifier| write!(f, "{qualifier}."))?;
    write!(f, "{name}")
}

/// A table: `t`, or `schema.t`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableRef {
    /// The schema, if it was given.
    pub schema: Option<Name>,
    /// The table.
    pub name: Name,
}

impl TableRef {
    /// Where it stands, schema included.
    pub fn span(&self) -> Span {
        span_of(self.schema.as_ref(), &self.name)
    }

    /// Gives the names of a table in another text the place of this one.
    pub fn place(&self, table: &mut ObjectName) {
        let parts = 1 + usize::from(self.schema.as_ref().is_some_and(|schema| !schema.text.is_empty()));
        for part in table.0.iter_mut().take(parts) {
            if let ObjectNamePart::Identifier(name) = part {
                name.span = token_span(self.span());
            }
        }
    }

    /// A name that stands at a place of a statement, as it is.
    pub fn of(name: &TableName, span: Span) -> Self {
        let quoted = |text: &String| Name { text: text.clone(), quoted: true, span };
        Self { schema: name.schema.as_ref().map(quoted), name: quoted(&name.name) }
    }

    /// The name alone.
    pub fn to_name(&self) -> TableName {
        TableName { schema: self.schema.as_ref().map(|schema| schema.text.clone()), name: self.name.text.clone() }
    }

    /// The schema and the name, as the catalog takes them.
    pub fn parts(&self) -> (Option<&str>, &str) {
        (self.schema.as_ref().map(|schema| schema.text.as_str()), &self.name.text)
    }
}

impl fmt::Display for TableRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_name(f, self.schema.as_ref(), &self.name)
    }
}

/// A column that is written or declared: `c`, or `family.c`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnName {
    /// The column family, if it was given.
    pub family: Option<Name>,
    /// The column.
    pub name: Name,
}

impl ColumnName {
    /// Its parts: the family, if it was given, and the column.
    pub fn parts(&self) -> Vec<&str> {
        self.family.iter().chain([&self.name]).map(|name| name.text.as_str()).collect()
    }

    /// Where it stands, family included.
    pub fn span(&self) -> Span {
        span_of(self.family.as_ref(), &self.name)
    }
}

impl fmt::Display for ColumnName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_name(f, self.family.as_ref(), &self.name)
    }
}

/// The parts of a table's name, without the list after it.
pub fn table_name_parts(name: &ObjectName) -> &[ObjectNamePart] {
    match name.0.split_last() {
        Some((ObjectNamePart::Function(_), table)) => table,
        _ => &name.0,
    }
}

/// The schema of an attached database as one name: `other.s`.
pub(crate) fn schema_of(database: &Name, schema: &Name) -> Name {
    let text = format!("{}.{}", database.text, schema.text);
    Name { text, quoted: true, span: database.span.union(schema.span) }
}

/// Makes one name of the first two parts of `database.schema.t`, as [`schema_of`] does.
pub(crate) fn join_database(name: &mut ObjectName) {
    if table_name_parts(name).len() != 3 {
        return;
    }
    let parts = (name.0.first().and_then(|part| part.as_ident()), name.0.get(1).and_then(|part| part.as_ident()));
    if let (Some(database), Some(schema)) = parts {
        let value = format!("{}.{}", database.value, schema.value);
        let joined = Ident { value, quote_style: Some('"'), span: database.span.union(&schema.span) };
        name.0.splice(..2, [ObjectNamePart::Identifier(joined)]);
    }
}
