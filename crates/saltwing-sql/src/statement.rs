//! The statements.
//!
//! DDL and DML are structs of our own; queries and expressions stay sqlparser's
//! [`Query`] and [`Expr`], which the relational engine takes. Spans are those of
//! the source text; two statements are `==` only if they also stand at the same
//! place.

use saltwing_types::{Privileges, Span, SqlType, table::SortOrder};
use sqlparser::ast::{Expr, OrderBy, Query, SelectItem, TableWithJoins};

use crate::dynamic_column::DynamicColumn;
use crate::name::{ColumnName, Name, TableRef};

/// One statement.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant)] // made once a statement, never kept in bulk
pub enum Statement {
    /// `CREATE TABLE`.
    CreateTable(CreateTable),
    /// `CREATE TABLE .. AS`.
    CreateTableAs(Box<CreateTableAs>),
    /// `ALTER TABLE`.
    AlterTable(AlterTable),
    /// `CREATE INDEX`.
    CreateIndex(Box<CreateIndex>),
    /// `ALTER INDEX`.
    AlterIndex(AlterIndex),
    /// `DROP INDEX`.
    DropIndex(DropIndex),
    /// `COMMENT ON`.
    Comment(Comment),
    /// `CREATE USER`.
    CreateUser(CreateUser),
    /// `ALTER USER`.
    AlterUser(AlterUser),
    /// `DROP USER`.
    DropUser(DropUser),
    /// `GRANT`.
    Grant(Grant),
    /// `REVOKE`.
    Revoke(Grant),
    /// `CREATE SCHEMA`.
    CreateSchema(CreateSchema),
    /// `DROP SCHEMA`.
    DropSchema(DropSchema),
    /// `DROP TABLE`.
    DropTable(DropObjects),
    /// `CREATE VIEW`.
    CreateView(Box<CreateView>),
    /// `ALTER VIEW`.
    AlterView(AlterView),
    /// `DROP VIEW`.
    DropView(DropObjects),
    /// `CREATE SEQUENCE`.
    CreateSequence(CreateSequence),
    /// `ALTER SEQUENCE`.
    AlterSequence(AlterSequence),
    /// `DROP SEQUENCE`.
    DropSequence(DropSequence),
    /// `TRUNCATE [TABLE] table, ..`: at least one.
    Truncate(Vec<TableRef>),
    /// `UPSERT INTO`.
    Upsert(Upsert),
    /// `INSERT INTO`: as UPSERT, but a key that exists is an error.
    Insert(Upsert),
    /// `DELETE FROM`.
    Delete(Delete),
    /// `UPDATE`.
    Update(Update),
    /// `MERGE INTO`.
    Merge(Merge),
    /// `SELECT`, `WITH`, `VALUES`, `TABLE`.
    Query(QueryStatement),
    /// `EXPLAIN`.
    Explain(Explain),
    /// `COPY .. FROM`.
    CopyFrom(CopyFrom),
    /// `COPY .. TO`.
    CopyTo(CopyTo),
    /// `SHOW TABLES`.
    ShowTables(ShowTables),
    /// `SHOW SCHEMAS [LIKE 'pattern']`.
    ShowSchemas(Option<String>),
    /// `SHOW FUNCTIONS [LIKE 'pattern']`.
    ShowFunctions(Option<String>),
    /// `SHOW SEQUENCES`.
    ShowSequences(ShowTables),
    /// `SHOW VIEWS`.
    ShowViews(ShowTables),
    /// `SHOW INDEXES [FROM table]`.
    ShowIndexes(Option<TableRef>),
    /// `SHOW USERS`.
    ShowUsers,
    /// `SHOW GRANTS [FOR user]`.
    ShowGrants(Option<Name>),
    /// `SHOW CREATE TABLE`, `SHOW CREATE VIEW`.
    ShowCreateTable(TableRef),
    /// `SHOW CREATE SEQUENCE`.
    ShowCreateSequence(TableRef),
    /// `SHOW STORAGE [FOR table]`: of one table, or of all.
    ShowStorage(Option<TableRef>),
    /// `COMPACT table, ..`: at least one.
    Compact(Vec<TableRef>),
    /// `BACKUP TO`.
    Backup(Backup),
    /// `ATTACH`.
    Attach(Attach),
    /// `DETACH`.
    Detach(Name),
    /// `SHOW ATTACHED`.
    ShowAttached,
    /// `DESCRIBE`.
    Describe(TableRef),
    /// `DESCRIBE 'file'`.
    DescribeFile(FileRef),
    /// `DESCRIBE query`.
    DescribeQuery(QueryStatement),
    /// `SUMMARIZE`: the query whose columns are summarized; that of a table or a file has all columns.
    Summarize(QueryStatement),
    /// `SHOW name`; `None` is `SHOW ALL`.
    ShowSetting(Option<SettingName>),
    /// `SET name = value`.
    Set(Set),
    /// `USE schema`.
    Use(Name),
    /// `BEGIN`, `START TRANSACTION`.
    Begin {
        /// `READ ONLY`.
        read_only: bool,
    },
    /// `COMMIT`, `END`.
    Commit,
    /// `ROLLBACK`, `ABORT`.
    Rollback,
    /// `SAVEPOINT name`.
    Savepoint(Name),
    /// `ROLLBACK TO name`.
    RollbackTo(Name),
    /// `RELEASE name`.
    ReleaseSavepoint(Name),
    /// `SHOW TRANSACTIONS`.
    ShowTransactions,
    /// `EXPORT .. AS PHOENIX`.
    Export(Export),
    /// `PREPARE name AS statement`.
    Prepare(Prepare),
    /// `EXECUTE name (value, ..)`.
    Execute(Execute),
    /// `DEALLOCATE name`; `None` is `DEALLOCATE ALL`.
    Deallocate(Option<Name>),
    /// A known statement that is not built yet: 0A000, naming it.
    Unsupported(Unsupported),
}

impl Statement {
    /// Whether its text has a password.
    pub fn has_password(&self) -> bool {
        match self {
            Self::CreateUser(_) | Self::AlterUser(_) => true,
            Self::Explain(explain) => explain.statement.has_password(),
            _ => false,
        }
    }
}

/// `PREPARE name [(type, ..)] AS statement`.
#[derive(Clone, Debug, PartialEq)]
pub struct Prepare {
    /// The name that EXECUTE calls it by.
    pub name: Name,
    /// The types of the first parameters.
    pub types: Vec<SqlType>,
    /// The text of the statement, which can be parsed.
    pub text: String,
}

/// `EXECUTE name [(value, ..)]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Execute {
    /// The name that PREPARE gave the statement.
    pub name: Name,
    /// The values of its parameters.
    pub values: Vec<Expr>,
}

/// `CREATE USER`.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateUser {
    /// `IF NOT EXISTS`.
    pub if_not_exists: bool,
    /// The user.
    pub name: Name,
    /// Its password.
    pub password: Password,
}

/// `ALTER USER`.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterUser {
    /// The user.
    pub name: Name,
    /// Its next password.
    pub password: Password,
}

/// `DROP USER`.
#[derive(Clone, Debug, PartialEq)]
pub struct DropUser {
    /// `IF EXISTS`.
    pub if_exists: bool,
    /// The user.
    pub name: Name,
}

/// `PASSWORD '..'`.
#[derive(Clone, PartialEq)]
pub struct Password {
    pub(crate) text: String,
    /// Where it stands.
    pub span: Span,
}

impl Password {
    /// The password, or the text of a verifier. It is a secret.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// Without the text.
impl std::fmt::Debug for Password {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Password")
    }
}

/// `GRANT`, `REVOKE`.
#[derive(Clone, Debug, PartialEq)]
pub struct Grant {
    /// The privileges, at least one.
    pub privileges: Privileges,
    /// On what.
    pub object: GrantObject,
    /// The users, at least one.
    pub users: Vec<Name>,
}

/// The object of a GRANT or REVOKE.
#[derive(Clone, Debug, PartialEq)]
pub enum GrantObject {
    /// `DATABASE`.
    Database,
    /// `SCHEMA s`.
    Schema(Name),
    /// A table, a view or a sequence.
    Relation(TableRef),
}

/// `CREATE [OR REPLACE] [TEMPORARY | IMMUTABLE] TABLE`.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateTable {
    /// `TEMPORARY`: it is a table of the session.
    pub temporary: bool,
    /// `IMMUTABLE`.
    pub immutable: bool,
    /// `IF NOT EXISTS`.
    pub if_not_exists: bool,
    /// `OR REPLACE`: a table of this name is dropped once this one is there.
    pub or_replace: bool,
    /// The table.
    pub table: TableRef,
    /// The columns, as declared.
    pub columns: Vec<ColumnSpec>,
    /// `LIKE table ..`, in order.
    pub like: Vec<LikeSpec>,
    /// `[CONSTRAINT name] PRIMARY KEY (..)`, apart from inline ones.
    pub primary_key: Option<PrimaryKeySpec>,
    /// `[CONSTRAINT name] CHECK (..)`, apart from those of columns.
    pub checks: Vec<CheckSpec>,
    /// `[CONSTRAINT name] UNIQUE (..)`, those of columns too.
    pub unique: Vec<UniqueSpec>,
    /// The options after the closing bracket, in order.
    pub options: Vec<OptionSpec>,
    /// `SPLIT ON (..)`, else empty.
    pub split_on: Vec<Expr>,
}

/// `LIKE table [INCLUDING part | EXCLUDING part] ..` among the columns of a CREATE TABLE.
#[derive(Clone, Debug, PartialEq)]
pub struct LikeSpec {
    /// The table whose columns are copied.
    pub table: TableRef,
    /// The number of columns that stand before it.
    pub at: usize,
    /// What is copied beside names, types and NOT NULL.
    pub including: Vec<LikePart>,
}

impl LikeSpec {
    /// Whether a part is copied.
    pub fn includes(&self, part: LikePart) -> bool {
        self.including.contains(&part)
    }
}

/// What INCLUDING adds to the columns that LIKE copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LikePart {
    /// DEFAULTS.
    Defaults,
    /// GENERATED: the expressions of generated columns.
    Generated,
    /// IDENTITY: such columns count by sequences of their own.
    Identity,
    /// CONSTRAINTS: CHECK.
    Constraints,
    /// INDEXES: the primary key and UNIQUE.
    Indexes,
}

impl LikePart {
    /// All parts, with their words.
    pub const ALL: [(&'static str, Self); 5] = [
        ("DEFAULTS", Self::Defaults),
        ("GENERATED", Self::Generated),
        ("IDENTITY", Self::Identity),
        ("CONSTRAINTS", Self::Constraints),
        ("INDEXES", Self::Indexes),
    ];
}

/// `[CONSTRAINT name] UNIQUE (column, ..)`: a unique index.
#[derive(Clone, Debug, PartialEq)]
pub struct UniqueSpec {
    /// The name of the index, if one is given.
    pub name: Option<Name>,
    /// The parts of its key, at least one.
    pub parts: Vec<KeyPart>,
    /// The whole constraint.
    pub span: Span,
}

impl UniqueSpec {
    /// The statement that makes the index of a table.
    pub fn index_of(&self, table: &TableRef) -> CreateIndex {
        let name = self.name.clone().unwrap_or_else(|| index_name(table, &self.parts, "key", self.span));
        CreateIndex {
            is_named: self.name.is_some(),
            unique: true,
            local: false,
            if_not_exists: false,
            name,
            table: table.clone(),
            parts: self.parts.clone(),
            include: Vec::new(),
            predicate: None,
            options: Vec::new(),
            asynchronous: false,
            span: self.span,
        }
    }
}

/// The name of an index that the statement gives none, as in PostgreSQL: `table_column_idx`.
pub(crate) fn index_name(table: &TableRef, parts: &[KeyPart], end: &str, span: Span) -> Name {
    let words = |part: &KeyPart| -> Vec<String> {
        let words = part.text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
    };
    let mut text = vec![table.name.text.clone()];
    text.extend(parts.iter().flat_map(words));
    text.push(end.to_owned());
    Name { text: text.join("_"), quoted: true, span }
}

/// `CREATE TABLE .. AS query`.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateTableAs {
    /// The table. Its columns come from the query.
    pub table: CreateTable,
    /// Names for the columns of the query, from the first on.
    pub names: Vec<Name>,
    /// The query.
    pub query: QueryStatement,
}

/// `ALTER TABLE`.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterTable {
    /// The table.
    pub table: TableRef,
    /// The action.
    pub change: TableChange,
}

/// The action of an ALTER TABLE.
#[derive(Clone, Debug, PartialEq)]
pub enum TableChange {
    /// `ADD [COLUMN] [IF NOT EXISTS] column type .., ..`.
    Add {
        /// `IF NOT EXISTS`: existing columns stay unchanged.
        if_not_exists: bool,
        /// The new columns, at least one.
        columns: Vec<ColumnSpec>,
    },
    /// `DROP [COLUMN] [IF EXISTS] column, ..`.
    Drop {
        /// `IF EXISTS`: those that are not there are passed over.
        if_exists: bool,
        /// The columns, at least one.
        columns: Vec<ColumnName>,
    },
    /// `ADD [CONSTRAINT name] CHECK (..)`.
    AddCheck(Box<CheckSpec>),
    /// `DROP CONSTRAINT [IF EXISTS] name`.
    DropConstraint {
        /// `IF EXISTS`: one that is not there is passed over.
        if_exists: bool,
        /// The constraint.
        name: Name,
    },
    /// `SET option = value, ..`.
    Set {
        /// The options, at least one.
        options: Vec<OptionSpec>,
    },
    /// `RENAME TO table`: it stays in its schema.
    Rename {
        /// The new name.
        to: Name,
    },
    /// `RENAME [COLUMN] column TO column`: it stays in its family.
    RenameColumn {
        /// The column.
        column: ColumnName,
        /// The new name.
        to: Name,
    },
    /// `ALTER [COLUMN] column ..`.
    AlterColumn {
        /// The column.
        column: ColumnName,
        /// What changes.
        change: Box<ColumnChange>,
    },
}

/// What `ALTER TABLE .. ALTER COLUMN` changes.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnChange {
    /// `SET DEFAULT expression`.
    SetDefault(DefaultSpec),
    /// `DROP DEFAULT`.
    DropDefault,
    /// `SET NOT NULL`.
    SetNotNull,
    /// `DROP NOT NULL`.
    DropNotNull,
    /// `[SET DATA] TYPE type [USING expression]`.
    Type {
        /// The new type.
        sql_type: SqlType,
        /// Where the type stands.
        type_span: Span,
        /// The new values, over the row's columns; without it, the old ones as CAST gives them.
        using: Option<DefaultSpec>,
    },
}

/// One column of a CREATE TABLE, or of an ALTER TABLE.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnSpec {
    /// Its name, and its family if one was given.
    pub name: ColumnName,
    /// Its type.
    pub sql_type: SqlType,
    /// Where the type stands.
    pub type_span: Span,
    /// `NOT NULL` is `Some(true)`, `NULL` is `Some(false)`.
    pub not_null: Option<bool>,
    /// `DEFAULT`.
    pub default: Option<DefaultSpec>,
    /// `GENERATED ALWAYS AS (expression) STORED`.
    pub generated: Option<DefaultSpec>,
    /// `GENERATED {ALWAYS | BY DEFAULT} AS IDENTITY`, and what other databases have for it.
    pub identity: Option<IdentitySpec>,
    /// Inline `PRIMARY KEY [ASC | DESC]`.
    pub primary_key: Option<InlineKey>,
    /// `[CONSTRAINT name] CHECK (..)`.
    pub checks: Vec<CheckSpec>,
    /// Where `UNIQUE` stands.
    pub unique: Option<Span>,
    /// The whole definition.
    pub span: Span,
}

/// `GENERATED {ALWAYS | BY DEFAULT} AS IDENTITY [([SEQUENCE NAME s] [option ..])]`.
#[derive(Clone, Debug, PartialEq)]
pub struct IdentitySpec {
    /// Whether statements may not give it values.
    pub always: bool,
    /// The name of its sequence, if one is given.
    pub sequence: Option<TableRef>,
    /// Options of its sequence.
    pub options: SequenceOptions,
    /// The whole clause.
    pub span: Span,
}

/// A column's `DEFAULT`, or the expression that it is generated by.
#[derive(Clone, Debug, PartialEq)]
pub struct DefaultSpec {
    /// The expression.
    pub expr: Expr,
    /// The expression as it was written.
    pub text: String,
    /// Where the expression stands.
    pub span: Span,
}

impl ColumnSpec {
    /// A column with a name and a type alone.
    pub fn new(name: ColumnName, sql_type: SqlType, type_span: Span) -> Self {
        Self {
            name,
            sql_type,
            type_span,
            not_null: None,
            default: None,
            generated: None,
            identity: None,
            primary_key: None,
            checks: Vec::new(),
            unique: None,
            span: type_span,
        }
    }
}

/// `[CONSTRAINT name] CHECK (condition)`.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckSpec {
    /// The constraint's name, if it has one.
    pub name: Option<Name>,
    /// The condition.
    pub expr: Expr,
    /// The condition as it was written.
    pub text: String,
    /// The whole constraint.
    pub span: Span,
}

/// `PRIMARY KEY [ASC | DESC] [ROW_TIMESTAMP]` after a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InlineKey {
    /// ASC if no order is given.
    pub order: SortOrder,
    /// `ROW_TIMESTAMP`: its values are the times of rows.
    pub is_row_timestamp: bool,
    /// All words.
    pub span: Span,
}

/// `[CONSTRAINT name] PRIMARY KEY (part, ..)`.
#[derive(Clone, Debug, PartialEq)]
pub struct PrimaryKeySpec {
    /// The constraint's name, if it has one.
    pub name: Option<Name>,
    /// The parts, at least one.
    pub parts: Vec<KeyPart>,
    /// The whole constraint.
    pub span: Span,
}

/// One part of a primary key.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyPart {
    /// A column's name, or an expression over columns.
    pub expr: Expr,
    /// The expression as it was written.
    pub text: String,
    /// ASC if no order is given.
    pub order: SortOrder,
    /// `ROW_TIMESTAMP`: its values are the times of rows.
    pub is_row_timestamp: bool,
    /// The part, its order included.
    pub span: Span,
}

/// `CREATE INDEX`.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateIndex {
    /// UNIQUE.
    pub unique: bool,
    /// LOCAL.
    pub local: bool,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// The index.
    pub name: Name,
    /// Whether the statement names it: a name that follows from its parts gets a number if there is such an index.
    pub is_named: bool,
    /// Its table.
    pub table: TableRef,
    /// The parts of its key, at least one.
    pub parts: Vec<KeyPart>,
    /// INCLUDE.
    pub include: Vec<ColumnName>,
    /// WHERE, with the condition as it was written.
    pub predicate: Option<(Expr, String)>,
    /// Options.
    pub options: Vec<OptionSpec>,
    /// ASYNC.
    pub asynchronous: bool,
    /// All words.
    pub span: Span,
}

/// `ALTER INDEX`.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterIndex {
    /// IF EXISTS.
    pub if_exists: bool,
    /// The index.
    pub name: Name,
    /// Its table.
    pub table: TableRef,
    /// What becomes of it.
    pub change: IndexChange,
    /// All words.
    pub span: Span,
}

/// What ALTER INDEX does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexChange {
    /// All entries are deleted, and written again from the rows.
    Rebuild {
        /// ASYNC.
        asynchronous: bool,
    },
    /// No statement reads it any more; it is kept in step.
    Disable,
    /// Statements may read it again.
    Usable,
}

/// `DROP INDEX`.
#[derive(Clone, Debug, PartialEq)]
pub struct DropIndex {
    /// IF EXISTS.
    pub if_exists: bool,
    /// The index.
    pub name: Name,
    /// Its table; without one, the only table that has an index of this name.
    pub table: Option<TableRef>,
}

/// `[family.]NAME = value` after a CREATE TABLE.
#[derive(Clone, Debug, PartialEq)]
pub struct OptionSpec {
    /// The column family that it is for, if it was given.
    pub family: Option<Name>,
    /// Its name, as written.
    pub name: Name,
    /// Its value.
    pub value: OptionValue,
    /// Where the value stands.
    pub value_span: Span,
    /// All of it.
    pub span: Span,
}

impl OptionSpec {
    /// The names that are its value; none if it is something else.
    pub fn names(&self) -> Vec<&str> {
        match &self.value {
            OptionValue::Names(names) => names.iter().map(|name| name.text.as_str()).collect(),
            OptionValue::Word(name) => vec![name],
            _ => Vec::new(),
        }
    }
}

/// The value of an option or a setting.
#[derive(Clone, Debug, PartialEq)]
pub enum OptionValue {
    /// A number as it was written, a minus in front included.
    Number(String),
    /// `'..'`.
    Text(String),
    /// `TRUE` or `FALSE`.
    Bool(bool),
    /// `NONE`, `FOREVER` or any other word, as written.
    Word(String),
    /// `(a, UPPER(b))`: columns, and expressions as sqlparser writes them.
    Names(Vec<Name>),
}

/// `COMMENT ON object IS 'text'`.
#[derive(Clone, Debug, PartialEq)]
pub struct Comment {
    /// The object.
    pub object: CommentObject,
    /// The text; `None` takes the comment away, as '' does.
    pub text: Option<String>,
}

/// The object of a comment.
#[derive(Clone, Debug, PartialEq)]
pub enum CommentObject {
    /// `TABLE`.
    Table(TableRef),
    /// `VIEW`.
    View(TableRef),
    /// `COLUMN [schema.]table.[family.]column`: two to four names.
    Column(Vec<Name>),
}

/// `CREATE SCHEMA`.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateSchema {
    /// `IF NOT EXISTS`.
    pub if_not_exists: bool,
    /// The schema.
    pub name: Name,
}

/// `DROP SCHEMA`.
#[derive(Clone, Debug, PartialEq)]
pub struct DropSchema {
    /// `IF EXISTS`.
    pub if_exists: bool,
    /// The schemas, at least one.
    pub names: Vec<Name>,
}

/// `DROP TABLE` or `DROP VIEW`.
#[derive(Clone, Debug, PartialEq)]
pub struct DropObjects {
    /// `IF EXISTS`.
    pub if_exists: bool,
    /// The tables or views, at least one.
    pub names: Vec<TableRef>,
    /// `CASCADE`: views that use them are dropped too.
    pub cascade: bool,
}

/// `CREATE VIEW`.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateView {
    /// `TEMPORARY`: a view of the session.
    pub temporary: bool,
    /// `OR REPLACE`.
    pub replaces: bool,
    /// `IF NOT EXISTS`.
    pub if_not_exists: bool,
    /// The view.
    pub name: TableRef,
    /// Names for the columns of the query, from the first on.
    pub columns: Option<Vec<Name>>,
    /// Columns of its own, which follow those of the query.
    pub own: Vec<DynamicColumn>,
    /// The query. It has no parameters and no hints.
    pub query: QueryStatement,
    /// The query as it was written.
    pub text: String,
}

/// `ALTER VIEW v ..`.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterView {
    /// The view.
    pub view: TableRef,
    /// What becomes of its own columns.
    pub change: ViewChange,
}

/// A change of the columns of a view's own.
#[derive(Clone, Debug, PartialEq)]
pub enum ViewChange {
    /// `ADD [IF NOT EXISTS] column type, ..`.
    Add {
        /// `IF NOT EXISTS`: a column that the view has already is passed over.
        if_not_exists: bool,
        /// More columns, at least one.
        columns: Vec<DynamicColumn>,
    },
    /// `DROP [COLUMN] [IF EXISTS] column, ..`.
    Drop {
        /// `IF EXISTS`: a column that the view does not have is passed over.
        if_exists: bool,
        /// The columns, at least one.
        columns: Vec<ColumnName>,
    },
}

/// `EXPORT table | SCHEMA schema | ALL AS PHOENIX`.
#[derive(Clone, Debug, PartialEq)]
pub struct Export {
    /// What is exported.
    pub objects: ExportedObjects,
}

/// What an [`Export`] writes statements for.
#[derive(Clone, Debug, PartialEq)]
pub enum ExportedObjects {
    /// One table and its rows.
    Table(TableRef),
    /// All sequences, tables and views of a schema.
    Schema(Name),
    /// All of the database.
    All,
}

/// `CREATE SEQUENCE`.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateSequence {
    /// `IF NOT EXISTS`.
    pub if_not_exists: bool,
    /// The sequence.
    pub name: TableRef,
    /// The options.
    pub options: SequenceOptions,
}

/// `ALTER SEQUENCE`: RESTART, at least one option, or both.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterSequence {
    /// `IF EXISTS`.
    pub if_exists: bool,
    /// The sequence.
    pub name: TableRef,
    /// `RESTART`.
    pub restart: Option<Restart>,
    /// The options that change.
    pub options: SequenceOptions,
}

/// Where a sequence starts again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restart {
    /// At its START value.
    AtStart,
    /// `WITH n`.
    With(SequenceNumber),
}

/// The options of a sequence, in any order; `None` for those that are not there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SequenceOptions {
    /// `START [WITH]`.
    pub start: Option<SequenceNumber>,
    /// `INCREMENT [BY]`.
    pub increment: Option<SequenceNumber>,
    /// `MINVALUE`; `Some(None)` is NO MINVALUE.
    pub min: Option<Option<SequenceNumber>>,
    /// `MAXVALUE`; `Some(None)` is NO MAXVALUE.
    pub max: Option<Option<SequenceNumber>>,
    /// `CYCLE` is true, NO CYCLE false.
    pub cycles: Option<bool>,
    /// `CACHE`.
    pub cache: Option<SequenceNumber>,
}

/// A number among the options of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SequenceNumber {
    /// The number.
    pub value: i64,
    /// Where it stands, with its sign.
    pub span: Span,
}

/// `DROP SEQUENCE`.
#[derive(Clone, Debug, PartialEq)]
pub struct DropSequence {
    /// `IF EXISTS`.
    pub if_exists: bool,
    /// The sequences, at least one.
    pub names: Vec<TableRef>,
}

/// `BACKUP TO 'directory'`.
#[derive(Clone, Debug, PartialEq)]
pub struct Backup {
    /// The directory that is made.
    pub path: String,
    /// The place of the whole statement.
    pub span: Span,
}

/// `ATTACH 'directory' AS alias`.
#[derive(Clone, Debug, PartialEq)]
pub struct Attach {
    /// The directory of the database.
    pub path: String,
    /// The place of the directory.
    pub path_span: Span,
    /// The name that stands before its tables.
    pub alias: Name,
}

/// `UPSERT INTO` and `INSERT INTO`.
#[derive(Clone, Debug, PartialEq)]
pub struct Upsert {
    /// The table.
    pub table: TableRef,
    /// Another name for it in ON CONFLICT and RETURNING.
    pub alias: Option<Name>,
    /// The columns that are written; `None` is all of them, in their order.
    pub columns: Option<Vec<ColumnName>>,
    /// Whether fewer values than columns, without a list of columns, are those of the first columns: so Phoenix reads UPSERT.
    pub takes_first_columns: bool,
    /// Those of `columns` that are dynamic, by their places in it, with their types.
    pub dynamic: Vec<(usize, SqlType)>,
    /// `OVERRIDING SYSTEM VALUE`: identity columns take the values that are given.
    pub overriding: bool,
    /// The rows.
    pub source: RowSource,
    /// `ON CONFLICT ..`, `ON DUPLICATE KEY ..`, or INSERT's `OR ..`.
    pub conflict: Option<ConflictClause>,
    /// `RETURNING`.
    pub returning: Option<Returning>,
    /// `/*+ .. */` after the first word, and in the query.
    pub hints: Vec<Hint>,
    /// The whole statement.
    pub span: Span,
}

impl Upsert {
    /// `query`, whose rows it writes, as a statement of its own, with its hints.
    pub fn source_query(&self, query: &Query) -> QueryStatement {
        let (query, hints, items) = (Box::new(query.clone()), self.hints.clone(), Vec::new());
        QueryStatement { query, hints, items, after: None, span: self.span }
    }
}

/// The handling of rows whose keys are there.
#[derive(Clone, Debug, PartialEq)]
pub struct ConflictClause {
    /// The keys that it is about.
    pub target: ConflictTarget,
    /// What becomes of such a row.
    pub action: ConflictAction,
    /// The clause.
    pub span: Span,
}

/// The keys that a clause for conflicts is about.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant)] // at most one a statement
pub enum ConflictTarget {
    /// `ON DUPLICATE KEY`, `INSERT OR REPLACE`: the primary key.
    PrimaryKey,
    /// `ON CONFLICT DO ..`, `INSERT OR IGNORE`: no key is named.
    Any,
    /// `ON CONFLICT (part, ..) [WHERE condition]`: the primary key or a unique index.
    Parts {
        /// Columns and expressions, as they were read and as they were written; at least one.
        parts: Vec<(Expr, SourceText)>,
        /// The condition of a partial index.
        predicate: Option<Expr>,
        /// The brackets, and the condition.
        span: Span,
    },
}

/// What becomes of a row whose key is there.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant)] // at most one a statement
pub enum ConflictAction {
    /// `DO NOTHING`, `IGNORE`: the row that is there stays.
    Ignore,
    /// `INSERT OR REPLACE`: the new row takes its place as a whole.
    Replace,
    /// `DO UPDATE SET ..`, `UPDATE ..`: the row that is there is changed.
    Update {
        /// At least one.
        assignments: Vec<Assignment>,
        /// `WHERE`: rows that do not meet it stay as they are.
        selection: Option<Expr>,
    },
}

/// Where the rows of an UPSERT come from.
#[derive(Clone, Debug, PartialEq)]
pub enum RowSource {
    /// `VALUES (..), (..)`.
    Values(Vec<ValuesRow>),
    /// A query.
    Query(Box<Query>),
}

/// One bracket of VALUES. [`is_default`](crate::is_default) finds the word DEFAULT in it.
#[derive(Clone, Debug, PartialEq)]
pub struct ValuesRow {
    /// The values, at least one.
    pub values: Vec<Expr>,
    /// Where they are parameters that follow each other: the [place](crate::parameter_place) of the first one's value.
    pub first_parameter: Option<usize>,
    /// With its brackets.
    pub span: Span,
}

/// `DELETE FROM`.
#[derive(Clone, Debug, PartialEq)]
pub struct Delete {
    /// The table.
    pub table: TableRef,
    /// The dynamic columns that it declares after the table.
    pub dynamic: Vec<DynamicColumn>,
    /// Another name for it in the condition.
    pub alias: Option<Name>,
    /// `USING`: further tables of the condition.
    pub using: Vec<TableWithJoins>,
    /// `WHERE`.
    pub selection: Option<Expr>,
    /// `ORDER BY`: which rows come first, for LIMIT.
    pub order_by: Option<OrderBy>,
    /// `LIMIT`.
    pub limit: Option<Expr>,
    /// `RETURNING`.
    pub returning: Option<Returning>,
    /// `/*+ .. */` after DELETE, and in subqueries.
    pub hints: Vec<Hint>,
    /// The whole statement.
    pub span: Span,
}

/// `UPDATE`.
#[derive(Clone, Debug, PartialEq)]
pub struct Update {
    /// The table.
    pub table: TableRef,
    /// The dynamic columns that it declares after the table.
    pub dynamic: Vec<DynamicColumn>,
    /// Another name for it in the expressions.
    pub alias: Option<Name>,
    /// `SET column = expression, ..`, at least one.
    pub assignments: Vec<Assignment>,
    /// `FROM`: further tables of the expressions.
    pub from: Vec<TableWithJoins>,
    /// `WHERE`.
    pub selection: Option<Expr>,
    /// `ORDER BY`: which rows come first, for LIMIT.
    pub order_by: Option<OrderBy>,
    /// `LIMIT`.
    pub limit: Option<Expr>,
    /// `RETURNING`.
    pub returning: Option<Returning>,
    /// `/*+ .. */` after UPDATE, and in subqueries.
    pub hints: Vec<Hint>,
    /// The whole statement.
    pub span: Span,
}

/// `MERGE INTO table USING source ON condition WHEN ..`.
#[derive(Clone, Debug, PartialEq)]
pub struct Merge {
    /// The table that is written.
    pub table: TableRef,
    /// The dynamic columns that it declares after the table.
    pub dynamic: Vec<DynamicColumn>,
    /// Another name for it in the expressions.
    pub alias: Option<Name>,
    /// The rows that it is compared with.
    pub source: TableWithJoins,
    /// `ON`: which rows match.
    pub on: Expr,
    /// The WHEN clauses, at least one: the first that holds for a row acts on it.
    pub clauses: Vec<MergeClause>,
    /// `RETURNING`.
    pub returning: Option<Returning>,
    /// `/*+ .. */` after MERGE, and in subqueries.
    pub hints: Vec<Hint>,
    /// The whole statement.
    pub span: Span,
}

/// `WHEN .. THEN ..` of a MERGE.
#[derive(Clone, Debug, PartialEq)]
pub struct MergeClause {
    /// The rows that it is for.
    pub rows: MergeRows,
    /// `AND condition`.
    pub condition: Option<Expr>,
    /// What becomes of them.
    pub action: MergeAction,
    /// The clause.
    pub span: Span,
}

/// The rows of a WHEN clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeRows {
    /// `MATCHED`: rows of the table with a row of the source.
    Matched,
    /// `NOT MATCHED [BY TARGET]`: rows of the source without a row of the table.
    NotInTable,
    /// `NOT MATCHED BY SOURCE`: rows of the table without a row of the source.
    NotInSource,
}

/// The action of a WHEN clause.
#[derive(Clone, Debug, PartialEq)]
pub enum MergeAction {
    /// `UPDATE SET ..`.
    Update(Vec<Assignment>),
    /// `DELETE`.
    Delete,
    /// `INSERT [(columns)] [OVERRIDING SYSTEM VALUE] VALUES (..)`.
    Insert {
        /// The columns that are written; `None` is all of them, in their order.
        columns: Option<Vec<ColumnName>>,
        /// `OVERRIDING SYSTEM VALUE`: identity columns take the values that are given.
        overriding: bool,
        /// Their values.
        values: Vec<Expr>,
    },
    /// `DO NOTHING`.
    Nothing,
}

/// `RETURNING item, ..`: a result made from the rows that are written, or deleted.
#[derive(Clone, Debug, PartialEq)]
pub struct Returning {
    /// The items, at least one.
    pub items: Vec<SelectItem>,
    /// The items as written.
    pub texts: Vec<SourceText>,
    /// The clause.
    pub span: Span,
}

/// `column = expression`.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// The column to set.
    pub column: ColumnName,
    /// To what.
    pub value: Expr,
}

/// `SELECT`, `WITH`, `VALUES`, `TABLE`.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryStatement {
    /// The query, without its hints.
    pub query: Box<Query>,
    /// The hints of all its SELECTs, in text order.
    pub hints: Vec<Hint>,
    /// The items of the SELECT that gives the result its labels, as written;
    /// empty for VALUES and TABLE.
    pub items: Vec<SourceText>,
    /// `AFTER token`: the result is one page. Only a query that is a statement by itself has it.
    pub after: Option<After>,
    /// The whole statement.
    pub span: Span,
}

/// `AFTER token`, which follows the LIMIT of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct After {
    /// The token.
    pub token: AfterToken,
    /// Where it stands.
    pub span: Span,
}

/// The token of the page before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AfterToken {
    /// NULL: there is no page before.
    None,
    /// A text.
    Text(String),
    /// The value of a parameter, by number from 0.
    Parameter(usize),
}

/// A piece of the statement's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceText {
    /// The text as written, without blanks and comments around it.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// One word of a `/*+ .. */`: `FULL_SCAN(t)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// The word, as written.
    pub name: Name,
    /// Its arguments in brackets.
    pub args: Vec<Name>,
    /// Both.
    pub span: Span,
}

/// `EXPLAIN`.
#[derive(Clone, Debug, PartialEq)]
pub struct Explain {
    /// `ANALYZE`: run it too.
    pub analyze: bool,
    /// The output format.
    pub format: ExplainFormat,
    /// The explained statement; never an EXPLAIN.
    pub statement: Box<Statement>,
}

/// The form of an EXPLAIN's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExplainFormat {
    /// For people.
    Text,
    /// `FORMAT JSON`.
    Json,
    /// The key or the index that serves: `ADVISE`.
    Advice,
}

/// `COPY t FROM 'file'`.
#[derive(Clone, Debug, PartialEq)]
pub struct CopyFrom {
    /// The table.
    pub table: TableRef,
    /// The columns that the file has; `None` is all of them.
    pub columns: Option<Vec<ColumnName>>,
    /// Those of `columns` that are dynamic, by their places in it, with their types.
    pub dynamic: Vec<(usize, SqlType)>,
    /// The file.
    pub source: CopyTarget,
    /// How it is written.
    pub options: CopyOptions,
    /// The whole statement.
    pub span: Span,
}

impl CopyFrom {
    /// The path of its file; `None` for STDIN, which has a name as a file too.
    pub fn path(&self) -> Option<&str> {
        self.source.path("/dev/stdin")
    }
}

/// `COPY t TO 'file'`, `COPY (query) TO 'file'`.
#[derive(Clone, Debug, PartialEq)]
pub struct CopyTo {
    /// The source of the rows.
    pub source: CopySource,
    /// The file.
    pub target: CopyTarget,
    /// How it is written.
    pub options: CopyOptions,
    /// The whole statement.
    pub span: Span,
}

impl CopyTo {
    /// The path of its file; `None` for STDOUT, which has a name as a file too.
    pub fn path(&self) -> Option<&str> {
        self.target.path("/dev/stdout")
    }
}

/// The source of a COPY TO.
#[derive(Clone, Debug, PartialEq)]
pub enum CopySource {
    /// A table, or some columns of it.
    Table {
        /// The table.
        table: TableRef,
        /// The columns; `None` is all of them.
        columns: Option<Vec<ColumnName>>,
        /// Those of `columns` that are dynamic, by their places in it, with their types.
        dynamic: Vec<(usize, SqlType)>,
    },
    /// A query.
    Query(QueryStatement),
}

/// A file in the place of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRef {
    /// Its path and its options, which [`file_parts`](crate::file_parts) tells apart.
    pub name: String,
    /// Where both stand.
    pub span: Span,
}

/// The file of a COPY.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CopyTarget {
    /// A path.
    File(String),
    /// `STDIN` of a COPY FROM, `STDOUT` of a COPY TO.
    Standard,
}

impl CopyTarget {
    fn path(&self, standard: &str) -> Option<&str> {
        match self {
            Self::File(path) if path != standard => Some(path),
            Self::File(_) | Self::Standard => None,
        }
    }
}

/// How the file of a COPY is written; `None` if not given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CopyOptions {
    /// `FORMAT`.
    pub format: Option<CopyFormat>,
    /// `COMPRESSION`.
    pub compression: Option<CopyCompression>,
    /// `HEADER`.
    pub header: Option<bool>,
    /// `DELIMITER`.
    pub delimiter: Option<char>,
    /// `QUOTE`.
    pub quote: Option<char>,
    /// `ESCAPE`.
    pub escape: Option<char>,
    /// `NULL`: the text for NULL.
    pub null: Option<String>,
    /// `ON_ERROR`.
    pub on_error: Option<OnError>,
    /// `ON_CONFLICT`.
    pub on_conflict: Option<OnConflict>,
    /// `OVERWRITE`: whether COPY TO may replace a file.
    pub overwrite: Option<bool>,
    /// `SPECIAL`: whether the file may be a pipe or a device.
    pub special: Option<bool>,
}

/// The forms that COPY knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyFormat {
    /// Comma-separated values.
    Csv,
    /// A JSON object a line.
    Json,
    /// Arrow IPC, the form of files.
    Arrow,
    /// Arrow IPC, the form of streams.
    ArrowStream,
    /// Parquet.
    Parquet,
}

/// How the file of a COPY is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyCompression {
    /// Not at all.
    None,
    /// By gzip.
    Gzip,
    /// By zstd.
    Zstd,
    /// By LZ4, inside Arrow and Parquet.
    Lz4,
    /// By Snappy, inside Parquet.
    Snappy,
}

/// The handling of a line that COPY FROM cannot read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnError {
    /// Stop; batches that are committed stay.
    Abort,
    /// Leave the line out, and count it.
    Skip,
}

/// The handling of a row whose key already exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnConflict {
    /// It replaces the existing row.
    Replace,
    /// It is an error.
    Error,
    /// It is left out.
    Ignore,
}

/// `SHOW TABLES [FROM schema] [LIKE 'pattern']`, and the same of SEQUENCES and VIEWS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShowTables {
    /// Only of this schema.
    pub schema: Option<Name>,
    /// Only names like this.
    pub like: Option<String>,
}

/// The name of a setting: words with dots between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingName {
    /// As written.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// `SET name = value`, `SET name TO value`.
#[derive(Clone, Debug, PartialEq)]
pub struct Set {
    /// The setting.
    pub name: SettingName,
    /// To what; `None` is DEFAULT.
    pub value: Option<OptionValue>,
    /// Where the value stands.
    pub value_span: Span,
}

/// A known statement that is not built yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// Its name: `CREATE INDEX`.
    pub what: String,
    /// The replacement, if there is one.
    pub help: Option<String>,
    /// The statement's text, unread.
    pub text: String,
    /// Where the words of its name stand.
    pub span: Span,
}
