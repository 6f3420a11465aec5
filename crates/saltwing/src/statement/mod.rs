//! The kinds of statements.
//!
//! Each kind is a type that implements [`StatementKind`], in a file of its own: its tag, the objects that it names, where it may run, its
//! EXPLAIN, and its run. A new kind needs a file, and a line at the end of this file.

mod alter_index;
mod alter_sequence;
mod alter_table;
mod alter_user;
mod alter_view;
mod attach;
mod backup;
mod begin;
mod comment;
mod compact;
mod copy_from;
mod copy_to;
mod create_index;
mod create_schema;
mod create_sequence;
mod create_table;
mod create_table_as;
mod create_user;
mod create_view;
mod delete;
mod describe_file;
mod describe_object;
mod describe_query;
mod describer;
mod describing;
mod detach;
mod dml;
mod drop_index;
mod drop_list;
mod drop_schema;
mod drop_sequence;
mod drop_table;
mod drop_user;
mod drop_view;
mod effects;
mod explain;
mod explaining;
mod export;
mod grant;
mod kind;
mod merge;
mod named_statement;
mod query;
mod returned;
mod row_write;
mod set;
mod show;
mod summarize;
mod transaction_control;
mod truncate;
mod unsupported;
mod update;
mod upsert;

use saltwing_bind::ParamValues;
use saltwing_planner::HintVerb;
use saltwing_sql::Statement;

use crate::Error;
use crate::outcome::Outcome;
use crate::session::Session;
use crate::statement_plans::PlanCache;
pub(crate) use crate::target::{Object, Privilege, Target};

pub(crate) use self::describing::{QueryTouches, check_written, describe_statement, for_each_target, query_touches};
pub(crate) use self::effects::Effects;
pub(crate) use self::kind::{HasKind, InTransaction, Run, StatementKind};
use self::row_write::WritesRows;
use self::upsert::UpsertRows;

/// Runs a statement, with its cached plans if it has run before.
///
/// # Errors
/// All errors of the statement.
pub(crate) fn run_statement(
    session: &Session,
    statement: &Statement,
    params: ParamValues<'_>,
    plans: &PlanCache,
) -> Result<Outcome, Error> {
    check_written(session, statement)?;
    statement.ask(|kind| kind.run(&Run { session, statement, params, plans }))
}

impl HasKind for Statement {
    #[rustfmt::skip] // one line for each kind
    fn ask<T>(&self, ask: impl FnOnce(&dyn StatementKind) -> T) -> T {
        use Statement as S;
        match self {
            S::Query(it) => ask(it),
            S::Upsert(it) => ask(&WritesRows(&UpsertRows { statement: it, verb: HintVerb::Upsert })),
            S::Insert(it) => ask(&WritesRows(&UpsertRows { statement: it, verb: HintVerb::Insert })),
            S::Update(it) => ask(&WritesRows(it)),
            S::Delete(it) => ask(&WritesRows(it)),
            S::Merge(it) => ask(&WritesRows(it)),
            S::Explain(it) => ask(it),
            S::CopyFrom(it) => ask(it),
            S::CopyTo(it) => ask(it),
            S::CreateTable(it) => ask(it),
            S::CreateTableAs(it) => ask(&**it),
            S::AlterTable(it) => ask(it),
            S::DropTable(it) => ask(&drop_table::DropTables(it)),
            S::Truncate(it) => ask(&truncate::Truncate(it)),
            S::CreateIndex(it) => ask(&**it),
            S::AlterIndex(it) => ask(it),
            S::DropIndex(it) => ask(it),
            S::CreateView(it) => ask(&**it),
            S::AlterView(it) => ask(it),
            S::DropView(it) => ask(&drop_view::DropViews(it)),
            S::CreateSequence(it) => ask(it),
            S::AlterSequence(it) => ask(it),
            S::DropSequence(it) => ask(it),
            S::CreateSchema(it) => ask(it),
            S::DropSchema(it) => ask(it),
            S::Comment(it) => ask(it),
            S::CreateUser(it) => ask(it),
            S::AlterUser(it) => ask(it),
            S::DropUser(it) => ask(it),
            S::Grant(it) => ask(&grant::Grants { statement: it, verb: grant::Verb::Grant }),
            S::Revoke(it) => ask(&grant::Grants { statement: it, verb: grant::Verb::Revoke }),
            S::Compact(it) => ask(&compact::Compact(it)),
            S::Backup(it) => ask(it),
            S::Export(it) => ask(it),
            S::Attach(it) => ask(it),
            S::Detach(it) => ask(&detach::Detach(it)),
            S::Set(it) => ask(it),
            S::Describe(it) => ask(&describe_object::DescribeObject(it)),
            S::DescribeFile(it) => ask(it),
            S::DescribeQuery(it) => ask(&describe_query::DescribeQuery(it)),
            S::Summarize(it) => ask(&summarize::Summarize(it)),
            S::ShowTables(it) => ask(&show::Tables(it)),
            S::ShowSchemas(it) => ask(&show::Schemas(it.as_deref())),
            S::ShowFunctions(it) => ask(&show::Functions(it.as_deref())),
            S::ShowSequences(it) => ask(&show::Sequences(it)),
            S::ShowViews(it) => ask(&show::Views(it)),
            S::ShowIndexes(it) => ask(&show::Indexes(it.as_ref())),
            S::ShowUsers => ask(&show::Users),
            S::ShowGrants(it) => ask(&show::Grants(it.as_ref())),
            S::ShowCreateTable(it) => ask(&show::CreateTable(it)),
            S::ShowCreateSequence(it) => ask(&show::CreateSequence(it)),
            S::ShowStorage(it) => ask(&show::Storage(it.as_ref())),
            S::ShowAttached => ask(&show::Attached),
            S::ShowSetting(it) => ask(&show::Settings(it.as_ref())),
            S::ShowTransactions => ask(&show::Transactions),
            S::Begin { read_only } => ask(&begin::Begin { is_read_only: *read_only }),
            S::Commit => ask(&transaction_control::TransactionControl::Commit),
            S::Rollback => ask(&transaction_control::TransactionControl::Rollback),
            S::Savepoint(it) => ask(&transaction_control::TransactionControl::Savepoint(it)),
            S::RollbackTo(it) => ask(&transaction_control::TransactionControl::RollbackTo(it)),
            S::ReleaseSavepoint(it) => ask(&transaction_control::TransactionControl::Release(it)),
            S::Prepare(it) => ask(it),
            S::Execute(it) => ask(it),
            S::Deallocate(it) => ask(&named_statement::Deallocate(it.as_ref())),
            S::Use(it) => ask(&unsupported::Use(it)),
            S::Unsupported(it) => ask(it),
        }
    }
}
