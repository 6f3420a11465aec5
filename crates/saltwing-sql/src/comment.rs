//! COMMENT ON.
//!
//! ```text
//! COMMENT ON {TABLE | VIEW} [schema.]name IS {'text' | NULL}
//! COMMENT ON COLUMN [schema.]table.[family.]column IS {'text' | NULL}
//! ```

use sqlparser::tokenizer::Token;

use crate::cursor::Cursor;
use crate::error::SqlError;
use crate::statement::{Comment, CommentObject};

/// Most names of a column: schema, table, family and column.
const NAMES_MAX: usize = 4;

/// Reads what follows `COMMENT`.
pub(crate) fn parse(cursor: &mut Cursor<'_>) -> Result<Comment, SqlError> {
    cursor.expect(&["ON"])?;
    let object = if cursor.eat(&["TABLE"]) {
        CommentObject::Table(cursor.table()?)
    } else if cursor.eat(&["VIEW"]) {
        CommentObject::View(cursor.table()?)
    } else if cursor.eat(&["COLUMN"]) {
        column(cursor)?
    } else {
        return Err(cursor.expected_word(&["TABLE", "VIEW", "COLUMN"]));
    };
    cursor.expect(&["IS"])?;
    let text = match cursor.eat(&["NULL"]) {
        true => None,
        false => Some(cursor.string("a text in '', or NULL")?).filter(|text| !text.is_empty()),
    };
    Ok(Comment { object, text })
}

fn column(cursor: &mut Cursor<'_>) -> Result<CommentObject, SqlError> {
    let start = cursor.index();
    let mut names = vec![cursor.name("a table name")?];
    while cursor.eat_symbol(&Token::Period) {
        names.push(cursor.name_part("a column name")?);
    }
    match names.len() {
        2..=NAMES_MAX => Ok(CommentObject::Column(names)),
        1 => Err(SqlError::syntax("a column is named with its table here: table.column", cursor.span_from(start))),
        _ => {
            let text = "a column has at most four names here: schema, table, family and column";
            Err(SqlError::syntax(text, cursor.span_from(start)))
        }
    }
}
