//! The client that goes on while others attack.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::{Duration, Instant};

use tokio::task::JoinHandle;

use crate::error::{ensure, equal};
use crate::{Target, TestError};

/// The pause between two statements.
const PAUSE: Duration = Duration::from_millis(20);
/// After so many statements it logs in anew.
const STATEMENTS_OF_A_CONNECTION: usize = 20;
/// The longest time that an answer or a login may take. The machine has few cores, and the attack uses them, too.
const ANSWER_MAX: Duration = Duration::from_secs(3);

/// It runs until it is stopped.
pub struct Witness {
    is_over: Arc<AtomicBool>,
    task: JoinHandle<Result<(), TestError>>,
}

impl Witness {
    /// Connects, and begins.
    ///
    /// # Errors
    /// Those of the first login.
    pub async fn start(target: &Target) -> Result<Self, TestError> {
        let is_over = Arc::new(AtomicBool::new(false));
        let first = target.connect().await?;
        let task = tokio::spawn(go_on(target.clone(), first, is_over.clone()));
        Ok(Self { is_over, task })
    }

    /// Ends it, and gives what went wrong.
    ///
    /// # Errors
    /// A statement or a login of it failed or was late.
    pub async fn stop(self) -> Result<(), TestError> {
        self.is_over.store(true, SeqCst);
        self.task.await.unwrap_or_else(|error| Err(TestError::Found(error.to_string())))
    }
}

async fn go_on(target: Target, mut client: tokio_postgres::Client, is_over: Arc<AtomicBool>) -> Result<(), TestError> {
    while !is_over.load(SeqCst) {
        for _ in 0..STATEMENTS_OF_A_CONNECTION {
            let began = Instant::now();
            let row = client.query_one("SELECT size FROM hostile_row WHERE id = 7", &[]).await?;
            equal(&row.try_get::<_, i32>(0)?, &7)?;
            in_time("a statement", began)?;
            tokio::time::sleep(PAUSE).await;
            if is_over.load(SeqCst) {
                return Ok(());
            }
        }
        let began = Instant::now();
        client = target.connect().await?;
        in_time("a login", began)?;
    }
    Ok(())
}

fn in_time(doing: &str, began: Instant) -> Result<(), TestError> {
    let took = began.elapsed();
    ensure(took <= ANSWER_MAX, || format!("{doing} of another client took {took:?} meanwhile"))
}
