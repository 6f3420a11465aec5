//! Serializes single values.

use saltwing_types::{ErrorCode, Value};
use serde::Serialize;
use serde::ser::{Impossible, SerializeSeq, SerializeTuple, Serializer};

use crate::Error;

/// The error for a type that SQL lacks.
pub(super) fn none(text: &str) -> Error {
    Error::new(ErrorCode::TypeMismatch, text)
}

/// Serializes a value.
pub(super) struct ValueWriter;

type No = Impossible<Value, Error>;

macro_rules! values {
    ($($method:ident($ty:ty);)*) => { $(
        fn $method(self, value: $ty) -> Result<Value, Error> {
            Ok(Value::from(value))
        }
    )* };
}

/// Refuses types with several values.
macro_rules! no_values {
    ($($method:ident($($ty:ty),*);)*) => { $(
        fn $method(self, $(_: $ty),*) -> Result<No, Error> {
            Err(none("a parameter is a value or a list of values: no map or struct"))
        }
    )* };
}

/// Most elements for which memory is reserved in advance.
const ELEMENTS_RESERVED_MAX: usize = 1024;

/// The elements of an array so far.
pub(super) struct Elements(Vec<Value>);

macro_rules! elements {
    ($($of:ident),*) => { $(
        impl $of for Elements {
            type Ok = Value;
            type Error = Error;
            fn serialize_element<T: Serialize + ?Sized>(&mut self, element: &T) -> Result<(), Error> {
                self.0.push(element.serialize(ValueWriter)?);
                Ok(())
            }
            fn end(self) -> Result<Value, Error> {
                Ok(Value::Array(self.0))
            }
        }
    )* };
}
elements!(SerializeSeq, SerializeTuple);

impl Serializer for ValueWriter {
    type Ok = Value;
    type Error = Error;
    type SerializeSeq = Elements;
    type SerializeTuple = Elements;
    type SerializeTupleStruct = No;
    type SerializeTupleVariant = No;
    type SerializeMap = No;
    type SerializeStruct = No;
    type SerializeStructVariant = No;

    values! {
        serialize_bool(bool);
        serialize_i8(i8);
        serialize_i16(i16);
        serialize_i32(i32);
        serialize_i64(i64);
        serialize_u8(u8);
        serialize_u16(u16);
        serialize_u32(u32);
        serialize_u64(u64);
        serialize_f32(f32);
        serialize_f64(f64);
        serialize_char(char);
        serialize_str(&str);
        serialize_bytes(&[u8]);
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Elements, Error> {
        Ok(Elements(Vec::with_capacity(length.unwrap_or(0).min(ELEMENTS_RESERVED_MAX))))
    }

    fn serialize_tuple(self, length: usize) -> Result<Elements, Error> {
        self.serialize_seq(Some(length))
    }

    no_values! {
        serialize_tuple_struct(&'static str, usize);
        serialize_tuple_variant(&'static str, u32, &'static str, usize);
        serialize_map(Option<usize>);
        serialize_struct(&'static str, usize);
        serialize_struct_variant(&'static str, u32, &'static str, usize);
    }

    fn serialize_none(self) -> Result<Value, Error> {
        Ok(Value::Null)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Value, Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<Value, Error> {
        Ok(Value::Null)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<Value, Error> {
        Ok(Value::Null)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<Value, Error> {
        Ok(Value::text(variant))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<Value, Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<Value, Error> {
        Err(none("a variant with data is no parameter"))
    }
}
