//! An HTTP service that counts visits, on axum. It answers requests concurrently; a visit is one statement, so that none is lost.
//!
//! ```text
//! POST /visits/PAGE   counts a visit
//! GET  /visits/PAGE   tells how many there were
//! ```
//! The program starts the service on a free port, is its own clients, and ends.
//!
//! `cargo run --release -p saltwing --example http_service`

use std::net::SocketAddr;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use saltwing::Database;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

type Failure = Box<dyn std::error::Error + Send + Sync>;

const CLIENTS: usize = 8;
const VISITS_EACH: usize = 50;
const PAGES: [&str; 3] = ["home", "about", "blog"];

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let database = Database::memory()?;
    let connection = database.connect();
    connection.execute("CREATE TABLE visits (page VARCHAR PRIMARY KEY, count BIGINT NOT NULL)", ()).await?;

    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let service = Router::new().route("/visits/{page}", get(visits).post(count)).with_state(database);
    let (stop, stopped) = oneshot::channel::<()>();
    let ends = async { stopped.await.unwrap_or(()) };
    let running = tokio::spawn(axum::serve(listener, service).with_graceful_shutdown(ends).into_future());

    visit(address).await?;
    assert_eq!(request(address, "GET", "/visits/elsewhere").await?, (200, "0".to_owned()));
    assert_eq!(request(address, "DELETE", "/visits/home").await?.0, 405);
    assert_eq!(request(address, "GET", "/").await?.0, 404);
    drop(stop);
    running.await??;

    let sql = "SELECT count(*), sum(count) FROM visits WHERE page >= '0'";
    let (pages, visits): (u64, usize) = connection.query_one(sql, ()).await?;
    assert_eq!((pages, visits), (PAGES.len() as u64, CLIENTS * VISITS_EACH));
    println!("{visits} visits of {pages} pages by {CLIENTS} clients at {address}");
    Ok(())
}

/// Counts a visit: one statement reads the row and writes it, and runs again if another one was first.
///
/// A connection is cheap: each request has its own. Statements run on the library's threads, so a handler only waits.
async fn count(State(database): State<Database>, Path(page): Path<String>) -> Result<StatusCode, Failed> {
    let sql = "UPSERT INTO visits VALUES (?, 1) ON DUPLICATE KEY UPDATE count = count + 1";
    database.connect().execute(sql, (page,)).await?;
    Ok(StatusCode::CREATED)
}

async fn visits(State(database): State<Database>, Path(page): Path<String>) -> Result<String, Failed> {
    let sql = "SELECT count FROM visits WHERE page = ?";
    let count = database.connect().query_opt::<(i64,)>(sql, (page,)).await?;
    Ok(count.map_or(0, |(count,)| count).to_string())
}

/// A statement that failed, as an answer.
struct Failed(saltwing::Error);

impl From<saltwing::Error> for Failed {
    fn from(error: saltwing::Error) -> Self {
        Self(error)
    }
}

impl IntoResponse for Failed {
    fn into_response(self) -> Response {
        // What may succeed later is worth another request.
        let is_temporary = self.0.is_retryable();
        let status = if is_temporary { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::INTERNAL_SERVER_ERROR };
        (status, self.0.to_string()).into_response()
    }
}

/// Some clients at once, each with requests one after the other.
async fn visit(address: SocketAddr) -> Result<(), Failure> {
    let mut clients = JoinSet::new();
    for client in 0..CLIENTS {
        clients.spawn(async move {
            for number in 0..VISITS_EACH {
                let path = format!("/visits/{}", PAGES[(client + number) % PAGES.len()]);
                let (status, _) = request(address, "POST", &path).await?;
                assert_eq!(status, 201);
                let (status, count) = request(address, "GET", &path).await?;
                // The client's own visit is counted.
                assert!(status == 200 && count.parse::<u64>()? >= 1, "{status}: {count}");
            }
            Ok::<(), Failure>(())
        });
    }
    while let Some(client) = clients.join_next().await {
        client??;
    }
    Ok(())
}

/// The status and the body of the answer to a request.
async fn request(address: SocketAddr, method: &str, path: &str) -> Result<(u16, String), Failure> {
    let mut stream = TcpStream::connect(address).await?;
    let head = format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    let (head, body) = answer.split_once("\r\n\r\n").ok_or("an answer without a body")?;
    let status = head.split(' ').nth(1).ok_or("an answer without a status")?.parse()?;
    Ok((status, body.to_owned()))
}
