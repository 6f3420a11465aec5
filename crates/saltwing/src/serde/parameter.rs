//! Single values as serde writes them.

use saltwing_types::{ErrorCode, Value};
use serde::Serialize;
use serde::ser::{Impossible, Serializer};

use crate::Error;

/// The error of a type without a form in SQL.
pub(super) fn none(text: &str) -> Error {
    Error::new(ErrorCode::TypeMismatch, text)
}

/// Writes a value.
pub(super) struct ValueWriter;

type No = Impossible<Value, Error>;

macro_rules! values {
    ($($method:ident($ty:ty);)*) => { $(
        fn $method(self, value: $ty) -> Result<Value, Error> {
            Ok(Value::from(value))
        }
    )* };
}

/// Types with several values.
macro_rules! no_values {
    ($($method:ident($($ty:ty),*);)*) => { $(
        fn $method(self, $(_: $ty),*) -> Result<No, Error> {
            Err(none("a parameter is a single value: no list, map or struct"))
        }
    )* };
}

impl Serializer for ValueWriter {
    type Ok = Value;
    type Error = Error;
    type SerializeSeq = No;
    type SerializeTuple = No;
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

    no_values! {
        serialize_seq(Option<usize>);
        serialize_tuple(usize);
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
