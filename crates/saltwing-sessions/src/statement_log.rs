//! The statements that ended lately.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;

use crate::login::Protocol;

/// Statements that are kept, of all and of the slow ones.
const KEPT_MAX: usize = 250;

/// A statement that has ended.
#[derive(Clone, Debug)]
pub struct EndedStatement {
    /// The number of its session.
    pub session: u32,
    /// The session's protocol.
    pub protocol: Protocol,
    /// The session's user.
    pub user: Arc<str>,
    /// Its text as the list of sessions shows it.
    pub text: Arc<str>,
    /// When it ended.
    pub ended: SystemTime,
    /// How long it ran.
    pub took: Duration,
    /// Rows that the client got, or that it wrote.
    pub rows: u64,
    /// How it failed.
    pub sqlstate: Option<String>,
}

/// The last statements, and the last slow ones, which others do not drive out.
pub(crate) struct StatementLog {
    slow_from: Option<Duration>,
    recent: Mutex<VecDeque<EndedStatement>>,
    slow: Mutex<VecDeque<EndedStatement>>,
}

impl StatementLog {
    /// No statement yet. Those that take `slow_from` or more are slow.
    pub(crate) fn new(slow_from: Option<Duration>) -> Self {
        Self { slow_from, recent: Mutex::default(), slow: Mutex::default() }
    }

    /// Whether a statement that took as long is slow.
    pub(crate) fn is_slow(&self, took: Duration) -> bool {
        self.slow_from.is_some_and(|slow_from| took >= slow_from)
    }

    /// Notes the end of a statement.
    pub(crate) fn note(&self, statement: EndedStatement) {
        if self.is_slow(statement.took) {
            push(&self.slow, statement.clone());
        }
        push(&self.recent, statement);
    }

    /// The last statements, the newest first.
    pub(crate) fn recent(&self) -> Vec<EndedStatement> {
        self.recent.lock().iter().rev().cloned().collect()
    }

    /// The last slow ones, the newest first.
    pub(crate) fn slow(&self) -> Vec<EndedStatement> {
        self.slow.lock().iter().rev().cloned().collect()
    }
}

/// The statement that is driven out is dropped outside the lock.
fn push(list: &Mutex<VecDeque<EndedStatement>>, statement: EndedStatement) {
    let mut list = list.lock();
    let oldest = if list.len() >= KEPT_MAX { list.pop_front() } else { None };
    list.push_back(statement);
    drop(list);
    drop(oldest);
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::{EndedStatement, KEPT_MAX, StatementLog};
    use crate::login::Protocol;

    fn statement(number: u64) -> EndedStatement {
        EndedStatement {
            session: 1,
            protocol: Protocol::Postgres,
            user: "ann".into(),
            text: "SELECT 1".into(),
            ended: SystemTime::now(),
            took: Duration::from_secs(if number == 0 { 1 } else { 0 }),
            rows: number,
            sqlstate: None,
        }
    }

    #[test]
    fn the_number_is_bounded_and_slow_ones_stay() {
        let log = StatementLog::new(Some(Duration::from_secs(1)));
        (0..=KEPT_MAX as u64).for_each(|number| log.note(statement(number)));
        let rows = |list: Vec<EndedStatement>| list.iter().map(|it| it.rows).collect::<Vec<_>>();
        let recent = rows(log.recent());
        assert_eq!((recent.len(), recent[0], recent[KEPT_MAX - 1]), (KEPT_MAX, KEPT_MAX as u64, 1));
        assert_eq!(rows(log.slow()), [0]);
    }
}
