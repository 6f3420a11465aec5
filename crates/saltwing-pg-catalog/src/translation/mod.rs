//! Queries of PostgreSQL over its catalog, in the words of the library.
//!
//! A query is read as a tree, and the tree is rewritten from the inside: the types that expressions have in PostgreSQL follow from the
//! columns of the relations, and what PostgreSQL does by types, the rewritten query says in words.
//!
//! | PostgreSQL | here |
//! |---|---|
//! | `pg_catalog.pg_class` | the table `pg_class` of the catalog's database |
//! | `x::regclass`, `'t'::regclass` | a number; its name where it becomes a text |
//! | `unnest(a)`, `generate_subscripts(a, 1)` in a list | a join with `numbers`, and `a[n]` |
//! | `(f(x)).n`, a column that is a row | a tuple, whose fields are columns of their own |
//! | `ORDER BY x` | `ORDER BY x NULLS LAST` |
//! | `current_user`, `current_setting('x')` | the session's value |
//! | all other names | in quotes, so that no word of the library is meant |

mod accesses;
mod aggregates;
mod arrays;
mod build;
mod calls;
mod casts;
mod catalog_calls;
mod comparisons;
mod expansion;
mod expressions;
mod formats;
mod from;
mod json;
mod labels;
mod literals;
mod operators;
mod outputs;
mod patterns;
mod privileges;
mod queries;
mod scope;
mod selects;
mod session_calls;
mod session_relations;
mod set_returning;
mod shapes;
mod text_calls;
mod translated;
mod translator;

pub(crate) use self::catalog_calls::is_catalog_function;
pub(crate) use self::session_calls::is_session_function;
pub(crate) use self::translated::{Translated, translate, with_session_values};
