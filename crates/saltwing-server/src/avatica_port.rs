//! The port of Phoenix's thin clients: every POST is a message of Avatica, whatever its path.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use saltwing_avatica::{Avatica, Reply};

use crate::http_connection::Client;
use crate::request_body::BodyMemory;
use crate::request_origin::check_no_page;

struct AvaticaPort {
    avatica: Avatica,
    bodies: BodyMemory,
}

/// The requests of the port. A message may have `message_bytes_max` bytes.
pub(crate) fn router(avatica: Avatica, message_bytes_max: usize) -> Router {
    let port = AvaticaPort { avatica, bodies: BodyMemory::new(message_bytes_max) };
    Router::new().fallback(answer).with_state(Arc::new(port))
}

async fn answer(State(port): State<Arc<AvaticaPort>>, request: Request) -> Response {
    if request.method() != Method::POST {
        let text = "this is the port of Phoenix's thin clients, which send their messages by POST\n";
        return (StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, "POST")], text).into_response();
    }
    if let Err(refused) = check_no_page(request.headers()) {
        return refused.into_response();
    }
    let (head, body) = request.into_parts();
    let peer = head.extensions.get::<Client>().map(|client| client.peer);
    let authorization = match head.headers.get(header::AUTHORIZATION).map(HeaderValue::to_str) {
        None => None,
        Some(Ok(authorization)) => Some(authorization),
        Some(Err(_)) => return (StatusCode::BAD_REQUEST, "the header Authorization is no text\n").into_response(),
    };
    match port.bodies.read(body).await {
        Ok(body) => response(port.avatica.handle(peer, authorization, body).await),
        // What is left of the body is not read: the connection ends.
        Err(refused) => (refused.0, [(header::CONNECTION, "close")], refused.1).into_response(),
    }
}

fn response(reply: Reply) -> Response {
    let headers = reply
        .headers
        .iter()
        .map(|(name, value)| Some((HeaderName::try_from(*name).ok()?, HeaderValue::try_from(value).ok()?)));
    let (status, headers) = (StatusCode::from_u16(reply.status), headers.collect::<Option<Vec<_>>>());
    let (Ok(status), Some(headers)) = (status, headers) else {
        tracing::error!(target: "saltwing::server", status = reply.status, headers = ?reply.headers, "a reply of Avatica has no form in HTTP");
        debug_assert!(false, "{} {:?}", reply.status, reply.headers);
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let mut response = (status, Body::from(reply.body)).into_response();
    for (name, value) in headers {
        response.headers_mut().append(name, value);
    }
    response
}
