//! What several test files share.

#![allow(dead_code)] // each test file uses its part

pub mod print;

use saltwing_sql::statement::{
    CheckSpec, ColumnChange, ColumnSpec, CommentObject, ConflictAction, ConflictTarget, CopySource, DefaultSpec,
    ExportedObjects, GrantObject, Hint, MergeAction, OptionSpec, OptionValue, QueryStatement, Restart, Returning,
    RowSource, SequenceOptions, Statement, TableChange, ViewChange,
};
use saltwing_sql::{ColumnName, Name, TableRef};
use saltwing_types::Span;
use sqlparser::ast::Expr;

const NOWHERE: Span = Span {
    start: saltwing_types::Position { line: 1, column: 1 },
    end: saltwing_types::Position { line: 1, column: 1 },
};

/// The statement without the places and the source texts that printing cannot keep.
///
/// sqlparser's own trees compare without places already.
pub fn placeless(mut statement: Statement) -> Statement {
    match &mut statement {
        Statement::CreateTable(it) => {
            table(&mut it.table);
            it.columns.iter_mut().for_each(column_spec);
            it.like.iter_mut().for_each(|like| table(&mut like.table));
            // The order of the words means nothing.
            it.like.iter_mut().for_each(|like| like.including.sort_by_key(|part| *part as u8));
            if let Some(key) = &mut it.primary_key {
                key.span = NOWHERE;
                key.name.iter_mut().for_each(name);
                for part in &mut key.parts {
                    (part.text, part.span) = (String::new(), NOWHERE);
                }
            }
            it.checks.iter_mut().for_each(check);
            for unique in &mut it.unique {
                unique.span = NOWHERE;
                unique.name.iter_mut().for_each(name);
                for part in &mut unique.parts {
                    (part.text, part.span) = (String::new(), NOWHERE);
                }
            }
            it.options.iter_mut().for_each(option);
        }
        Statement::CreateTableAs(it) => {
            let mut create = Statement::CreateTable(it.table.clone());
            create = placeless(create);
            if let Statement::CreateTable(create) = create {
                it.table = create;
            }
            it.names.iter_mut().for_each(name);
            query(&mut it.query);
        }
        Statement::AlterTable(it) => {
            table(&mut it.table);
            match &mut it.change {
                TableChange::Add { columns, .. } => columns.iter_mut().for_each(column_spec),
                TableChange::Drop { columns, .. } => columns.iter_mut().for_each(column_name),
                TableChange::AddCheck(it) => check(it),
                TableChange::DropConstraint { name: it, .. } => name(it),
                TableChange::Set { options } => options.iter_mut().for_each(option),
                TableChange::Rename { to } => name(to),
                TableChange::RenameColumn { column, to } => {
                    column_name(column);
                    name(to);
                }
                TableChange::AlterColumn { column, change } => {
                    column_name(column);
                    match &mut **change {
                        ColumnChange::SetDefault(it) => default_spec(it),
                        ColumnChange::Type { type_span, using, .. } => {
                            *type_span = NOWHERE;
                            using.iter_mut().for_each(default_spec);
                        }
                        ColumnChange::DropDefault | ColumnChange::SetNotNull | ColumnChange::DropNotNull => {}
                    }
                }
            }
        }
        Statement::CreateIndex(it) => {
            name(&mut it.name);
            table(&mut it.table);
            for part in &mut it.parts {
                (part.text, part.span) = (String::new(), NOWHERE);
            }
            it.include.iter_mut().for_each(column_name);
            it.options.iter_mut().for_each(option);
            it.span = NOWHERE;
        }
        Statement::AlterIndex(it) => {
            name(&mut it.name);
            table(&mut it.table);
            it.span = NOWHERE;
        }
        Statement::DropIndex(it) => {
            name(&mut it.name);
            it.table.iter_mut().for_each(table);
        }
        Statement::ShowIndexes(it) => it.iter_mut().for_each(table),
        Statement::Comment(it) => match &mut it.object {
            CommentObject::Table(it) | CommentObject::View(it) => table(it),
            CommentObject::Column(it) => it.iter_mut().for_each(name),
        },
        Statement::CreateSchema(it) => name(&mut it.name),
        Statement::CreateUser(it) => {
            name(&mut it.name);
            it.password.span = NOWHERE;
        }
        Statement::AlterUser(it) => {
            name(&mut it.name);
            it.password.span = NOWHERE;
        }
        Statement::DropUser(it) => name(&mut it.name),
        Statement::Grant(it) | Statement::Revoke(it) => {
            it.users.iter_mut().for_each(name);
            match &mut it.object {
                GrantObject::Database => {}
                GrantObject::Schema(it) => name(it),
                GrantObject::Relation(it) => table(it),
            }
        }
        Statement::ShowGrants(user) => user.iter_mut().for_each(name),
        Statement::ShowUsers => {}
        Statement::DropSchema(it) => it.names.iter_mut().for_each(name),
        Statement::DropTable(it) | Statement::DropView(it) => it.names.iter_mut().for_each(table),
        Statement::CreateView(it) => {
            table(&mut it.name);
            it.columns.iter_mut().flatten().for_each(name);
            it.own.iter_mut().for_each(|own| column_name(&mut own.column));
            it.text = String::new();
            query(&mut it.query);
        }
        Statement::AlterView(it) => {
            table(&mut it.view);
            match &mut it.change {
                ViewChange::Add { columns, .. } => columns.iter_mut().for_each(|own| column_name(&mut own.column)),
                ViewChange::Drop { columns, .. } => columns.iter_mut().for_each(column_name),
            }
        }
        Statement::CreateSequence(it) => {
            table(&mut it.name);
            sequence_options(&mut it.options);
        }
        Statement::AlterSequence(it) => {
            table(&mut it.name);
            if let Some(Restart::With(number)) = &mut it.restart {
                number.span = NOWHERE;
            }
            sequence_options(&mut it.options);
        }
        Statement::DropSequence(it) => it.names.iter_mut().for_each(table),
        Statement::Truncate(it) | Statement::Compact(it) => it.iter_mut().for_each(table),
        Statement::Backup(it) => it.span = NOWHERE,
        Statement::Attach(it) => {
            it.path_span = NOWHERE;
            name(&mut it.alias);
        }
        Statement::Detach(it) => name(it),
        Statement::ShowStorage(it) => it.iter_mut().for_each(table),
        Statement::Upsert(it) | Statement::Insert(it) => {
            table(&mut it.table);
            it.alias.iter_mut().for_each(name);
            it.columns.iter_mut().flatten().for_each(column_name);
            it.hints.iter_mut().for_each(hint);
            if let RowSource::Values(rows) = &mut it.source {
                rows.iter_mut().for_each(|row| row.span = NOWHERE);
            }
            if let Some(clause) = &mut it.conflict {
                clause.span = NOWHERE;
                if let ConflictTarget::Parts { parts, span, .. } = &mut clause.target {
                    parts.iter_mut().for_each(|(_, text)| text.span = NOWHERE);
                    *span = NOWHERE;
                }
                if let ConflictAction::Update { assignments, .. } = &mut clause.action {
                    assignments.iter_mut().for_each(|assignment| column_name(&mut assignment.column));
                }
            }
            it.returning.iter_mut().for_each(returning);
            it.span = NOWHERE;
        }
        Statement::Merge(it) => {
            table(&mut it.table);
            it.dynamic.iter_mut().for_each(|dynamic| column_name(&mut dynamic.column));
            it.alias.iter_mut().for_each(name);
            for clause in &mut it.clauses {
                clause.span = NOWHERE;
                match &mut clause.action {
                    MergeAction::Update(assignments) => {
                        assignments.iter_mut().for_each(|assignment| column_name(&mut assignment.column));
                    }
                    MergeAction::Insert { columns, .. } => columns.iter_mut().flatten().for_each(column_name),
                    MergeAction::Delete | MergeAction::Nothing => {}
                }
            }
            it.hints.iter_mut().for_each(hint);
            it.returning.iter_mut().for_each(returning);
            it.span = NOWHERE;
        }
        Statement::Delete(it) => {
            table(&mut it.table);
            it.dynamic.iter_mut().for_each(|dynamic| column_name(&mut dynamic.column));
            it.alias.iter_mut().for_each(name);
            it.returning.iter_mut().for_each(returning);
            it.hints.iter_mut().for_each(hint);
            it.span = NOWHERE;
        }
        Statement::Update(it) => {
            table(&mut it.table);
            it.dynamic.iter_mut().for_each(|dynamic| column_name(&mut dynamic.column));
            it.alias.iter_mut().for_each(name);
            it.assignments.iter_mut().for_each(|assignment| column_name(&mut assignment.column));
            it.hints.iter_mut().for_each(hint);
            it.returning.iter_mut().for_each(returning);
            it.span = NOWHERE;
        }
        Statement::Query(it) => query(it),
        Statement::Explain(it) => {
            let inner = std::mem::replace(&mut *it.statement, Statement::Commit);
            *it.statement = placeless(inner);
        }
        Statement::CopyFrom(it) => {
            table(&mut it.table);
            it.columns.iter_mut().flatten().for_each(column_name);
            it.span = NOWHERE;
        }
        Statement::CopyTo(it) => {
            match &mut it.source {
                CopySource::Table { table: of, columns, .. } => {
                    table(of);
                    columns.iter_mut().flatten().for_each(column_name);
                }
                CopySource::Query(it) => query(it),
            }
            it.span = NOWHERE;
        }
        Statement::ShowTables(it) | Statement::ShowSequences(it) | Statement::ShowViews(it) => {
            it.schema.iter_mut().for_each(name)
        }
        Statement::ShowCreateTable(it) | Statement::ShowCreateSequence(it) | Statement::Describe(it) => table(it),
        Statement::DescribeFile(it) => it.span = NOWHERE,
        Statement::DescribeQuery(it) | Statement::Summarize(it) => query(it),
        Statement::ShowSetting(it) => it.iter_mut().for_each(|it| it.span = NOWHERE),
        Statement::Set(it) => {
            (it.name.span, it.value_span) = (NOWHERE, NOWHERE);
            it.value.iter_mut().for_each(value);
        }
        Statement::Use(it) | Statement::Savepoint(it) | Statement::RollbackTo(it) | Statement::ReleaseSavepoint(it) => {
            name(it)
        }
        Statement::Prepare(it) => name(&mut it.name),
        Statement::Execute(it) => name(&mut it.name),
        Statement::Deallocate(it) => it.iter_mut().for_each(name),
        Statement::Unsupported(it) => it.span = NOWHERE,
        Statement::Export(it) => match &mut it.objects {
            ExportedObjects::Table(it) => table(it),
            ExportedObjects::Schema(it) => name(it),
            ExportedObjects::All => {}
        },
        Statement::ShowFunctions(_)
        | Statement::ShowSchemas(_)
        | Statement::ShowAttached
        | Statement::ShowTransactions
        | Statement::Begin { .. }
        | Statement::Commit
        | Statement::Rollback => {}
    }
    statement
}

fn sequence_options(it: &mut SequenceOptions) {
    let limits = [&mut it.min, &mut it.max].into_iter().flatten().flatten();
    let numbers = [&mut it.start, &mut it.increment, &mut it.cache].into_iter().flatten();
    numbers.chain(limits).for_each(|number| number.span = NOWHERE);
}

fn default_spec(it: &mut DefaultSpec) {
    (it.text, it.span) = (String::new(), NOWHERE);
}

fn column_spec(it: &mut ColumnSpec) {
    column_name(&mut it.name);
    (it.type_span, it.span) = (NOWHERE, NOWHERE);
    it.default.iter_mut().chain(&mut it.generated).for_each(default_spec);
    if let Some(identity) = &mut it.identity {
        identity.sequence.iter_mut().for_each(table);
        sequence_options(&mut identity.options);
        identity.span = NOWHERE;
    }
    if let Some(key) = &mut it.primary_key {
        key.span = NOWHERE;
    }
    it.checks.iter_mut().for_each(check);
    // It is one of the constraints of the table, too.
    it.unique = None;
}

fn check(it: &mut CheckSpec) {
    it.name.iter_mut().for_each(name);
    (it.text, it.span) = (String::new(), NOWHERE);
}

fn name(it: &mut Name) {
    it.span = NOWHERE;
}

fn table(it: &mut TableRef) {
    it.schema.iter_mut().for_each(name);
    name(&mut it.name);
}

fn column_name(it: &mut ColumnName) {
    it.family.iter_mut().for_each(name);
    name(&mut it.name);
}

fn hint(it: &mut Hint) {
    name(&mut it.name);
    it.args.iter_mut().for_each(name);
    it.span = NOWHERE;
}

fn option(it: &mut OptionSpec) {
    it.family.iter_mut().for_each(name);
    name(&mut it.name);
    value(&mut it.value);
    (it.value_span, it.span) = (NOWHERE, NOWHERE);
}

fn value(it: &mut OptionValue) {
    if let OptionValue::Names(names) = it {
        names.iter_mut().for_each(name);
    }
}

fn query(it: &mut QueryStatement) {
    it.items.clear();
    it.hints.iter_mut().for_each(hint);
    it.span = NOWHERE;
}

/// Checks that a statement prints as text that is read back as the same statement.
pub fn assert_prints_itself(statement: &Statement) {
    let text = print::text(statement);
    let again = match saltwing_sql::parse_one(&text) {
        Ok(parsed) => parsed.statement,
        Err(error) => panic!("{text}\nis printed, and not read back: {error}"),
    };
    assert_eq!(print::text(&again), text, "printed twice");
    assert!(
        placeless(again.clone()) == placeless(statement.clone()),
        "{text}\nis read back as\n{again:#?}\nnot as\n{statement:#?}"
    );
}

/// The one expression of `SELECT {text}`.
pub fn expr(text: &str) -> Expr {
    let sql = format!("SELECT {text}");
    let parsed = saltwing_sql::parse_one(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let Statement::Query(query) = parsed.statement else { panic!("{sql} is no query") };
    let sqlparser::ast::SetExpr::Select(select) = *query.query.body else { panic!("{sql} is no SELECT") };
    match select.projection.into_iter().next() {
        Some(sqlparser::ast::SelectItem::UnnamedExpr(expr)) => expr,
        other => panic!("{sql}: {other:?}"),
    }
}

fn returning(it: &mut Returning) {
    it.texts.clear();
    it.span = NOWHERE;
}
