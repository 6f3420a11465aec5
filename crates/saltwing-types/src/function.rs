//! The registries of functions: of scalar functions, of aggregate functions ([`aggregate`]) and of window functions ([`window`]). One
//! entry holds everything about a scalar function; of the others it holds all but the computation, which belongs to the executors.
//!
//! A new function is a `static` [`ScalarFunction`] in the file of its subject below `function/`, and a line in that file's
//! list. Typing, both evaluators, the planner, `SHOW FUNCTIONS`, `docs/functions.md`, completion and the hints for
//! misspelled names read the entry; none of them knows names. A function gets a faster way over whole columns by a line
//! in the table of kernels of `saltwing-expr`.
//!
//! # Laws
//! For every entry, arguments that its signature takes, and their values:
//! 1. with [`NullRule::Strict`], the result is NULL if an argument is;
//! 2. the result is a value of the type that its signature's [`ResultType`] gives;
//! 3. what [`KeyProperty`] says of the results holds, for it decides which rows are read;
//! 4. no result is larger than [`SizeBound::bytes`] says, or than a few times its arguments if there is no bound.

pub mod aggregate;
mod args;
mod array;
mod binary;
mod calendar;
mod characters;
mod collation;
mod conditional;
mod datetime;
mod directive;
mod dynamic;
mod entry;
mod epoch;
mod float_text;
mod format;
mod glob;
mod hash;
mod integer;
mod interval;
mod json;
mod json_change;
mod json_making;
mod json_shape;
mod moments;
mod numeric;
mod padding;
mod phoenix;
mod power;
mod quoting;
mod regexp;
mod registry;
mod signature;
mod similarity;
mod split;
mod sqlite_date;
mod substring;
pub mod syntax;
mod text;
mod unicode;
pub mod window;

pub use args::Args;
pub use entry::{Check, Evaluation, Function, KeyPart, KeyProperty, NullRule, ScalarFunction, SizeBound, Volatility};
pub use signature::{Parameter, ParameterKind, ResultType, Rewrite, Signature};

#[cfg(test)]
mod tests;
