//! Arrow's C stream interface, out and in.

use std::sync::Arc;

use saltwing::Database;
use saltwing::arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch, RecordBatchIterator, StringArray};
use saltwing::arrow::datatypes::Int64Type;
use saltwing::arrow::error::ArrowError;
use saltwing::arrow::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use saltwing::blocking::Connection;

use crate::{code, texts};

fn filled(rows: i64) -> Connection {
    let connection = Database::memory().unwrap().connect().blocking();
    connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, s VARCHAR)", ()).unwrap();
    let mut appender = connection.appender("t").unwrap();
    for k in 0..rows {
        appender.append_row((k, (k % 3 > 0).then(|| format!("row {k}")))).unwrap();
    }
    appender.close().unwrap();
    connection
}

#[test]
fn results_come_back_through_the_c_interface() {
    let connection = filled(20_000);
    let stream = connection.query_arrow("SELECT k, s FROM t WHERE k >= 0", ()).unwrap().into_arrow_stream();
    let reader = ArrowArrayStreamReader::try_new(stream).unwrap();
    let (mut next, mut nulls) = (0, 0);
    for batch in reader {
        let batch = batch.unwrap();
        for k in batch.column(0).as_primitive::<Int64Type>().values() {
            assert_eq!(*k, next);
            next += 1;
        }
        nulls += batch.column(1).as_string::<i32>().iter().filter(Option::is_none).count();
    }
    assert_eq!((next, nulls), (20_000, 6_667));
}

#[test]
fn an_error_of_a_later_batch_is_the_streams() {
    let connection = filled(20_000);
    let stream = connection.query_arrow("SELECT 1 / (k - 19999) FROM t WHERE k >= 0", ()).unwrap().into_arrow_stream();
    let errors: Vec<ArrowError> = ArrowArrayStreamReader::try_new(stream).unwrap().filter_map(Result::err).collect();
    assert!(errors.first().is_some_and(|error| error.to_string().contains("division by zero")), "{errors:?}");
    // A stream that is dropped stops its statement.
    drop(connection.query_arrow("SELECT k FROM t WHERE k >= 0", ()).unwrap().into_arrow_stream());
}

fn stream(batches: Vec<Result<RecordBatch, ArrowError>>) -> FFI_ArrowArrayStream {
    let schema = batch(0).schema();
    FFI_ArrowArrayStream::new(Box::new(RecordBatchIterator::new(batches, schema)))
}

fn batch(from: i64) -> RecordBatch {
    let keys: ArrayRef = Arc::new(Int64Array::from_iter_values(from..from + 3));
    let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None, Some("c")]));
    RecordBatch::try_from_iter([("k", keys), ("s", texts)]).unwrap()
}

#[test]
fn streams_are_appended_and_queried() {
    let connection = filled(0);
    let mut appender = connection.appender("t").unwrap();
    appender.append_arrow_stream(stream(vec![Ok(batch(0)), Ok(batch(3))])).unwrap();
    assert_eq!(appender.close().unwrap(), 6);
    assert_eq!(texts(&connection, "SELECT k FROM t WHERE s = 'c' AND k > 0").unwrap(), ["2", "5"]);
    let failing = || stream(vec![Ok(batch(10)), Err(ArrowError::ComputeError("no more".into()))]);
    let mut appender = connection.appender("t").unwrap();
    let error = appender.append_arrow_stream(failing()).unwrap_err();
    assert!(error.to_string().contains("no more"), "{error}");
    assert_eq!(appender.close().unwrap(), 3);
    let mut other = connection.appender_columns("t", &["k"]).unwrap();
    assert_eq!(code(other.append_arrow_stream(stream(vec![Ok(batch(0))]))), "bad_parameter");
    #[cfg(feature = "datafusion")]
    {
        connection.register_arrow_stream("extra", stream(vec![Ok(batch(0)), Ok(batch(3))])).unwrap();
        assert_eq!(texts(&connection, "SELECT count(*), max(k) FROM extra").unwrap(), ["6|5"]);
        assert_eq!(code(connection.register_arrow_stream("extra", failing())), "bad_argument");
        assert_eq!(code(connection.register_arrow_stream("none", FFI_ArrowArrayStream::empty())), "bad_argument");
    }
}
