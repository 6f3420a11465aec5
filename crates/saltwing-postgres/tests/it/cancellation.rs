//! Cancellations, clients that go, and clients that do not read.

use std::time::{Duration, Instant};

use saltwing_sessions::Limits;
use tokio::io::AsyncReadExt;
use tokio_postgres::NoTls;

use crate::raw::{Raw, field, kinds};
use crate::{Server, state, state_and_text};

/// A query whose rows take hours.
const ENDLESS: &str =
    "SELECT a.value FROM generate_series(1, 1000000000) a WHERE a.value % 1000003 = 0 AND a.value > 5";
/// A query that gives rows for ever.
const MANY_ROWS: &str = "SELECT value FROM generate_series(1, 10000000000)";

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_is_cancelled_from_another_connection() {
    let server = Server::start().await;
    let client = server.client().await;
    for sql in [ENDLESS, MANY_ROWS] {
        let token = client.cancel_token();
        let start = Instant::now();
        let cancel = async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            token.cancel_query(NoTls).await.unwrap();
        };
        let (result, ()) = tokio::join!(client.simple_query(sql), cancel);
        let error = result.err().unwrap();
        assert_eq!(error.code().unwrap().code(), "57014", "{}", state_and_text(&error));
        assert!(start.elapsed() < Duration::from_secs(5));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancellation_between_two_statements_stops_none() {
    let server = Server::start().await;
    let (mut raw, key) = log_in_with_key(&server).await;
    // The server closes the connection after the cancellation.
    let mut other = Raw::connect(&server).await;
    other.send_packet(&[b"\x04\xd2\x16\x2e", &key[..]].concat()).await;
    assert!(other.next().await.is_none(), "no answer");
    raw.send(&[(b'Q', b"SELECT 1\0")]).await;
    assert_eq!(kinds(&raw.until('Z').await), "TDCZ");
}

/// A session, and the process and the secret that a cancellation of its statements sends.
async fn log_in_with_key(server: &Server) -> (Raw, Vec<u8>) {
    let mut raw = Raw::connect(server).await;
    raw.send_packet(b"\0\x03\0\0user\0ann\0\0").await;
    let messages = raw.until('Z').await;
    let (_, key) = messages.into_iter().find(|(kind, _)| *kind == 'K').unwrap();
    (raw, key)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_secret_cancels_nothing() {
    let server = Server::start().await;
    let (mut raw, key) = log_in_with_key(&server).await;
    raw.send(&[(b'Q', b"SELECT count(*) FROM generate_series(1, 3000000)\0")]).await;
    let mut other = Raw::connect(&server).await;
    let mut packet = b"\x04\xd2\x16\x2e".to_vec();
    packet.extend_from_slice(&key[..4]);
    packet.extend_from_slice(&[key[4] ^ 1, key[5], key[6], key[7]]);
    other.send_packet(&packet).await;
    assert!(other.next().await.is_none(), "no answer");
    let messages = raw.until('Z').await;
    assert!(messages.iter().all(|(kind, _)| *kind != 'E'), "{messages:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_timeout_stops_a_statement_also_if_nobody_reads_its_rows() {
    let server = Server::start().await;
    let client = server.client().await;
    client.simple_query("SET statement_timeout = 200").await.unwrap();
    assert_eq!(state(&client, ENDLESS).await, "57014");
    let mut raw = Raw::log_in(&server).await;
    raw.send(&[(b'Q', b"SET statement_timeout = 200\0")]).await;
    raw.until('Z').await;
    raw.send(&[(b'Q', format!("{MANY_ROWS}\0").as_bytes())]).await;
    for _ in 0..300 {
        let running = server
            .sessions
            .list()
            .iter()
            .any(|session| session.statement.as_ref().is_some_and(|statement| statement.is_running));
        if !running {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let messages = raw.until('Z').await;
    let (_, error) = messages.iter().find(|(kind, _)| *kind == 'E').expect("the statement is stopped");
    assert_eq!(field(error, 'C'), "57014");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_goes_frees_its_session_within_a_second() {
    let server = Server::start().await;
    for sql in [ENDLESS, MANY_ROWS] {
        let mut raw = Raw::log_in(&server).await;
        // More than is read ahead, so that the end of the stream lies beyond.
        let more = vec![(b'Q', &b"SELECT 1\0"[..]); 20_000];
        raw.send(&[(b'Q', format!("{sql}\0").as_bytes())]).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        raw.send(&more).await;
        drop(raw);
        let start = Instant::now();
        server.has_connections(0).await;
        assert!(start.elapsed() < Duration::from_millis(1500), "{:?}", start.elapsed());
    }
}

/// An open result keeps old rows: a client that reads nothing does not keep it for ever, and one that reads slowly does.
#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_reads_nothing_for_too_long_is_ended() {
    let limits = Limits { send_timeout: Some(Duration::from_millis(600)), ..Limits::default() };
    let server = Server::with_limits(limits).await;
    for sql in [MANY_ROWS, "COPY (SELECT value FROM generate_series(1, 10000000000)) TO STDOUT"] {
        let mut raw = Raw::log_in(&server).await;
        raw.send(&[(b'Q', format!("{sql}\0").as_bytes())]).await;
        let mut buffer = vec![0; 8 << 20];
        for _ in 0..15 {
            tokio::time::sleep(Duration::from_millis(100)).await;
            assert!(raw.stream.read(&mut buffer).await.unwrap() > 0);
        }
        assert_eq!(server.sessions.connections(), 1, "{sql}: it reads");
        server.has_connections(0).await;
        drop(raw);
    }
}

/// Answers do not pile up in the server until a Sync, which may never come.
#[tokio::test(flavor = "multi_thread")]
async fn answers_are_sent_without_a_sync() {
    let server = Server::start().await;
    let mut raw = Raw::log_in(&server).await;
    let columns: Vec<String> = (0..200).map(|number| format!("{number} AS a_long_name_of_a_column_{number}")).collect();
    let parse = format!("s\0SELECT {}\0\0\0", columns.join(", "));
    raw.send(&[(b'P', parse.as_bytes())]).await;
    raw.send(&vec![(b'D', &b"Ss\0"[..]); 10]).await;
    // Each answer has about nine kilobytes.
    for kind in ['1', 't', 'T', 't', 'T', 't', 'T'] {
        assert_eq!(raw.next().await.unwrap().0, kind);
    }
}
