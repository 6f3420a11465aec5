//! Views: their definitions, and the queries that they stand for.
//!
//! ```text
//! CREATE VIEW v AS SELECT * FROM t               ──►   SELECT a, b FROM t                  stored with the tables and columns it uses
//! CREATE VIEW v (x VARCHAR) AS SELECT * FROM t   ──►   SELECT a, b, x FROM t (x VARCHAR)   a column of the view's own
//! ```
//!
//! In FROM a view is the relation of its query (`view_relation.rs`). A statement that writes to a view has it as its target
//! (`target.rs`): the table under the names of the view, with its conditions.
//!
//! # Laws
//! 1. A view means what it meant when it was created: `qualified_query.rs` writes its columns one by one, and its names
//!    with their tables.
//! 2. The names of a statement and those of a view never meet: what a view names is its own.
//! 3. All parts of a view stand where the statement names the view. So errors, and the guard, find the place.

mod definition;
mod dynamic;
mod own_columns;
mod place;
mod plain;
mod rows;
mod updatable;

pub(crate) use self::definition::create_view_text;
pub use self::definition::{AlteredView, altered_view};
pub(crate) use self::dynamic::{check_dynamic, dynamic_value, stored_name};
pub use self::own_columns::check_new_names;
pub(crate) use self::own_columns::{add_columns, declared_by, with_columns};
pub use self::place::{ViewPlace, view_places};
pub use self::plain::{PlainView, plain_view};
pub use self::updatable::is_updatable;
pub(crate) use self::updatable::{Constant, Place, WrittenView};
