//! COPY FROM STDIN and TO STDOUT take the caller's streams: the library has none of its own.

use std::io::{self, Read, Write};
use std::time::Duration;

use saltwing::blocking::Connection;
use saltwing::{Database, ErrorCode};

use crate::{code, texts};

fn table() -> Connection {
    let connection = Database::memory().unwrap().connect().blocking();
    connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR)", ()).unwrap();
    connection
}

fn count(connection: &Connection) -> String {
    texts(connection, "SELECT COUNT(*) FROM t WHERE k >= 0").unwrap().remove(0)
}

#[test]
fn without_a_stream_the_error_names_the_call() {
    let connection = table();
    for (sql, message, call) in [
        ("COPY t FROM STDIN", "COPY FROM STDIN needs a reader", "run it by Connection::copy_from_reader"),
        ("COPY t FROM '/dev/stdin'", "COPY FROM STDIN needs a reader", "run it by Connection::copy_from_reader"),
        ("COPY t TO STDOUT", "COPY TO STDOUT needs a writer", "run it by Connection::copy_to_writer"),
        ("COPY t TO '/dev/stdout'", "COPY TO STDOUT needs a writer", "run it by Connection::copy_to_writer"),
    ] {
        let error = connection.execute(sql, ()).unwrap_err();
        assert_eq!((error.code(), error.to_string().as_str()), (ErrorCode::NotSupported, message));
        assert_eq!(error.help(), Some(call));
        assert!(error.span().is_some(), "{sql}");
    }
}

#[test]
fn a_stream_is_for_its_own_statement_alone() {
    let connection = table();
    for sql in ["COPY t TO STDOUT", "COPY t FROM 'file'", "SELECT 1", "UPSERT INTO t VALUES (1, 'x')"] {
        assert_eq!(code(connection.copy_from_reader(sql, io::empty())), "bad_argument", "{sql}");
    }
    for sql in ["COPY t FROM STDIN", "COPY t TO 'file'", "SELECT 1"] {
        assert_eq!(code(connection.copy_to_writer(sql, (), io::sink())), "bad_argument", "{sql}");
    }
    assert_eq!(code(connection.copy_from_reader("COPY t FROM", io::empty())), "syntax");
    assert_eq!(count(&connection), "0");
}

/// A header tells columns of different families with the same name apart.
#[test]
fn columns_with_the_same_name_come_back() {
    let connection = Database::memory().unwrap().connect().blocking();
    connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, a.v BIGINT, b.V VARCHAR, w BIGINT)", ()).unwrap();
    connection.execute("UPSERT INTO t VALUES (1, 2, 'x', 3)", ()).unwrap();
    let mut file = Vec::new();
    connection.copy_to_writer("COPY t TO STDOUT WITH (HEADER)", (), &mut file).unwrap();
    assert_eq!(String::from_utf8_lossy(&file), "k,a.v,b.V,w\n1,2,x,3\n");
    connection.execute("TRUNCATE t", ()).unwrap();
    connection.copy_from_reader("COPY t FROM STDIN WITH (HEADER)", &*file).unwrap();
    assert_eq!(texts(&connection, "SELECT a.v || b.v FROM t WHERE k = 1").unwrap(), ["2x"]);
    let refused = connection.copy_from_reader("COPY t FROM STDIN WITH (HEADER)", &b"k,v\n1,2\n"[..]);
    assert_eq!(code(refused), "no_such_column");
}

/// Gives a byte at a time, and would block before each.
struct Slow<'a>(&'a [u8], bool);

impl Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.1 = !self.1;
        if self.1 { Err(io::ErrorKind::WouldBlock.into()) } else { self.0.read(&mut buffer[..1]) }
    }
}

#[test]
fn rows_come_and_go_whole() {
    let connection = table();
    let text = b"v,k\none,1\n\"t,w\no\",2\n,3\n\"\",4\n";
    let copied = connection.copy_from_reader("COPY t FROM STDIN WITH (HEADER)", Slow(text, false)).unwrap();
    assert_eq!(copied.rows_affected, 4);
    let mut out = Vec::new();
    let sql = "COPY (SELECT v, k FROM t WHERE k >= ? ORDER BY k) TO STDOUT WITH (HEADER)";
    assert_eq!(connection.copy_to_writer(sql, (1,), &mut out).unwrap().rows_affected, 4);
    assert_eq!(String::from_utf8(out), String::from_utf8(text.to_vec()));
}

/// Never has anything.
struct Silent;

impl Read for Silent {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::ErrorKind::WouldBlock.into())
    }
}

impl Write for Silent {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::TimedOut.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_stream_that_would_block_is_left_when_the_statement_is_stopped() {
    let connection = table();
    connection.execute("UPSERT INTO t VALUES (1, 'x')", ()).unwrap();
    connection.execute("SET statement_timeout = '20ms'", ()).unwrap();
    assert_eq!(code(connection.copy_from_reader("COPY t FROM STDIN", Silent)), "timeout");
    assert_eq!(code(connection.copy_to_writer("COPY t TO STDOUT", (), Silent)), "timeout");
    connection.execute("SET statement_timeout = 0", ()).unwrap();
    let (ended, is_ended) = std::sync::mpsc::channel::<()>();
    let canceller = connection.clone();
    // Again and again, as the first ones may come before the statement has begun.
    let cancelling = std::thread::spawn(move || {
        while is_ended.recv_timeout(Duration::from_millis(1)).is_err() {
            canceller.cancel();
        }
    });
    let stopped = connection.copy_from_reader("COPY t FROM STDIN", Silent);
    ended.send(()).unwrap();
    cancelling.join().unwrap();
    assert_eq!(code(stopped), "cancelled");
}

struct Broken;

impl Write for Broken {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::Error::other("the paper is out"))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_broken_stream_is_an_error_of_its_statement() {
    let connection = table();
    connection.execute("UPSERT INTO t VALUES (1, 'x')", ()).unwrap();
    let error = connection.copy_to_writer("COPY t TO STDOUT", (), Broken).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Io);
    assert!(error.to_string().contains("the paper is out"), "{error}");
}

#[tokio::test]
async fn streams_work_on_the_library_s_threads() {
    let connection = Database::memory().unwrap().connect();
    connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY)", ()).await.unwrap();
    let copied = connection.copy_from_reader("COPY t FROM STDIN", "1\n2\n".as_bytes()).await.unwrap();
    assert_eq!(copied.rows_affected, 2);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows");
    connection.copy_to_writer("COPY t TO STDOUT", (), std::fs::File::create(&path).unwrap()).await.unwrap();
    assert_eq!(std::fs::read_to_string(path).unwrap(), "1\n2\n");
}
