//! Statements as text, to be read back.
//!
//! # Law
//! What is printed parses again, to the same statement, places aside.

use std::fmt::{self, Display, Formatter};

use saltwing_sql::statement::{
    AfterToken, AlterIndex, AlterSequence, AlterTable, Assignment, CheckSpec, ColumnChange, ColumnSpec, Comment,
    CommentObject, ConflictAction, ConflictClause, ConflictTarget, CopyCompression, CopyFormat, CopyFrom, CopyOptions,
    CopySource, CopyTarget, CopyTo, CreateIndex, CreateSchema, CreateSequence, CreateTable, CreateTableAs, CreateView,
    Delete, DropIndex, DropObjects, DropSchema, DropSequence, Explain, ExplainFormat, Export, ExportedObjects, Grant,
    GrantObject, Hint, IndexChange, KeyPart, LikePart, LikeSpec, Merge, MergeAction, MergeRows, OnConflict, OnError,
    OptionSpec, OptionValue, PrimaryKeySpec, QueryStatement, Restart, Returning, RowSource, SequenceNumber,
    SequenceOptions, Set, ShowTables, Statement, TableChange, UniqueSpec, Unsupported, Update, Upsert, ValuesRow,
    ViewChange,
};
use saltwing_sql::{ColumnName, DynamicColumn, Lexeme, Name, TableRef, lexemes, tree_text};
use saltwing_types::table::SortOrder;
use sqlparser::ast::Expr;

/// A statement, or a part of one, as text.
pub fn text(statement: &impl Print) -> String {
    Shown(statement).to_string()
}

pub trait Print {
    fn print(&self, f: &mut Formatter<'_>) -> fmt::Result;
}

struct Shown<'a, T>(&'a T);

impl<T: Print> Display for Shown<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.print(f)
    }
}

impl<T: Print> Print for &T {
    fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
        (**self).print(f)
    }
}

macro_rules! displayed {
    ($($ty:ty),*) => {$(
        impl Print for $ty {
            fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
                write!(f, "{self}")
            }
        }
    )*};
}

displayed!(String, Name, ColumnName, DynamicColumn, TableRef);

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Items with commas between them.
fn list<T: Print>(f: &mut Formatter<'_>, items: impl IntoIterator<Item = T>) -> fmt::Result {
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            f.write_str(", ")?;
        }
        item.print(f)?;
    }
    Ok(())
}

fn hints(f: &mut Formatter<'_>, hints: &[Hint]) -> fmt::Result {
    if hints.is_empty() {
        return Ok(());
    }
    f.write_str(" /*+ ")?;
    list(f, hints)?;
    f.write_str(" */")
}

impl Print for Hint {
    fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)?;
        if !self.args.is_empty() {
            f.write_str("(")?;
            list(f, &self.args)?;
            f.write_str(")")?;
        }
        Ok(())
    }
}

fn grant(f: &mut Formatter<'_>, verb: &str, it: &Grant, before_users: &str) -> fmt::Result {
    write!(f, "{verb} {} ON ", it.privileges)?;
    match &it.object {
        GrantObject::Database => f.write_str("DATABASE")?,
        GrantObject::Schema(name) => write!(f, "SCHEMA {name}")?,
        GrantObject::Relation(name) => write!(f, "{name}")?,
    }
    write!(f, " {before_users} ")?;
    list(f, &it.users)
}

impl Print for Statement {
    fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::CreateTable(it) => it.print(f),
            Self::CreateTableAs(it) => it.print(f),
            Self::AlterTable(it) => it.print(f),
            Self::CreateIndex(it) => it.print(f),
            Self::AlterIndex(AlterIndex { if_exists, name, table, change, .. }) => {
                let change = match change {
                    IndexChange::Rebuild { asynchronous: false } => "REBUILD",
                    IndexChange::Rebuild { asynchronous: true } => "REBUILD ASYNC",
                    IndexChange::Disable => "DISABLE",
                    IndexChange::Usable => "USABLE",
                };
                write!(f, "ALTER INDEX {}{name} ON {table} {change}", if *if_exists { "IF EXISTS " } else { "" })
            }
            Self::DropIndex(DropIndex { if_exists, name, table }) => {
                write!(f, "DROP INDEX {}{name}", if *if_exists { "IF EXISTS " } else { "" })?;
                table.iter().try_for_each(|table| write!(f, " ON {table}"))
            }
            Self::Comment(Comment { object, text }) => {
                match object {
                    CommentObject::Table(name) => write!(f, "COMMENT ON TABLE {name} IS ")?,
                    CommentObject::View(name) => write!(f, "COMMENT ON VIEW {name} IS ")?,
                    CommentObject::Column(names) => {
                        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
                        write!(f, "COMMENT ON COLUMN {} IS ", names.join("."))?;
                    }
                }
                f.write_str(&text.as_deref().map_or_else(|| "NULL".to_owned(), quoted))
            }
            Self::CreateUser(it) => {
                let if_not_exists = if it.if_not_exists { "IF NOT EXISTS " } else { "" };
                write!(f, "CREATE USER {if_not_exists}{} PASSWORD {}", it.name, quoted(it.password.text()))
            }
            Self::AlterUser(it) => write!(f, "ALTER USER {} PASSWORD {}", it.name, quoted(it.password.text())),
            Self::DropUser(it) => {
                write!(f, "DROP USER {}{}", if it.if_exists { "IF EXISTS " } else { "" }, it.name)
            }
            Self::Grant(it) => grant(f, "GRANT", it, "TO"),
            Self::Revoke(it) => grant(f, "REVOKE", it, "FROM"),
            Self::ShowUsers => f.write_str("SHOW USERS"),
            Self::ShowGrants(None) => f.write_str("SHOW GRANTS"),
            Self::ShowGrants(Some(user)) => write!(f, "SHOW GRANTS FOR {user}"),
            Self::CreateSchema(CreateSchema { if_not_exists, name }) => {
                write!(f, "CREATE SCHEMA {}{name}", if *if_not_exists { "IF NOT EXISTS " } else { "" })
            }
            Self::DropSchema(DropSchema { if_exists, names }) => drop_objects(f, "SCHEMA", *if_exists, names),
            Self::DropTable(it) => drop_with(f, "TABLE", it),
            Self::DropView(it) => drop_with(f, "VIEW", it),
            Self::CreateView(it) => it.print(f),
            Self::AlterView(it) => {
                write!(f, "ALTER VIEW {} ", it.view)?;
                match &it.change {
                    ViewChange::Add { if_not_exists, columns } => {
                        f.write_str(if *if_not_exists { "ADD IF NOT EXISTS " } else { "ADD " })?;
                        list(f, columns.iter().map(ToString::to_string))
                    }
                    ViewChange::Drop { if_exists, columns } => {
                        f.write_str(if *if_exists { "DROP COLUMN IF EXISTS " } else { "DROP COLUMN " })?;
                        list(f, columns.iter().map(ToString::to_string))
                    }
                }
            }
            Self::CreateSequence(it) => it.print(f),
            Self::AlterSequence(it) => it.print(f),
            Self::DropSequence(DropSequence { if_exists, names }) => drop_objects(f, "SEQUENCE", *if_exists, names),
            Self::Truncate(tables) => {
                f.write_str("TRUNCATE TABLE ")?;
                list(f, tables)
            }
            Self::Compact(tables) => {
                f.write_str("COMPACT ")?;
                list(f, tables)
            }
            Self::Attach(it) => write!(f, "ATTACH {} AS {}", quoted(&it.path), it.alias),
            Self::Detach(alias) => write!(f, "DETACH {alias}"),
            Self::ShowAttached => f.write_str("SHOW ATTACHED"),
            Self::Backup(it) => write!(f, "BACKUP TO {}", quoted(&it.path)),
            Self::Upsert(it) => upsert(f, "UPSERT", it),
            Self::Insert(it) => upsert(f, "INSERT", it),
            Self::Delete(it) => it.print(f),
            Self::Update(it) => it.print(f),
            Self::Merge(it) => it.print(f),
            Self::Query(it) => it.print(f),
            Self::Explain(it) => it.print(f),
            Self::CopyFrom(it) => it.print(f),
            Self::CopyTo(it) => it.print(f),
            Self::ShowTables(it) => show_names(f, "TABLES", it),
            Self::ShowSequences(it) => show_names(f, "SEQUENCES", it),
            Self::ShowViews(it) => show_names(f, "VIEWS", it),
            Self::ShowIndexes(None) => f.write_str("SHOW INDEXES"),
            Self::ShowIndexes(Some(table)) => write!(f, "SHOW INDEXES FROM {table}"),
            Self::ShowSchemas(like) => {
                f.write_str("SHOW SCHEMAS")?;
                like.iter().try_for_each(|like| write!(f, " LIKE {}", quoted(like)))
            }
            Self::ShowFunctions(like) => {
                f.write_str("SHOW FUNCTIONS")?;
                like.iter().try_for_each(|like| write!(f, " LIKE {}", quoted(like)))
            }
            Self::ShowCreateTable(table) => write!(f, "SHOW CREATE TABLE {table}"),
            Self::ShowCreateSequence(name) => write!(f, "SHOW CREATE SEQUENCE {name}"),
            Self::ShowStorage(None) => f.write_str("SHOW STORAGE"),
            Self::ShowStorage(Some(table)) => write!(f, "SHOW STORAGE FOR {table}"),
            Self::Describe(table) => write!(f, "DESCRIBE {table}"),
            Self::DescribeFile(file) => {
                let (path, options) = file.name.split_once('\0').unwrap_or((&file.name, ""));
                write!(f, "DESCRIBE '{}' {options}", path.replace('\'', "''"))
            }
            Self::DescribeQuery(query) => {
                f.write_str("DESCRIBE ")?;
                query.print(f)
            }
            Self::Summarize(query) => {
                f.write_str("SUMMARIZE ")?;
                query.print(f)
            }
            Self::ShowSetting(None) => f.write_str("SHOW ALL"),
            Self::ShowSetting(Some(name)) => write!(f, "SHOW {}", name.text),
            Self::Set(Set { name, value: Some(value), .. }) => write!(f, "SET {} = {}", name.text, Shown(value)),
            Self::Set(Set { name, value: None, .. }) => write!(f, "SET {} = DEFAULT", name.text),
            Self::Use(name) => write!(f, "USE {name}"),
            Self::Begin { read_only } => f.write_str(if *read_only { "BEGIN READ ONLY" } else { "BEGIN" }),
            Self::Commit => f.write_str("COMMIT"),
            Self::Rollback => f.write_str("ROLLBACK"),
            Self::Savepoint(name) => write!(f, "SAVEPOINT {name}"),
            Self::RollbackTo(name) => write!(f, "ROLLBACK TO {name}"),
            Self::ReleaseSavepoint(name) => write!(f, "RELEASE {name}"),
            Self::ShowTransactions => f.write_str("SHOW TRANSACTIONS"),
            Self::Export(Export { objects }) => match objects {
                ExportedObjects::Table(table) => write!(f, "EXPORT {table} AS PHOENIX"),
                ExportedObjects::Schema(name) => write!(f, "EXPORT SCHEMA {name} AS PHOENIX"),
                ExportedObjects::All => f.write_str("EXPORT ALL AS PHOENIX"),
            },
            Self::Prepare(it) => {
                write!(f, "PREPARE {}", it.name)?;
                if !it.types.is_empty() {
                    let types: Vec<String> = it.types.iter().map(ToString::to_string).collect();
                    write!(f, " ({})", types.join(", "))?;
                }
                write!(f, " AS {}", it.text)
            }
            Self::Execute(it) => {
                write!(f, "EXECUTE {}", it.name)?;
                let values: Vec<String> = it.values.iter().map(ToString::to_string).collect();
                if values.is_empty() { Ok(()) } else { write!(f, " ({})", values.join(", ")) }
            }
            Self::Deallocate(Some(name)) => write!(f, "DEALLOCATE {name}"),
            Self::Deallocate(None) => f.write_str("DEALLOCATE ALL"),
            Self::Unsupported(Unsupported { text, .. }) => f.write_str(text),
        }
    }
}

fn drop_objects<T: Print>(f: &mut Formatter<'_>, what: &str, if_exists: bool, names: &[T]) -> fmt::Result {
    write!(f, "DROP {what} {}", if if_exists { "IF EXISTS " } else { "" })?;
    list(f, names)
}

fn drop_with(f: &mut Formatter<'_>, what: &str, it: &DropObjects) -> fmt::Result {
    drop_objects(f, what, it.if_exists, &it.names)?;
    f.write_str(if it.cascade { " CASCADE" } else { "" })
}

impl Print for CreateIndex {
    fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self {
            unique,
            local,
            if_not_exists,
            name,
            is_named,
            table,
            parts,
            include,
            predicate,
            options,
            asynchronous,
            ..
        } = self;
        // That of a constraint has another name if the statement gives it none.
        if !is_named && name.text.ends_with("_key") {
            write!(f, "ALTER TABLE {table} ADD UNIQUE (")?;
            list(f, parts)?;
            return f.write_str(")");
        }
        let (unique, local) = (if *unique { "UNIQUE " } else { "" }, if *local { "LOCAL " } else { "" });
        write!(f, "CREATE {unique}{local}INDEX ")?;
        f.write_str(if *if_not_exists { "IF NOT EXISTS " } else { "" })?;
        if *is_named {
            write!(f, "{name} ")?;
        }
        write!(f, "ON {table} (")?;
        list(f, parts)?;
        f.write_str(")")?;
        if !include.is_empty() {
            f.write_str(" INCLUDE (")?;
            list(f, include)?;
            f.write_str(")")?;
        }
        if let Some((_, text)) = predicate {
            write!(f, " WHERE {text}")?;
        }
        for (index, option) in options.iter().enumerate() {
            write!(f, "{}{}", if index > 0 { ", " } else { " " }, Shown(option))?;
        }
        f.write_str(if *asynchronous { " ASYNC" } else { "" })
    }
}

impl Print for CreateView {
    fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { temporary, replaces, if_not_exists, name, columns, own, query, .. } = self;
        let replaces = if *replaces { "OR REPLACE " } else { "" };
        write!(f, "CREATE {replaces}{}VIEW ", if *temporary { "TEMPORARY " } else { "" })?;
        write!(f, "{}{name}", if *if_not_exists { "IF NOT EXISTS " } else { "" })?;
        if columns.is_some() || !own.is_empty() {
            let named = columns.iter().flatten().map(ToString::to_string);
            f.write_str(" (")?;
            list(f, named.chain(own.iter().map(ToString::to_string)))?;
            f.write_str(")")?;
        }
        f.write_str(" AS ")?;
        query.print(f)
    }
}

fn show_names(f: &mut Formatter<'_>, what: &str, ShowTables { schema, like }: &ShowTables) -> fmt::Result {
    write!(f, "SHOW {what}")?;
    schema.iter().try_for_each(|schema| write!(f, " FROM {schema}"))?;
    like.iter().try_for_each(|like| write!(f, " LIKE {}", quoted(like)))
}

impl Print for CreateSequence {
    fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let if_not_exists = if self.if_not_exists { "IF NOT EXISTS " } else { "" };
        write!(f, "CREATE SEQUENCE {if_not_exists}{}", self.name)?;
        self.options.print(f)
    }
}

impl Print for AlterSequence {
    fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "ALTER SEQUENCE {}{}", if self.if_exists { "IF EXISTS " } else { "" }, self.name)?;
        match self.restart {
            None => {}
            Some(Restart::AtStart) => f.write_str(" RESTART")?,
            Some(Restart::With(number)) => write!(f, " RESTART WITH {}", number.value)?,
        }
        self.options.print(f)
    }
}

impl Print for SequenceOptions {
    fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let number = |f: &mut Formatter<'_>, word: &str, option: Option<SequenceNumber>| {
            option.iter().try_for_each(|number| write!(f, " {word} {}", number.value))
        };
        number(f, "START WITH", self.start)?;
        number(f, "INCREMENT BY", self.increment)?;
        for (word, limit) in [("MINVALUE", self.min), ("MAXVALUE", self.max)] {
            match limit {
                Some(None) => write!(f, " NO {word}")?,
                limit => number(f, word, limit.flatten())?,
            }
        }
        self.cycles.iter().try_for_each(|cycles| f.write_str(if *cycles { " CYCLE" } else { " NO CYCLE" }))?;
        number(f, "CACHE", self.cache)
    }
}

fn create_words(table: &CreateTable) -> String {
    let replaces = if table.or_replace { "OR REPLACE " } else { "" };
    let kind = match (table.temporary, table.immutable) {
        (true, _) => "TEMPORARY ",
        (false, true) => "IMMUTABLE ",
        (false, false) => "",
    };
    format!("CREATE {replaces}{kind}TABLE ")
}

impl Print for CreateTable {
    fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&create_words(self))?;
        f.write_str(if self.if_not_exists { "IF NOT EXISTS " } else { "" })?;
        write!(f, "{} (", self.table)?;
        let key = self.primary_key.as_ref().map(|key| key as &dyn Print);
        let checks = self.checks.iter().map(|check| check as &dyn Print);
        // Those of columns are among them.
        let unique = self.unique.iter().map(|unique| unique as &dyn Print);
        let mut lines: Vec<&dyn Print> = self.columns.iter().map(|column| column as &dyn Print).collect();
        for like in self.like.iter().rev() {
            lines.insert(like.at, like);
        }
        for (index, line) in lines.into_iter().chain(key).chain(checks).chain(unique).enumerate() {
            f.write_str(if index > 0 { ",\n    " } else { "\n    " })?;
            line.print(f)?;
        }
        f.write_str("\n)")?;
        for (index, option) in self.options.iter().enumerate() {
            write!(f, "{}{}", if index > 0 { ", " } else { " " }, Shown(option))?;
        }
        if !self.split_on.is_empty() {
            f.write_str(" SPLIT ON (")?;
            list(f, self.split_on.iter().map(tree_text))?;
            f.write_str(")")?;
        }
        Ok(())
    }
}

impl Print for LikeSpec {
    fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "LIKE {}", self.table)?;
        let parts = LikePart::ALL.iter().filter(|(_, part)| self.includes(*part));
        parts.into_iter().try_for_each(|(word, _)| write!(f, " INCLUDING {word}"))
    }
}

impl Print for UniqueSpec {
    fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.name.iter().try_for_each(|name| write!(f, "CONSTRAINT {name} "))?;
        f.write_str("UNIQUE (")?;
        list(f, &self.parts)?;
        f.write_str(")")
    }
}

impl Print for CreateTableAs {
    fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { table, names, query } = self;
        f.write_str(&create_words(table))?;
        f.write_str(if table.if_not_exists { "IF NOT EXISTS " } else { "" })?;
        write!(f, "{}", table.table)?;
        if !names.is_empty() {
            f.write_str(" (")?;
            list(f, names)?;
            f.write_str(")")?;
        }
        if let Some(key) = &table.primary_key {
            write!(f, " {}", Shown(key))?;
        }
        for (index, option) in table.options.iter().enumerate() {
            write!(f, "{}{}", if index > 0 { ", " } else { " " }, Shown(option))?;
        }
        f.write_str(" AS ")?;
        query.print(f)
    }
}

impl Print for AlterTable {
    fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "ALTER TABLE {} ", self.table)?;
        match &self.change {
            TableChange::Add { if_not_exists, columns } => {
                f.write_str(if *if_not_exists { "ADD COLUMN IF NOT EXISTS " } else { "ADD COLUMN " })?;
                list(f, columns)
            }
            TableChange::Drop { if_exists, columns } => {
                f.write_str(if *if_exists { "DROP COLUMN IF EXISTS " } else { "DROP COLUMN " })?;
                list(f, columns)
            }
            TableChange::AddCheck(check) => write!(f, "ADD {}", Shown(&**check)),
            TableChange::DropConstraint { if_exists, name } => {
                write!(f, "DROP CONSTRAINT {}{name}", if *if_exists { "IF EXISTS " } else { "" })
            }
            TableChange::Set { options } => {
                f.write_str("SET ")?;
                list(f, options)
            }
            TableChange::Rename { to } => write!(f, "RENAME TO {to}"),
            TableChange::RenameColumn { column, to } => write!(f, "RENAME COLUMN {column} TO {to}"),
            TableChange::AlterColumn { column, change } => {
                write!(f, "ALTER COLUMN {column} ")?;
                match &**change {
                    ColumnChange::SetDefault(default) => write!(f, "SET DEFAULT {}", default.expr),
                    ColumnChange::DropDefault => f.write_str("DROP DEFAULT"),
                    ColumnChange::SetNotNull => f.write_str("SET NOT NULL"),
                    ColumnChange::DropNotNull => f.write_str("DROP NOT NULL"),
                    ColumnChange::Type { sql_type, using, .. } => {
                        write!(f, "TYPE {sql_type}")?;
                        using.iter().try_for_each(|using| write!(f, " USING {}", using.expr))
                    }
                }
            }
        }
    }
}

impl Print for ColumnSpec {
    fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.sql_type)?;
        match self.not_null {
            Some(true) => f.write_str(" NOT NULL")?,
            Some(false) => f.write_str(" NULL")?,
            None => {}
        }
        if let Some(default) = &self.default {
            write!(f, " DEFAULT {}", tree_text(&default.expr))?;
        }
        if let Some(generated) = &self.generated {
            write!(f, " GENERATED ALWAYS AS ({}) STORED", tree_text(&generated.expr))?;
        }
        if let Some(identity) = &self.identity {
            write!(f, " GENERATED {} AS IDENTITY (", if identity.always { "ALWAYS" } else { "BY DEFAULT" })?;
            if let Some(sequence) = &identity.sequence {
                write!(f, " SEQUENCE NAME {sequence}")?;
            }
            write!(f, "{})", Shown(&identity.options))?;
        }
        if let Some(key) = self.primary_key {
            write!(f, " PRIMARY KEY{}{}", order_text(key.order), row_timestamp_text(key.is_row_timestamp))?;
        }
        self.checks.iter().try_for_each(|check| write!(f, " {}", Shown(check)))
    }
}

impl Print for CheckSpec {
    fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.name {
            write!(f, "CONSTRAINT {name} ")?;
        }
        write!(f, "CHECK ({})", tree_text(&self.expr))
    }
}

fn row_timestamp_text(is_row_timestamp: bool) -> &'static str {
    if is_row_timestamp { " ROW_TIMESTAMP" } else { "" }
}

/// ASC is the default.
fn order_text(order: SortOrder) -> &'static str {
    match order {
        SortOrder::Asc => "",
        SortOrder::Desc => " DESC",
    }
}

impl Print for PrimaryKeySpec {
    fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.name {
            write!(f, "CONSTRAINT {name} ")?;
        }
        f.write_str("PRIMARY KEY (")?;
        list(f, &self.parts)?;
        f.write_str(")")
    }
}

impl Print for KeyPart {
    fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let row_timestamp = row_timestamp_text(self.is_row_timestamp);
        write!(f, "{}{}{row_timestamp}", tree_text(&self.expr), order_text(self.order))
    }
}

impl Print for OptionSpec {
    fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(family) = &self.family {
            write!(f, "{family}.")?;
        }
        write!(f, "{}={}", self.name, Shown(&self.value))
    }
}

impl Print for OptionValue {
    fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(text) | Self::Word(text) => f.write_str(text),
            Self::Text(text) => f.write_str(&quoted(text)),
            Self::Bool(value) => f.write_str(if *value { "TRUE" } else { "FALSE" }),
            Self::Names(names) => {
                f.write_str("(")?;
                list(f, names)?;
                f.write_str(")")
            }
        }
    }
}

fn upsert(f: &mut Formatter<'_>, verb: &str, it: &Upsert) -> fmt::Result {
    f.write_str(verb)?;
    hints(f, &it.hints)?;
    let replaces = it.conflict.as_ref().is_some_and(|clause| clause.action == ConflictAction::Replace);
    f.write_str(if replaces { " OR REPLACE" } else { "" })?;
    write!(f, " INTO {}", it.table)?;
    it.alias.as_ref().map_or(Ok(()), |alias| write!(f, " AS {alias}"))?;
    typed_columns(f, it.columns.as_deref(), &it.dynamic)?;
    f.write_str(if it.overriding { " OVERRIDING SYSTEM VALUE" } else { "" })?;
    match &it.source {
        RowSource::Values(rows) => {
            f.write_str(" VALUES ")?;
            list(f, rows)?;
        }
        RowSource::Query(query) => write!(f, " {}", tree_text(query))?,
    }
    it.conflict.as_ref().map_or(Ok(()), |clause| clause.print(f))?;
    returning(f, it.returning.as_ref())
}

fn returning(f: &mut Formatter<'_>, it: Option<&Returning>) -> fmt::Result {
    let Some(it) = it else { return Ok(()) };
    f.write_str(" RETURNING ")?;
    list(f, it.items.iter().map(tree_text))
}

impl Print for ConflictClause {
    fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.action == ConflictAction::Replace {
            return Ok(());
        }
        let is_of_key = self.target == ConflictTarget::PrimaryKey;
        f.write_str(if is_of_key { " ON DUPLICATE KEY" } else { " ON CONFLICT" })?;
        if let ConflictTarget::Parts { parts, predicate, .. } = &self.target {
            f.write_str(" (")?;
            list(f, parts.iter().map(|(_, text)| &text.text))?;
            f.write_str(")")?;
            selection(f, predicate.as_ref())?;
        }
        match &self.action {
            ConflictAction::Ignore => f.write_str(if is_of_key { " IGNORE" } else { " DO NOTHING" }),
            ConflictAction::Replace => Ok(()),
            ConflictAction::Update { assignments, selection: condition } => {
                f.write_str(if is_of_key { " UPDATE " } else { " DO UPDATE SET " })?;
                list(f, assignments)?;
                selection(f, condition.as_ref())
            }
        }
    }
}

/// Columns, of which those at some places have types.
/// The dynamic columns that a statement declares after its table.
fn declared(f: &mut Formatter<'_>, columns: &[DynamicColumn]) -> fmt::Result {
    if columns.is_empty() {
        return Ok(());
    }
    f.write_str(" (")?;
    list(f, columns)?;
    f.write_str(")")
}

fn typed_columns(
    f: &mut Formatter<'_>,
    columns: Option<&[ColumnName]>,
    types: &[(usize, saltwing_types::SqlType)],
) -> fmt::Result {
    let Some(columns) = columns else { return Ok(()) };
    let ty = |place: usize| types.iter().find(|(typed, _)| *typed == place);
    let written = columns.iter().enumerate().map(|(place, name)| match ty(place) {
        Some((_, ty)) => format!("{name} {ty}"),
        None => name.to_string(),
    });
    f.write_str(" (")?;
    list(f, written)?;
    f.write_str(")")
}

fn columns(f: &mut Formatter<'_>, columns: Option<&[ColumnName]>) -> fmt::Result {
    match columns {
        None => Ok(()),
        Some(columns) => {
            f.write_str(" (")?;
            list(f, columns)?;
            f.write_str(")")
        }
    }
}

impl Print for ValuesRow {
    fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        list(f, self.values.iter().map(tree_text))?;
        f.write_str(")")
    }
}

fn alias(f: &mut Formatter<'_>, alias: Option<&Name>) -> fmt::Result {
    match alias {
        Some(alias) => write!(f, " AS {alias}"),
        None => Ok(()),
    }
}

fn selection(f: &mut Formatter<'_>, selection: Option<&Expr>) -> fmt::Result {
    match selection {
        Some(expr) => write!(f, " WHERE {}", tree_text(expr)),
        None => Ok(()),
    }
}

impl Print for Delete {
    fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("DELETE")?;
        hints(f, &self.hints)?;
        write!(f, " FROM {}", self.table)?;
        declared(f, &self.dynamic)?;
        alias(f, self.alias.as_ref())?;
        if !self.using.is_empty() {
            f.write_str(" USING ")?;
            list(f, self.using.iter().map(tree_text))?;
        }
        selection(f, self.selection.as_ref())?;
        self.order_by.iter().try_for_each(|order_by| write!(f, " {}", tree_text(order_by)))?;
        self.limit.iter().try_for_each(|limit| write!(f, " LIMIT {}", tree_text(limit)))?;
        returning(f, self.returning.as_ref())
    }
}

impl Print for Merge {
    fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("MERGE")?;
        hints(f, &self.hints)?;
        write!(f, " INTO {}", self.table)?;
        declared(f, &self.dynamic)?;
        alias(f, self.alias.as_ref())?;
        write!(f, " USING {} ON {}", tree_text(&self.source), tree_text(&self.on))?;
        for clause in &self.clauses {
            f.write_str(match clause.rows {
                MergeRows::Matched => " WHEN MATCHED",
                MergeRows::NotInTable => " WHEN NOT MATCHED",
                MergeRows::NotInSource => " WHEN NOT MATCHED BY SOURCE",
            })?;
            clause.condition.iter().try_for_each(|condition| write!(f, " AND {}", tree_text(condition)))?;
            f.write_str(" THEN ")?;
            match &clause.action {
                MergeAction::Nothing => f.write_str("DO NOTHING")?,
                MergeAction::Delete => f.write_str("DELETE")?,
                MergeAction::Update(assignments) => {
                    f.write_str("UPDATE SET ")?;
                    list(f, assignments)?;
                }
                MergeAction::Insert { columns: names, overriding, values } => {
                    f.write_str("INSERT")?;
                    columns(f, names.as_deref())?;
                    f.write_str(if *overriding { " OVERRIDING SYSTEM VALUE" } else { "" })?;
                    f.write_str(" VALUES (")?;
                    list(f, values.iter().map(tree_text))?;
                    f.write_str(")")?;
                }
            }
        }
        returning(f, self.returning.as_ref())
    }
}

impl Print for Update {
    fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("UPDATE")?;
        hints(f, &self.hints)?;
        write!(f, " {}", self.table)?;
        declared(f, &self.dynamic)?;
        alias(f, self.alias.as_ref())?;
        f.write_str(" SET ")?;
        list(f, &self.assignments)?;
        if !self.from.is_empty() {
            f.write_str(" FROM ")?;
            list(f, self.from.iter().map(tree_text))?;
        }
        selection(f, self.selection.as_ref())?;
        self.order_by.iter().try_for_each(|order_by| write!(f, " {}", tree_text(order_by)))?;
        self.limit.iter().try_for_each(|limit| write!(f, " LIMIT {}", tree_text(limit)))?;
        returning(f, self.returning.as_ref())
    }
}

impl Print for Assignment {
    fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}", self.column, tree_text(&self.value))
    }
}

impl Print for QueryStatement {
    /// Hints are printed after the first SELECT; VALUES and TABLE can have none.
    fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let text = tree_text(&self.query);
        let select = lexemes(&text)
            .find(|(kind, range)| *kind == Lexeme::Word && text.get(range.clone()) == Some("SELECT"))
            .and_then(|(_, range)| text.split_at_checked(range.end));
        match select {
            Some((before, after)) if !self.hints.is_empty() => {
                f.write_str(before)?;
                hints(f, &self.hints)?;
                f.write_str(after)?;
            }
            _ => f.write_str(&text)?,
        }
        match self.after.as_ref().map(|after| &after.token) {
            None => Ok(()),
            Some(AfterToken::None) => f.write_str(" AFTER NULL"),
            Some(AfterToken::Text(text)) => write!(f, " AFTER '{}'", text.replace('\'', "''")),
            Some(AfterToken::Parameter(place)) => write!(f, " AFTER ${}", place + 1),
        }
    }
}

impl Print for Explain {
    fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match (self.format, self.analyze) {
            (ExplainFormat::Advice, _) => "ADVISE ",
            (_, true) => "EXPLAIN ANALYZE ",
            (_, false) => "EXPLAIN ",
        })?;
        f.write_str(if self.format == ExplainFormat::Json { "(FORMAT JSON) " } else { "" })?;
        self.statement.print(f)
    }
}

impl Print for CopyFrom {
    fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "COPY {}", self.table)?;
        typed_columns(f, self.columns.as_deref(), &self.dynamic)?;
        f.write_str(" FROM ")?;
        target(f, &self.source, "STDIN")?;
        self.options.print(f)
    }
}

impl Print for CopyTo {
    fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.source {
            CopySource::Table { table, columns: of, dynamic } => {
                write!(f, "COPY {table}")?;
                typed_columns(f, of.as_deref(), dynamic)?;
            }
            CopySource::Query(query) => write!(f, "COPY ({})", Shown(query))?,
        }
        f.write_str(" TO ")?;
        target(f, &self.target, "STDOUT")?;
        self.options.print(f)
    }
}

fn target(f: &mut Formatter<'_>, target: &CopyTarget, standard: &str) -> fmt::Result {
    match target {
        CopyTarget::File(path) => f.write_str(&quoted(path)),
        CopyTarget::Standard => f.write_str(standard),
    }
}

impl Print for CopyOptions {
    fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let character = |c: char| quoted(c.encode_utf8(&mut [0; 4]));
        let options: Vec<String> = [
            self.format.map(|format| match format {
                CopyFormat::Csv => "FORMAT csv".to_owned(),
                CopyFormat::Json => "FORMAT json".to_owned(),
                CopyFormat::Arrow => "FORMAT arrow".to_owned(),
                CopyFormat::ArrowStream => "FORMAT arrow_stream".to_owned(),
                CopyFormat::Parquet => "FORMAT parquet".to_owned(),
            }),
            self.compression.map(|compression| match compression {
                CopyCompression::None => "COMPRESSION none".to_owned(),
                CopyCompression::Gzip => "COMPRESSION gzip".to_owned(),
                CopyCompression::Zstd => "COMPRESSION zstd".to_owned(),
                CopyCompression::Lz4 => "COMPRESSION lz4".to_owned(),
                CopyCompression::Snappy => "COMPRESSION snappy".to_owned(),
            }),
            self.header.map(|header| format!("HEADER {header}")),
            self.delimiter.map(|c| format!("DELIMITER {}", character(c))),
            self.quote.map(|c| format!("QUOTE {}", character(c))),
            self.escape.map(|c| format!("ESCAPE {}", character(c))),
            self.null.as_ref().map(|text| format!("NULL {}", quoted(text))),
            self.on_error.map(|it| match it {
                OnError::Abort => "ON_ERROR abort".to_owned(),
                OnError::Skip => "ON_ERROR skip".to_owned(),
            }),
            self.on_conflict.map(|it| match it {
                OnConflict::Replace => "ON_CONFLICT replace".to_owned(),
                OnConflict::Error => "ON_CONFLICT error".to_owned(),
                OnConflict::Ignore => "ON_CONFLICT ignore".to_owned(),
            }),
            self.overwrite.map(|overwrite| format!("OVERWRITE {overwrite}")),
            self.special.map(|special| format!("SPECIAL {special}")),
        ]
        .into_iter()
        .flatten()
        .collect();
        match options.is_empty() {
            true => Ok(()),
            false => write!(f, " WITH ({})", options.join(", ")),
        }
    }
}
