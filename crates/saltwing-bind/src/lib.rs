//! Statement and catalog to a bound statement.
//!
//! Queries become trees of relations ([`query`]), which the direct path and the relational engine plan from. Of functions that only that
//! engine has, the binder asks the types ([`EngineFunctions`]).

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

mod added_key;
mod aggregate;
mod aggregate_call;
mod alter_column;
mod alter_step;
mod alter_table;
mod arbiters;
mod as_of;
mod call;
mod call_names;
mod check;
mod collation;
mod collector;
mod comment;
mod composed_aggregate;
mod computed;
mod condition;
mod conflict;
mod create_index;
mod create_table;
mod create_table_as;
mod create_table_like;
mod create_view;
mod cte;
mod date_field;
mod decorrelation;
mod dml;
mod dynamic_table;
mod engine;
mod error;
mod exact;
mod file_name;
mod from;
mod from_function;
mod generated;
mod group_by;
mod hint;
mod hypothetical;
mod identity;
mod index_text;
mod key_constraint;
mod key_expression;
mod lookups;
mod lower;
mod merge;
mod name_notes;
mod names;
mod notice;
mod object_name;
mod outer_join;
mod output;
mod page;
mod parameters;
mod plain_query;
mod plan_budget;
mod qualified_query;
mod query;
mod query_binder;
mod rename;
mod resolve;
mod resolved_names;
mod returned_query;
mod returning;
mod returning_clause;
mod root_query;
mod row_count;
mod row_rules;
mod scope;
mod select;
mod select_items;
mod select_tree;
mod sequence;
mod sequence_collector;
mod sequence_values;
mod session_word;
mod similar;
mod sort_direction;
mod split_on;
mod statement_query;
mod subquery_column;
mod system_facts;
mod system_table;
mod table_call;
mod table_constants;
mod table_option;
mod table_path;
mod target;
mod target_rows;
mod time_column;
mod tree;
mod uncorrelated;
mod unnest_collector;
mod update;
mod view;
mod view_order;
mod view_relation;
mod window;
mod window_call;
mod window_collector;
mod written_columns;

pub use aggregate::AggregateCall;
pub use alter_column::without_new_values;
pub use alter_step::AlterStep;
pub use alter_table::{AlteredTable, alter_table, with_dynamic_columns};
pub use arbiters::Arbiters;
pub use call::AT_TIME_ZONE;
pub use check::{RowCheck, RowChecks};
pub use comment::{Commented, commented, table_comments, view_statements};
pub use computed::expr_of;
pub use condition::conditions;
pub use conflict::{ConflictUpdate, UpdateSubquery};
pub use create_index::create_index;
pub use create_table::{BoundTable, create_table};
pub use create_table_as::create_table_as;
pub use create_table_like::create_table_like;
pub use create_view::{BoundView, VIEW_DEPTH_MAX, create_view};
pub use dml::{
    BoundDelete, BoundSource, BoundUpsert, ComputedValue, DeletedRows, SequencedRow, UpsertTarget, delete, upsert,
};
pub use engine::{
    EngineAggregate, EngineFunctionKind, EngineFunctions, EngineType, NoEngine, OpaqueTypes, SINGLE_VALUE, TableColumns,
};
pub use error::{BindError, BindErrorKind, Result, if_bound};
pub use exact::check_exact;
pub use file_name::{FileName, file_names};
pub use hint::{FULL_SCAN, INDEX, NO_INDEX, PHOENIX_HINTS, canonical_hints, check_hints};
pub use identity::{OwnSequence, identity_definition, identity_text};
pub use index_text::{index_text, parts_text};
pub use key_constraint::{key_constraint, key_constraint_shown};
pub use lower::{GivenTypes, LowerError, Lowerer, ParamValues, Params, comparison_operator, constant};
pub use merge::{BoundMerge, MergeEffect, MergeStep, merge};
pub use names::is_temporary;
pub use notice::query_notice;
pub use output::{OutputColumn, ResultColumn};
pub use page::page_identity;
pub use parameters::ParameterTypes;
pub use plan_budget::check_plan_budget;
pub use resolve::resolve;
pub use returning::{BoundReturning, returning};
pub use root_query::{query, query_noting_reads};
pub use row_count::RowCount;
pub use row_rules::RowRules;
pub use saltwing_sql::ExcludedRows;
pub use saltwing_sql::statement::OnConflict;
pub use saltwing_types::function::aggregate::AggregateFunction;
pub use saltwing_types::function::window::WindowFunction;
pub use scope::Scope;
pub use sequence::{alter_sequence, create_sequence, create_sequence_text};
pub use sequence_values::SequenceAction;
pub use statement_query::{ComputedQuery, ReturnedQuery, StatementQuery, TargetQuery};
pub use system_table::{
    COLUMNS, GRANTS, INDEXES, Objects, SCHEMATA, SEQUENCES, SYSTEM_TABLES, SystemColumn, SystemFacts, SystemTable,
    TABLES, USERS, VIEWS, system_table,
};
pub use table_option::is_phoenix_option;
pub use table_path::{column_path, table_path};
pub use tree::{
    AsOf, BoundQuery, CallColumn, ComputedColumn, ExternalSource, GroupCall, GroupingColumn, GroupingSets, JoinKind,
    Output, Relation, Rows, Scan, SequenceDraw, SequenceUse, SequenceUses, SetInput, SetOperator, SortItem,
    SubqueryColumn, SubqueryKind, UnnestColumn, WindowColumn, group_columns, value_of,
};
pub use uncorrelated::{ColumnOrigin, QueryRead, RootQuery, UncorrelatedSubquery};
pub use update::{BoundUpdate, ChangedColumns, update};
pub use view::{
    AlteredView, PlainView, ViewPlace, altered_view, check_new_names, is_updatable, plain_view, view_places,
};
pub use view_order::in_order_of_use;
pub use view_relation::VIEWS_MAX;
pub use window_call::{Frame, FrameBound, FrameUnits, SortKey, WindowCall};
pub use written_columns::{WrittenColumns, listed_columns};
