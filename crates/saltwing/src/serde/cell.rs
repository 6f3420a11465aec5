//! Deserializes and serializes the values of rows.

use saltwing_types::{ErrorCode, SqlType, Value, text};
use serde::de::value::{SeqDeserializer, StringDeserializer};
use serde::de::{Deserializer, IntoDeserializer, Visitor};
use serde::{Serialize, Serializer, forward_to_deserialize_any};

use crate::{Error, Row};

impl serde::de::Error for Error {
    fn custom<T: std::fmt::Display>(text: T) -> Self {
        Error::new(ErrorCode::TypeMismatch, text.to_string())
    }
}

impl serde::ser::Error for Error {
    fn custom<T: std::fmt::Display>(text: T) -> Self {
        Error::new(ErrorCode::TypeMismatch, text.to_string())
    }
}

/// A value, with the type of its column.
pub(super) struct Cell {
    pub(super) value: Value,
    pub(super) ty: SqlType,
}

impl Cell {
    fn text(&self) -> String {
        text::format(&self.value, self.ty).unwrap_or_default()
    }
}

/// Deserializes a DECIMAL as a number if the target type requests one.
macro_rules! numbers {
    ($($method:ident $visit:ident $of:ident;)*) => { $(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            match &self.value {
                Value::Decimal(decimal) => match decimal.$of().into() {
                    Some(number) => visitor.$visit(number),
                    None => self.deserialize_any(visitor),
                },
                _ => self.deserialize_any(visitor),
            }
        }
    )* };
}

impl<'de> Deserializer<'de> for Cell {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.value {
            Value::Null => visitor.visit_none(),
            Value::Bool(value) => visitor.visit_bool(value),
            Value::Int(value) => visitor.visit_i64(value),
            Value::Float(value) => visitor.visit_f32(value),
            Value::Double(value) => visitor.visit_f64(value),
            Value::Text(text) => visitor.visit_string(text),
            Value::Bytes(_) if self.ty == SqlType::Uuid => visitor.visit_string(self.text()),
            Value::Bytes(bytes) => visitor.visit_byte_buf(bytes),
            Value::Decimal(_) | Value::Date(_) | Value::Timestamp(_) | Value::Interval(_) => {
                visitor.visit_string(self.text())
            }
            Value::Array(elements) => {
                let ty = self.ty.element().unwrap_or(SqlType::Null);
                visitor.visit_seq(SeqDeserializer::new(elements.into_iter().map(|value| Cell { value, ty })))
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.value.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let text: StringDeserializer<Error> = self.text().into_deserializer();
        text.deserialize_enum(name, variants, visitor)
    }

    numbers! {
        deserialize_i8 visit_i64 to_i64;
        deserialize_i16 visit_i64 to_i64;
        deserialize_i32 visit_i64 to_i64;
        deserialize_i64 visit_i64 to_i64;
        deserialize_u8 visit_i64 to_i64;
        deserialize_u16 visit_i64 to_i64;
        deserialize_u32 visit_i64 to_i64;
        deserialize_u64 visit_i64 to_i64;
        deserialize_f32 visit_f64 to_f64;
        deserialize_f64 visit_f64 to_f64;
    }

    forward_to_deserialize_any! {
        bool i128 u128 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier
        ignored_any
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.value {
            Value::Null => serializer.serialize_none(),
            Value::Bool(value) => serializer.serialize_bool(*value),
            Value::Int(value) => serializer.serialize_i64(*value),
            Value::Float(value) => serializer.serialize_f32(*value),
            Value::Double(value) => serializer.serialize_f64(*value),
            Value::Array(elements) => {
                let ty = self.ty.element().unwrap_or(SqlType::Null);
                serializer.collect_seq(elements.iter().map(|value| Cell { value: value.clone(), ty }))
            }
            Value::Bytes(bytes) if !serializer.is_human_readable() => serializer.serialize_bytes(bytes),
            _ => serializer.serialize_str(&self.text()),
        }
    }
}

/// A map from labels to values. In human-readable formats, bytes are hex.
impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let values = self.values().map_err(serde::ser::Error::custom)?;
        let cells = self.columns().iter().zip(values);
        serializer.collect_map(cells.map(|(column, value)| (&column.label, Cell { value, ty: column.ty })))
    }
}
