//! From text to statements.

use std::ops::Range;
use std::sync::Arc;

use saltwing_types::Span;
use sqlparser::tokenizer::{Location, Span as TokenSpan, Token};

use crate::cursor::Cursor;
use crate::dialect::SaltwingDialect;
use crate::error::SqlError;
use crate::exact::ExactNames;
use crate::large_stack::on_large_stack;
use crate::lexer::{self, Lexed};
use crate::parameter::{self, Parameter};
use crate::phoenix::Dialect;
use crate::split::{self, StatementText};
use crate::statement::{Explain, ExplainFormat, Hint, QueryStatement, Statement, Unsupported, Upsert};
use crate::{
    alter_table, as_of, comment, copy, create_table, create_table_as, dml, dynamic_list, file_options, frame_exclusion,
    guard, hint, index, json_operator, json_pairs, merge, named_queries, named_statement, place, query, row_time,
    row_value, sequence, session, spelling, summary, transaction, user, view, with_write,
};

/// The largest statement in bytes.
pub const STATEMENT_BYTES_MAX: usize = 16 << 20;

/// The most words, literals, operators and brackets in a statement: a tree takes
/// some 300 bytes for each.
pub const STATEMENT_TOKENS_MAX: usize = 4_000_000;

/// A statement and what belongs to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    /// The statement.
    pub statement: Statement,
    /// Its placeholders, in text order; in the tree each is `$n`.
    pub parameters: Vec<Parameter>,
    /// Its bytes in the source, from its first token to its last, `;` excluded.
    pub range: Range<usize>,
    /// The same as lines and columns.
    pub span: Span,
    /// The names in quotes that it refers to, if its language takes them exactly.
    pub exact: Option<Box<ExactNames>>,
}

/// Parses all statements of `sql`, which are separated by `;`.
///
/// # Errors
/// The first statement that cannot be read. Statements before it are not given.
pub fn parse(sql: &str) -> Result<Vec<Parsed>, SqlError> {
    parse_in(sql, Dialect::Saltwing)
}

/// Parses all statements of a text in a dialect, each into one of our own language.
///
/// # Errors
/// As [`parse`].
fn parse_in(sql: &str, dialect: Dialect) -> Result<Vec<Parsed>, SqlError> {
    let (mut reader, mut statements) = (StatementReader::new(sql), Vec::new());
    while let Some(parsed) = reader.next_in(dialect)? {
        statements.push(parsed);
    }
    Ok(statements)
}

/// Reads the statements of a text one after the other: the dialect of a statement may depend on those before it.
pub struct StatementReader {
    sql: Arc<str>,
    /// The end of the statement before, in bytes and as a place.
    offset: usize,
    at: Location,
}

impl StatementReader {
    /// Begins at the first statement.
    pub fn new(sql: impl Into<Arc<str>>) -> Self {
        Self { sql: sql.into(), offset: 0, at: Location::new(1, 1) }
    }

    /// The next statement, which is in this dialect, with its places in the whole text; `None` at the end.
    ///
    /// # Errors
    /// As [`parse`]. The reader goes on after such a statement.
    pub fn next_in(&mut self, dialect: Dialect) -> Result<Option<Parsed>, SqlError> {
        loop {
            let rest = self.sql.get(self.offset..).unwrap_or("");
            let Some(source) = split::split_statements_in(rest, dialect).next() else { return Ok(None) };
            let at = lexer::advance(self.at, rest.get(..source.offset).unwrap_or(""));
            let source = StatementText { offset: self.offset + source.offset, ..source };
            (self.offset, self.at) = (source.offset + source.text.len(), lexer::advance(at, source.text));
            if let Some(parsed) = parse_text(&self.sql, &source, at, None, dialect)? {
                return Ok(Some(parsed));
            }
        }
    }
}

/// Reads `sql`, which holds one statement.
///
/// # Errors
/// What [`parse`] says, and a text with no statement or with more than one.
pub fn parse_one(sql: &str) -> Result<Parsed, SqlError> {
    parse_one_in(sql, Dialect::Saltwing)
}

/// Reads `sql`, which holds one statement in a dialect.
///
/// # Errors
/// As [`parse_one`].
pub fn parse_one_in(sql: &str, dialect: Dialect) -> Result<Parsed, SqlError> {
    let mut statements = parse_in(sql, dialect)?.into_iter();
    match (statements.next(), statements.next()) {
        (Some(statement), None) => Ok(statement),
        (None, _) => Err(SqlError::syntax("the statement is empty", place::origin())),
        (Some(_), Some(second)) => Err(SqlError::syntax("expected one statement, found a second", second.span)),
    }
}

/// Reads the query of a view as a part of a statement: all of it stands where the view's name does, at `span`.
///
/// # Errors
/// What [`parse_one`] says, at `span`; a text that is no query.
pub fn parse_query_at(text: &str, span: Span) -> Result<QueryStatement, SqlError> {
    let source = StatementText { text, offset: 0, complete: true };
    match parse_text(text, &source, Location::new(1, 1), Some(span), Dialect::Saltwing)?.map(|parsed| parsed.statement)
    {
        Some(Statement::Query(query)) => Ok(query),
        _ => Err(SqlError::syntax("the definition of the view is no query", span)),
    }
}

/// Reads one text; `None` if it is nothing but comments. All of it stands at `place`, if that is given.
fn parse_text(
    sql: &str,
    source: &StatementText<'_>,
    at: Location,
    place: Option<Span>,
    language: Dialect,
) -> Result<Option<Parsed>, SqlError> {
    let size = source.text.len();
    let span = place::span_of(TokenSpan::new(at, at)).unwrap_or_else(place::origin);
    if size > STATEMENT_BYTES_MAX {
        return Err(SqlError::too_large("bytes", size, STATEMENT_BYTES_MAX, span));
    }
    let Lexed { mut tokens, mut ranges, hints } = lexer::lex(source.text, source.offset, at, language)?;
    if tokens.last().is_some_and(|token| token.token == Token::SemiColon) {
        tokens.pop();
        ranges.pop();
    }
    if tokens.is_empty() {
        return Ok(None);
    }
    if let Some(place) = place {
        tokens.iter_mut().for_each(|token| token.span = place::token_span(place));
    }
    if tokens.len() > STATEMENT_TOKENS_MAX {
        return Err(SqlError::too_large("tokens", tokens.len(), STATEMENT_TOKENS_MAX, span));
    }
    let parse_kb = guard::check(&tokens)?.parse_kb;
    let hints = hint::collect(sql, &hints, &tokens);
    json_operator::rewrite(&mut tokens, &mut ranges);
    json_pairs::rewrite(&mut tokens, &mut ranges);
    let parameters = parameter::number(&mut tokens)?;
    let exact = if language == Dialect::Phoenix { ExactNames::of(&tokens) } else { None };
    spelling::rewrite(&mut tokens, &mut ranges);
    query::rewrite_table(&mut tokens, &mut ranges);
    summary::rewrite(&mut tokens, &mut ranges);
    as_of::rewrite(&mut tokens, &mut ranges);
    file_options::rewrite(sql, &mut tokens, &mut ranges)?;
    row_time::rewrite(&mut tokens, &mut ranges);
    row_value::rewrite(&mut tokens, &mut ranges);
    frame_exclusion::rewrite(&mut tokens, &mut ranges);
    dynamic_list::rewrite(sql, &mut tokens, &mut ranges)?;
    let range = match (ranges.first(), ranges.last()) {
        (Some(first), Some(last)) => first.start..last.end,
        _ => 0..0,
    };
    let (statement, span) = with_stack(parse_kb, || {
        let dialect = SaltwingDialect::new(tokens.len());
        let mut cursor = Cursor::new(sql, tokens, &ranges, (&dialect, language));
        let statement = statement(&mut cursor, hints)?;
        match cursor.is_at_end() {
            true => match cursor.take_sequence() {
                None => Ok((statement, cursor.span_from(0))),
                Some(span) => Err(sequence::misplaced(span)),
            },
            false => Err(cursor.expected("the end of the statement")),
        }
    })?;
    // A statement that is refused as a whole needs no values, and a prepared one gets its own from EXECUTE.
    let needs_none = matches!(statement, Statement::Unsupported(_) | Statement::Prepare(_));
    let parameters = if needs_none { Vec::new() } else { parameters };
    Ok(Some(Parsed { statement, parameters, range, span, exact }))
}

/// Stack that parsing may take on the caller's thread.
const OWN_STACK_KB_MAX: usize = 1_000;

/// Runs `parse` where it has `parse_kb` of stack.
fn with_stack<T: Send>(parse_kb: usize, parse: impl FnOnce() -> Result<T, SqlError> + Send) -> Result<T, SqlError> {
    if parse_kb <= OWN_STACK_KB_MAX {
        return parse();
    }
    on_large_stack(parse)?
}

/// First words of statements, for advice.
const VERBS: [&str; 39] = [
    "SELECT",
    "WITH",
    "VALUES",
    "UPSERT",
    "INSERT",
    "UPDATE",
    "DELETE",
    "MERGE",
    "CREATE",
    "DROP",
    "ALTER",
    "TRUNCATE",
    "COMMENT",
    "COMPACT",
    "BACKUP",
    "ATTACH",
    "DETACH",
    "SHOW",
    "DESCRIBE",
    "SUMMARIZE",
    "ADVISE",
    "EXPLAIN",
    "EXPORT",
    "COPY",
    "SET",
    "USE",
    "BEGIN",
    "START",
    "COMMIT",
    "END",
    "ROLLBACK",
    "SAVEPOINT",
    "RELEASE",
    "PREPARE",
    "EXECUTE",
    "DEALLOCATE",
    "GRANT",
    "REVOKE",
    "TABLE",
];

fn statement(cursor: &mut Cursor<'_>, hints: Vec<Hint>) -> Result<Statement, SqlError> {
    let start = cursor.index();
    if *cursor.peek(0) == Token::LParen {
        return query::page(cursor, hints).map(Statement::Query);
    }
    let Some(verb) = cursor.word(0).map(str::to_uppercase) else {
        return Err(cursor.expected("a statement"));
    };
    match verb.as_str() {
        "WITH" if let Some(write) = named_queries::write_start(cursor) => {
            let with = named_queries::parse(cursor, write)?;
            return with_write::put(statement(cursor, hints)?, &with);
        }
        "SELECT" | "WITH" | "VALUES" | "TABLE" => return query::page(cursor, hints).map(Statement::Query),
        "EXPLAIN" => return explain(cursor, hints).map(Statement::Explain),
        "ADVISE" => return advise(cursor, hints).map(Statement::Explain),
        "CREATE" => return create(cursor, hints),
        "DROP" => return drop(cursor),
        "ALTER" if cursor.eat(&["ALTER", "TABLE"]) => return alter_table::parse(cursor),
        "ALTER" if cursor.eat(&["ALTER", "USER"]) => return user::alter(cursor).map(Statement::AlterUser),
        "ALTER" if cursor.eat(&["ALTER", "SEQUENCE"]) => return sequence::alter(cursor).map(Statement::AlterSequence),
        "ALTER" => {
            if let Some(alter) = index::alter(cursor)? {
                return Ok(Statement::AlterIndex(alter));
            }
            if let Some(alter) = view::alter(cursor)? {
                return Ok(Statement::AlterView(alter));
            }
        }
        _ => {}
    }
    if let Some(table) = session::table_info(cursor)? {
        return Ok(Statement::Describe(table));
    }
    if let Some(unsupported) = unsupported(cursor, &verb) {
        return Ok(Statement::Unsupported(unsupported));
    }
    cursor.skip();
    match verb.as_str() {
        "UPSERT" => dml::upsert(cursor, start, hints).map(|upsert| {
            let takes_first_columns = cursor.language() == Dialect::Phoenix;
            Statement::Upsert(Upsert { takes_first_columns, ..upsert })
        }),
        "INSERT" => dml::upsert(cursor, start, hints).map(Statement::Insert),
        "REPLACE" => dml::replace(cursor, start, hints).map(Statement::Insert),
        "DELETE" => dml::delete(cursor, start, hints).map(Statement::Delete),
        "UPDATE" => dml::update(cursor, start, hints).map(Statement::Update),
        "MERGE" => merge::parse(cursor, start, hints).map(Statement::Merge),
        "COPY" => copy::parse(cursor, start, hints),
        "SHOW" => session::show(cursor),
        "DESCRIBE" | "DESC" => {
            if let Some(file) = file_options::described(cursor)? {
                return Ok(Statement::DescribeFile(file));
            }
            if query::starts(cursor) {
                return query::statement(cursor, hints).map(Statement::DescribeQuery);
            }
            cursor.eat(&["TABLE"]);
            cursor.existing_table().map(Statement::Describe)
        }
        "SUMMARIZE" => query::statement(cursor, hints).map(Statement::Summarize),
        "SET" => session::set(cursor).map(Statement::Set),
        "RESET" => session::reset(cursor).map(Statement::Set),
        "USE" => cursor.name("a schema name").map(Statement::Use),
        "TRUNCATE" => session::tables(cursor).map(Statement::Truncate),
        "COMPACT" => session::tables(cursor).map(Statement::Compact),
        "EXPORT" if cursor.at(&["DATABASE"]) => Err(SqlError::not_supported("EXPORT DATABASE", cursor.span_at(start))
            .with_help("BACKUP TO 'directory' copies the database, COPY t TO 'file' a table")),
        "EXPORT" => session::export(cursor).map(Statement::Export),
        "GRANT" => user::grant(cursor),
        "REVOKE" => user::revoke(cursor),
        "COMMENT" => comment::parse(cursor).map(Statement::Comment),
        "ATTACH" => session::attach(cursor).map(Statement::Attach),
        "DETACH" => session::detach(cursor).map(Statement::Detach),
        "BACKUP" => session::backup(cursor, start).map(Statement::Backup),
        "PREPARE" => named_statement::prepare(cursor, |cursor| self::statement(cursor, hints)).map(Statement::Prepare),
        "EXECUTE" => named_statement::execute(cursor).map(Statement::Execute),
        "DEALLOCATE" => named_statement::deallocate(cursor).map(Statement::Deallocate),
        "BEGIN" => transaction::begin(cursor),
        "COMMIT" | "END" => transaction::commit(cursor),
        "ROLLBACK" | "ABORT" => transaction::rollback(cursor),
        "SAVEPOINT" => cursor.name("a savepoint").map(Statement::Savepoint),
        "RELEASE" => transaction::release(cursor),
        "START" => {
            cursor.expect(&["TRANSACTION"])?;
            transaction::begin(cursor)
        }
        _ => {
            let error = SqlError::syntax(format!("no statement starts with {verb}"), cursor.span_at(start));
            Err(match saltwing_types::suggest(&verb, VERBS) {
                _ if verb == "FROM" => error.with_help("write SELECT .. FROM .., or FROM .. alone for all columns"),
                Some(meant) => error.with_help(format!("did you mean {meant}?")),
                None => error,
            })
        }
    }
}

fn explain(cursor: &mut Cursor<'_>, hints: Vec<Hint>) -> Result<Explain, SqlError> {
    cursor.expect(&["EXPLAIN"])?;
    let mut analyze = cursor.eat(&["ANALYZE"]);
    let mut format = ExplainFormat::Text;
    if cursor.at(&["VERBOSE"]) {
        return Err(SqlError::not_supported("EXPLAIN VERBOSE", cursor.here()));
    }
    // A bracket may also open the query itself.
    let is_options = ["ANALYZE", "FORMAT", "VERBOSE", "COSTS"].iter().any(|word| cursor.word_is(1, word));
    if *cursor.peek(0) == Token::LParen && is_options {
        cursor.in_brackets(|cursor| explain_option(cursor, &mut analyze, &mut format))?;
    }
    // SQLite has QUERY PLAN, Phoenix PLAN FOR.
    if !cursor.eat(&["QUERY", "PLAN"]) && cursor.eat(&["PLAN"]) {
        cursor.eat(&["FOR"]);
    }
    let statement = explained(cursor, hints)?;
    Ok(Explain { analyze, format, statement })
}

fn advise(cursor: &mut Cursor<'_>, hints: Vec<Hint>) -> Result<Explain, SqlError> {
    cursor.expect(&["ADVISE"])?;
    let statement = explained(cursor, hints)?;
    Ok(Explain { analyze: false, format: ExplainFormat::Advice, statement })
}

fn explained(cursor: &mut Cursor<'_>, hints: Vec<Hint>) -> Result<Box<Statement>, SqlError> {
    if cursor.at(&["EXPLAIN"]) || cursor.at(&["ADVISE"]) {
        return Err(SqlError::syntax("an EXPLAIN cannot be explained", cursor.here()));
    }
    statement(cursor, hints).map(Box::new)
}

fn explain_option(cursor: &mut Cursor<'_>, analyze: &mut bool, format: &mut ExplainFormat) -> Result<(), SqlError> {
    if cursor.eat(&["ANALYZE"]) {
        *analyze = !cursor.eat(&["FALSE"]);
        cursor.eat(&["TRUE"]);
        return Ok(());
    }
    if !cursor.eat(&["FORMAT"]) {
        return Err(cursor.expected_word(&["ANALYZE", "FORMAT"]));
    }
    let _ = cursor.eat_symbol(&Token::Eq);
    *format = match cursor.word(0).map(str::to_uppercase).as_deref() {
        Some("JSON") => ExplainFormat::Json,
        Some("TEXT") => ExplainFormat::Text,
        _ => return Err(cursor.expected_word(&["TEXT", "JSON"])),
    };
    cursor.skip();
    Ok(())
}

/// What CREATE, DROP and ALTER make or change, and we don't.
const OBJECTS: &str = "INDEX, UNIQUE INDEX, LOCAL INDEX, UNIQUE LOCAL INDEX, UNCOVERED INDEX, MATERIALIZED VIEW, VIEW, \
    FUNCTION, TEMPORARY FUNCTION, TABLE, TEMPORARY TABLE, TEMP TABLE, LOCAL TEMPORARY TABLE, \
    LOCAL TEMP TABLE, GLOBAL TEMPORARY TABLE, GLOBAL TEMP TABLE, TEMPORARY VIEW, TEMP VIEW, LOCAL TEMPORARY VIEW, \
    LOCAL TEMP VIEW, TEMPORARY SEQUENCE, TEMP SEQUENCE, LOCAL TEMPORARY SEQUENCE, LOCAL TEMP SEQUENCE, EXTERNAL TABLE, UNLOGGED TABLE, VIRTUAL TABLE, DATABASE, ROLE, TYPE, TRIGGER, CDC, \
    PROCEDURE, SCHEMA, DOMAIN, MACRO, EXTENSION, TEMPORARY MACRO";

fn create(cursor: &mut Cursor<'_>, hints: Vec<Hint>) -> Result<Statement, SqlError> {
    if let Some(beginning) = create_table::beginning(cursor) {
        let table = create_table::named(cursor, beginning)?;
        return match create_table_as::has_query(cursor) {
            true => create_table_as::parse(cursor, table, hints).map(|it| Statement::CreateTableAs(Box::new(it))),
            false => create_table::parse(cursor, table).map(Statement::CreateTable),
        };
    }
    if cursor.eat(&["CREATE", "SCHEMA"]) {
        return session::create_schema(cursor).map(Statement::CreateSchema);
    }
    if cursor.eat(&["CREATE", "SEQUENCE"]) {
        return sequence::create(cursor).map(Statement::CreateSequence);
    }
    if cursor.eat(&["CREATE", "USER"]) {
        return user::create(cursor).map(Statement::CreateUser);
    }
    if let Some(create) = index::create(cursor)? {
        return Ok(Statement::CreateIndex(Box::new(create)));
    }
    if let Some(create) = view::create(cursor, &hints)? {
        return Ok(Statement::CreateView(Box::new(create)));
    }
    object(cursor, "CREATE")
}

fn drop(cursor: &mut Cursor<'_>) -> Result<Statement, SqlError> {
    if cursor.eat(&["DROP", "TABLE"]) {
        return view::drop(cursor).map(Statement::DropTable);
    }
    if cursor.eat(&["DROP", "VIEW"]) {
        return view::drop(cursor).map(Statement::DropView);
    }
    if let Some(drop) = index::drop(cursor)? {
        return Ok(Statement::DropIndex(drop));
    }
    if cursor.eat(&["DROP", "SCHEMA"]) {
        return session::drop_schema(cursor).map(Statement::DropSchema);
    }
    if cursor.eat(&["DROP", "USER"]) {
        return user::drop(cursor).map(Statement::DropUser);
    }
    if cursor.eat(&["DROP", "SEQUENCE"]) {
        return sequence::drop(cursor).map(Statement::DropSequence);
    }
    object(cursor, "DROP")
}

/// `CREATE INDEX` and the like: recognized, not supported.
fn object(cursor: &mut Cursor<'_>, verb: &str) -> Result<Statement, SqlError> {
    let start = cursor.index();
    cursor.expect(&[verb])?;
    cursor.eat(&["OR", "REPLACE"]);
    let replace = cursor.index() > start + 1;
    let found = OBJECTS.split(", ").find(|object| {
        let words: Vec<&str> = object.split(' ').collect();
        cursor.at(&words)
    });
    match found {
        Some(object) => {
            object.split(' ').for_each(|_| cursor.skip());
            let what = format!("{verb} {}{object}", if replace { "OR REPLACE " } else { "" });
            Ok(Statement::Unsupported(unread(cursor, start, what, reason(object))))
        }
        None => Err(cursor.expected_word(&["TABLE", "SCHEMA", "INDEX", "VIEW", "SEQUENCE", "USER", "FUNCTION"])),
    }
}

/// Why there are none of these objects, if that is meant to stay so.
fn reason(object: &str) -> Option<&'static str> {
    match object {
        "TRIGGER" => {
            Some("a statement writes the rows that it names and no others: put the statements into a transaction")
        }
        "FUNCTION" | "TEMPORARY FUNCTION" => {
            Some("functions are closures of the program: Connection::register_function adds one")
        }
        "PROCEDURE" => Some(NO_PROCEDURES),
        "MACRO" | "TEMPORARY MACRO" => {
            Some("a view has a name for a query; functions are closures of the program: Connection::register_function")
        }
        "DOMAIN" | "TYPE" => Some("a CHECK of the column says which values it takes: CHECK (mood IN ('a', 'b'))"),
        "EXTENSION" => Some("there are no extensions: SHOW FUNCTIONS lists what there is"),
        "MATERIALIZED VIEW" => Some("a view is computed when it is read: CREATE TABLE .. AS keeps the rows of a query"),
        "EXTERNAL TABLE" | "VIRTUAL TABLE" => Some("a file stands in FROM by its name: FROM 'file.csv'"),
        "TABLE" => Some("DROP TABLE IF EXISTS t, then CREATE TABLE"),
        "ROLE" => Some("there are users and no roles: CREATE USER u PASSWORD '..', and GRANT .. TO u, .."),
        _ if object.contains("TEMP") => temporary_reason(object),
        _ => None,
    }
}

fn temporary_reason(object: &str) -> Option<&'static str> {
    Some(match object.rsplit(' ').next()? {
        "VIEW" => "only tables are temporary: write the query as WITH v AS (..), or CREATE VIEW over tables that stay",
        "SEQUENCE" => "only tables are temporary: a sequence counts for all sessions",
        _ if object.starts_with("GLOBAL") => {
            "CREATE TEMPORARY TABLE makes a table of this session; one for all sessions is a plain TABLE"
        }
        _ => "CREATE TEMPORARY TABLE makes one, and DROP TABLE drops the temporary one first",
    })
}

const NO_PROCEDURES: &str = "there is no procedural language: the program runs the statements, Connection::transaction \
    those that belong together";

/// Statements that are known by their first words, and not built yet.
fn unsupported(cursor: &mut Cursor<'_>, verb: &str) -> Option<Unsupported> {
    let start = cursor.index();
    let (words, help): (usize, Option<&str>) = match verb {
        "ALTER" if cursor.at(&["ALTER", "SESSION"]) => (2, Some("SET name = value sets an option of this session")),
        "ALTER" if cursor.at(&["ALTER", "VIEW"]) => {
            (2, Some("CREATE OR REPLACE VIEW changes a view; under another name it is another view"))
        }
        "ALTER" => (2, None),
        "CALL" => (1, Some(NO_PROCEDURES)),
        "DELETE" if ["JAR"].iter().any(|word| cursor.word_is(1, word)) => (2, None),
        // Phoenix's form, with the permissions as letters in a text.
        "GRANT" | "REVOKE" if matches!(cursor.peek(1), Token::TripleSingleQuotedString(_)) => {
            (1, Some("GRANT SELECT, UPSERT, DELETE, DDL or ALL ON t TO u names them by words"))
        }
        "DECLARE" | "FETCH" | "CLOSE" => {
            (1, Some("the rows of the library are a cursor: Connection::query gives them one by one"))
        }
        "ANALYZE" => {
            (1, Some("EXPLAIN ANALYZE runs a query and counts what it reads; there are no statistics to refresh"))
        }
        "VACUUM" | "OPTIMIZE" => {
            (1, Some("COMPACT t merges the rows of a table and gives back the space of deleted ones"))
        }
        "REINDEX" => (1, Some("ALTER INDEX i ON t REBUILD writes the entries of an index anew")),
        "PRAGMA" => (1, Some("DESCRIBE t shows a table, SHOW ALL the settings, SET name = value changes one")),
        "LOCK" => (1, Some("transactions take no locks: the second of two that write the same row fails with 40001")),
        "LISTEN" | "NOTIFY" => {
            (1, Some("sessions send each other no messages: ask for new rows, by their keys or times"))
        }
        "CLUSTER" => (1, Some("rows always lie in the order of the primary key")),
        "REFRESH" => (1, Some("a view is computed when it is read: CREATE TABLE .. AS keeps rows")),
        "IMPORT" => (1, Some("COPY t FROM 'file' reads a file, ATTACH 'directory' AS d another database")),
        "LOAD" | "INSTALL" => (1, Some("there are no extensions: SHOW FUNCTIONS lists what there is")),
        "DISCARD" => (1, Some("SET name = DEFAULT gives a setting its default; temporary tables end with the session")),
        "CHECKPOINT" => {
            (1, Some("a commit is on the disk when it is acknowledged; COMPACT t merges the rows of a table"))
        }
        "DO" => (1, Some(NO_PROCEDURES)),
        "ADD" | "LIST" if cursor.word_is(1, "JARS") || cursor.word_is(1, "JAR") => (2, None),
        "UPDATE" if cursor.at(&["UPDATE", "STATISTICS"]) => {
            (2, Some("statistics stand with the rows and are never old"))
        }
        _ => return None,
    };
    for _ in 0..words {
        cursor.skip();
    }
    let what = cursor.text_from(start).to_uppercase().split_whitespace().collect::<Vec<_>>().join(" ");
    Some(unread(cursor, start, what, help))
}

fn unread(cursor: &mut Cursor<'_>, start: usize, what: String, help: Option<&str>) -> Unsupported {
    let span = cursor.span_from(start);
    cursor.skip_to_end();
    Unsupported { what, help: help.map(str::to_owned), text: cursor.text_from(start).to_owned(), span }
}
