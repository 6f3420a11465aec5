//! CREATE TABLE, as Phoenix and as standard SQL write it.
//!
//! ```text
//! CREATE [OR REPLACE] [[LOCAL] TEMPORARY | IMMUTABLE] TABLE [IF NOT EXISTS] [schema.]table (
//!     [family.]column type [NOT NULL | NULL] [DEFAULT expression] [PRIMARY KEY [ASC | DESC]]
//!         [UNIQUE] [[CONSTRAINT name] CHECK (condition)] [[GENERATED ALWAYS] AS (expression) [STORED]]
//!         [GENERATED {ALWAYS | BY DEFAULT} AS IDENTITY [(option ..)]], ..
//!     [,] [CONSTRAINT [name]] PRIMARY KEY (part [ASC | DESC], ..)
//!     [,] [CONSTRAINT name] CHECK (condition)
//!     [,] [CONSTRAINT name] UNIQUE (part [ASC | DESC], ..)
//!     [,] LIKE table [{INCLUDING | EXCLUDING} {ALL | DEFAULTS | GENERATED | IDENTITY | CONSTRAINTS | INDEXES}] ..
//! ) [[WITH] option = value [,] ..] [SPLIT ON (value, ..)] [ON COMMIT PRESERVE ROWS]
//! ```
//!
//! Whether the pieces make a table (columns twice, parts that name no column) is
//! decided by the binder; here every piece gets its place.

use saltwing_types::{Span, table::SortOrder};
use sqlparser::ast::{Expr, Ident};
use sqlparser::tokenizer::Token;

use crate::column_type;
use crate::cursor::Cursor;
use crate::error::SqlError;
use crate::generated::{Generated, generated, plain_identity, serial_type};
use crate::name::{ColumnName, Name};
use crate::statement::{
    CheckSpec, ColumnSpec, CreateTable, DefaultSpec, InlineKey, KeyPart, LikePart, LikeSpec, OptionSpec, OptionValue,
    PrimaryKeySpec, UniqueSpec,
};

/// The kind of a table, by the word before TABLE.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    Immutable,
    Temporary,
}

/// The words after CREATE, or CREATE OR REPLACE.
const BEGINNINGS: [(&[&str], Kind); 6] = [
    (&["TABLE"], Kind::Plain),
    (&["IMMUTABLE", "TABLE"], Kind::Immutable),
    (&["TEMPORARY", "TABLE"], Kind::Temporary),
    (&["TEMP", "TABLE"], Kind::Temporary),
    (&["LOCAL", "TEMPORARY", "TABLE"], Kind::Temporary),
    (&["LOCAL", "TEMP", "TABLE"], Kind::Temporary),
];

/// The first words of a CREATE TABLE.
#[derive(Clone, Copy)]
pub(crate) struct Beginning {
    kind: Kind,
    /// `OR REPLACE`.
    replaces: bool,
}

/// Reads `CREATE .. TABLE`, if it stands here.
pub(crate) fn beginning(cursor: &mut Cursor<'_>) -> Option<Beginning> {
    let replaces = cursor.at(&["CREATE", "OR", "REPLACE"]);
    let after = if replaces { 3 } else { 1 };
    let stands = |words: &[&str]| words.iter().enumerate().all(|(n, word)| cursor.word_is(after + n, word));
    let (words, kind) = *BEGINNINGS.iter().find(|(words, _)| cursor.word_is(0, "CREATE") && stands(words))?;
    (0..after + words.len()).for_each(|_| cursor.skip());
    Some(Beginning { kind, replaces })
}

/// Reads what follows `CREATE .. TABLE`, up to the name of the table.
pub(crate) fn named(cursor: &mut Cursor<'_>, Beginning { kind, replaces }: Beginning) -> Result<CreateTable, SqlError> {
    let here = cursor.here();
    let if_not_exists = cursor.eat(&["IF", "NOT", "EXISTS"]);
    if if_not_exists && replaces {
        return Err(SqlError::invalid("OR REPLACE and IF NOT EXISTS exclude each other", here));
    }
    let table = cursor.table()?;
    if cursor.at(&["LIKE"]) {
        return Err(SqlError::not_supported("CREATE TABLE .. LIKE", cursor.here())
            .with_help("CREATE TABLE t (LIKE u INCLUDING ALL)"));
    }
    Ok(CreateTable {
        temporary: kind == Kind::Temporary,
        immutable: kind == Kind::Immutable,
        if_not_exists,
        or_replace: replaces,
        table,
        columns: Vec::new(),
        like: Vec::new(),
        primary_key: None,
        checks: Vec::new(),
        unique: Vec::new(),
        options: Vec::new(),
        split_on: Vec::new(),
    })
}

/// Reads what follows the name of the table.
pub(crate) fn parse(cursor: &mut Cursor<'_>, table: CreateTable) -> Result<CreateTable, SqlError> {
    let mut elements = Elements::default();
    elements.parse(cursor)?;
    let (options, split_on) = table_options(cursor, table.temporary)?;
    let Elements { columns, like, primary_key, checks, unique } = elements;
    let of_columns = columns.iter().filter_map(|column| Some(unique_column(&column.name, column.unique?)));
    let unique = each_key_once(of_columns.chain(unique));
    Ok(CreateTable { columns, like, primary_key, checks, unique, options, split_on, ..table })
}

/// The constraints, of several over the same parts one, which has the name of any of them.
fn each_key_once(constraints: impl Iterator<Item = UniqueSpec>) -> Vec<UniqueSpec> {
    let of = |spec: &UniqueSpec| -> Vec<(String, SortOrder)> {
        spec.parts.iter().map(|part| (part.text.to_lowercase(), part.order)).collect()
    };
    let mut kept: Vec<UniqueSpec> = Vec::new();
    for spec in constraints {
        match kept.iter_mut().find(|known| of(known) == of(&spec)) {
            Some(known) if known.name.is_none() || spec.name.is_none() => known.name = known.name.take().or(spec.name),
            _ => kept.push(spec),
        }
    }
    kept
}

/// UNIQUE after a column.
fn unique_column(column: &ColumnName, span: Span) -> UniqueSpec {
    let ident = |name: &Name| match name.quoted {
        true => Ident::with_quote('"', &name.text),
        false => Ident::new(&name.text),
    };
    let name = ident(&column.name);
    let expr = match &column.family {
        None => Expr::Identifier(name),
        Some(family) => Expr::CompoundIdentifier(vec![ident(family), name]),
    };
    let part =
        KeyPart { expr, text: column.to_string(), order: SortOrder::Asc, is_row_timestamp: false, span: column.span() };
    UniqueSpec { name: None, parts: vec![part], span }
}

/// Reads `[CONSTRAINT name] UNIQUE (part, ..)`, if it stands here.
pub(crate) fn unique(cursor: &mut Cursor<'_>) -> Result<Option<UniqueSpec>, SqlError> {
    let (start, is_named) = (cursor.index(), cursor.word_is(0, "CONSTRAINT"));
    let at = if is_named { 2 } else { 0 };
    if !cursor.word_is(at, "UNIQUE") || *cursor.peek(at + 1) != Token::LParen {
        return Ok(None);
    }
    let name = match cursor.eat(&["CONSTRAINT"]) {
        true => Some(cursor.name("a constraint name")?),
        false => None,
    };
    cursor.expect(&["UNIQUE"])?;
    let parts = cursor.in_brackets(key_part)?;
    Ok(Some(UniqueSpec { name, parts, span: cursor.span_from(start) }))
}

/// The elements between the brackets.
#[derive(Default)]
struct Elements {
    columns: Vec<ColumnSpec>,
    like: Vec<LikeSpec>,
    primary_key: Option<PrimaryKeySpec>,
    checks: Vec<CheckSpec>,
    unique: Vec<UniqueSpec>,
}

impl Elements {
    fn parse(&mut self, cursor: &mut Cursor<'_>) -> Result<(), SqlError> {
        cursor.expect_symbol(&Token::LParen)?;
        loop {
            self.element(cursor)?;
            if cursor.eat_symbol(&Token::Comma) {
                continue;
            }
            if cursor.eat_symbol(&Token::RParen) {
                return Ok(());
            }
            // Phoenix puts no comma before the constraint.
            if !cursor.at(&["CONSTRAINT"]) && !cursor.at(&["PRIMARY", "KEY"]) {
                let error = cursor.expected("\",\" or \")\"");
                return Err(match cursor.peek(0) {
                    Token::Word(_) => error.with_help("a comma may be missing before it"),
                    _ => error,
                });
            }
        }
    }

    fn element(&mut self, cursor: &mut Cursor<'_>) -> Result<(), SqlError> {
        if let Some(length) = key_constraint(cursor) {
            let start = cursor.index();
            let key = primary_key(cursor, length)?;
            if self.primary_key.is_some() {
                return Err(SqlError::invalid("the table has two primary keys", cursor.span_from(start)));
            }
            self.primary_key = Some(key);
            return Ok(());
        }
        if let Some(check) = check(cursor)? {
            self.checks.push(check);
            return Ok(());
        }
        if let Some(unique) = unique(cursor)? {
            self.unique.push(unique);
            return Ok(());
        }
        if is_like(cursor) {
            self.like.push(like(cursor, self.columns.len())?);
            return Ok(());
        }
        other_constraint(cursor)?;
        self.columns.push(column(cursor)?);
        Ok(())
    }
}

/// Whether LIKE stands here, and not a column of this name, which has a type after it.
fn is_like(cursor: &Cursor<'_>) -> bool {
    cursor.word_is(0, "LIKE") && cursor.word(1).is_some_and(|word| !column_type::is_type_name(word))
}

/// Reads `LIKE table [INCLUDING part | EXCLUDING part] ..` behind `at` columns.
fn like(cursor: &mut Cursor<'_>, at: usize) -> Result<LikeSpec, SqlError> {
    cursor.expect(&["LIKE"])?;
    let (table, mut including) = (cursor.existing_table()?, Vec::new());
    loop {
        let adds = cursor.eat(&["INCLUDING"]);
        if !adds && !cursor.eat(&["EXCLUDING"]) {
            return Ok(LikeSpec { table, at, including });
        }
        let parts: Vec<LikePart> = match cursor.eat(&["ALL"]) {
            true => LikePart::ALL.map(|(_, part)| part).to_vec(),
            false => {
                let found = LikePart::ALL.iter().find(|(word, _)| cursor.eat(&[word]));
                // Saltwing keeps none of these for a column.
                let is_other =
                    || ["COMMENTS", "STATISTICS", "STORAGE", "COMPRESSION"].map(|word| cursor.word_is(0, word));
                match found {
                    Some((_, part)) => vec![*part],
                    None if is_other().contains(&true) => {
                        cursor.skip();
                        Vec::new()
                    }
                    None => return Err(cursor.expected("ALL, DEFAULTS, GENERATED, IDENTITY, CONSTRAINTS or INDEXES")),
                }
            }
        };
        including.retain(|part| !parts.contains(part));
        if adds {
            including.extend(parts);
        }
    }
}

/// `CONSTRAINT [name] PRIMARY KEY (` or `PRIMARY KEY (`: the words before PRIMARY.
pub(crate) fn key_constraint(cursor: &Cursor<'_>) -> Option<usize> {
    let from = match (cursor.word_is(0, "CONSTRAINT"), cursor.word_is(1, "PRIMARY")) {
        (false, _) => 0,
        (true, true) => 1,
        (true, false) => 2,
    };
    let found = cursor.word_is(from, "PRIMARY") && cursor.word_is(from + 1, "KEY");
    // An inline PRIMARY KEY has no bracket after it; a table's without one is an error of its own.
    (found && (*cursor.peek(from + 2) == Token::LParen || from > 0)).then_some(from)
}

/// Reads `[CONSTRAINT name] CHECK (`, if it stands here.
pub(crate) fn check(cursor: &mut Cursor<'_>) -> Result<Option<CheckSpec>, SqlError> {
    let (start, is_named) = (cursor.index(), cursor.word_is(0, "CONSTRAINT"));
    let at = if is_named { 2 } else { 0 };
    if !cursor.word_is(at, "CHECK") || *cursor.peek(at + 1) != Token::LParen {
        return Ok(None);
    }
    let name = match is_named {
        true => {
            cursor.expect(&["CONSTRAINT"])?;
            Some(cursor.name("a constraint name")?)
        }
        false => None,
    };
    cursor.expect(&["CHECK"])?;
    cursor.expect_symbol(&Token::LParen)?;
    let from = cursor.index();
    let expr = cursor.expr()?;
    let text = cursor.kept_text(from, &expr);
    cursor.expect_symbol(&Token::RParen)?;
    Ok(Some(CheckSpec { name, expr, text, span: cursor.span_from(start) }))
}

pub(crate) fn primary_key(cursor: &mut Cursor<'_>, words_before: usize) -> Result<PrimaryKeySpec, SqlError> {
    let start = cursor.index();
    let mut name = None;
    if words_before > 0 {
        cursor.expect(&["CONSTRAINT"])?;
        if words_before > 1 {
            name = Some(cursor.name("a constraint name")?);
        }
    }
    cursor.expect(&["PRIMARY", "KEY"])?;
    let parts = cursor.in_brackets(key_part)?;
    Ok(PrimaryKeySpec { name, parts, span: cursor.span_from(start) })
}

pub(crate) fn key_part(cursor: &mut Cursor<'_>) -> Result<KeyPart, SqlError> {
    let start = cursor.index();
    let expr = cursor.key_expr()?;
    let text = cursor.kept_text(start, &expr);
    let order = sort_order(cursor);
    let is_row_timestamp = cursor.eat(&["ROW_TIMESTAMP"]);
    if cursor.at(&["NULLS"]) {
        return Err(SqlError::not_supported("NULLS FIRST or LAST in a key", cursor.here())
            .with_help("keys have NULLs first, in both directions"));
    }
    Ok(KeyPart { expr, text, order, is_row_timestamp, span: cursor.span_from(start) })
}

fn sort_order(cursor: &mut Cursor<'_>) -> SortOrder {
    if cursor.eat(&["DESC"]) {
        return SortOrder::Desc;
    }
    cursor.eat(&["ASC"]);
    SortOrder::Asc
}

/// Refuses the constraints that we do not have, so that `UNIQUE (a)` is not read as a column of the table.
pub(crate) fn other_constraint(cursor: &Cursor<'_>) -> Result<(), SqlError> {
    let at = match cursor.word_is(0, "CONSTRAINT") {
        true => 2,
        false => 0,
    };
    let bracket = |n| *cursor.peek(n) == Token::LParen;
    let what = match cursor.word(at).map(str::to_uppercase).as_deref() {
        Some("UNIQUE") => {
            return Err(SqlError::not_supported("UNIQUE of this form", cursor.span_at(cursor.index() + at))
                .with_help("write [CONSTRAINT name] UNIQUE (column, ..): NULLs count as different"));
        }
        Some("FOREIGN") => FOREIGN_KEY,
        Some("LIKE") => {
            return Err(SqlError::not_supported("LIKE in CREATE TABLE", cursor.span_at(cursor.index() + at))
                .with_help("SHOW CREATE TABLE gives the statement of a table"));
        }
        Some("EXCLUDE") if cursor.word_is(at + 1, "USING") || bracket(at + 1) => "an EXCLUDE constraint",
        // `KEY name (a)`; but `key CHAR(3)` is a column.
        Some("INDEX" | "KEY")
            if bracket(at + 1) || (bracket(at + 2) && !cursor.word(at + 1).is_some_and(column_type::is_type_name)) =>
        {
            "an INDEX in CREATE TABLE"
        }
        _ if at > 0 => {
            let span = cursor.span_at(cursor.index()).union(cursor.span_at(cursor.index() + 2));
            return Err(SqlError::syntax(
                "expected CONSTRAINT name PRIMARY KEY (column, ..) or CHECK (condition)",
                span,
            ));
        }
        _ => return Ok(()),
    };
    let error = SqlError::not_supported(what, cursor.span_at(cursor.index() + at));
    Err(if what == FOREIGN_KEY { error.with_help(NO_REFERENCES) } else { error })
}

const FOREIGN_KEY: &str = "a FOREIGN KEY constraint";

/// Why there are no foreign keys.
const NO_REFERENCES: &str = "a commit is checked against others by the keys that it writes: a row that it only refers to \
    could be deleted meanwhile";

pub(crate) fn column(cursor: &mut Cursor<'_>) -> Result<ColumnSpec, SqlError> {
    let start = cursor.index();
    if cursor.at(&["PRIMARY", "KEY"]) {
        cursor.skip();
        cursor.skip();
        return Err(cursor.expected("\"(\""));
    }
    let name = cursor.column()?;
    let label = name.name.text.clone();
    let type_start = cursor.index();
    let serial = serial_type(cursor);
    let (sql_type, type_span) = match serial {
        Some(ty) => (ty, cursor.span_from(type_start)),
        None => column_type::parse(cursor, &label)?,
    };
    let identity = serial.map(|_| plain_identity(type_span));
    let mut column = ColumnSpec { identity, ..ColumnSpec::new(name, sql_type, type_span) };
    while column_option(cursor, &mut column)? {}
    column.span = cursor.span_from(start);
    Ok(column)
}

/// Takes one thing that may follow a column's type, in any order.
fn column_option(cursor: &mut Cursor<'_>, column: &mut ColumnSpec) -> Result<bool, SqlError> {
    let start = cursor.index();
    let again = |span: Span, what: &str| SqlError::syntax(format!("{what} is said twice"), span);
    if let Some(check) = check(cursor)? {
        column.checks.push(check);
        return Ok(true);
    }
    if cursor.at(&["CONSTRAINT"]) {
        if key_constraint(cursor).is_some_and(|from| *cursor.peek(from + 2) == Token::LParen) {
            return Ok(false);
        }
        // `CONSTRAINT name NOT NULL`: the name of a column's constraint means nothing to us.
        cursor.skip();
        cursor.name("a constraint name")?;
    }
    let not_null = match cursor.eat(&["NOT", "NULL"]) {
        true => Some(true),
        false => cursor.eat(&["NULL"]).then_some(false),
    };
    if not_null.is_some() {
        if column.not_null.is_some() {
            return Err(again(cursor.span_from(start), "NULL or NOT NULL"));
        }
        column.not_null = not_null;
        return Ok(true);
    }
    if cursor.eat(&["DEFAULT"]) {
        if column.default.is_some() {
            return Err(again(cursor.span_from(start), "DEFAULT"));
        }
        column.default = Some(default(cursor)?);
        return Ok(true);
    }
    if let Some(generated) = generated(cursor)? {
        if column.generated.is_some() || column.identity.is_some() {
            return Err(again(cursor.span_from(start), "GENERATED"));
        }
        match generated {
            Generated::Stored(expr) => column.generated = Some(expr),
            Generated::Identity(identity) => column.identity = Some(identity),
        }
        return Ok(true);
    }
    if cursor.at(&["PRIMARY", "KEY"]) && *cursor.peek(2) != Token::LParen {
        cursor.expect(&["PRIMARY", "KEY"])?;
        let order = sort_order(cursor);
        let is_row_timestamp = cursor.eat(&["ROW_TIMESTAMP"]);
        if column.primary_key.is_some() {
            return Err(again(cursor.span_from(start), "PRIMARY KEY"));
        }
        column.primary_key = Some(InlineKey { order, is_row_timestamp, span: cursor.span_from(start) });
        return Ok(true);
    }
    if cursor.at(&["UNIQUE"]) && *cursor.peek(1) != Token::LParen {
        if column.unique.is_some() {
            return Err(again(cursor.here(), "UNIQUE"));
        }
        column.unique = Some(cursor.here());
        cursor.skip();
        return Ok(true);
    }
    refuse_column_option(cursor)?;
    Ok(false)
}

/// Reads the expression after DEFAULT.
pub(crate) fn default(cursor: &mut Cursor<'_>) -> Result<DefaultSpec, SqlError> {
    let from = cursor.index();
    let expr = cursor.default_expr()?;
    Ok(DefaultSpec { text: cursor.kept_text(from, &expr), expr, span: cursor.span_from(from) })
}

fn refuse_column_option(cursor: &Cursor<'_>) -> Result<(), SqlError> {
    let what = match cursor.word(0).map(str::to_uppercase).as_deref() {
        Some("REFERENCES") => {
            return Err(SqlError::not_supported("REFERENCES on a column", cursor.here()).with_help(NO_REFERENCES));
        }
        Some("COLLATE") => {
            return Err(SqlError::not_supported("COLLATE on a column", cursor.here()).with_help(
                "texts compare by their characters; an index on LOWER(c) or COLLATION_KEY(c, 'de') has another order",
            ));
        }
        Some("GENERATED") => "GENERATED without ALWAYS AS or BY DEFAULT AS",
        Some("IDENTITY") => {
            return Err(SqlError::not_supported("IDENTITY by itself", cursor.here())
                .with_help("GENERATED BY DEFAULT AS IDENTITY (START WITH 1 INCREMENT BY 1)"));
        }
        Some("COMMENT") => "COMMENT on a column",
        Some("ON") => "ON UPDATE on a column",
        Some("ENCODED_QUALIFIER") => "ENCODED_QUALIFIER",
        Some("UNSIGNED" | "SIGNED" | "ZEROFILL") => {
            return Err(SqlError::not_supported("UNSIGNED behind a type", cursor.here())
                .with_help("unsigned types have names of their own: UNSIGNED_INT, UNSIGNED_LONG, .."));
        }
        _ => return Ok(()),
    };
    Err(SqlError::not_supported(what, cursor.here()))
}

/// The options after the closing bracket, up to the end or a query.
pub(crate) fn table_options(
    cursor: &mut Cursor<'_>,
    temporary: bool,
) -> Result<(Vec<OptionSpec>, Vec<sqlparser::ast::Expr>), SqlError> {
    let (mut options, mut split_on) = (Vec::new(), Vec::new());
    cursor.eat(&["WITH"]);
    let bracketed = cursor.eat_symbol(&Token::LParen);
    let is_over = |cursor: &Cursor<'_>| cursor.is_at_end() || cursor.at(&["AS"]) || cursor.at(&["ON", "COMMIT"]);
    if !bracketed {
        sqlite_options(cursor);
    }
    while !is_over(cursor) && !cursor.at(&["ASYNC"]) {
        if bracketed && cursor.eat_symbol(&Token::RParen) {
            break;
        }
        match cursor.at(&["SPLIT", "ON"]) {
            true => split_points(cursor, &mut split_on)?,
            false => {
                options.push(option(cursor)?);
                refuse_repeated(&options)?;
            }
        }
        // Commas between options may be left out, but not stand at the end.
        if cursor.eat_symbol(&Token::Comma) && (cursor.is_at_end() || *cursor.peek(0) == Token::RParen) {
            return Err(cursor.expected("an option"));
        }
    }
    if cursor.at(&["SPLIT", "ON"]) {
        split_points(cursor, &mut split_on)?;
    }
    on_commit(cursor, temporary)?;
    Ok((options, split_on))
}

/// `STRICT` and `WITHOUT ROWID` of SQLite: every table is so.
fn sqlite_options(cursor: &mut Cursor<'_>) {
    let is_one = |cursor: &mut Cursor<'_>| {
        let is_word = cursor.at(&["STRICT"]) && *cursor.peek(1) != Token::Eq;
        cursor.eat(&["WITHOUT", "ROWID"]) || (is_word && cursor.eat(&["STRICT"]))
    };
    while is_one(cursor) {
        let _ = cursor.eat_symbol(&Token::Comma);
    }
}

/// `ON COMMIT PRESERVE ROWS`: rows of a temporary table stay until the session ends, with or without the clause.
fn on_commit(cursor: &mut Cursor<'_>, temporary: bool) -> Result<(), SqlError> {
    let start = cursor.index();
    if !cursor.eat(&["ON", "COMMIT"]) {
        return Ok(());
    }
    if !temporary {
        return Err(SqlError::invalid("ON COMMIT is for temporary tables", cursor.span_from(start)));
    }
    let is_other = cursor.eat(&["DELETE", "ROWS"]) || cursor.eat(&["DROP"]);
    if is_other {
        return Err(SqlError::not_supported(cursor.text_from(start).to_uppercase(), cursor.span_from(start))
            .with_help("a temporary table keeps its rows until its session ends: ON COMMIT PRESERVE ROWS"));
    }
    cursor.expect(&["PRESERVE", "ROWS"])
}

/// Refuses an option that is given twice.
pub(crate) fn refuse_repeated(options: &[OptionSpec]) -> Result<(), SqlError> {
    let repeated = options
        .iter()
        .enumerate()
        .find(|(i, option)| options.get(..*i).unwrap_or_default().iter().any(|earlier| is_same(earlier, option)));
    match repeated {
        Some((_, option)) => {
            let name = option.name.text.to_uppercase();
            Err(SqlError::syntax(format!("{name} is said twice"), option.span))
        }
        None => Ok(()),
    }
}

fn is_same(a: &OptionSpec, b: &OptionSpec) -> bool {
    let family = |o: &OptionSpec| o.family.as_ref().map(|f| f.text.to_lowercase());
    a.name.text.eq_ignore_ascii_case(&b.name.text) && family(a) == family(b)
}

fn split_points(cursor: &mut Cursor<'_>, found: &mut Vec<sqlparser::ast::Expr>) -> Result<(), SqlError> {
    let start = cursor.index();
    cursor.expect(&["SPLIT", "ON"])?;
    if !found.is_empty() {
        return Err(SqlError::syntax("SPLIT ON is said twice", cursor.span_from(start)));
    }
    found.extend(cursor.in_brackets(Cursor::expr)?);
    Ok(())
}

/// `[family.]NAME = value`.
pub(crate) fn option(cursor: &mut Cursor<'_>) -> Result<OptionSpec, SqlError> {
    let start = cursor.index();
    let first = option_name(cursor)?;
    let (family, name) = match cursor.eat_symbol(&Token::Period) {
        true => (Some(first), option_name(cursor)?),
        false => (None, first),
    };
    cursor.expect_symbol(&Token::Eq)?;
    let from = cursor.index();
    let value = option_value(cursor)?;
    Ok(OptionSpec { family, name, value, value_span: cursor.span_from(from), span: cursor.span_from(start) })
}

/// Any word: options have names that are words of the language elsewhere.
fn option_name(cursor: &mut Cursor<'_>) -> Result<Name, SqlError> {
    let span = cursor.here();
    match cursor.peek(0) {
        Token::Word(word) => {
            let name = Name { text: word.value.clone(), quoted: word.quote_style.is_some(), span };
            cursor.skip();
            Ok(name)
        }
        _ => Err(cursor.expected("an option")),
    }
}

/// The value of an option or of a setting.
pub(crate) fn option_value(cursor: &mut Cursor<'_>) -> Result<OptionValue, SqlError> {
    let minus = matches!(cursor.peek(0), Token::Minus) && matches!(cursor.peek(1), Token::Number(..));
    if minus {
        cursor.skip();
    }
    let value = match cursor.peek(0) {
        Token::Number(digits, _) if minus => OptionValue::Number(format!("-{digits}")),
        Token::Number(digits, _) => OptionValue::Number(digits.clone()),
        Token::TripleSingleQuotedString(text) => OptionValue::Text(text.clone()),
        Token::Word(word) if word.quote_style.is_none() => match word.value.to_uppercase().as_str() {
            "TRUE" => OptionValue::Bool(true),
            "FALSE" => OptionValue::Bool(false),
            _ => OptionValue::Word(word.value.clone()),
        },
        Token::LParen => {
            return cursor.in_brackets(named_part).map(OptionValue::Names);
        }
        _ => return Err(cursor.expected("a value: a number, a string, TRUE, FALSE, NONE, or (name, ..)")),
    };
    cursor.skip();
    Ok(value)
}

/// The name of a part of a key: a column's, or the text of an expression, as sqlparser writes it.
fn named_part(cursor: &mut Cursor<'_>) -> Result<Name, SqlError> {
    if matches!(cursor.peek(1), Token::Comma | Token::RParen) {
        return cursor.name("a column name");
    }
    let start = cursor.index();
    let text = cursor.key_expr()?.to_string();
    Ok(Name { text, quoted: false, span: cursor.span_from(start) })
}
