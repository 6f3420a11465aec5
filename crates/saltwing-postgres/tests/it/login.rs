//! Logins: users, passwords, limits, and clients that do not log in.

use std::time::{Duration, Instant};

use saltwing_sessions::Limits;

use crate::raw::{Raw, field, kinds};
use crate::{Server, state_and_text};

fn limits() -> Limits {
    Limits { login_timeout: Duration::from_millis(300), ..Limits::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_password_is_checked_by_scram() {
    let server = Server::start().await;
    server.run(
        "CREATE TABLE t (k BIGINT PRIMARY KEY); CREATE USER ann PASSWORD 'correct horse'; GRANT SELECT ON t TO ann",
    );
    let client = server.connect("user=ann password='correct horse'").await.unwrap();
    assert_eq!(crate::rows(&client, "SELECT k FROM t WHERE k > 0").await, [""; 0]);
    assert_eq!(crate::state(&client, "UPSERT INTO t VALUES (1)").await, "42501");
    assert_eq!(crate::state(&client, "COPY t FROM '/etc/passwd'").await, "42501");
    for options in ["user=ann password=wrong", "user=nobody password=wrong"] {
        let error = server.connect(options).await.err().unwrap();
        assert!(
            state_and_text(&error).starts_with("28P01 password authentication failed"),
            "{}",
            state_and_text(&error)
        );
    }
    server.run("DROP USER ann");
    assert_eq!(crate::state(&client, "SELECT k FROM t WHERE k > 0").await, "42501");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_packet_decides() {
    let server = Server::start().await;
    let mut raw = Raw::connect(&server).await;
    // GSSAPI and TLS are refused, and the session begins all the same.
    raw.send_packet(&80_877_104_u32.to_be_bytes()).await;
    raw.send_packet(&80_877_103_u32.to_be_bytes()).await;
    let mut answers = [0; 2];
    tokio::io::AsyncReadExt::read_exact(&mut raw.stream, &mut answers).await.unwrap();
    assert_eq!(&answers, b"NN");
    // A newer version, and an extension: the server says which it speaks.
    raw.send_packet(b"\0\x03\0\x09user\0ann\0_pq_.x\0y\0\0").await;
    let messages = raw.until('Z').await;
    assert!(kinds(&messages).starts_with("vR"), "{}", kinds(&messages));
    let key = messages.iter().find(|(kind, _)| *kind == 'K').unwrap();
    assert_eq!(key.1.len(), 4 + 32);
    for packet in [
        &b"\0\x02\0\0user\0ann\0\0"[..],
        b"\0\x03\0\0user\0ann\0",
        b"\0\x03\0\0\0",
        b"\0\x03\0\0user\0ann\0replication\0on\0\0",
    ] {
        let mut raw = Raw::connect(&server).await;
        raw.send_packet(packet).await;
        assert!(raw.is_closed().await.is_some(), "{packet:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn silent_clients_are_closed() {
    let server = Server::with_limits(limits()).await;
    let mut raw = Raw::connect(&server).await;
    let start = Instant::now();
    assert_eq!(raw.is_closed().await, None);
    server.run("CREATE USER ann PASSWORD 'correct horse'");
    let mut raw = Raw::connect(&server).await;
    raw.send_packet(b"\0\x03\0\0user\0ann\0\0").await;
    assert_eq!(raw.is_closed().await.as_deref(), Some("08006"), "the password does not come");
    assert!(start.elapsed() < Duration::from_secs(5));
    server.has_connections(0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_have_limits() {
    let server = Server::with_limits(Limits { connections_max: 3, connections_per_user_max: 2, ..limits() }).await;
    let _one = server.client().await;
    let _two = server.client().await;
    let error = server.connect("user=ann").await.err().unwrap();
    assert_eq!(state_and_text(&error), "53300 user ann has 2 connections, which is the limit for one user");
    let _three = server.connect("user=bob").await.unwrap();
    let mut raw = Raw::connect(&server).await;
    raw.send_packet(b"\0\x03\0\0user\0eve\0\0").await;
    let (kind, body) = raw.next().await.unwrap();
    assert_eq!((kind, field(&body, 'C')), ('E', "53300".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_that_are_no_messages_end_the_session_alone() {
    let server = Server::start().await;
    let before = server.client().await;
    for bytes in [&b"GET / HTTP/1.1\r\n\r\n"[..], b"\x7f\xff\xff\xff\0\0\0\0", b"\0\0\0\x04", b"\0\0\0\0\0\0\0\0"] {
        let mut raw = Raw::connect(&server).await;
        tokio::io::AsyncWriteExt::write_all(&mut raw.stream, bytes).await.unwrap();
        raw.is_closed().await;
    }
    for bytes in [&b"Q\x7f\xff\xff\xff"[..], b"Q\0\0\0\0", b"Q\xff\xff\xff\xff", b"F\0\0\0\x04", b"B\0\0\0\x06\0\0"] {
        let mut raw = Raw::log_in(&server).await;
        tokio::io::AsyncWriteExt::write_all(&mut raw.stream, bytes).await.unwrap();
        assert!(raw.is_closed().await.is_some(), "{bytes:?}");
    }
    assert_eq!(crate::rows(&before, "SELECT 1").await, ["1"]);
    drop(before);
    server.has_connections(0).await;
}
