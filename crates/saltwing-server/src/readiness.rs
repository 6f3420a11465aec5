//! Whether the server can serve statements.

use std::time::Duration;

use saltwing_sessions::{Phase, Sessions};
use tokio::sync::Mutex;

/// How long the database may take to answer.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(2);

/// Whether the server can serve statements.
pub(crate) struct Readiness {
    sessions: Sessions,
    /// Held by the check that runs: a database that does not answer gets one statement, not one of each probe.
    running: Mutex<()>,
}

impl Readiness {
    pub(crate) fn new(sessions: Sessions) -> Self {
        Self { sessions, running: Mutex::new(()) }
    }

    /// Checks that the server is not about to end, and that the database answers a statement.
    ///
    /// # Errors
    /// Why it is not ready.
    pub(crate) async fn check(&self) -> Result<(), String> {
        if *self.sessions.phase().borrow() != Phase::Serving {
            return Err("the server is shutting down".to_owned());
        }
        let answered = tokio::time::timeout(ANSWER_TIME_MAX, async {
            let _running = self.running.lock().await;
            self.sessions.database().connect().query_one::<(i64,)>("SELECT 1", ()).await
        });
        match answered.await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => {
                tracing::error!(target: "saltwing::server", %error, "the database does not answer");
                Err(format!("the database does not answer: {}", error.sqlstate()))
            }
            Err(_) => {
                tracing::error!(target: "saltwing::server", "the database does not answer in time");
                Err(format!("the database has not answered within {} s", ANSWER_TIME_MAX.as_secs()))
            }
        }
    }
}
