//! The rows of a result as values of a Rust type.

use std::marker::PhantomData;

use futures_util::stream::{Stream, try_unfold};

use crate::{Error, FromRow, Row, Rows};

/// The rows of a result, each as an `R`. Dropping it stops the statement.
pub struct TypedRows<R> {
    pub(crate) rows: Rows,
    row: PhantomData<fn() -> R>,
}

impl<R: FromRow> TypedRows<R> {
    pub(crate) fn new(rows: Rows) -> Self {
        Self { rows, row: PhantomData }
    }

    /// The next row; `None` at the end.
    ///
    /// # Errors
    /// An error of the read or of the computation; as [`Row::get`].
    pub async fn next(&mut self) -> Result<Option<R>, Error> {
        self.rows.next().await?.map(|row| R::from_row(&row)).transpose()
    }

    /// As [`TypedRows::next`], blocking the thread.
    ///
    /// # Errors
    /// Those of the async method.
    pub fn next_blocking(&mut self) -> Result<Option<R>, Error> {
        self.rows.next_blocking()?.map(|row| R::from_row(&row)).transpose()
    }

    /// All rows.
    ///
    /// # Errors
    /// As [`TypedRows::next`].
    pub async fn collect(mut self) -> Result<Vec<R>, Error> {
        let mut all = Vec::new();
        while let Some(row) = self.next().await? {
            all.push(row);
        }
        Ok(all)
    }

    /// The rows as a stream, which ends after an error.
    pub fn into_stream(self) -> impl Stream<Item = Result<R, Error>> + Send {
        try_unfold(self, |mut rows| async move { Ok(rows.next().await?.map(|row| (row, rows))) })
    }
}

impl Rows {
    /// All remaining rows.
    ///
    /// # Errors
    /// As [`Rows::next`].
    pub async fn collect(self) -> Result<Vec<Row>, Error> {
        TypedRows::new(self).collect().await
    }

    /// The rows as a stream, which ends after an error.
    pub fn into_stream(self) -> impl Stream<Item = Result<Row, Error>> + Send {
        TypedRows::new(self).into_stream()
    }
}
