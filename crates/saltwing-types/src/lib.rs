//! Types, values, expression trees with a scalar evaluator, table and key definitions.
//!
//! Everything the other crates agree on lives here, and nothing else: no
//! bytes of row keys (`saltwing-rowkey`), no columns (`saltwing-expr`), no SQL
//! text (`saltwing-sql`).
//!
//! | module | holds |
//! |---|---|
//! | [`sql_type`] | [`SqlType`]: the SQL types of Apache Phoenix; the types of array elements |
//! | [`value`] | [`Value`]: one SQL value, and how values compare |
//! | [`decimal`] | [`Decimal`]: 38 significant digits, exact |
//! | [`datetime`], [`calendar`], [`time_zone`] | instants as text and back; units of time; time zones |
//! | [`interval`] | [`Interval`]: what lengths of time compute, and their text |
//! | [`date_pattern`], [`number_format`] | the patterns of TO_CHAR, TO_DATE and TO_NUMBER |
//! | [`text`] | values as text and back |
//! | [`arithmetic`] | [`ArithOp`] on values |
//! | [`expr`] | [`Expr`]: the expression tree; [`typing`] builds it by SQL's rules, [`eval`] computes it for one row |
//! | [`EngineCall`] | calls that only the relational engine computes, as parts of an expression |
//! | [`function`] | [`Function`]: the registry of scalar functions; those of [`function::aggregate`] and [`function::window`] functions |
//! | [`dynamic`] | dynamic columns: values that a row has beside its table's columns |
//! | [`hash`], [`regexp`], [`like`], [`rounding`] | what functions and operators compute with |
//! | [`table`] | [`TableDef`], [`KeySchema`] |
//! | [`index`], [`key_form`] | entries of secondary indexes; values in the types in which keys keep them |
//! | [`key_expression`] | which expressions a key may hold, and the key columns that they make |
//! | [`foreign`] | calls of code of others, whose panics are errors |
//! | [`interrupt`] | whether the statement that a thread works for must stop |
//! | [`UserDef`], [`Privilege`], [`ScramVerifier`] | users, what they may do, and what checks their passwords |
//! | [`error`] | [`ErrorCode`]: stable codes with their SQLSTATE |

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

pub mod arithmetic;
mod array_text;
mod byte_size;
pub mod calendar;
mod calendar_names;
mod comparison;
mod date_format;
pub mod date_pattern;
pub mod datetime;
pub mod decimal;
pub mod dynamic;
mod engine_operation;
pub mod error;
pub mod eval;
pub mod expr;
pub mod foreign;
pub mod function;
pub mod hash;
pub mod index;
pub mod interrupt;
pub mod interval;
pub mod json;
pub mod key_expression;
pub mod key_form;
pub mod like;
mod normal_form;
pub mod number;
pub mod number_format;
mod number_pattern;
mod object_id;
mod operator;
mod pg_date_pattern;
mod pg_number_pattern;
mod privilege;
pub mod regexp;
pub mod rounding;
mod schema;
mod scram;
pub mod sequence;
pub mod span;
pub mod sql_type;
mod storage;
mod strftime;
mod suggestion;
pub mod table;
pub mod text;
pub mod time_zone;
pub mod typing;
mod user;
pub mod value;
mod value_from;
pub mod view;

pub use byte_size::parse_bytes;
pub use calendar::DateField;
pub use decimal::Decimal;
pub use engine_operation::{BitOperator, EngineOperation};
pub use error::{ErrorCode, Interrupted, VALUE_BYTES_MAX, ValueError, with_causes};
pub use expr::{ColumnRef, EngineCall, Expr};
pub use function::{Function, ScalarFunction};
pub use interrupt::Interrupt;
pub use object_id::ObjectId;
pub use operator::{ArithOp, CompareOp};
pub use privilege::{Privilege, Privileges};
pub use rounding::{Rounding, round_number};
pub use schema::SchemaDef;
pub use scram::ScramVerifier;
pub use sequence::{SequenceBlock, SequenceDef, SequencePosition};
pub use span::{Position, Span};
pub use sql_type::SqlType;
pub use storage::{Direction, Durability, DurabilityScope, StorageCause, StorageError};
pub use suggestion::suggest;
pub use table::{
    ColumnDef, IndexDef, IndexPart, IndexPredicate, IndexState, KeyColumn, KeySchema, KeySource, Rebuild, Salt,
    SortOrder, TableDef, TableId, TableName,
};
pub use user::{GrantedObject, Grants, UserDef};
pub use value::{Interval, Value};
pub use view::{ViewColumn, ViewDef, ViewUse};
