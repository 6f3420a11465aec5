//! The properties of the database that drivers ask for once a connection.
//!
//! The name of the driver is Phoenix's: the Go driver decodes the values of Phoenix's types only if the driver has that name.

use saltwing::{SqlType, Value};

use crate::error::AvaticaError;
use crate::messages::{DatabaseProperty, DatabasePropertyElement, DatabasePropertyResponse};
use crate::values;

/// The version of Phoenix whose language the server speaks.
const PHOENIX: (i64, i64) = (5, 2);
/// `TRANSACTION_REPEATABLE_READ` of JDBC.
const REPEATABLE_READ: i64 = 4;

/// All properties.
///
/// # Errors
/// None of these values is out of range; as [`values::scalar`].
pub(crate) fn properties() -> Result<DatabasePropertyResponse, AvaticaError> {
    let (major, minor) = PHOENIX;
    let number = |number: i64| (Value::Int(number), SqlType::Integer);
    let text = |text: &str| (Value::text(text), SqlType::Varchar(None));
    let version = format!("{major}.{minor}");
    let product_version = format!("{version} (Saltwing {})", env!("CARGO_PKG_VERSION"));
    let properties = [
        ("GET_DRIVER_NAME", text("PhoenixEmbeddedDriver")),
        ("GET_DRIVER_VERSION", text(&version)),
        ("GET_DRIVER_MAJOR_VERSION", number(major)),
        ("GET_DRIVER_MINOR_VERSION", number(minor)),
        ("GET_DATABASE_PRODUCT_NAME", text("Phoenix")),
        ("GET_DATABASE_PRODUCT_VERSION", text(&product_version)),
        ("GET_DATABASE_MAJOR_VERSION", number(major)),
        ("GET_DATABASE_MINOR_VERSION", number(minor)),
        ("GET_DEFAULT_TRANSACTION_ISOLATION", number(REPEATABLE_READ)),
    ];
    let element = |(name, (value, ty)): (&str, (Value, SqlType))| {
        Ok(DatabasePropertyElement {
            key: Some(DatabaseProperty { name: name.to_owned(), functions: Vec::new() }),
            value: Some(values::scalar(value, ty)?),
        })
    };
    let props = properties.into_iter().map(element).collect::<Result<_, AvaticaError>>()?;
    Ok(DatabasePropertyResponse { props })
}
