//! An HTTP service that counts visits. It answers requests on several threads; a visit is one statement, so that none is lost.
//!
//! ```text
//! POST /visits/PAGE   counts a visit
//! GET  /visits/PAGE   tells how many there were
//! ```
//! The program starts the service on a free port, is its own clients, and ends.
//!
//! `cargo run --release -p saltwing --example http_service`

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use saltwing::{Database, blocking::Connection};
use tiny_http::{Method, Request, Response, Server};

type Failure = Box<dyn std::error::Error + Send + Sync>;

const WORKERS: usize = 4;
const CLIENTS: usize = 8;
const VISITS_EACH: usize = 50;
const PAGES: [&str; 3] = ["home", "about", "blog"];

fn main() -> Result<(), Failure> {
    let database = Database::memory()?;
    let connection = database.connect().blocking();
    connection.execute("CREATE TABLE visits (page VARCHAR PRIMARY KEY, count BIGINT NOT NULL)", ())?;
    let server = Server::http("127.0.0.1:0")?;
    let address = server.server_addr().to_ip().ok_or("the service has no port")?;

    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            // A connection is cheap: each thread has its own.
            let (server, connection) = (&server, database.connect().blocking());
            scope.spawn(move || {
                while let Ok(request) = server.recv() {
                    answer(&connection, request);
                }
            });
        }
        let done = visit(address);
        // Ends each worker's wait for the next request.
        (0..WORKERS).for_each(|_| server.unblock());
        done
    })?;

    let (pages, visits): (u64, usize) =
        connection.query_one("SELECT count(*), sum(count) FROM visits WHERE page >= '0'", ())?;
    assert_eq!((pages, visits), (PAGES.len() as u64, CLIENTS * VISITS_EACH));
    println!("{visits} visits of {pages} pages, answered by {WORKERS} threads at {address}");
    Ok(())
}

/// Answers a request, also one that fails.
fn answer(connection: &Connection, request: Request) {
    let result = match request.url().strip_prefix("/visits/") {
        None | Some("") => Ok((404, "not found".to_owned())),
        Some(page) => match request.method() {
            Method::Post => count(connection, page).map(|()| (201, String::new())),
            Method::Get => visits(connection, page).map(|count| (200, count.to_string())),
            _ => Ok((405, "GET or POST".to_owned())),
        },
    };
    let (status, text) = result.unwrap_or_else(|error| {
        // What may succeed later is the service's trouble, all else the server's.
        (if error.is_retryable() { 503 } else { 500 }, error.to_string())
    });
    // A client that is gone needs no answer.
    let _ = request.respond(Response::from_string(text).with_status_code(status));
}

/// Counts a visit: one statement reads the row and writes it, and runs again if another one was first.
fn count(connection: &Connection, page: &str) -> Result<(), saltwing::Error> {
    let sql = "UPSERT INTO visits VALUES (?, 1) ON DUPLICATE KEY UPDATE count = count + 1";
    connection.execute(sql, (page,)).map(|_| ())
}

fn visits(connection: &Connection, page: &str) -> Result<i64, saltwing::Error> {
    let count = connection.query_opt::<(i64,)>("SELECT count FROM visits WHERE page = ?", (page,))?;
    Ok(count.map_or(0, |(count,)| count))
}

/// Some clients at once, each with requests one after the other.
fn visit(address: SocketAddr) -> Result<(), Failure> {
    std::thread::scope(|scope| {
        let client = |client: usize| {
            scope.spawn(move || {
                for number in 0..VISITS_EACH {
                    let page = PAGES[(client + number) % PAGES.len()];
                    let (status, _) = request(address, "POST", &format!("/visits/{page}"))?;
                    assert_eq!(status, 201);
                    let (status, count) = request(address, "GET", &format!("/visits/{page}"))?;
                    // The client's own visit is counted.
                    assert!(status == 200 && count.parse::<u64>()? >= 1, "{status}: {count}");
                }
                Ok(())
            })
        };
        let clients: Vec<_> = (0..CLIENTS).map(client).collect();
        clients.into_iter().try_for_each(|client| client.join().map_err(|_| "a client failed")?)
    })
}

/// The status and the body of the answer to a request.
fn request(address: SocketAddr, method: &str, path: &str) -> Result<(u16, String), Failure> {
    let mut stream = TcpStream::connect(address)?;
    write!(stream, "{method} {path} HTTP/1.1\r\nHost: {address}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").ok_or("an answer without a body")?;
    let status = head.split(' ').nth(1).ok_or("an answer without a status")?.parse()?;
    Ok((status, body.to_owned()))
}
