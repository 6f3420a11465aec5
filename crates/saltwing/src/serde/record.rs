//! Rows as a serde deserializer, and parameters as a serde serializer.

use saltwing_types::Value;
use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{Deserializer, IntoDeserializer, Visitor};
use serde::ser::{
    Impossible, SerializeMap, SerializeSeq, SerializeStruct, SerializeTuple, SerializeTupleStruct, Serializer,
};
use serde::{Serialize, forward_to_deserialize_any};

use super::cell::Cell;
use super::parameter::{ValueWriter, none};
use crate::{Error, Params, Row};

pub(super) struct RowReader<'r>(pub(super) &'r Row);

impl IntoDeserializer<'_, Error> for Cell {
    type Deserializer = Self;
    fn into_deserializer(self) -> Self {
        self
    }
}

impl RowReader<'_> {
    fn cells(&self) -> Result<impl Iterator<Item = Cell>, Error> {
        let types = self.0.columns().iter().map(|column| column.ty);
        Ok(self.0.values()?.into_iter().zip(types).map(|(value, ty)| Cell { value, ty }))
    }

    fn read_seq<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let mut cells = SeqDeserializer::new(self.cells()?);
        let read = visitor.visit_seq(&mut cells)?;
        cells.end().map(|()| read)
    }

    /// Reads a map whose keys are the labels of the columns, or the `names` that equal them in any case.
    fn read_map<'de, V: Visitor<'de>>(self, names: &'static [&'static str], visitor: V) -> Result<V::Value, Error> {
        let name = |label: &str| {
            let named = names.iter().find(|name| **name == label);
            named
                .or_else(|| names.iter().find(|name| name.eq_ignore_ascii_case(label)))
                .map_or(label, |name| name)
                .to_owned()
        };
        let labels: Vec<String> = self.0.columns().iter().map(|column| name(&column.label)).collect();
        let mut cells = MapDeserializer::new(labels.into_iter().zip(self.cells()?));
        let read = visitor.visit_map(&mut cells)?;
        cells.end().map(|()| read)
    }
}

impl<'de> Deserializer<'de> for RowReader<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.read_map(&[], visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.read_map(fields, visitor)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.read_seq(visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.read_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.read_seq(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct map
        enum identifier ignored_any
    }
}

/// Writes parameters.
pub(super) struct ParamsWriter;

/// Parameters by position.
#[derive(Default)]
pub(super) struct Positions(Vec<Value>);

/// Parameters by name.
#[derive(Default)]
pub(super) struct Names {
    named: Vec<(String, Value)>,
    /// The key of a map's entry whose value follows.
    key: String,
}

macro_rules! no_params {
    ($($method:ident($($ty:ty),*) $($what:literal)?;)*) => { $(
        fn $method(self, $(_: $ty),*) -> Result<Params, Error> {
            Err(none("parameters are a struct, a map, a tuple or a list"))
        }
    )* };
}

impl Serializer for ParamsWriter {
    type Ok = Params;
    type Error = Error;
    type SerializeSeq = Positions;
    type SerializeTuple = Positions;
    type SerializeTupleStruct = Positions;
    type SerializeTupleVariant = Impossible<Params, Error>;
    type SerializeMap = Names;
    type SerializeStruct = Names;
    type SerializeStructVariant = Impossible<Params, Error>;

    no_params! {
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
        serialize_none();
        serialize_unit_variant(&'static str, u32, &'static str);
    }

    fn serialize_unit(self) -> Result<Params, Error> {
        Ok(Params::Positional(Vec::new()))
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<Params, Error> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Params, Error> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<Params, Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<Params, Error> {
        Err(none("a variant with data is no parameters"))
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Positions, Error> {
        Ok(Positions::default())
    }

    fn serialize_tuple(self, _: usize) -> Result<Positions, Error> {
        Ok(Positions::default())
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Positions, Error> {
        Ok(Positions::default())
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Error> {
        Err(none("a variant with data is no parameters"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Names, Error> {
        Ok(Names::default())
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Names, Error> {
        Ok(Names::default())
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Error> {
        Err(none("a variant with data is no parameters"))
    }
}

macro_rules! positions {
    ($($of:ident $method:ident),*) => { $(
        impl $of for Positions {
            type Ok = Params;
            type Error = Error;
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
                self.0.push(value.serialize(ValueWriter)?);
                Ok(())
            }
            fn end(self) -> Result<Params, Error> {
                Ok(Params::Positional(self.0))
            }
        }
    )* };
}
positions!(SerializeSeq serialize_element, SerializeTuple serialize_element, SerializeTupleStruct serialize_field);

impl SerializeStruct for Names {
    type Ok = Params;
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Error> {
        self.named.push((name.to_owned(), value.serialize(ValueWriter)?));
        Ok(())
    }

    fn end(self) -> Result<Params, Error> {
        Ok(Params::Named(self.named))
    }
}

impl SerializeMap for Names {
    type Ok = Params;
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        match key.serialize(ValueWriter)? {
            Value::Text(key) => self.key = key,
            _ => return Err(none("the keys of a map of parameters are texts")),
        }
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        let value = value.serialize(ValueWriter)?;
        self.named.push((std::mem::take(&mut self.key), value));
        Ok(())
    }

    fn end(self) -> Result<Params, Error> {
        Ok(Params::Named(self.named))
    }
}
