//! Comments on objects and columns.

use saltwing::{Error, Volatility, blocking};

use super::shared::{Shared, number, with};

pub(super) fn comments(connection: &blocking::Connection, shared: &Shared) -> Result<(), Error> {
    let of_object = with(shared, |it, (oid, class): (i64, Option<String>)| {
        let class = match class {
            Some(class) => Some(number(it.object_number("regclass", &class).ok()?)?),
            None => None,
        };
        it.comment(number(oid)?, class, 0).map(str::to_owned)
    });
    connection.register_function("object_comment", Volatility::Stable, move |oid: i64, class: Option<String>| {
        of_object((oid, class))
    })?;
    let of_column = with(shared, |it, (oid, column): (i64, i32)| {
        it.comment(number(oid)?, Some(1259), column).filter(|_| column > 0).map(str::to_owned)
    });
    connection
        .register_function("column_comment", Volatility::Stable, move |oid: i64, column: i32| of_column((oid, column)))
}
