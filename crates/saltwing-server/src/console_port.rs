//! The port of health, metrics and the console.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use saltwing_sessions::{Protocol, Refusal, Sessions};

use crate::http_connection::Client;
use crate::option_value::HostNames;
use crate::readiness::Readiness;
use crate::{recorder, request_origin};

/// Connections at once, besides those of the sessions: programs that watch the server, and browsers.
pub(crate) const CONNECTIONS_MAX: usize = 128;

struct ConsolePort {
    sessions: Sessions,
    readiness: Readiness,
    names: HostNames,
}

/// The requests of the port. `names` are this machine's.
pub(crate) fn router(sessions: Sessions, names: HostNames) -> Router {
    let readiness = Readiness::new(sessions.clone());
    let port = Arc::new(ConsolePort { sessions, readiness, names });
    // Probes get their answer also when there are as many sessions as there may be.
    let probes =
        Router::new().route("/healthz", get(health)).route("/readyz", get(ready)).route("/metrics", get(metrics));
    let console = Router::new().fallback(unknown).layer(from_fn_with_state(port.clone(), with_place));
    probes.fallback_service(console).layer(from_fn_with_state(port.clone(), checked)).with_state(port)
}

/// Refuses requests of foreign pages. No answer may be kept, or taken for another kind of content.
async fn checked(State(port): State<Arc<ConsolePort>>, request: Request, next: Next) -> Response {
    let mut response = match request_origin::check(&request, &port.names) {
        Ok(()) => next.run(request).await,
        Err(refused) => refused.into_response(),
    };
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// Takes a place among the connections while a request of the console runs.
async fn with_place(State(port): State<Arc<ConsolePort>>, request: Request, next: Next) -> Response {
    let peer = request.extensions().get::<Client>().map(|client| client.peer);
    match port.sessions.arrive(Protocol::Http, peer) {
        Ok(arrival) => {
            let response = next.run(request).await;
            drop(arrival);
            response
        }
        Err(refusal) => (StatusCode::SERVICE_UNAVAILABLE, refusal_text(&refusal)).into_response(),
    }
}

fn refusal_text(refusal: &Refusal) -> String {
    match refusal.help() {
        Some(help) => format!("{refusal}: {help}\n"),
        None => format!("{refusal}\n"),
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

async fn unknown() -> (StatusCode, &'static str) {
    (StatusCode::NOT_FOUND, "there is no such page\n")
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
    async fn the_console_takes_a_place_and_probes_take_none() {
        let sessions = sessions(1);
        assert_eq!(get(&sessions, "/").await.0, 404);
        assert_eq!(sessions.connections(), 0, "a request gives its place back");
        let arrival = sessions.arrive(Protocol::Postgres, None).unwrap();
        let (status, text) = get(&sessions, "/").await;
        assert!(
            status == 503
                && text.starts_with("the server has 1 connections, which is its limit: ")
                && text.contains("--max-connections"),
            "{text}"
        );
        assert_eq!(get(&sessions, "/healthz").await.0, 200);
        assert_eq!(get(&sessions, "/readyz").await.0, 200);
        drop(arrival);
        assert_eq!(get(&sessions, "/").await.0, 404);
    }

    #[tokio::test]
    async fn a_server_that_stops_is_alive_and_not_ready() {
        let sessions = sessions(1);
        for phase in [Phase::Draining, Phase::Cancelling] {
            sessions.enter(phase);
            assert_eq!(get(&sessions, "/readyz").await, (503, "the server is shutting down\n".to_owned()));
            assert_eq!(get(&sessions, "/").await, (503, "the server is shutting down\n".to_owned()));
            assert_eq!(get(&sessions, "/healthz").await.0, 200);
        }
    }
}
