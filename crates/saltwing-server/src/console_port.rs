//! The port of health, metrics and the console.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use saltwing_console::Console;
use saltwing_sessions::Sessions;

use crate::http_connection::Client;
use crate::option_value::HostNames;
use crate::readiness::Readiness;
use crate::request_body::BodyMemory;
use crate::{recorder, request_origin};

/// Connections at once, besides those of the sessions: programs that watch the server, and browsers.
pub(crate) const CONNECTIONS_MAX: usize = 128;

struct ConsolePort {
    sessions: Sessions,
    readiness: Readiness,
    names: HostNames,
    console: Console,
    bodies: BodyMemory,
}

/// The requests of the port. `names` are this machine's.
pub(crate) fn router(sessions: Sessions, names: HostNames) -> Router {
    let (readiness, pages) = (Readiness::new(sessions.clone()), Console::new(sessions.clone()));
    let bodies = BodyMemory::new(sessions.limits().message_bytes_max.min(saltwing_console::BODY_BYTES_MAX));
    let port = Arc::new(ConsolePort { sessions, readiness, names, console: pages, bodies });
    Router::new()
        .route("/healthz", get(health))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .fallback(console)
        .layer(from_fn_with_state(port.clone(), checked))
        .with_state(port)
}

/// Refuses requests of foreign pages. No answer may be taken for another kind of content, and those that do not say otherwise may not be kept.
async fn checked(State(port): State<Arc<ConsolePort>>, request: Request, next: Next) -> Response {
    let mut response = match request_origin::check(&request, &port.names) {
        Ok(()) => next.run(request).await,
        Err(refused) => refused.into_response(),
    };
    let headers = response.headers_mut();
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// Everything but health and metrics. Sessions of the console have their places among the connections; its files need none.
async fn console(State(port): State<Arc<ConsolePort>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let client = head.extensions.get::<Client>();
    let client = saltwing_console::Client {
        peer: client.map(|client| client.peer),
        is_tls: client.is_some_and(|client| client.is_tls),
    };
    let body = match head.method == Method::POST {
        true => port.bodies.read(body).await,
        false => Ok(Bytes::new()),
    };
    match body {
        Ok(body) => port.console.handle(client, &head, body).await.map(Body::from),
        // What is left of the body is not read: the connection ends.
        Err(refused) => (refused.0, [(header::CONNECTION, "close")], refused.1).into_response(),
    }
}

async fn health() -> &'static str {
    "the process lives\n"
}

async fn ready(State(port): State<Arc<ConsolePort>>) -> (StatusCode, String) {
    match port.readiness.check().await {
        Ok(()) => (StatusCode::OK, "ready\n".to_owned()),
        Err(reason) => (StatusCode::SERVICE_UNAVAILABLE, format!("{reason}\n")),
    }
}

async fn metrics(State(port): State<Arc<ConsolePort>>) -> Response {
    let Some(recorder) = recorder::recorder() else {
        return (StatusCode::NOT_FOUND, "the program has its own recorder of metrics\n").into_response();
    };
    let sessions = port.sessions.clone();
    match tokio::task::spawn_blocking(move || recorder::text(recorder, &sessions)).await {
        Ok(text) => ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response(),
        Err(error) => {
            tracing::error!(target: "saltwing::server", %error, "the metrics have no text");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::body::{Body, to_bytes};
    use axum::http::Request;
    use hyper::service::Service;
    use hyper_util::service::TowerToHyperService;
    use saltwing::Database;
    use saltwing_sessions::{Limits, Phase, Protocol, Sessions};

    use super::router;
    use crate::option_value::HostNames;

    /// The status and the text of the answer to a GET.
    async fn get(sessions: &Sessions, path: &str) -> (u16, String) {
        let request = Request::builder().uri(path).header("host", "localhost").body(Body::empty()).unwrap();
        let service = TowerToHyperService::new(router(sessions.clone(), HostNames::default()));
        let response = service.call(request).await.unwrap();
        let status = response.status().as_u16();
        (status, String::from_utf8(to_bytes(response.into_body(), 1 << 20).await.unwrap().to_vec()).unwrap())
    }

    fn sessions(connections_max: usize) -> Sessions {
        Sessions::new(Database::memory().unwrap(), Limits { connections_max, ..Limits::default() })
    }

    #[tokio::test]
    async fn pages_and_probes_take_no_place() {
        let sessions = sessions(1);
        let arrival = sessions.arrive(Protocol::Postgres, None).unwrap();
        for path in ["/", "/healthz", "/readyz"] {
            assert_eq!(get(&sessions, path).await.0, 200, "{path}");
        }
        drop(arrival);
        assert_eq!(get(&sessions, "/nothing").await.0, 404);
    }

    #[tokio::test]
    async fn a_server_that_stops_is_alive_and_not_ready() {
        let sessions = sessions(1);
        for phase in [Phase::Draining, Phase::Cancelling] {
            sessions.enter(phase);
            assert_eq!(get(&sessions, "/readyz").await, (503, "the server is shutting down\n".to_owned()));
            assert_eq!(get(&sessions, "/healthz").await.0, 200);
        }
    }
}
