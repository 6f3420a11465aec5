//! MERGE.

use crate::cursor::Cursor;
use crate::dml::{assignment, overriding, returning, target, value};
use crate::error::SqlError;
use crate::name::ColumnName;
use crate::statement::{Hint, Merge, MergeAction, MergeClause, MergeRows};
use crate::{column_type, query, sequence};
use sqlparser::tokenizer::Token;

/// Reads what follows MERGE, which is token number `start`.
pub(crate) fn parse(cursor: &mut Cursor<'_>, start: usize, hints: Vec<Hint>) -> Result<Merge, SqlError> {
    cursor.expect(&["INTO"])?;
    let (table, dynamic, alias) = target(cursor)?;
    cursor.expect(&["USING"])?;
    query::check_words(cursor, cursor.token_count())?;
    let source = cursor.table_and_joins()?;
    cursor.expect(&["ON"])?;
    let on = cursor.expr()?;
    let mut clauses = vec![clause(cursor)?];
    while cursor.at(&["WHEN"]) {
        clauses.push(clause(cursor)?);
    }
    let returning = returning(cursor)?;
    let span = cursor.span_from(start);
    Ok(Merge { table, dynamic, alias, source, on, clauses, returning, hints, span })
}

/// `WHEN .. [AND condition] THEN ..`.
fn clause(cursor: &mut Cursor<'_>) -> Result<MergeClause, SqlError> {
    let start = cursor.index();
    cursor.expect(&["WHEN"])?;
    let rows = match cursor.eat(&["NOT"]) {
        false => MergeRows::Matched,
        true => MergeRows::NotInTable,
    };
    cursor.expect(&["MATCHED"])?;
    let rows = match rows {
        MergeRows::NotInTable if cursor.eat(&["BY", "SOURCE"]) => MergeRows::NotInSource,
        rows => {
            if rows == MergeRows::NotInTable {
                cursor.eat(&["BY", "TARGET"]);
            }
            rows
        }
    };
    let condition = match cursor.eat(&["AND"]) {
        true => Some(cursor.expr()?),
        false => None,
    };
    cursor.expect(&["THEN"])?;
    if let Some(span) = cursor.take_sequence() {
        return Err(sequence::misplaced(span));
    }
    let action = action(cursor, rows)?;
    match &action {
        MergeAction::Update(assignments) => sequence::check_values(cursor, assignments.iter().map(|it| &it.value))?,
        MergeAction::Insert { values, .. } => sequence::check_values(cursor, values.iter())?,
        MergeAction::Delete | MergeAction::Nothing => {}
    }
    Ok(MergeClause { rows, condition, action, span: cursor.span_from(start) })
}

/// A column of the INSERT. Dynamic ones are declared for all clauses at once.
fn written_column(cursor: &mut Cursor<'_>) -> Result<ColumnName, SqlError> {
    let column = cursor.column()?;
    if cursor.word(0).is_some_and(column_type::is_type_name) {
        let span = column.span().union(cursor.here());
        return Err(SqlError::not_supported("a dynamic column that is declared in a clause of a MERGE", span)
            .with_help("declare it behind the table: MERGE INTO t (extra VARCHAR) USING .."));
    }
    Ok(column)
}

fn action(cursor: &mut Cursor<'_>, rows: MergeRows) -> Result<MergeAction, SqlError> {
    let here = cursor.here();
    if cursor.eat(&["DO", "NOTHING"]) {
        return Ok(MergeAction::Nothing);
    }
    if rows == MergeRows::NotInTable {
        if !cursor.eat(&["INSERT"]) {
            return Err(cursor.expected_word(&["INSERT", "DO"]));
        }
        let columns = match *cursor.peek(0) == Token::LParen {
            true => Some(cursor.in_brackets(written_column)?),
            false => None,
        };
        let overriding = overriding(cursor)?;
        if cursor.at(&["DEFAULT", "VALUES"]) {
            return Err(SqlError::not_supported("DEFAULT VALUES", cursor.here()));
        }
        cursor.expect(&["VALUES"])?;
        return Ok(MergeAction::Insert { columns, overriding, values: cursor.in_brackets(value)? });
    }
    if cursor.eat(&["DELETE"]) {
        return Ok(MergeAction::Delete);
    }
    if cursor.eat(&["UPDATE"]) {
        cursor.expect(&["SET"])?;
        return Ok(MergeAction::Update(cursor.list(assignment)?));
    }
    match cursor.at(&["INSERT"]) {
        true => Err(SqlError::syntax("INSERT is for rows that are NOT MATCHED", here)),
        false => Err(cursor.expected_word(&["UPDATE", "DELETE", "DO"])),
    }
}
