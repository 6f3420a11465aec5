//! What statements do beside reading rows by keys: the last lines of EXPLAIN, and `effects` in its JSON.

use saltwing_bind::table_path;
use saltwing_sql::statement::{
    AlterTable, CommentObject, CopySource, ExportedObjects, IndexChange, RowSource, TableChange, ViewChange,
};
use saltwing_sql::{Statement, TableRef};

/// A line: what is affected, and how.
pub(crate) type Effect = (&'static str, String);

/// The executor and the effects of a statement that reads no rows by keys, or whose query is a part of it (CREATE TABLE AS); `None`
/// of a query, and of one that [writes](effects_of_write).
pub(crate) fn whole_effect(statement: &Statement) -> Option<(&'static str, Vec<Effect>)> {
    if let Some((change, rows)) = change_of_catalog(statement) {
        return Some(("catalog", vec![("catalog", change), ("rows", rows.to_owned())]));
    }
    if let Statement::CopyFrom(copy) = statement {
        let file = copy.path().map_or_else(|| "STDIN".to_owned(), |path| format!("'{path}'"));
        return Some(("direct", vec![("writes", format!("the rows of {file} into table {}", copy.table))]));
    }
    if let Some((work, rows)) = work_of_storage(statement) {
        return Some(("storage", vec![("storage", work), ("rows", rows.to_owned())]));
    }
    let effect =
        shown(statement).map(|what| ("shows", what)).or_else(|| Some(("session", change_of_session(statement)?)))?;
    Some(("session", vec![effect, ("rows", NONE.to_owned())]))
}

/// What a statement writes that reads rows by keys, or none.
pub(crate) fn effects_of_write(statement: &Statement) -> Vec<Effect> {
    let into = |what: &str, table: &TableRef| vec![("writes", format!("{what} into table {}", path(table)))];
    match statement {
        Statement::Upsert(upsert) | Statement::Insert(upsert) => match &upsert.source {
            RowSource::Values(rows) if rows.len() == 1 => into("1 row", &upsert.table),
            RowSource::Values(rows) => into(&format!("{} rows", rows.len()), &upsert.table),
            RowSource::Query(_) => into("the rows of the query", &upsert.table),
        },
        Statement::Update(update) => into("these rows, changed,", &update.table),
        Statement::Delete(delete) => vec![("deletes", format!("these rows of table {}", path(&delete.table)))],
        Statement::Merge(merge) => into("what its clauses say", &merge.table),
        Statement::CopyTo(copy) => {
            let file = copy.path().map_or_else(|| "STDOUT".to_owned(), |path| format!("'{path}'"));
            let what = if matches!(copy.source, CopySource::Query(_)) { "the rows of the query" } else { "these rows" };
            vec![("writes", format!("{what} into {file}"))]
        }
        _ => Vec::new(),
    }
}

/// A table by its name, however the statement came to it.
fn path(table: &TableRef) -> String {
    table_path(&table.to_name())
}

/// Whether rows are looked up before they are written.
pub(crate) fn keys_read(are_read: bool) -> Effect {
    let rows = if are_read { "those with the keys of new ones are read first" } else { "none are read by their keys" };
    ("rows", rows.to_owned())
}

/// What COMPACT, BACKUP and EXPORT do, and to which rows.
fn work_of_storage(statement: &Statement) -> Option<(String, &'static str)> {
    match statement {
        Statement::Compact(tables) if tables.is_empty() => {
            Some(("writes the blocks of all tables anew".into(), REWRITTEN))
        }
        Statement::Compact(tables) => {
            let tables: Vec<String> = tables.iter().map(TableRef::to_string).collect();
            Some((format!("writes the blocks of table {} anew", tables.join(", ")), REWRITTEN))
        }
        Statement::Export(export) => {
            let what = match &export.objects {
                ExportedObjects::Table(name) => format!("table {name}"),
                ExportedObjects::Schema(name) => format!("schema {}", name.text),
                ExportedObjects::All => "all tables".into(),
            };
            Some((format!("gives statements that make {what} in Apache Phoenix"), "all are read"))
        }
        Statement::Backup(backup) => Some((format!("writes a backup into '{}'", backup.path), "all are copied")),
        _ => None,
    }
}

/// What SHOW and DESCRIBE show.
fn shown(statement: &Statement) -> Option<String> {
    Some(match statement {
        Statement::ShowTables(_) => "tables".into(),
        Statement::ShowSchemas(_) => "schemas".into(),
        Statement::ShowFunctions(_) => "functions".into(),
        Statement::ShowSequences(_) => "sequences".into(),
        Statement::ShowViews(_) => "views".into(),
        Statement::ShowIndexes(None) => "indexes".into(),
        Statement::ShowIndexes(Some(table)) => format!("the indexes of {table}"),
        Statement::ShowCreateTable(name) | Statement::ShowCreateSequence(name) => format!("the definition of {name}"),
        Statement::Describe(name) => format!("the columns of {name}"),
        Statement::DescribeFile(file) => {
            format!("the columns of '{}'", file.name.split('\0').next().unwrap_or_default())
        }
        Statement::ShowStorage(None) => "what is stored".into(),
        Statement::ShowStorage(Some(name)) => format!("what is stored of table {name}"),
        Statement::ShowSetting(None) => "all settings".into(),
        Statement::ShowSetting(Some(name)) => format!("the setting {}", name.text),
        Statement::ShowAttached => "attached databases".into(),
        Statement::ShowTransactions => "open transactions".into(),
        _ => return None,
    })
}

/// What a statement does to the session and its transaction.
fn change_of_session(statement: &Statement) -> Option<String> {
    Some(match statement {
        Statement::Set(set) => format!("sets {}", set.name.text),
        Statement::Attach(attach) => format!("attaches the database in '{}'", attach.path),
        Statement::Detach(alias) => format!("detaches {alias}"),
        Statement::Begin { read_only: false } => "begins a transaction".into(),
        Statement::Begin { read_only: true } => "begins a transaction that only reads".into(),
        Statement::Commit => "ends the transaction: its rows are committed".into(),
        Statement::Rollback => "ends the transaction: its rows are dropped".into(),
        Statement::Savepoint(name) => format!("marks savepoint {}", name.text),
        Statement::RollbackTo(name) => format!("drops the rows since savepoint {}", name.text),
        Statement::ReleaseSavepoint(name) => format!("forgets savepoint {}", name.text),
        // They have an error of their own.
        Statement::Use(_) | Statement::Unsupported(_) => "nothing".into(),
        _ => return None,
    })
}

/// Rows of tables whose blocks are written anew.
const REWRITTEN: &str = "all may be read and written again; none changes";

/// What a definition does to the catalog, and to rows. `None` of another statement.
fn change_of_catalog(statement: &Statement) -> Option<(String, &'static str)> {
    let listed = |names: Vec<String>| names.join(", ");
    let tables = |names: &[TableRef]| listed(names.iter().map(TableRef::to_string).collect());
    Some(match statement {
        Statement::CreateTable(create) => (format!("creates table {}", create.table), NONE),
        Statement::CreateTableAs(create) => {
            (format!("creates table {}", create.table.table), "those of the query are written into the table")
        }
        Statement::AlterTable(alter) => change_of_table(alter),
        Statement::CreateIndex(create) => {
            let change = format!("creates index {} on table {}", create.name.text, create.table);
            (change, "all are read, and an entry is written for each")
        }
        Statement::AlterIndex(alter) => {
            let name = format!("index {} on table {}", alter.name.text, alter.table);
            match alter.change {
                IndexChange::Rebuild { .. } => {
                    (format!("writes {name} anew"), "all are read, and an entry is written for each")
                }
                IndexChange::Disable => (format!("lets no statement read {name}"), NONE),
                IndexChange::Usable => (format!("lets statements read {name}"), NONE),
            }
        }
        Statement::DropIndex(drop) => (format!("drops index {} on table {}", drop.name.text, drop.table), NONE),
        Statement::Comment(comment) => (format!("changes the comment of {}", commented(&comment.object)), NONE),
        Statement::DropTable(drop) => (format!("drops table {}", tables(&drop.names)), REMOVED),
        Statement::Truncate(names) => (format!("empties table {}", tables(names)), REMOVED),
        Statement::CreateView(create) => (format!("creates view {}", create.name), NONE),
        Statement::AlterView(alter) => {
            let effect = match &alter.change {
                ViewChange::Add { columns, .. } => {
                    let columns = columns.iter().map(|column| column.column.to_string()).collect();
                    format!("adds columns {} to view {}", listed(columns), alter.view)
                }
                ViewChange::Drop { columns, .. } => {
                    let columns = columns.iter().map(ToString::to_string).collect();
                    format!("drops columns {} of view {}", listed(columns), alter.view)
                }
            };
            (effect, NONE)
        }
        Statement::DropView(drop) => (format!("drops view {}", tables(&drop.names)), NONE),
        Statement::CreateSequence(create) => (format!("creates sequence {}", create.name), NONE),
        Statement::AlterSequence(alter) => (format!("changes sequence {}", alter.name), NONE),
        Statement::DropSequence(drop) => (format!("drops sequence {}", tables(&drop.names)), NONE),
        Statement::CreateSchema(create) => (format!("creates schema {}", create.name.text), NONE),
        Statement::DropSchema(drop) => {
            (format!("drops schema {}", listed(drop.names.iter().map(|name| name.text.clone()).collect())), NONE)
        }
        _ => return None,
    })
}

/// What an ALTER TABLE does to the catalog, and to rows.
fn change_of_table(AlterTable { table, change }: &AlterTable) -> (String, &'static str) {
    let listed = |columns: Vec<String>| columns.join(", ");
    let change = match change {
        TableChange::Add { columns, .. } => {
            let names = columns.iter().map(|column| column.name.to_string()).collect();
            let change = format!("adds columns {} to table {table}", listed(names));
            if columns.iter().any(|column| column.primary_key.is_some()) {
                return (
                    change,
                    "all are read if the last key column may have values that only the end of a key holds",
                );
            }
            change
        }
        TableChange::Drop { columns, .. } => {
            let columns = columns.iter().map(ToString::to_string).collect();
            format!("drops columns {} of table {table}", listed(columns))
        }
        TableChange::AddCheck(check) => {
            let change = format!("adds CHECK ({}) to table {table}", check.text);
            return (change, "all are read, until one is found that breaks the constraint");
        }
        TableChange::DropConstraint { name, .. } => format!("drops constraint {} of table {table}", name.text),
        TableChange::Set { .. } => format!("changes options of table {table}"),
        TableChange::Rename { to } => format!("renames table {table} to {}", to.text),
        TableChange::RenameColumn { column, to } => {
            format!("renames column {column} of table {table} to {}", to.text)
        }
    };
    (change, NONE)
}

/// The object of a COMMENT, with its kind.
fn commented(object: &CommentObject) -> String {
    match object {
        CommentObject::Table(name) => format!("table {name}"),
        CommentObject::View(name) => format!("view {name}"),
        CommentObject::Column(names) => {
            let names: Vec<&str> = names.iter().map(|name| name.text.as_str()).collect();
            format!("column {}", names.join("."))
        }
    }
}

/// Rows of definitions that are about the catalog alone.
const NONE: &str = "none are read or written";
/// Rows of tables that go as a whole.
const REMOVED: &str = "all are removed without being read";
