//! Views: their definitions, and the queries that they stand for.
//!
//! ```text
//! CREATE VIEW v AS SELECT * FROM t    ── fixed ──►   SELECT a, b FROM t                 stored with the tables and columns it uses
//! SELECT x.a FROM v AS x WHERE x.b = 1 ─ expanded ─► SELECT x.a FROM t AS x WHERE x.b = 1         merged, for the direct path
//! SELECT x FROM t (x VARCHAR) ..     ── expanded ─► SELECT DYNAMIC_COLUMN(t._dynamic, 'x', ..) AS x FROM t ..
//! CREATE VIEW v (x VARCHAR) AS SELECT * FROM t ─ ► SELECT a, b, x FROM t (x VARCHAR)          a column of the view's own
//! SELECT a FROM t      ── attached ─► SELECT a FROM other.t                              a view of a database that is attached as other
//! SELECT .. FROM v JOIN u ..          ── expanded ─► SELECT .. FROM (SELECT a, b FROM t) AS v (a, b) JOIN u ..
//! ```
//!
//! # Laws
//! 1. A view means what it meant when it was created: `fixed` writes its columns one by one, and its names with their tables.
//! 2. The names of a statement and those of a view never meet: what a view names is its own.
//! 3. All parts of a view stand where the statement names the view. So errors, and the guard, find the place.

mod apart;
mod attached;
mod definition;
mod dynamic;
mod expanded;
mod fixed;
mod merged;
mod name;
mod own_columns;
mod plain;
mod relations;
mod updatable;
mod written;

pub use self::attached::attached_view;
pub(crate) use self::definition::create_view_text;
pub use self::definition::{AlteredView, BoundView, VIEW_DEPTH_MAX, altered_view, create_view};
pub(crate) use self::dynamic::{check_dynamic, stored_name, with_dynamic_values};
pub use self::expanded::{VIEWS_MAX, ViewPlace, view_places, with_views};
pub(crate) use self::name::quoted;
pub use self::own_columns::check_new_names;
pub use self::plain::{PlainView, plain_view};
pub use self::updatable::is_updatable;
pub use self::written::through_view;
