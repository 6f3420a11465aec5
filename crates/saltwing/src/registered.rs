//! Functions and Arrow tables that the program registers for queries.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use arrow::array::RecordBatch;
use arrow::datatypes::{Field, Schema, SchemaRef};
use saltwing_catalog::{ArrowRows, ArrowTable, CatalogChange, CatalogStore};
use saltwing_datafusion::{Compute, RegisteredFunction};
use saltwing_expr::{arrow_type, sql_type};
use saltwing_sql::quote_name;
use saltwing_types::function::Volatility;
use saltwing_types::value::Timestamp;
use saltwing_types::{Decimal, ErrorCode, Interval, SqlType, Value};

use crate::arrow_column::converted;
use crate::session::Session;
use crate::{Connection, Error, FromValue, blocking};

/// A type of a registered function's arguments and results; its `Option` accepts and returns NULL.
pub trait FunctionType: FromValue + Into<Value> {
    /// The SQL type.
    const TYPE: SqlType;
    /// Whether the type can hold NULL.
    const TAKES_NULL: bool = false;
}

impl<T: FunctionType> FunctionType for Option<T> {
    const TYPE: SqlType = T::TYPE;
    const TAKES_NULL: bool = true;
}

macro_rules! function_types {
    ($($rust:ty => $sql:expr),* $(,)?) => { $(
        impl FunctionType for $rust {
            const TYPE: SqlType = $sql;
        }
    )* };
}
function_types! {
    bool => SqlType::Boolean,
    i32 => SqlType::Integer,
    i64 => SqlType::BigInt,
    f32 => SqlType::Float,
    f64 => SqlType::Double,
    Decimal => SqlType::Decimal(None),
    char => SqlType::Varchar(None),
    String => SqlType::Varchar(None),
    Vec<u8> => SqlType::Varbinary,
    Timestamp => SqlType::Timestamp,
    Interval => SqlType::Interval,
    SystemTime => SqlType::Timestamp,
}

#[cfg(feature = "uuid")]
function_types!(uuid::Uuid => SqlType::Uuid);

/// A result of a registered function: a [`FunctionType`], or a `Result` of one, whose error ends the statement.
pub trait FunctionResult {
    /// The SQL type.
    const TYPE: SqlType;
    /// The value, or the error's text.
    ///
    /// # Errors
    /// The error of the function.
    fn into_value(self) -> Result<Value, String>;
}

impl<T: FunctionType> FunctionResult for T {
    const TYPE: SqlType = T::TYPE;
    fn into_value(self) -> Result<Value, String> {
        Ok(self.into())
    }
}

impl<T: FunctionType, E: fmt::Display> FunctionResult for Result<T, E> {
    const TYPE: SqlType = T::TYPE;
    fn into_value(self) -> Result<Value, String> {
        self.map(Into::into).map_err(|error| error.to_string())
    }
}

/// A closure of up to six arguments, each a [`FunctionType`], whose result is a [`FunctionResult`]. `A` is the tuple of the arguments.
pub trait ScalarFunction<A>: Send + Sync + 'static {
    /// The types of the arguments.
    const PARAMETERS: &'static [SqlType];
    /// The type of the result.
    const RESULT: SqlType;
    /// Computes a call; NULL if an argument is NULL and its type is not an `Option`.
    ///
    /// # Errors
    /// The error of the function.
    fn call(&self, arguments: Vec<Value>) -> Result<Value, String>;
}

macro_rules! scalar_functions {
    ($(($($name:ident)*))*) => { $(
        #[allow(non_snake_case, unused_mut, unused_variables)] // each argument has the name of its type
        impl<Closure, R, $($name),*> ScalarFunction<($($name,)*)> for Closure
        where
            Closure: Fn($($name),*) -> R + Send + Sync + 'static,
            R: FunctionResult,
            $($name: FunctionType,)*
        {
            const PARAMETERS: &'static [SqlType] = &[$($name::TYPE),*];
            const RESULT: SqlType = R::TYPE;

            fn call(&self, arguments: Vec<Value>) -> Result<Value, String> {
                let mut arguments = arguments.into_iter();
                $(
                    let value = arguments.next().unwrap_or(Value::Null);
                    if value.is_null() && !$name::TAKES_NULL {
                        return Ok(Value::Null);
                    }
                    let $name = $name::from_value(value, $name::TYPE)
                        .ok_or_else(|| format!("it takes {}", $name::EXPECTED))?;
                )*
                self($($name),*).into_value()
            }
        }
    )* };
}
scalar_functions! {
    ()
    (A)
    (A B)
    (A B C)
    (A B C D)
    (A B C D E)
    (A B C D E F)
}

fn register_function<A>(
    session: &Session,
    name: &str,
    volatility: Volatility,
    function: impl ScalarFunction<A>,
) -> Result<(), Error> {
    fn parts<A, F: ScalarFunction<A>>(function: F) -> (Vec<SqlType>, SqlType, Compute) {
        (F::PARAMETERS.to_vec(), F::RESULT, Arc::new(move |values| function.call(values)))
    }
    let name = name.to_lowercase();
    if quote_name(&name) != name {
        return Err(Error::new(ErrorCode::BadArgument, format!("{name:?} is no name of a function")));
    }
    let (parameters, result, compute) = parts(function);
    let registered = RegisteredFunction { name, parameters, result, volatility, compute };
    Ok(session.shared().engine.register_function(registered)?)
}

fn register_arrow(session: &Session, name: &str, schema: &SchemaRef, batches: &[RecordBatch]) -> Result<(), Error> {
    let columns = columns_of(schema)?;
    let fields = columns.iter().zip(schema.fields());
    let fields = fields.map(|(ty, field)| Field::new(field.name(), arrow_type(*ty), field.is_nullable()));
    let stored = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let convert = |batch: &RecordBatch| {
        if batch.schema_ref().fields() != schema.fields() {
            return Err(Error::new(ErrorCode::TypeMismatch, "the batches have different columns"));
        }
        let columns = batch.columns().iter().zip(&columns);
        let columns = columns.map(|(column, ty)| converted(column, *ty).map_err(|(_, error)| error));
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        let batch = RecordBatch::try_new(stored.clone(), columns);
        batch.map_err(|error| Error::new(ErrorCode::TypeMismatch, error.to_string()))
    };
    let batches = batches.iter().map(convert).collect::<Result<Vec<_>, Error>>()?;
    let table = ArrowTable { name: name.to_owned(), schema: stored.clone(), rows: ArrowRows::Batches(batches) };
    session.own.catalog.apply(CatalogChange::RegisterArrow(table))?;
    Ok(())
}

/// The SQL types of the columns.
///
/// # Errors
/// No columns, two columns with one name, a type that SQL lacks.
fn columns_of(schema: &SchemaRef) -> Result<Vec<SqlType>, Error> {
    let mut names = std::collections::HashSet::new();
    let column = |field: &Arc<Field>| {
        let name = field.name();
        if !names.insert(name.to_lowercase()) {
            return Err(Error::new(ErrorCode::DuplicateColumn, format!("two columns have the name {name}")));
        }
        let lacks =
            || Error::new(ErrorCode::NotSupported, format!("column {name}: SQL has no type {}", field.data_type()));
        sql_type(field.data_type()).filter(|ty| *ty != SqlType::Null).ok_or_else(lacks)
    };
    match schema.fields().is_empty() {
        true => Err(Error::new(ErrorCode::InvalidDefinition, "a table has at least one column")),
        false => schema.fields().iter().map(column).collect(),
    }
}

impl blocking::Connection {
    /// Registers a closure as a scalar function of SQL, for all connections of the database until it is closed.
    ///
    /// ```
    /// # fn main() -> Result<(), saltwing::Error> {
    /// use saltwing::Volatility;
    ///
    /// let connection = saltwing::Database::memory()?.connect().blocking();
    /// connection.register_function("area", Volatility::Immutable, |a: f64, b: f64| a * b)?;
    /// connection.register_function("half", Volatility::Immutable, |n: Option<i64>| match n {
    ///     Some(n) if n % 2 == 1 => Err(format!("{n} is odd")),
    ///     n => Ok(n.map(|n| n / 2)),
    /// })?;
    /// let (area, half): (f64, i64) = connection.query_one("SELECT area(2, 1.5), half(8)", ())?;
    /// assert_eq!((area, half), (3.0, 4));
    /// assert!(connection.query("SELECT half(7)", ())?.next().is_some_and(|row| row.is_err()));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// The types of the closure are the function's signature; arguments are converted to them. A call is NULL if an argument is NULL and its type is
    /// not an `Option`. Queries with such a function run in the relational engine, and a comparison with a call bounds no key. `volatility` must be
    /// correct: calls of an immutable function may be computed once, while planning. The closure runs on several threads; a panic in it is an error
    /// of the statement.
    ///
    /// # Errors
    /// `duplicate_function` for the name of an existing function; `bad_argument` for a name that needs quotes.
    pub fn register_function<A>(
        &self,
        name: &str,
        volatility: Volatility,
        function: impl ScalarFunction<A>,
    ) -> Result<(), Error> {
        register_function(&self.session, name, volatility, function)
    }

    /// Registers Arrow batches as a table that queries can read by its name, for all connections of the database until it is closed.
    ///
    /// ```
    /// # fn main() -> Result<(), saltwing::Error> {
    /// use std::sync::Arc;
    /// use saltwing::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
    ///
    /// let connection = saltwing::Database::memory()?.connect().blocking();
    /// connection.execute("CREATE TABLE log (host VARCHAR PRIMARY KEY, up BIGINT)", ())?;
    /// connection.execute("UPSERT INTO log VALUES ('a', 7), ('b', 8)", ())?;
    /// let hosts: ArrayRef = Arc::new(StringArray::from(vec!["b", "c"]));
    /// let batch = RecordBatch::try_from_iter([("host", hosts)]).expect("the columns are equally long");
    /// connection.register_arrow("wanted", batch.schema_ref(), &[batch.clone()])?;
    /// let (up,): (i64,) = connection.query_one("SELECT up FROM wanted JOIN log USING (host)", ())?;
    /// assert_eq!(up, 8);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// The batches are shared, not copied, except for columns that are converted to the Arrow type of their SQL type. Another registration with the
    /// same name replaces the table; running statements keep the batches with which they began. The table cannot be written, and lists of tables do
    /// not show it; the guard does not check its reads. If a stored table is created with the name later, queries read the stored table.
    ///
    /// # Errors
    /// `duplicate_table` for the name of a stored table; `not_supported` for a type that SQL lacks; `duplicate_column`.
    pub fn register_arrow(&self, name: &str, schema: &SchemaRef, batches: &[RecordBatch]) -> Result<(), Error> {
        register_arrow(&self.session, name, schema, batches)
    }

    /// Removes a table of [`Connection::register_arrow`](blocking::Connection::register_arrow).
    ///
    /// # Errors
    /// `no_such_table`.
    pub fn unregister_arrow(&self, name: &str) -> Result<(), Error> {
        self.session.own.catalog.apply(CatalogChange::UnregisterArrow(name))?;
        Ok(())
    }
}

impl Connection {
    /// As [`blocking::Connection::register_function`].
    ///
    /// # Errors
    /// Those of the blocking method.
    pub fn register_function<A>(
        &self,
        name: &str,
        volatility: Volatility,
        function: impl ScalarFunction<A>,
    ) -> Result<(), Error> {
        self.blocking.register_function(name, volatility, function)
    }

    /// As [`blocking::Connection::register_arrow`].
    ///
    /// # Errors
    /// Those of the blocking method.
    pub fn register_arrow(&self, name: &str, schema: &SchemaRef, batches: &[RecordBatch]) -> Result<(), Error> {
        self.blocking.register_arrow(name, schema, batches)
    }

    /// As [`blocking::Connection::unregister_arrow`].
    ///
    /// # Errors
    /// Those of the blocking method.
    pub fn unregister_arrow(&self, name: &str) -> Result<(), Error> {
        self.blocking.unregister_arrow(name)
    }
}
