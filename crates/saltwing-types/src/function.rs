//! The registry of scalar functions: everything that is known of a function stands in its one entry.
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

mod args;
mod characters;
mod conditional;
mod datetime;
mod hash;
mod numeric;
mod padding;
mod power;
mod regexp;
mod registry;
mod signature;
mod substring;
pub mod syntax;
mod text;

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

pub use args::Args;
pub use signature::{Parameter, ParameterKind, ResultType, Signature};

use crate::calendar::DateField;
use crate::typing::Typed;
use crate::{Expr, SqlType, VALUE_BYTES_MAX, Value, ValueError};

/// Looks at the arguments of a call beyond their types.
pub type Check = fn(&[Expr]) -> Result<(), ValueError>;

/// One entry of the registry.
#[derive(Debug)]
pub struct ScalarFunction {
    /// The name, in upper case.
    pub name: &'static str,
    /// Other names for the same.
    pub aliases: &'static [&'static str],
    /// The ways to call it, at least one. The first argument decides between them.
    pub signatures: &'static [Signature],
    /// What NULL makes of it.
    pub nulls: NullRule,
    /// How a value is computed.
    pub evaluation: Evaluation,
    /// What must hold of the arguments beyond their types: of constants that make no sense, for example.
    pub check: Option<Check>,
    /// What the planner may conclude about a key column from a condition on the result.
    pub key_property: KeyProperty,
    /// Whether an expression in a primary key may call it.
    pub key_part: KeyPart,
    /// Whether equal arguments give equal results.
    pub volatility: Volatility,
    /// A bound of the result's size, if it can be larger than any one argument.
    pub size: Option<SizeBound>,
    /// One sentence on what it gives.
    pub description: &'static str,
    /// A call in SQL without columns, and its result as text (`NULL` for NULL).
    pub example: (&'static str, &'static str),
}

impl ScalarFunction {
    /// What most entries have in common.
    pub(crate) const DEFAULT: Self = Self {
        name: "",
        aliases: &[],
        signatures: &[],
        nulls: NullRule::Strict,
        evaluation: Evaluation::Rewritten(|_| Err(ValueError::Internal("a function without an evaluation".to_owned()))),
        check: None,
        key_property: KeyProperty::Unknown,
        key_part: KeyPart::Refused,
        volatility: Volatility::Immutable,
        size: None,
        description: "",
        example: ("", ""),
    };
}

/// What NULL among the arguments makes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NullRule {
    /// NULL, whatever the other arguments are.
    Strict,
    /// The function decides.
    Own,
}

/// How a call is computed.
#[derive(Clone, Copy, Debug)]
pub enum Evaluation {
    /// From the values of all arguments.
    Values(fn(&Args<'_>) -> Result<Value, ValueError>),
    /// The first argument that is not NULL; those behind it are not computed.
    FirstNotNull,
    /// Typing makes another expression of it, so that no tree holds a call of it.
    Rewritten(fn(Vec<Expr>) -> Typed),
}

/// What is known of a call's results, given how its arguments move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyProperty {
    /// Nothing.
    Unknown,
    /// The result never falls while the argument of this index grows and the others stay; NaN apart. The values for which
    /// the function fails lie at the ends of the argument's range.
    Increasing(usize),
    /// Of one number: the result never grows below 0, and never falls from there on.
    Folded,
    /// The first characters of the first argument, as many as the second says; negative: all but so many at the end.
    Prefix,
    /// Characters of the first argument: from the place that the second says on (from 1; negative: from the end), at most as
    /// many as the third says.
    Substring,
    /// With one argument alone: the text without the blanks that it ends with.
    TrimmedEnd,
    /// Whether the first argument begins with the second.
    StartsWith,
    /// Whether the first argument matches the regular expression in the second; a third one holds flags.
    Matches,
}

/// Whether a key may hold a call, and how wide its text is there.
///
/// What stands in a key is written once and never computed again: only what gives the same result in every version and on
/// every machine may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyPart {
    /// It may not.
    Refused,
    /// It may.
    Allowed,
    /// It may, and is always text of so many characters, none of them a blank.
    Chars(u32),
    /// It may, and has as many characters as its first argument, as long as these are ASCII.
    AsWideAsArgument,
}

/// Whether equal arguments give equal results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Volatility {
    /// Always: a call of constants is a constant.
    Immutable,
    /// Within one statement.
    Stable,
    /// Never.
    Volatile,
}

impl Volatility {
    /// In lower case, as `SHOW FUNCTIONS` has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Immutable => "immutable",
            Self::Stable => "stable",
            Self::Volatile => "volatile",
        }
    }
}

/// How large results can be.
#[derive(Clone, Copy, Debug)]
pub struct SizeBound {
    /// An upper bound of the bytes of the result, known before it is made.
    pub bytes: fn(&Args<'_>) -> Result<usize, ValueError>,
    /// Whether it can be many times as large as all arguments together.
    pub multiplies: bool,
}

/// A function of the registry: cheap to copy, equal to itself alone.
#[derive(Clone, Copy)]
pub struct Function(&'static ScalarFunction);

impl Function {
    /// `a || b`.
    pub const CONCAT: Self = Self(&text::CONCAT);
    /// What brings values to their common type, and keeps the first that is not NULL.
    pub const COALESCE: Self = Self(&conditional::COALESCE);
    /// `SUBSTRING(text FROM start FOR count)`.
    pub const SUBSTR: Self = Self(&substring::SUBSTR);
    /// `text ~ pattern`.
    pub const REGEXP_LIKE: Self = Self(&regexp::REGEXP_LIKE);
    /// `TRIM([BOTH characters FROM] text)`.
    pub const TRIM: Self = Self(&text::TRIM);
    /// `TRIM(LEADING characters FROM text)`.
    pub const LTRIM: Self = Self(&text::LTRIM);
    /// `TRIM(TRAILING characters FROM text)`.
    pub const RTRIM: Self = Self(&text::RTRIM);
    /// `POSITION(part IN text)`, its operands exchanged.
    pub const STRPOS: Self = Self(&substring::STRPOS);

    /// All functions, by name in alphabetical order.
    pub fn all() -> impl Iterator<Item = Self> {
        registry::sorted()
    }

    /// The function of this name or alias, in any case.
    pub fn by_name(name: &str) -> Option<Self> {
        registry::find(name)
    }

    /// `EXTRACT(field FROM instant)`.
    pub fn extract(field: DateField) -> Self {
        Self(datetime::of_field(field))
    }

    /// Whether NULL in any argument makes the call NULL. A function that becomes another expression says nothing.
    pub fn is_strict(self) -> bool {
        self.nulls == NullRule::Strict && !matches!(self.evaluation, Evaluation::Rewritten(_))
    }

    /// The value of a call, of type `ty`, whose arguments are computed.
    ///
    /// # Errors
    /// What the function refuses; [`ValueError::ValueTooLarge`] for a result beyond [`VALUE_BYTES_MAX`];
    /// [`ValueError::Internal`] for arguments that its signature does not take.
    pub fn evaluate(self, values: &[Value], ty: SqlType) -> Result<Value, ValueError> {
        if self.nulls == NullRule::Strict && values.iter().any(Value::is_null) {
            return Ok(Value::Null);
        }
        let args = Args::new(self, values, ty);
        if let Some(bound) = self.size {
            let bytes = (bound.bytes)(&args)?;
            if bytes > VALUE_BYTES_MAX {
                return Err(ValueError::ValueTooLarge { function: self.name, bytes });
            }
        }
        match self.evaluation {
            Evaluation::Values(compute) => compute(&args),
            Evaluation::FirstNotNull => {
                Ok(values.iter().find(|value| !value.is_null()).cloned().unwrap_or(Value::Null))
            }
            Evaluation::Rewritten(_) => Err(ValueError::Internal(format!("a call of {} was not rewritten", self.name))),
        }
    }
}

impl Deref for Function {
    type Target = ScalarFunction;

    fn deref(&self) -> &ScalarFunction {
        self.0
    }
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Function {}

impl Hash for Function {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.name.hash(state);
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

#[cfg(test)]
mod tests;
