//! A query server for Phoenix's thin clients over a database in memory: `query_server [PORT] [allow]`. With `allow`, queries may read whole tables,
//! as the test suites of the clients do.
//!
//! It has no TLS and no limits of its own, and is for tries with a client; `saltwing serve` is the server.

use std::net::SocketAddr;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{ConnectInfo, DefaultBodyLimit, State};
use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use saltwing::Database;
use saltwing_avatica::Avatica;
use saltwing_sessions::{Limits, Sessions};
use tokio::net::TcpListener;

type Failure = Box<dyn std::error::Error>;

async fn answer(
    State(avatica): State<Avatica>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let authorization = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let reply = avatica.handle(Some(peer), authorization, body).await;
    let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = (status, reply.body).into_response();
    for (name, value) in reply.headers {
        if let Ok(value) = HeaderValue::from_str(&value) {
            response.headers_mut().insert(HeaderName::from_static(name), value);
        }
    }
    response
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let port = arguments.next().map_or(Ok(8765), |port| port.parse::<u16>())?;
    let database = match arguments.next().as_deref() {
        Some("allow") => Database::memory_builder().full_scan("allow")?.open()?,
        _ => Database::memory()?,
    };
    let limits = Limits::default();
    let bytes_max = limits.message_bytes_max;
    let avatica = Avatica::new(Sessions::new(database, limits));
    let get = || async { (StatusCode::BAD_REQUEST, "send requests of Avatica by POST") };
    let router = Router::new()
        .fallback(axum::routing::post(answer).get(get))
        .layer(DefaultBodyLimit::max(bytes_max))
        .with_state(avatica);
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    println!("Phoenix's thin clients: http://{}", listener.local_addr()?);
    axum::serve(listener, router.into_make_service_with_connect_info::<SocketAddr>()).await?;
    Ok(())
}
