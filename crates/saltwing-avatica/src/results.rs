//! An open result, and the frames in which its rows go to the client.
//!
//! A frame ends after the rows that the client asked for, or when it has [`FRAME_BYTES_MAX`], or at the end of the result. So a result of any
//! size takes the memory of one frame and of the batch that the library reads.

use saltwing::{Rows, SqlType, Value};

use crate::error::AvaticaError;
use crate::messages::{Frame, Row};
use crate::values;

/// The rows of a frame if the client leaves it to the server.
const FRAME_ROWS: usize = 100;
/// The most rows of a frame.
const FRAME_ROWS_MAX: usize = 100_000;
/// A frame with as many bytes of values gets no more rows.
const FRAME_BYTES_MAX: usize = 8 << 20;

/// The rows of the next frame: as many as the client wants, if it says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FrameRows(usize);

impl FrameRows {
    /// The rows that a request asks for: `wanted` if it is above 0, as many as are allowed below 0, and for 0, which is an absent field,
    /// what the fields of older clients say.
    pub(crate) fn of(wanted: i32, older: &[u64]) -> Self {
        let older = older.iter().find(|rows| **rows > 0).map(|rows| usize::try_from(*rows).unwrap_or(usize::MAX));
        let rows = match usize::try_from(wanted) {
            Ok(0) => older.unwrap_or(FRAME_ROWS),
            Ok(wanted) => wanted,
            Err(_) => FRAME_ROWS_MAX,
        };
        Self(rows.min(FRAME_ROWS_MAX))
    }
}

/// The rows that a client takes of a result in all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowsMax(Option<u64>);

impl RowsMax {
    /// `total` if it is above 0, else what older clients send; without either there is no limit.
    pub(crate) fn of(total: i64, older: u64) -> Self {
        Self(u64::try_from(total).ok().filter(|total| *total > 0).or_else(|| Some(older).filter(|older| *older > 0)))
    }

    /// The same for the first frame of a client that gives no other size.
    pub(crate) fn as_frame(self) -> u64 {
        self.0.unwrap_or_default()
    }
}

/// Where rows come from.
enum Source {
    /// A statement, as it runs.
    Statement(Box<Rows>),
    /// Rows of metadata, which are at hand.
    Given(std::vec::IntoIter<Vec<Value>>),
}

/// A result whose rows have not all been sent.
pub(crate) struct OpenResult {
    text: String,
    source: Source,
    types: Vec<SqlType>,
    position: u64,
    left: Option<u64>,
}

impl OpenResult {
    /// The rows of a statement with this text.
    pub(crate) fn of_statement(text: &str, rows: Rows, RowsMax(left): RowsMax) -> Self {
        let types = rows.columns().iter().map(|column| column.ty).collect();
        Self { text: text.to_owned(), source: Source::Statement(Box::new(rows)), types, position: 0, left }
    }

    /// Rows of these types.
    pub(crate) fn of_rows(types: Vec<SqlType>, rows: Vec<Vec<Value>>) -> Self {
        Self { text: "METADATA".to_owned(), source: Source::Given(rows.into_iter()), types, position: 0, left: None }
    }

    /// The text of its statement, as lists of sessions show it.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The place of the next row, from 0.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// Whether there are rows at hand, of a result of metadata.
    pub(crate) fn has_given_rows(&self) -> bool {
        matches!(&self.source, Source::Given(rows) if rows.len() > 0)
    }

    /// The next rows. After the frame that is `done` there are none.
    ///
    /// # Errors
    /// The error of the read; as [`values::to_wire`].
    pub(crate) async fn next_frame(&mut self, FrameRows(rows_max): FrameRows) -> Result<Frame, AvaticaError> {
        let mut frame = Frame { offset: self.position, done: false, rows: Vec::new() };
        let mut bytes: usize = 0;
        while frame.rows.len() < rows_max && bytes < FRAME_BYTES_MAX {
            let Some(row) = self.next().await? else {
                frame.done = true;
                break;
            };
            bytes = bytes.saturating_add(Value::bytes_of_row(&row));
            frame.rows.push(self.wire_row(row)?);
        }
        // A limit is an end that is known without a look for another row.
        frame.done |= self.left == Some(0);
        Ok(frame)
    }

    /// Passes over rows up to the one at this place. Gives whether it is there.
    ///
    /// # Errors
    /// The error of the read.
    pub(crate) async fn skip_to(&mut self, position: u64) -> Result<bool, AvaticaError> {
        while self.position < position {
            if self.next().await?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn next(&mut self) -> Result<Option<Vec<Value>>, AvaticaError> {
        if self.left == Some(0) {
            return Ok(None);
        }
        let row = match &mut self.source {
            Source::Statement(rows) => rows.next().await?.map(|row| row.values()).transpose()?,
            Source::Given(rows) => rows.next(),
        };
        if row.is_some() {
            self.position = self.position.saturating_add(1);
            self.left = self.left.map(|left| left.saturating_sub(1));
        }
        Ok(row)
    }

    fn wire_row(&self, row: Vec<Value>) -> Result<Row, AvaticaError> {
        let value = row
            .into_iter()
            .zip(&self.types)
            .map(|(value, ty)| values::to_wire(value, *ty))
            .collect::<Result<_, _>>()?;
        Ok(Row { value })
    }
}

/// The frame after the last row.
pub(crate) fn end_frame(offset: u64) -> Frame {
    Frame { offset, done: true, rows: Vec::new() }
}

#[cfg(test)]
mod tests {
    use saltwing::{SqlType, Value};

    use super::{FRAME_BYTES_MAX, FRAME_ROWS_MAX, FrameRows, OpenResult, RowsMax, Source};

    fn result(rows: usize, max: RowsMax) -> OpenResult {
        let rows = (0..rows).map(|row| vec![Value::Int(row as i64)]).collect();
        OpenResult { left: max.0, ..OpenResult::of_rows(vec![SqlType::BigInt], rows) }
    }

    async fn frames(mut result: OpenResult, rows: i32) -> Vec<(u64, usize, bool)> {
        let mut frames = Vec::new();
        loop {
            let frame = result.next_frame(FrameRows::of(rows, &[])).await.unwrap();
            frames.push((frame.offset, frame.rows.len(), frame.done));
            if frame.done {
                return frames;
            }
            assert!(!frame.rows.is_empty(), "an empty frame is done");
        }
    }

    #[tokio::test]
    async fn frames_have_the_size_that_the_client_asks_for() {
        let all = RowsMax::of(0, 0);
        assert_eq!(frames(result(5, all), 2).await, [(0, 2, false), (2, 2, false), (4, 1, true)]);
        assert_eq!(frames(result(4, all), 2).await, [(0, 2, false), (2, 2, false), (4, 0, true)]);
        assert_eq!(frames(result(0, all), 2).await, [(0, 0, true)]);
        assert_eq!(frames(result(5, all), -1).await, [(0, 5, true)]);
        assert_eq!(frames(result(101, all), 0).await, [(0, 100, false), (100, 1, true)]);
    }

    #[tokio::test]
    async fn a_limit_of_rows_ends_the_result() {
        assert_eq!(frames(result(5, RowsMax::of(4, 0)), 2).await, [(0, 2, false), (2, 2, true)]);
        assert_eq!(frames(result(5, RowsMax::of(-1, 3)), 2).await, [(0, 2, false), (2, 1, true)]);
    }

    #[tokio::test]
    async fn rows_that_are_passed_over_count() {
        let mut result = result(5, RowsMax::of(0, 0));
        assert!(result.skip_to(3).await.unwrap());
        let frame = result.next_frame(FrameRows::of(9, &[])).await.unwrap();
        assert_eq!((frame.offset, frame.rows.len(), frame.done), (3, 2, true));
        assert!(!result.skip_to(6).await.unwrap());
    }

    #[tokio::test]
    async fn long_rows_end_a_frame_early() {
        let rows = (0..3).map(|_| vec![Value::text("x".repeat(FRAME_BYTES_MAX / 2))]).collect();
        let result = OpenResult::of_rows(vec![SqlType::Varchar(None)], rows);
        assert_eq!(frames(result, 100).await, [(0, 2, false), (2, 1, true)]);
    }

    /// A result that is not read costs no more than some batches.
    #[tokio::test]
    async fn rows_are_read_as_frames_are_wanted() {
        const ROWS: i64 = 100_000;
        let database = saltwing::Database::memory().unwrap();
        let connection = database.connect();
        connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY)", ()).await.unwrap();
        let blocking = connection.blocking();
        let mut appender = blocking.appender("t").unwrap();
        (0..ROWS).for_each(|k| appender.append_row((k,)).unwrap());
        appender.close().unwrap();
        let rows = connection.query("SELECT k FROM t WHERE k >= 0", ()).await.unwrap();
        let mut result = OpenResult::of_statement("", rows, RowsMax::of(0, 0));
        let frame = result.next_frame(FrameRows::of(10, &[])).await.unwrap();
        assert_eq!((frame.rows.len(), frame.done), (10, false));
        let Source::Statement(rows) = &result.source else { panic!("the rows of a statement") };
        let read = rows.stats().keys_read;
        assert!(read < ROWS as u64 / 2, "{read} of {ROWS} rows are read for a frame of 10");
    }

    #[test]
    fn an_absent_size_is_that_of_older_fields() {
        assert_eq!(FrameRows::of(7, &[9]).0, 7);
        assert_eq!(FrameRows::of(0, &[0, 9]).0, 9);
        assert_eq!(FrameRows::of(0, &[]).0, 100);
        assert_eq!(FrameRows::of(i32::MAX, &[]).0, FRAME_ROWS_MAX);
        assert_eq!(FrameRows::of(0, &[u64::MAX]).0, FRAME_ROWS_MAX);
    }
}
