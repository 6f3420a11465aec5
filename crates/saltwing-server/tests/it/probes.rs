//! Health, readiness and metrics.

use std::io::Read;

use saltwing::Database;
use saltwing_server::{Protocol, Server};

use crate::client::{connect, exchange, get, get_with};
use crate::{address, free_ports, started};

#[test]
fn a_server_is_alive_and_ready() {
    let running = started(free_ports());
    let http = address(&running, Protocol::Http);
    let answer = get(http, "/healthz");
    assert_eq!((answer.status, answer.body.as_str()), (200, "the process lives\n"));
    assert!(
        answer.head.contains("cache-control: no-store") && answer.head.contains("x-content-type-options: nosniff"),
        "{}",
        answer.head
    );
    let answer = get(http, "/readyz");
    assert_eq!((answer.status, answer.body.as_str()), (200, "ready\n"));
}

#[test]
fn metrics_are_those_of_the_database_and_of_the_server() {
    let directory = tempfile::tempdir().unwrap();
    let database = Database::open(directory.path().join("log")).unwrap();
    database
        .connect()
        .blocking()
        .execute_batch("CREATE TABLE t (k INTEGER NOT NULL PRIMARY KEY); UPSERT INTO t VALUES (1), (2)")
        .unwrap();
    let running = Server::start(database, free_ports()).unwrap();
    let http = address(&running, Protocol::Http);
    let answer = get(http, "/metrics");
    assert_eq!(answer.status, 200);
    assert!(answer.head.contains("content-type: text/plain; version=0.0.4"), "{}", answer.head);
    let rows = answer.body.lines().find(|line| {
        line.starts_with("saltwing_delta_rows{") && line.contains("/log\"") && line.contains("table=\"t\"")
    });
    assert!(rows.is_some_and(|line| line.ends_with(" 2")), "{}", answer.body);
    assert!(
        answer.body.contains("# TYPE saltwing_server_connections gauge\nsaltwing_server_connections "),
        "{}",
        answer.body
    );
}

#[test]
fn other_paths_and_methods_are_refused() {
    let running = started(free_ports());
    let http = address(&running, Protocol::Http);
    assert_eq!(get(http, "/nothing").status, 404);
    assert_eq!(get(http, "/metrics/../healthz").status, 404);
    let post = format!("POST /healthz HTTP/1.1\r\nHost: {http}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    assert_eq!(exchange(&mut connect(http), &post).status, 405);
    let head = format!("HEAD /healthz HTTP/1.1\r\nHost: {http}\r\nConnection: close\r\n\r\n");
    let answer = exchange(&mut connect(http), &head);
    assert_eq!((answer.status, answer.body.as_str()), (200, ""));
}

#[test]
fn pages_of_others_are_refused() {
    let mut options = free_ports();
    options.listen.http_host = Some("db.example.org".parse().unwrap());
    let running = started(options);
    let http = address(&running, Protocol::Http);
    let status = |host: &str, headers: &str| {
        exchange(
            &mut connect(http),
            &format!("GET /healthz HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n"),
        )
        .status
    };
    assert_eq!(status("localhost:1", ""), 200);
    assert_eq!(status("db.example.org", ""), 200);
    assert_eq!(status("rebound.example.org", ""), 421);
    assert_eq!(get_with(http, "/metrics", "Origin: http://example.org\r\n").status, 403);
    assert_eq!(get_with(http, "/metrics", &format!("Origin: http://{http}\r\n")).status, 200);
}

#[test]
fn the_port_of_phoenix_takes_posts_of_drivers_alone() {
    let mut options = free_ports();
    options.limits.max_message = "64kB".parse().unwrap();
    let running = started(options);
    let avatica = address(&running, Protocol::Avatica);
    let answer = get(avatica, "/");
    assert!(answer.status == 405 && answer.head.contains("allow: post"), "{answer:?}");
    let post = |headers: &str, body: &str| {
        exchange(
            &mut connect(avatica),
            &format!("POST / HTTP/1.1\r\nHost: db\r\nConnection: close\r\n{headers}\r\n{body}"),
        )
        .status
    };
    assert_eq!(post("Content-Length: 0\r\nOrigin: http://example.org\r\n", ""), 403);
    assert_eq!(post("Content-Length: 65537\r\n", ""), 413);
    let chunk = format!("{:x}\r\n{}\r\n", 40_000, "x".repeat(40_000));
    assert_eq!(post("Transfer-Encoding: chunked\r\n", &format!("{chunk}{chunk}0\r\n\r\n")), 413);
}

/// A header without an end takes 64 kB, not all memory.
#[test]
fn headers_have_a_limit() {
    let running = started(free_ports());
    let mut stream = connect(address(&running, Protocol::Http));
    // The server may close the connection before all is sent.
    let _: std::io::Result<()> =
        std::io::Write::write_all(&mut stream, format!("GET / HTTP/1.1\r\nHost: {}", "x".repeat(200_000)).as_bytes());
    let mut answer = String::new();
    let _: std::io::Result<usize> = stream.read_to_string(&mut answer);
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431"), "{answer}");
    assert_eq!(get(address(&running, Protocol::Http), "/healthz").status, 200);
}
