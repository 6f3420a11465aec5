//! Sessions over sockets: a real client, and one that sends bytes of its own choice.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod cancellation;
mod catalog;
mod copy;
mod cursors;
mod extended;
mod login;
mod raw;
mod sessions;
mod simple;
mod transactions;

use std::net::SocketAddr;
use std::time::Duration;

use saltwing::Database;
use saltwing_postgres::Postgres;
use saltwing_sessions::{Limits, Sessions};
use tokio::net::TcpListener;
use tokio_postgres::{Client, NoTls, SimpleQueryMessage};

/// A server in this process, over a database in memory.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) sessions: Sessions,
}

impl Server {
    pub(crate) async fn start() -> Self {
        Self::with_limits(Limits::default()).await
    }

    pub(crate) async fn with_limits(limits: Limits) -> Self {
        let sessions = Sessions::new(Database::memory().unwrap(), limits);
        let postgres = Postgres::new(sessions.clone(), None);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            loop {
                let (stream, peer) = listener.accept().await.unwrap();
                let postgres = postgres.clone();
                tokio::spawn(async move { postgres.serve(stream, peer).await });
            }
        });
        Self { address, sessions }
    }

    /// Runs statements as the owner, in the process.
    pub(crate) fn run(&self, sql: &str) {
        self.sessions.database().connect().blocking().execute_batch(sql).unwrap();
    }

    pub(crate) async fn client(&self) -> Client {
        self.connect("user=ann").await.unwrap()
    }

    pub(crate) async fn connect(&self, options: &str) -> Result<Client, tokio_postgres::Error> {
        let config = format!("host=127.0.0.1 port={} {options}", self.address.port());
        let (client, connection) = tokio_postgres::connect(&config, NoTls).await?;
        tokio::spawn(connection);
        Ok(client)
    }

    /// Waits until as many connections are open.
    pub(crate) async fn has_connections(&self, count: usize) {
        for _ in 0..300 {
            if self.sessions.connections() == count {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{} connections are open after 3 seconds", self.sessions.connections());
    }
}

/// The rows of a text of statements, as texts with commas; NULL is `-`.
pub(crate) async fn rows(client: &Client, sql: &str) -> Vec<String> {
    let messages = client.simple_query(sql).await.unwrap_or_else(|error| panic!("{sql}: {}", state_and_text(&error)));
    texts(&messages)
}

fn texts(messages: &[SimpleQueryMessage]) -> Vec<String> {
    let row = |message: &SimpleQueryMessage| match message {
        SimpleQueryMessage::Row(row) => {
            let values: Vec<&str> = (0..row.len()).map(|column| row.get(column).unwrap_or("-")).collect();
            Some(values.join(","))
        }
        _ => None,
    };
    messages.iter().filter_map(row).collect()
}

/// The SQLSTATE of a failure.
pub(crate) async fn state(client: &Client, sql: &str) -> String {
    match client.simple_query(sql).await {
        Ok(_) => panic!("{sql} succeeds"),
        Err(error) => error.code().map_or_else(|| error.to_string(), |code| code.code().to_owned()),
    }
}

pub(crate) fn state_and_text(error: &tokio_postgres::Error) -> String {
    error
        .as_db_error()
        .map_or_else(|| error.to_string(), |error| format!("{} {}", error.code().code(), error.message()))
}
