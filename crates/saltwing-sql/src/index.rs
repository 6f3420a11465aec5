//! CREATE INDEX, ALTER INDEX and DROP INDEX, as Phoenix writes them, and SHOW INDEXES.
//!
//! ```text
//! CREATE [UNIQUE] [GLOBAL | LOCAL] INDEX [IF NOT EXISTS] [index] ON [schema.]table [USING BTREE] (part [ASC | DESC], ..)
//!     [INCLUDE ([family.]column, ..)] [WHERE condition] [option = value [,] ..] [ASYNC]
//! ALTER INDEX [IF EXISTS] index ON [schema.]table {REBUILD [ASYNC] | DISABLE | USABLE}
//! DROP INDEX [IF EXISTS] index [ON [schema.]table]
//! SHOW INDEXES [{FROM | IN | ON} [schema.]table]
//! ```
//! An index is in the schema of its table.

use crate::create_table::{key_part, table_options};
use crate::cursor::Cursor;
use crate::error::SqlError;
use crate::name::TableRef;
use crate::statement::{AlterIndex, CreateIndex, DropIndex, IndexChange, index_name};

/// The words before the name, whether they make the index unique, and whether they make it local.
const KINDS: [(&[&str], bool, bool); 6] = [
    (&["CREATE", "INDEX"], false, false),
    (&["CREATE", "GLOBAL", "INDEX"], false, false),
    (&["CREATE", "LOCAL", "INDEX"], false, true),
    (&["CREATE", "UNIQUE", "INDEX"], true, false),
    (&["CREATE", "UNIQUE", "GLOBAL", "INDEX"], true, false),
    (&["CREATE", "UNIQUE", "LOCAL", "INDEX"], true, true),
];

/// Reads `CREATE INDEX ..`, if it stands here.
pub(crate) fn create(cursor: &mut Cursor<'_>) -> Result<Option<CreateIndex>, SqlError> {
    let start = cursor.index();
    let Some(&(_, unique, local)) = KINDS.iter().find(|(words, ..)| cursor.eat(words)) else { return Ok(None) };
    let if_not_exists = cursor.eat(&["IF", "NOT", "EXISTS"]);
    let name = match cursor.at(&["ON"]) {
        true => None,
        false => Some(cursor.name("an index name")?),
    };
    let table = on_table(cursor)?;
    method(cursor)?;
    let parts = cursor.in_brackets(key_part)?;
    let is_named = name.is_some();
    let name = name.unwrap_or_else(|| index_name(&table, &parts, "idx", cursor.span_at(start)));
    let include = match cursor.eat(&["INCLUDE"]) {
        true => cursor.in_brackets(Cursor::column)?,
        false => Vec::new(),
    };
    let predicate = match cursor.eat(&["WHERE"]) {
        true => {
            let from = cursor.index();
            let expr = cursor.expr()?;
            let text = cursor.kept_text(from, &expr);
            Some((expr, text))
        }
        false => None,
    };
    // Phoenix has it before the options.
    let is_async_first = cursor.eat(&["ASYNC"]);
    let (options, split_on) = table_options(cursor, false)?;
    if !split_on.is_empty() {
        return Err(SqlError::not_supported("SPLIT ON of an index", cursor.span_from(start)));
    }
    let asynchronous = is_async_first || cursor.eat(&["ASYNC"]);
    let span = cursor.span_from(start);
    Ok(Some(CreateIndex {
        is_named,
        unique,
        local,
        if_not_exists,
        name,
        table,
        parts,
        include,
        predicate,
        options,
        asynchronous,
        span,
    }))
}

/// `USING BTREE`: every index keeps its entries in order.
fn method(cursor: &mut Cursor<'_>) -> Result<(), SqlError> {
    if cursor.eat(&["USING"]) && !cursor.eat(&["BTREE"]) {
        return Err(SqlError::not_supported("another kind of index than BTREE", cursor.here())
            .with_help("leave USING out: an index keeps its entries in the order of its parts"));
    }
    Ok(())
}

/// Reads `ALTER INDEX ..`, if it stands here.
pub(crate) fn alter(cursor: &mut Cursor<'_>) -> Result<Option<AlterIndex>, SqlError> {
    let start = cursor.index();
    if !cursor.eat(&["ALTER", "INDEX"]) {
        return Ok(None);
    }
    let if_exists = cursor.eat(&["IF", "EXISTS"]);
    let name = cursor.name("an index name")?;
    if cursor.at(&["RENAME"]) {
        return Err(SqlError::not_supported("another name for an index", cursor.here())
            .with_help("CREATE INDEX makes one of the other name, then DROP INDEX drops the old one"));
    }
    let table = on_table(cursor)?;
    let change = match () {
        () if cursor.eat(&["REBUILD"]) => IndexChange::Rebuild { asynchronous: cursor.eat(&["ASYNC"]) },
        () if cursor.eat(&["DISABLE"]) => IndexChange::Disable,
        () if cursor.eat(&["USABLE"]) => IndexChange::Usable,
        () => return Err(cursor.expected_word(&["REBUILD", "DISABLE", "USABLE"])),
    };
    Ok(Some(AlterIndex { if_exists, name, table, change, span: cursor.span_from(start) }))
}

/// Reads `ON [schema.]table` after the name of an index.
fn on_table(cursor: &mut Cursor<'_>) -> Result<TableRef, SqlError> {
    let named_with_table = "an index is named with its table, index ON table, and is in the table's schema";
    cursor.expect(&["ON"]).map_err(|error| error.with_help(named_with_table))?;
    cursor.existing_table()
}

/// Reads what follows `SHOW INDEXES`.
pub(crate) fn shown(cursor: &mut Cursor<'_>) -> Result<Option<TableRef>, SqlError> {
    match ["FROM", "IN", "ON"].iter().any(|word| cursor.eat(&[word])) {
        true => cursor.existing_table().map(Some),
        false => Ok(None),
    }
}

/// Reads `DROP INDEX ..`, if it stands here.
pub(crate) fn drop(cursor: &mut Cursor<'_>) -> Result<Option<DropIndex>, SqlError> {
    if !cursor.eat(&["DROP", "INDEX"]) {
        return Ok(None);
    }
    let if_exists = cursor.eat(&["IF", "EXISTS"]);
    let name = cursor.name("an index name")?;
    let table = match cursor.is_at_end() {
        true => None,
        false => Some(on_table(cursor)?),
    };
    Ok(Some(DropIndex { if_exists, name, table }))
}
