//! The entry of a function in the registry.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

use super::{Args, Rewrite, Signature};
use crate::{DateField, SqlType, VALUE_BYTES_MAX, Value, ValueError};

/// Looks at the arguments of a call that are literals; the others are `None`.
pub type Check = fn(&[Option<&Value>]) -> Result<(), ValueError>;

/// One entry of the registry.
#[derive(Debug)]
pub struct ScalarFunction {
    /// The name, in upper case.
    pub name: &'static str,
    /// Other names for the same.
    pub aliases: &'static [&'static str],
    /// The ways to call it, at least one. The first argument decides between them.
    pub signatures: &'static [Signature],
    /// The effect of NULL arguments.
    pub nulls: NullRule,
    /// How a value is computed.
    pub evaluation: Evaluation,
    /// Checks of the arguments beyond their types: for example, of constants without meaning.
    pub check: Option<Check>,
    /// The conclusions that the planner may draw about a key column from a condition on the result.
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
    /// The entry of a function that is computed from its values, NULL if one of them is NULL.
    pub(super) const fn new(
        name: &'static str,
        signatures: &'static [Signature],
        compute: fn(&Args<'_>) -> Result<Value, ValueError>,
    ) -> Self {
        Self::evaluated_by(name, signatures, Evaluation::Values(compute))
    }

    /// The same of one that is computed in another way.
    pub(super) const fn evaluated_by(
        name: &'static str,
        signatures: &'static [Signature],
        evaluation: Evaluation,
    ) -> Self {
        Self {
            name,
            aliases: &[],
            signatures,
            nulls: NullRule::Strict,
            evaluation,
            check: None,
            key_property: KeyProperty::Unknown,
            key_part: KeyPart::Refused,
            volatility: Volatility::Immutable,
            size: None,
            description: "",
            example: ("", ""),
        }
    }

    pub(super) const fn aliases(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    pub(super) const fn with_own_nulls(self) -> Self {
        Self { nulls: NullRule::Own, ..self }
    }

    pub(super) const fn checked_by(self, check: Check) -> Self {
        Self { check: Some(check), ..self }
    }

    pub(super) const fn key_property(self, key_property: KeyProperty) -> Self {
        Self { key_property, ..self }
    }

    pub(super) const fn key_part(self, key_part: KeyPart) -> Self {
        Self { key_part, ..self }
    }

    pub(super) const fn size(self, size: SizeBound) -> Self {
        Self { size: Some(size), ..self }
    }

    pub(super) const fn gives(self, description: &'static str) -> Self {
        Self { description, ..self }
    }

    pub(super) const fn example(self, call: &'static str, result: &'static str) -> Self {
        Self { example: (call, result), ..self }
    }
}

/// The effect of NULL among the arguments of a call.
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
    /// This part of the one argument, an instant or an interval.
    Field(DateField),
    /// The first argument that is not NULL; those after it are not computed.
    FirstNotNull,
    /// Typing makes another expression of it, so that no tree holds a call of it.
    Rewritten(Rewrite),
}

/// How the result depends on the arguments, for conditions on keys.
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
    /// Whether the first argument compares by the operator in the second with an element of the array in the third.
    ComparesWithAny,
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
pub struct Function(pub(super) &'static ScalarFunction);

impl Function {
    /// The value of a call, of type `ty`, whose arguments are computed.
    ///
    /// # Errors
    /// What the function refuses; [`ValueError::ValueTooLarge`] for a result beyond [`VALUE_BYTES_MAX`];
    /// [`ValueError::Internal`] for arguments that its signature does not take.
    pub fn evaluate(self, values: &[Value], ty: SqlType) -> Result<Value, ValueError> {
        if self.nulls == NullRule::Strict && values.iter().any(Value::is_null) {
            return Ok(Value::Null);
        }
        let args = Args::new(self.name, values, ty);
        if let Some(bound) = self.size {
            let bytes = (bound.bytes)(&args)?;
            if bytes > VALUE_BYTES_MAX {
                return Err(ValueError::ValueTooLarge { function: self.name, bytes });
            }
        }
        match self.evaluation {
            Evaluation::Values(compute) => compute(&args),
            Evaluation::Field(field) => match values {
                [Value::Interval(length)] => length.field(field).map(Value::Int),
                _ => Ok(Value::Int(field.of(args.instant(0)?))),
            },
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
