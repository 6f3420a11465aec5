//! Whether snapshot isolation explains a history.
//!
//! A transaction has two events: its beginning, when it takes its snapshot, and its commit. The check searches an order of all
//! events by these rules:
//!
//! 1. A call that was answered before another was sent comes before it.
//! 2. The rows at the beginning give the answers that the transaction got, with its own writes over them.
//! 3. Between beginning and commit no other commit writes a row that the transaction writes.
//! 4. The rows change by whole commits and by nothing else. A commit of unknown outcome is one of these events, or it did not happen.
//! 5. No commit leaves two rows with a value that must be unique.
//!
//! If there is no such order, something was not isolated. Only few calls run at once, so that few orders remain to be tried, and a
//! state that was reached by two orders is pursued once.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::sync::Arc;

use crate::history::{End, Span, Transaction};
use crate::model::{Writes, replay};
use crate::state::State;

/// No order explains the history.
#[derive(Debug)]
pub struct Anomaly {
    /// How many events the longest order has that keeps the rules.
    pub explained: usize,
    /// Why none of the next events can follow it.
    pub reasons: Vec<String>,
}

impl fmt::Display for Anomaly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no order explains the history; after {} moments:", self.explained)?;
        self.reasons.iter().try_for_each(|reason| write!(f, "\n  {reason}"))
    }
}

/// Searches the order; `initial` are the rows before all transactions.
///
/// # Errors
/// There is none.
pub fn check(initial: &State, history: &[Vec<Transaction>]) -> Result<(), Anomaly> {
    let threads = history.len();
    let (done, open) = (vec![0; threads], vec![None; threads]);
    let start = SearchState { done, open, unknown: BTreeMap::new(), state: Arc::new(initial.clone()) };
    let (mut reached, mut next) = (HashSet::new(), vec![start.clone()]);
    let mut furthest = start;
    while let Some(current) = next.pop() {
        if current.is_last(history) {
            return Ok(());
        }
        if current.explained() > furthest.explained() {
            furthest = current.clone();
        }
        let (following, _) = current.following(history);
        // The last one is tried first.
        next.extend(following.into_iter().rev().filter(|state| reached.insert(state.clone())));
    }
    Err(Anomaly { explained: furthest.explained(), reasons: furthest.following(history).1 })
}

/// The state after the events of an order so far.
#[derive(Clone, PartialEq, Eq, Hash)]
struct SearchState {
    /// How many transactions of each thread are over.
    done: Vec<usize>,
    /// The writes of each thread's next transaction, if it has begun.
    open: Vec<Option<Arc<Writes>>>,
    /// The writes of transactions that may commit yet, or not: by when COMMIT was sent, the thread, the place there.
    unknown: BTreeMap<(u64, usize, usize), Arc<Writes>>,
    state: Arc<State>,
}

impl SearchState {
    fn is_last(&self, history: &[Vec<Transaction>]) -> bool {
        self.done.iter().zip(history).all(|(done, transactions)| *done == transactions.len())
    }

    fn explained(&self) -> usize {
        self.done.iter().sum::<usize>() * 2 + self.open.iter().flatten().count()
    }

    /// The states after each event that may come next, the likeliest first, and why other events may not.
    fn following(&self, history: &[Vec<Transaction>]) -> (Vec<Self>, Vec<String>) {
        let mut heads: Vec<(Span, usize)> = Vec::new();
        for (thread, transactions) in history.iter().enumerate() {
            if let Some(transaction) = transactions.get(self.done[thread]) {
                let is_open = self.open[thread].is_some();
                heads.push((if is_open { transaction.ended } else { transaction.began }, thread));
            }
        }
        heads.sort_by_key(|(span, _)| span.answered);
        // What is sent later comes after this call.
        let first_answer = heads.first().map_or(u64::MAX, |(span, _)| span.answered);
        let (mut following, mut reasons) = (Vec::new(), Vec::new());
        for (_, thread) in heads.iter().filter(|(span, _)| span.sent < first_answer) {
            let transaction = &history[*thread][self.done[*thread]];
            let next = match &self.open[*thread] {
                None => self.beginning(*thread, transaction),
                Some(writes) => self.commit(*thread, writes),
            };
            match next {
                Ok(state) => following.push(state),
                Err(reason) => reasons.push(format!("thread {thread}, transaction {}: {reason}", self.done[*thread])),
            }
        }
        for (key, writes) in self.unknown.iter().filter(|((sent, ..), _)| *sent < first_answer) {
            let mut next = self.clone();
            next.unknown.remove(key);
            following.extend(next.changed_by(writes).ok());
        }
        (following, reasons)
    }

    fn beginning(&self, thread: usize, transaction: &Transaction) -> Result<Self, String> {
        let writes = replay(transaction, &self.state).map_err(|difference| {
            let (sql, parameters) = difference.statement.sql();
            let (answer, wanted) = (difference.answer, difference.wanted);
            format!("{sql} with {parameters:?} gave {answer:?}, and {wanted:?} would be right")
        })?;
        let mut next = self.clone();
        match transaction.end {
            End::Committed if !writes.is_empty() => next.open[thread] = Some(Arc::new(writes)),
            End::Unknown if !writes.is_empty() => {
                next.unknown.insert((transaction.ended.sent, thread, self.done[thread]), Arc::new(writes));
                next.done[thread] += 1;
            }
            _ => next.done[thread] += 1,
        }
        Ok(next)
    }

    fn commit(&self, thread: usize, writes: &Arc<Writes>) -> Result<Self, String> {
        let mut next = self.clone();
        next.open[thread] = None;
        next.done[thread] += 1;
        next.changed_by(writes)
    }

    /// After a commit: of the transactions that have begun none that commits may write one of its rows.
    fn changed_by(mut self, writes: &Arc<Writes>) -> Result<Self, String> {
        let common = |other: &Writes| writes.keys().find(|key| other.contains_key(key)).copied();
        for (thread, open) in self.open.iter().enumerate() {
            if let Some((table, key)) = open.as_ref().and_then(|open| common(open)) {
                return Err(format!("its commit and that of thread {thread} both wrote the row {key} of {table:?}"));
            }
        }
        self.unknown.retain(|_, other| common(other).is_none());
        let state = Arc::make_mut(&mut self.state);
        writes.iter().for_each(|(place, row)| state.write(*place, *row));
        if state.has_duplicates() {
            return Err("its commit gave two rows one value of a unique index".to_owned());
        }
        Ok(self)
    }
}
