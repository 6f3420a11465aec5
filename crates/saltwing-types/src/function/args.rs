//! The values that a function is computed from.

use crate::value::Timestamp;
use crate::{Decimal, Interval, SqlType, Value, ValueError, number, text};

/// The values of a call's arguments, and the call's type.
///
/// Typing has cast the arguments to the types of the signature. A value of another type is a broken invariant and
/// becomes an error, because a guessed result would be wrong silently.
#[derive(Clone, Copy, Debug)]
pub struct Args<'a> {
    function: &'static str,
    values: &'a [Value],
    ty: SqlType,
}

type Argument<T> = Result<T, ValueError>;

impl<'a> Args<'a> {
    /// The arguments of a call of `function`, of type `ty`.
    pub fn new(function: &'static str, values: &'a [Value], ty: SqlType) -> Self {
        Self { function, values, ty }
    }

    /// All values.
    pub fn values(&self) -> &'a [Value] {
        self.values
    }

    /// The type of the call.
    pub fn ty(&self) -> SqlType {
        self.ty
    }

    /// A value of any type.
    ///
    /// # Errors
    /// [`ValueError::Internal`] if there are fewer arguments.
    pub fn value(&self, index: usize) -> Argument<&'a Value> {
        self.values.get(index).ok_or_else(|| self.broken(index, "value"))
    }

    /// A text.
    ///
    /// # Errors
    /// [`ValueError::Internal`] if it is none.
    pub fn text(&self, index: usize) -> Argument<&'a str> {
        match self.values.get(index) {
            Some(Value::Text(text)) => Ok(text),
            _ => Err(self.broken(index, "text")),
        }
    }

    /// The bytes of a binary value, or of a text in UTF-8.
    ///
    /// # Errors
    /// [`ValueError::Internal`] if it is neither.
    pub fn bytes(&self, index: usize) -> Argument<&'a [u8]> {
        match self.values.get(index) {
            Some(Value::Bytes(bytes)) => Ok(bytes),
            Some(Value::Text(text)) => Ok(text.as_bytes()),
            _ => Err(self.broken(index, "binary value")),
        }
    }

    /// The elements of an array; `None` if it is NULL.
    ///
    /// # Errors
    /// [`ValueError::Internal`] if it is neither.
    pub fn array(&self, index: usize) -> Argument<Option<&'a [Value]>> {
        match self.values.get(index) {
            Some(Value::Array(elements)) => Ok(Some(elements)),
            Some(Value::Null) => Ok(None),
            _ => Err(self.broken(index, "array")),
        }
    }

    /// The texts from an index on; NULLs are left out.
    ///
    /// # Errors
    /// [`ValueError::Internal`] if one is something else.
    pub fn texts_from(&self, first: usize) -> Argument<Vec<&'a str>> {
        let rest = self.values.iter().enumerate().skip(first).filter(|(_, value)| !value.is_null());
        rest.map(|(index, _)| self.text(index)).collect()
    }

    /// A text that may be left out.
    ///
    /// # Errors
    /// As [`Args::text`].
    pub fn optional_text(&self, index: usize) -> Argument<Option<&'a str>> {
        if index < self.values.len() { self.text(index).map(Some) } else { Ok(None) }
    }

    /// An integer.
    ///
    /// # Errors
    /// [`ValueError::Internal`] if it is none.
    pub fn int(&self, index: usize) -> Argument<i64> {
        match self.values.get(index) {
            Some(Value::Int(n)) => Ok(*n),
            _ => Err(self.broken(index, "integer")),
        }
    }

    /// An integer that may be left out.
    ///
    /// # Errors
    /// As [`Args::int`].
    pub fn optional_int(&self, index: usize) -> Argument<Option<i64>> {
        if index < self.values.len() { self.int(index).map(Some) } else { Ok(None) }
    }

    /// A number as a DOUBLE.
    ///
    /// # Errors
    /// [`ValueError::Internal`] if it is none.
    pub fn double(&self, index: usize) -> Argument<f64> {
        match self.values.get(index) {
            Some(value @ (Value::Int(_) | Value::Float(_) | Value::Double(_) | Value::Decimal(_))) => {
                Ok(number::to_f64(value))
            }
            _ => Err(self.broken(index, "number")),
        }
    }

    /// An instant.
    ///
    /// # Errors
    /// [`ValueError::Internal`] if it is none.
    pub fn instant(&self, index: usize) -> Argument<Timestamp> {
        self.values.get(index).and_then(text::instant).ok_or_else(|| self.broken(index, "instant"))
    }

    /// An argument that makes no sense to the function.
    pub(super) fn refused(&self, why: impl std::fmt::Display) -> ValueError {
        ValueError::BadArgument(format!("{}: {why}", self.function))
    }

    /// An interval.
    ///
    /// # Errors
    /// [`ValueError::Internal`] if it is none.
    pub fn interval(&self, index: usize) -> Argument<Interval> {
        match self.values.get(index) {
            Some(Value::Interval(length)) => Ok(*length),
            _ => Err(self.broken(index, "interval")),
        }
    }

    /// A number as a decimal.
    ///
    /// # Errors
    /// [`ValueError::OutOfRange`] for a float that is none.
    pub fn decimal(&self, index: usize) -> Argument<Decimal> {
        number::to_decimal(self.value(index)?)
    }

    /// The call as SQL writes it.
    pub(super) fn shown(&self) -> String {
        let values: Vec<String> = self.values.iter().map(|value| text::literal(value, SqlType::Null)).collect();
        format!("{}({})", self.function, values.join(", "))
    }

    fn broken(&self, index: usize, wanted: &str) -> ValueError {
        let error = ValueError::Internal(format!("argument {} of {} is no {wanted}", index + 1, self.function));
        debug_assert!(false, "{error}: {:?}", self.values);
        error
    }
}
