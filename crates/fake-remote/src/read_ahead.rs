//! Pages that a thread of the store reads ahead of the scan, so that several servers work at once, however few threads read.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use parking_lot::{Condvar, Mutex};
use saltwing_access::TableError;

use crate::bucket_scan::{BucketScan, Row};

/// Most pages of a bucket in memory. The thread then calls no server until the scan takes one.
const PAGES_MAX: usize = 2;

/// A page; `None` after the last one.
type Answer = Result<Option<VecDeque<Row>>, TableError>;

/// The pages of a bucket, read ahead.
pub(crate) struct ReadAhead(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    has_room: Condvar,
}

#[derive(Default)]
struct State {
    answers: VecDeque<Answer>,
    is_dropped: bool,
    /// The scan that waits for an answer.
    waker: Option<Waker>,
}

impl ReadAhead {
    /// Begins to read.
    pub(crate) fn start(mut bucket: BucketScan) -> Self {
        let shared = Arc::new(Shared::default());
        let of_thread = shared.clone();
        std::thread::spawn(move || {
            loop {
                let answer = bucket.next_page();
                let is_last = !matches!(answer, Ok(Some(_)));
                if !of_thread.put(answer) || is_last {
                    return;
                }
            }
        });
        Self(shared)
    }

    /// The next page.
    pub(crate) fn poll_page(&self, task: &mut Context<'_>) -> Poll<Answer> {
        let mut state = self.0.state.lock();
        match state.answers.pop_front() {
            Some(answer) => {
                self.0.has_room.notify_one();
                Poll::Ready(answer)
            }
            None => {
                state.waker = Some(task.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for ReadAhead {
    fn drop(&mut self) {
        self.0.state.lock().is_dropped = true;
        self.0.has_room.notify_one();
    }
}

impl Shared {
    /// Adds an answer when there is room for it; `false` if nobody wants it.
    fn put(&self, answer: Answer) -> bool {
        let mut state = self.state.lock();
        while state.answers.len() >= PAGES_MAX && !state.is_dropped {
            self.has_room.wait(&mut state);
        }
        state.answers.push_back(answer);
        if let Some(waker) = state.waker.take() {
            waker.wake();
        }
        !state.is_dropped
    }
}
