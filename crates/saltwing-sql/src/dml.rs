//! UPSERT, INSERT, DELETE and UPDATE.

use saltwing_types::{Span, SqlType};
use sqlparser::ast::{Expr, Ident, OrderBy, Query, SelectItem, SetExpr, TableWithJoins, Value, ValueWithSpan};
use sqlparser::tokenizer::Token;

use crate::column_type;
use crate::cursor::Cursor;
use crate::dynamic_column::DynamicColumn;
use crate::error::SqlError;
use crate::guard::{self, TreeSize};
use crate::name::{ColumnName, Name, TableRef};
use crate::parameter::parameter_place;
use crate::statement::{
    Assignment, ConflictAction, ConflictClause, ConflictTarget, Delete, Hint, Returning, RowSource, SourceText, Update,
    Upsert, ValuesRow,
};
use crate::{derived, dynamic_list, query, sequence};

/// The word DEFAULT among the values of an UPSERT.
///
/// DEFAULT is reserved, so no column can be meant.
pub fn is_default(expr: &Expr) -> bool {
    matches!(expr, Expr::Identifier(Ident { value, quote_style: None, .. }) if value == "DEFAULT")
}

/// Reads what follows UPSERT or INSERT, which is token number `start`.
pub(crate) fn upsert(cursor: &mut Cursor<'_>, start: usize, hints: Vec<Hint>) -> Result<Upsert, SqlError> {
    let or = insert_or(cursor)?;
    write(cursor, start, hints, or)
}

/// Reads what follows REPLACE, which is token number `start`: INSERT OR REPLACE.
pub(crate) fn replace(cursor: &mut Cursor<'_>, start: usize, hints: Vec<Hint>) -> Result<Upsert, SqlError> {
    let (target, action) = (ConflictTarget::PrimaryKey, ConflictAction::Replace);
    write(cursor, start, hints, Some(ConflictClause { target, action, span: cursor.span_from(start) }))
}

fn write(
    cursor: &mut Cursor<'_>,
    start: usize,
    hints: Vec<Hint>,
    or: Option<ConflictClause>,
) -> Result<Upsert, SqlError> {
    cursor.expect(&["INTO"])?;
    let table = cursor.existing_table()?;
    let alias = match cursor.eat(&["AS"]) {
        true => Some(cursor.name("an alias")?),
        false => None,
    };
    let by_name = cursor.here();
    let is_by_name = cursor.eat(&["BY", "NAME"]);
    let (columns, dynamic) = match *cursor.peek(0) == Token::LParen && !starts_query(cursor, 1) {
        true => {
            let (columns, dynamic) = columns_or_dynamic(cursor)?;
            (Some(columns), dynamic)
        }
        false => (None, Vec::new()),
    };
    if is_by_name && columns.is_some() {
        let error = SqlError::syntax("BY NAME and a list of columns exclude each other", by_name);
        return Err(error.with_help("leave BY NAME out: the values are those of the columns in the list"));
    }
    let overriding = overriding(cursor)?;
    query::check_words(cursor, conflict_clause_start(cursor))?;
    let source = match cursor.word(0).map(str::to_uppercase).as_deref() {
        Some("VALUES") => values(cursor)?,
        Some("SELECT" | "WITH" | "TABLE") => RowSource::Query(query::parse(cursor)?),
        // A row of no values: all columns have their defaults.
        Some("DEFAULT") if columns.is_none() && !is_by_name && cursor.eat(&["DEFAULT", "VALUES"]) => {
            let span = cursor.span_from(cursor.index().saturating_sub(2));
            return default_values(cursor, start, hints, (table, alias), (overriding, or), span);
        }
        Some("SET") => return Err(SqlError::not_supported("INTO .. SET", cursor.here())),
        _ if *cursor.peek(0) == Token::LParen => RowSource::Query(query::parse(cursor)?),
        _ => return Err(cursor.expected_word(&["VALUES", "SELECT"])),
    };
    match &source {
        RowSource::Values(rows) => sequence::check_values(cursor, rows.iter().flat_map(|row| &row.values))?,
        RowSource::Query(query) => sequence::check_query(cursor, query)?,
    }
    let columns = match (&source, is_by_name) {
        (RowSource::Query(query), true) => Some(names_of(query, by_name)?),
        (RowSource::Values(_), true) => {
            return Err(SqlError::syntax("the values of VALUES have no names for BY NAME", by_name)
                .with_help("write a list of columns, or SELECT 1 AS a, .."));
        }
        _ => columns,
    };
    let conflict = match conflict_clause(cursor)? {
        Some(clause) if or.is_some() => {
            return Err(SqlError::syntax(
                "OR behind INSERT and a clause for conflicts exclude each other",
                clause.span,
            ));
        }
        clause => clause.or(or),
    };
    let returning = returning(cursor)?;
    let span = cursor.span_from(start);
    let takes_first_columns = false;
    Ok(Upsert {
        table,
        alias,
        columns,
        takes_first_columns,
        dynamic,
        overriding,
        source,
        conflict,
        returning,
        hints,
        span,
    })
}

/// What follows `INSERT INTO t DEFAULT VALUES`: one row in which no column is given.
fn default_values(
    cursor: &mut Cursor<'_>,
    start: usize,
    hints: Vec<Hint>,
    (table, alias): (TableRef, Option<Name>),
    (overriding, or): (bool, Option<ConflictClause>),
    values: Span,
) -> Result<Upsert, SqlError> {
    let row = ValuesRow { first_parameter: None, values: Vec::new(), span: values };
    let (source, returning) = (RowSource::Values(vec![row]), returning(cursor)?);
    let (columns, dynamic, span) = (Some(Vec::new()), Vec::new(), cursor.span_from(start));
    let takes_first_columns = false;
    let conflict = or;
    Ok(Upsert {
        table,
        alias,
        columns,
        takes_first_columns,
        dynamic,
        overriding,
        source,
        conflict,
        returning,
        hints,
        span,
    })
}

/// The columns that INSERT .. BY NAME writes: those that the items of the SELECT are called by.
fn names_of(query: &Query, span: Span) -> Result<Vec<ColumnName>, SqlError> {
    let name = |item: &SelectItem| match item {
        SelectItem::UnnamedExpr(Expr::Identifier(name)) | SelectItem::ExprWithAlias { alias: name, .. } => {
            Some(name.clone())
        }
        SelectItem::UnnamedExpr(Expr::CompoundIdentifier(parts)) => parts.last().cloned(),
        _ => None,
    };
    let items = match query.body.as_ref() {
        SetExpr::Select(select) => select.projection.iter().map(name).collect::<Option<Vec<Ident>>>(),
        _ => None,
    };
    let refused = || {
        SqlError::not_supported("BY NAME of a query whose columns it does not name itself", span)
            .with_help("give each item of its SELECT a name, or name the columns after the table")
    };
    let of = |name: Ident| {
        let name = Name { text: name.value, quoted: name.quote_style.is_some(), span };
        ColumnName { family: None, name }
    };
    Ok(items.ok_or_else(refused)?.into_iter().map(of).collect())
}

/// `OR IGNORE`, `OR REPLACE` after INSERT.
fn insert_or(cursor: &mut Cursor<'_>) -> Result<Option<ConflictClause>, SqlError> {
    let start = cursor.index();
    if !cursor.eat(&["OR"]) {
        return Ok(None);
    }
    let (target, action) = if cursor.eat(&["IGNORE"]) {
        (ConflictTarget::Any, ConflictAction::Ignore)
    } else if cursor.eat(&["REPLACE"]) {
        (ConflictTarget::PrimaryKey, ConflictAction::Replace)
    } else {
        return Err(cursor.expected_word(&["IGNORE", "REPLACE"]));
    };
    Ok(Some(ConflictClause { target, action, span: cursor.span_from(start) }))
}

/// The number of the token with which a clause for conflicts begins; after the last token if there is none.
fn conflict_clause_start(cursor: &Cursor<'_>) -> usize {
    let is_word = |index: usize, text: &str| match &cursor.token(index).token {
        Token::Word(word) => word.quote_style.is_none() && word.value.eq_ignore_ascii_case(text),
        _ => false,
    };
    let mut depth = 0usize;
    for index in cursor.index()..cursor.token_count() {
        match cursor.token(index).token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            Token::Word(_) if depth == 0 && is_word(index, "ON") => {
                let is_duplicate = is_word(index + 1, "DUPLICATE") && is_word(index + 2, "KEY");
                let is_conflict = is_word(index + 1, "CONFLICT") && query::conflict_action(cursor, index + 2).is_some();
                if is_duplicate || is_conflict {
                    return index;
                }
            }
            _ => {}
        }
    }
    cursor.token_count()
}

/// `ON CONFLICT [(part, ..) [WHERE condition]] DO ..`, `ON DUPLICATE KEY ..`.
fn conflict_clause(cursor: &mut Cursor<'_>) -> Result<Option<ConflictClause>, SqlError> {
    let start = cursor.index();
    let (target, action) = if cursor.eat(&["ON", "DUPLICATE", "KEY"]) {
        let action = match cursor.eat(&["IGNORE"]) {
            true => ConflictAction::Ignore,
            false => {
                cursor.expect(&["UPDATE"])?;
                query::check_words(cursor, cursor.token_count())?;
                ConflictAction::Update { assignments: cursor.list(assignment)?, selection: None }
            }
        };
        (ConflictTarget::PrimaryKey, action)
    } else if cursor.eat(&["ON", "CONFLICT"]) {
        let target = conflict_target(cursor)?;
        if cursor.eat(&["ON", "CONSTRAINT"]) {
            let error = SqlError::not_supported("ON CONFLICT ON CONSTRAINT", cursor.span_from(start));
            return Err(
                error.with_help("write the columns of the key or of the unique index: ON CONFLICT (k) DO .., or none: ON CONFLICT DO ..")
            );
        }
        cursor.expect(&["DO"])?;
        let action = match cursor.eat(&["NOTHING"]) {
            true => ConflictAction::Ignore,
            false => {
                cursor.expect(&["UPDATE", "SET"])?;
                query::check_words(cursor, cursor.token_count())?;
                let assignments = cursor.list(assignments)?.into_iter().flatten().collect();
                ConflictAction::Update { assignments, selection: selection(cursor)? }
            }
        };
        (target, action)
    } else {
        return Ok(None);
    };
    Ok(Some(ConflictClause { target, action, span: cursor.span_from(start) }))
}

/// `(part, ..) [WHERE condition]` after ON CONFLICT, or nothing.
fn conflict_target(cursor: &mut Cursor<'_>) -> Result<ConflictTarget, SqlError> {
    let start = cursor.index();
    if *cursor.peek(0) != Token::LParen {
        return Ok(ConflictTarget::Any);
    }
    if let Some(action) = query::conflict_action(cursor, start) {
        query::check_words(cursor, action - 1)?;
    }
    let parts = cursor.in_brackets(|cursor| {
        let first = cursor.index();
        let part = cursor.key_expr()?;
        let text = cursor.kept_text(first, &part);
        Ok((part, SourceText { text, span: cursor.span_from(first) }))
    })?;
    let predicate = selection(cursor)?;
    Ok(ConflictTarget::Parts { parts, predicate, span: cursor.span_from(start) })
}

/// `column = expression`.
pub(crate) fn assignment(cursor: &mut Cursor<'_>) -> Result<Assignment, SqlError> {
    if *cursor.peek(0) == Token::LParen {
        return Err(
            SqlError::not_supported("SET (a, b) = .. here", cursor.here()).with_help("write SET a = .., b = ..")
        );
    }
    let column = cursor.column()?;
    cursor.expect_symbol(&Token::Eq)?;
    Ok(Assignment { column, value: value(cursor)? })
}

/// `column = expression`, or `(column, ..) = (expression, ..)`, or `(column, ..) = (SELECT ..)`: the query once for each column.
fn assignments(cursor: &mut Cursor<'_>) -> Result<Vec<Assignment>, SqlError> {
    if *cursor.peek(0) != Token::LParen {
        return Ok(vec![assignment(cursor)?]);
    }
    let start = cursor.index();
    let columns = cursor.in_brackets(Cursor::column)?;
    cursor.expect_symbol(&Token::Eq)?;
    cursor.eat(&["ROW"]);
    let values = match starts_query(cursor, 1) {
        true => {
            cursor.expect_symbol(&Token::LParen)?;
            let first = cursor.index();
            let query = query::parse(cursor)?;
            let (tokens, span) = (cursor.index() - first, cursor.span_from(start));
            cursor.expect_symbol(&Token::RParen)?;
            guard::check_copies(tokens.saturating_mul(columns.len()), span)?;
            one_column_each(&query, columns.len(), span)?
        }
        false => cursor.in_brackets(value)?,
    };
    if values.len() != columns.len() {
        let text = format!("{} columns and {} values", columns.len(), values.len());
        return Err(SqlError::syntax(text, cursor.span_from(start)));
    }
    Ok(columns.into_iter().zip(values).map(|(column, value)| Assignment { column, value }).collect())
}

/// For each of so many columns of a query the query of its value, `(SELECT name FROM (query) AS q (names))`: the query itself stays whole,
/// as its order and its groups may name items.
fn one_column_each(query: &Query, count: usize, span: Span) -> Result<Vec<Expr>, SqlError> {
    let is_plain = |item: &SelectItem| matches!(item, SelectItem::UnnamedExpr(_) | SelectItem::ExprWithAlias { .. });
    if let SetExpr::Select(select) = query.body.as_ref()
        && select.projection.iter().all(is_plain)
        && select.projection.len() != count
    {
        return Err(SqlError::syntax(format!("{count} columns and {} values", select.projection.len()), span));
    }
    // Without an order each query could choose other rows.
    if query.order_by.is_none() && (query.limit_clause.is_some() || query.fetch.is_some()) {
        return Err(SqlError::not_supported("SET (a, b) = a query with LIMIT and without ORDER BY", span)
            .with_help("give the query an ORDER BY"));
    }
    if count > 1 && derived::is_random(query) {
        return Err(SqlError::not_supported("SET (a, b) = a query with random values", span)
            .with_help("write SET a = .., b = ..: each column would have values of its own"));
    }
    let names: Vec<String> = (1..=count).map(|place| format!("value{place}")).collect();
    let queries = names.iter().filter_map(|name| derived::column_of(query, name, &names));
    let queries: Vec<Expr> = queries.map(Expr::Subquery).collect();
    if let Some(first) = queries.first() {
        TreeSize::of(first, span)?;
    }
    Ok(queries)
}

/// Whether a query starts at the `n`th next token, brackets in front aside.
fn starts_query(cursor: &Cursor<'_>, mut n: usize) -> bool {
    while *cursor.peek(n) == Token::LParen {
        n += 1;
    }
    // `(select)` is a list with a name that has to be quoted.
    let goes_on = !matches!(cursor.peek(n + 1), Token::RParen | Token::Comma);
    goes_on && ["SELECT", "WITH", "VALUES", "TABLE"].iter().any(|word| cursor.word_is(n, word))
}

/// `OVERRIDING SYSTEM VALUE`, if it stands here.
pub(crate) fn overriding(cursor: &mut Cursor<'_>) -> Result<bool, SqlError> {
    if cursor.at(&["OVERRIDING", "USER", "VALUE"]) {
        return Err(SqlError::not_supported("OVERRIDING USER VALUE", cursor.here())
            .with_help("leave the column out, or give it DEFAULT"));
    }
    Ok(cursor.eat(&["OVERRIDING", "SYSTEM", "VALUE"]))
}

/// Columns in brackets, and the types of the dynamic ones, by their places.
pub(crate) type ListedColumns = (Vec<ColumnName>, Vec<(usize, SqlType)>);

pub(crate) fn columns_or_dynamic(cursor: &mut Cursor<'_>) -> Result<ListedColumns, SqlError> {
    let columns = cursor.in_brackets(column_or_dynamic)?;
    let types = columns.iter().enumerate().filter_map(|(place, (_, ty))| Some((place, (*ty)?))).collect();
    Ok((columns.into_iter().map(|(column, _)| column).collect(), types))
}

/// A column, or a dynamic one with its type.
fn column_or_dynamic(cursor: &mut Cursor<'_>) -> Result<(ColumnName, Option<SqlType>), SqlError> {
    let column = cursor.column()?;
    match cursor.word(0).is_some_and(column_type::is_type_name) {
        true => {
            let (ty, _) = column_type::parse(cursor, &column.to_string())?;
            Ok((column, Some(ty)))
        }
        false => Ok((column, None)),
    }
}

fn values(cursor: &mut Cursor<'_>) -> Result<RowSource, SqlError> {
    cursor.expect(&["VALUES"])?;
    let rows = cursor.list(|cursor| {
        let start = cursor.index();
        let values = cursor.in_brackets(value)?;
        Ok(ValuesRow { first_parameter: first_parameter(&values), values, span: cursor.span_from(start) })
    })?;
    if *cursor.peek(0) == Token::LParen {
        return Err(cursor.expected("\",\" between rows"));
    }
    Ok(RowSource::Values(rows))
}

/// The place of the first value, where all are parameters that follow each other.
fn first_parameter(values: &[Expr]) -> Option<usize> {
    let place = |value: &Expr| match value {
        Expr::Value(ValueWithSpan { value: Value::Placeholder(name), .. }) => parameter_place(name),
        _ => None,
    };
    let first = place(values.first()?)?;
    values.iter().zip(first..).all(|(value, wanted)| place(value) == Some(wanted)).then_some(first)
}

pub(crate) fn value(cursor: &mut Cursor<'_>) -> Result<Expr, SqlError> {
    match cursor.eat(&["DEFAULT"]) {
        true => Ok(Expr::Identifier(Ident::new("DEFAULT"))),
        // Most values are plain, and there may be a million of them.
        false => match cursor.literal() {
            Some(literal) => Ok(literal),
            None => cursor.expr(),
        },
    }
}

/// Reads what follows DELETE, which is token number `start`.
pub(crate) fn delete(cursor: &mut Cursor<'_>, start: usize, hints: Vec<Hint>) -> Result<Delete, SqlError> {
    cursor.expect(&["FROM"])?;
    let (table, dynamic, alias) = target(cursor)?;
    if *cursor.peek(0) == Token::Comma {
        return Err(SqlError::not_supported("DELETE from several tables", cursor.here())
            .with_help("name the tables of the condition behind USING"));
    }
    query::check_words(cursor, cursor.token_count())?;
    let using = further_tables(cursor, "USING")?;
    let selection = selection(cursor)?;
    let (order_by, limit) = first_rows(cursor)?;
    let returning = returning(cursor)?;
    let span = cursor.span_from(start);
    Ok(Delete { table, dynamic, alias, using, selection, order_by, limit, returning, hints, span })
}

/// Reads what follows UPDATE, which is token number `start`.
pub(crate) fn update(cursor: &mut Cursor<'_>, start: usize, hints: Vec<Hint>) -> Result<Update, SqlError> {
    let (table, dynamic, alias) = target(cursor)?;
    cursor.expect(&["SET"])?;
    query::check_words(cursor, cursor.token_count())?;
    let assignments: Vec<Assignment> = cursor.list(assignments)?.into_iter().flatten().collect();
    sequence::check_values(cursor, assignments.iter().map(|assignment| &assignment.value))?;
    let from = further_tables(cursor, "FROM")?;
    let selection = selection(cursor)?;
    let (order_by, limit) = first_rows(cursor)?;
    let returning = returning(cursor)?;
    let span = cursor.span_from(start);
    Ok(Update { table, dynamic, alias, assignments, from, selection, order_by, limit, returning, hints, span })
}

/// `[ORDER BY ..] [LIMIT ..]` of the rows that a statement changes.
fn first_rows(cursor: &mut Cursor<'_>) -> Result<(Option<OrderBy>, Option<Expr>), SqlError> {
    let order_by = cursor.order_by()?;
    let limit = match cursor.eat(&["LIMIT"]) {
        true => Some(cursor.expr()?),
        false => None,
    };
    Ok((order_by, limit))
}

/// `word table, ..`: tables beside the one that is written; none without the word.
fn further_tables(cursor: &mut Cursor<'_>, word: &str) -> Result<Vec<TableWithJoins>, SqlError> {
    match cursor.eat(&[word]) {
        true => cursor.list(Cursor::table_and_joins),
        false => Ok(Vec::new()),
    }
}

/// `RETURNING item, ..`.
pub(crate) fn returning(cursor: &mut Cursor<'_>) -> Result<Option<Returning>, SqlError> {
    let start = cursor.index();
    if !cursor.eat(&["RETURNING"]) {
        return Ok(None);
    }
    query::check_words(cursor, cursor.token_count())?;
    let mut texts = Vec::new();
    let items = cursor.list(|cursor| {
        let first = cursor.index();
        let item = cursor.select_item()?;
        texts.push(SourceText { text: cursor.text_from(first).to_owned(), span: cursor.span_from(first) });
        Ok(item)
    })?;
    Ok(Some(Returning { items, texts, span: cursor.span_from(start) }))
}

/// A table, its dynamic columns, and its alias.
type Target = (TableRef, Vec<DynamicColumn>, Option<Name>);

/// `table [(dynamic columns)] [[AS] alias]`.
pub(crate) fn target(cursor: &mut Cursor<'_>) -> Result<Target, SqlError> {
    let (table, dynamic) = dynamic_list::table_with_list(cursor)?;
    let says_as = cursor.eat(&["AS"]);
    let follows = matches!(cursor.peek(0), Token::Word(_))
        && !["WHERE", "SET", "USING", "ORDER", "LIMIT", "RETURNING"].iter().any(|word| cursor.at(&[word]));
    let alias = match says_as || follows {
        true => Some(cursor.name("an alias")?),
        false => None,
    };
    Ok((table, dynamic, alias))
}

/// `WHERE condition`, whose words have been looked through.
fn selection(cursor: &mut Cursor<'_>) -> Result<Option<Expr>, SqlError> {
    match cursor.eat(&["WHERE"]) {
        true => cursor.expr().map(Some),
        false => Ok(None),
    }
}
