//! The console: a page for browsers, and the calls that it makes.
//!
//! ```text
//! GET  /, /page/..   ──assets──> files of this crate, which ask no other host for anything
//! POST /api/..       ──calls──>  login ──> session, connection ──> statements, catalog, sessions, heat of keys
//! ```
//!
//! The HTTP server belongs to the caller: it checks where a request comes from, reads the body within [`BODY_BYTES_MAX`], and gives both to [`Console::handle`].
//!
//! | module | has |
//! |---|---|
//! | `assets`, `headers` | the files of the page; headers that every answer has |
//! | `client` | who sent a request |
//! | `calls`, `body` | which call is answered by what; the bodies of calls |
//! | `cookie`, `token` | the cookie of a login, and its random value |
//! | `logins`, `login`, `console_session` | the logins by their tokens; one of them; its session |
//! | `run_calls`, `run`, `run_state` | calls about runs; a run, and how far it is |
//! | `execution`, `result_page` | statements run; their rows in pages |
//! | `failed`, `failure`, `text_place`, `fixes` | errors of statements with their places and fixes |
//! | `records`, `explain` | small results as objects of JSON; EXPLAIN |
//! | `tables`, `plan`, `activity`, `heat`, `advisor` | what the parts of the page show |
//! | `error` | errors of calls |
//!
//! # Invariants
//! * Without a login no call tells anything of the database but whether it has users.
//! * A user sees its own sessions and statements, the owner of the database all of them.
//! * A login has one run at a time, and memory for one page of each of its results.
//! * Statements of a browser that asks for them no more are cancelled.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing))]

mod activity;
mod advisor;
mod assets;
mod body;
mod calls;
mod client;
mod console_session;
mod cookie;
mod error;
mod execution;
mod explain;
mod failed;
mod failure;
mod fixes;
mod headers;
mod heat;
mod login;
mod logins;
mod plan;
mod records;
mod result_page;
mod run;
mod run_calls;
mod run_state;
mod tables;
mod text_place;
mod token;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Instant;

use bytes::Bytes;
use http::request::Parts;
use http::{Method, Response};
use saltwing_sessions::{Sessions, sweep};

pub use crate::client::Client;
use crate::logins::{Logins, SWEEP_EVERY};

/// The longest body of a call.
pub const BODY_BYTES_MAX: usize = 1 << 20;

/// The console over the sessions of a process. Cheap to clone; clones share the logins.
#[derive(Clone)]
pub struct Console {
    logins: Arc<Logins>,
    is_swept: Arc<AtomicBool>,
}

impl Console {
    /// The console without logins yet. Starts nothing: the first call starts the task that ends idle logins.
    pub fn new(sessions: Sessions) -> Self {
        Self { logins: Arc::new(Logins::new(sessions)), is_swept: Arc::default() }
    }

    /// Answers a request; `body` is that of a POST, and empty otherwise. Called on a runtime of tokio with timers.
    pub async fn handle(&self, client: Client, head: &Parts, body: Bytes) -> Response<Bytes> {
        let path = head.uri.path();
        let mut response = match path.strip_prefix("/api/") {
            Some(call) if head.method == Method::POST => {
                self.start_sweep();
                calls::answer(&self.logins, client, call, head, &body).await
            }
            Some(_) => headers::not_allowed("POST"),
            None if head.method == Method::GET || head.method == Method::HEAD => assets::answer(path, head),
            None => headers::not_allowed("GET, HEAD"),
        };
        headers::protect(response.headers_mut());
        response
    }

    fn start_sweep(&self) {
        if !self.is_swept.swap(true, SeqCst) {
            let (logins, phase) = (Arc::downgrade(&self.logins), self.logins.sessions().phase());
            tokio::spawn(sweep(logins, SWEEP_EVERY, phase, |open, phase| open.sweep(phase, Instant::now())));
        }
    }
}
