//! Rows and parameters through serde, with the feature `serde`.

mod cell;
mod parameter;
mod record;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Error, FromRow, Params, Row};

/// A row as a type that implements `Deserialize`: `query_as::<Serde<Session>>(..)`.
///
/// A struct or a map gets the columns by their labels (fields in any case), a tuple gets them in order. Numbers, texts, booleans and
/// `Option` map to themselves; bytes are serde's bytes; DECIMAL, dates and instants are the texts that the shell prints, and DECIMAL is also a
/// number if the type requests one. An enum without data is read from a text.
///
/// ```
/// # fn main() -> Result<(), saltwing::Error> {
/// use saltwing::{Database, Serde, to_params};
///
/// #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
/// struct Session {
///     phone: String,
///     up: Option<u32>,
/// }
///
/// let connection = Database::memory()?.connect().blocking();
/// connection.execute("CREATE TABLE log (phone VARCHAR PRIMARY KEY, up BIGINT)", ())?;
/// let session = Session { phone: "1".into(), up: Some(7) };
/// connection.execute("UPSERT INTO log VALUES (:phone, :up)", to_params(&session)?)?;
/// let Serde(read) = connection.query_one::<Serde<Session>>("SELECT * FROM log WHERE phone = '1'", ())?;
/// assert_eq!(read, session);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Serde<T>(pub T);

impl<T: DeserializeOwned> FromRow for Serde<T> {
    fn from_row(row: &Row) -> Result<Self, Error> {
        T::deserialize(record::RowReader(row)).map(Self)
    }
}

/// Parameters from a type that implements `Serialize`: the fields of a struct or the entries of a map by name, those of a tuple or a list by
/// position.
///
/// Values are as in [`Serde`]; a list of values, or a struct inside a struct, is not a value.
///
/// # Errors
/// `type_mismatch` for a type that cannot be a parameter.
pub fn to_params(value: &impl Serialize) -> Result<Params, Error> {
    value.serialize(record::ParamsWriter)
}
