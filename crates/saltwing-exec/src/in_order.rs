//! Parts of a work that several threads do, and whose results come in order.
//!
//! ```text
//! parts     0  1  2  3  4  5
//! caller    0     2     4        the next part, or while another thread is at it, the first that has not begun
//! a thread     1     3     5     the first part that has not begun
//! ```
//! The caller works, too: if threads start late, as they do on a busy machine, it does not wait for them.
//!
//! # Laws
//! 1. The caller gets the results of the parts in the order of the parts, regardless of the number of threads.
//! 2. No thread starts a part that is more than [`PARTS_AHEAD`] parts for each of them ahead of the caller.
//! 3. The first error in that order is the result; no later part is started.

use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};

use parking_lot::{Condvar, Mutex};

use saltwing_access::TableError;
use saltwing_types::interrupt;

use crate::ExecError;

/// Parts of each thread that may be done before the caller has come to them.
const PARTS_AHEAD: usize = 2;
/// Results of each part that may wait for the caller.
const ITEMS_AHEAD: usize = 2;
/// Stack of a thread: conditions nest.
const STACK_BYTES: usize = 8 << 20;

/// Does all parts on several threads, including the caller's. `read` does a part, and hands on its results until it is
/// stopped; `take` gets them on the caller's thread.
pub(crate) fn in_order<P: Send, T: Send>(
    parts: Vec<P>,
    threads: usize,
    read: impl Fn(P, &mut dyn FnMut(T) -> ControlFlow<()>) -> Result<(), TableError> + Sync,
    mut take: impl FnMut(T) -> Result<(), ExecError>,
) -> Result<(), ExecError> {
    let others = threads.min(parts.len()).saturating_sub(1);
    if others == 0 {
        return parts.into_iter().try_for_each(|part| read_here(part, &read, &mut take));
    }
    let count = parts.len();
    let work = Work {
        state: Mutex::new(State {
            parts: parts.into_iter().map(Part::New).collect(),
            next: 0,
            until: others * PARTS_AHEAD,
        }),
        changed: Condvar::new(),
    };
    let statement = interrupt::current();
    let help = || {
        let _statement = statement.clone().map(interrupt::enter);
        work.help(&read);
    };
    std::thread::scope(|scope| {
        let start = |_| {
            let thread = std::thread::Builder::new().name("saltwing-scan".into()).stack_size(STACK_BYTES);
            // If fewer threads start than requested, it only takes longer.
            thread.spawn_scoped(scope, help).ok()
        };
        let threads: Vec<_> = (0..others).filter_map(start).collect();
        let ahead = 1 + others * PARTS_AHEAD;
        let taken = work.take_all(count, ahead, &read, &mut take);
        // The scope waits for the threads, but does not join them: see `saltwing_access::reap_later`.
        for thread in threads {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
        taken
    })
}

/// Does a part on the caller's thread.
fn read_here<P, T>(
    part: P,
    read: &impl Fn(P, &mut dyn FnMut(T) -> ControlFlow<()>) -> Result<(), TableError>,
    take: &mut impl FnMut(T) -> Result<(), ExecError>,
) -> Result<(), ExecError> {
    let mut taken = Ok(());
    read(part, &mut |item| {
        taken = take(item);
        if taken.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    taken
}

/// The state shared by the threads.
struct Work<P, T> {
    state: Mutex<State<P, T>>,
    /// More parts may be begun, or none any more.
    changed: Condvar,
}

struct State<P, T> {
    parts: Vec<Part<P, T>>,
    /// The first part that has not begun.
    next: usize,
    /// No part from here on may be begun yet.
    until: usize,
}

enum Part<P, T> {
    /// It has not begun.
    New(P),
    /// A thread does it; its results come through this channel.
    Begun(Receiver<Result<T, TableError>>),
    /// The caller has done it before its turn.
    Done(Vec<Result<T, TableError>>),
    /// The caller has come to it, or is at it.
    Taken,
}

impl<P, T> Work<P, T> {
    /// Hands on the results of all parts, in the order of the parts. At its end the other threads stop.
    fn take_all(
        &self,
        count: usize,
        ahead: usize,
        read: &impl Fn(P, &mut dyn FnMut(T) -> ControlFlow<()>) -> Result<(), TableError>,
        take: &mut impl FnMut(T) -> Result<(), ExecError>,
    ) -> Result<(), ExecError> {
        // On every exit, including a panic, the other threads must stop waiting for the caller.
        let _end = End(self);
        for index in 0..count {
            match self.come_to(index, index + ahead) {
                Part::New(part) => read_here(part, read, take)?,
                Part::Begun(items) => {
                    let first = self.wait_for(&items, read);
                    first.into_iter().chain(items).try_for_each(|item| take(item?))?;
                }
                Part::Done(items) => items.into_iter().try_for_each(|item| take(item?))?,
                Part::Taken => {}
            }
        }
        Ok(())
    }

    /// The caller reaches a part: it takes the results of another thread, or does the part itself. Others may continue
    /// up to `until`.
    fn come_to(&self, index: usize, until: usize) -> Part<P, T> {
        let part = {
            let mut state = self.state.lock();
            (state.next, state.until) = (state.next.max(index + 1), until);
            state.parts.get_mut(index).map_or(Part::Taken, |part| std::mem::replace(part, Part::Taken))
        };
        self.changed.notify_all();
        part
    }

    /// The first item from another thread; while there is none, the caller does later parts.
    fn wait_for(
        &self,
        items: &Receiver<Result<T, TableError>>,
        read: &impl Fn(P, &mut dyn FnMut(T) -> ControlFlow<()>) -> Result<(), TableError>,
    ) -> Option<Result<T, TableError>> {
        loop {
            match items.try_recv() {
                Ok(item) => return Some(item),
                Err(TryRecvError::Disconnected) => return None,
                Err(TryRecvError::Empty) => {}
            }
            let Some((index, part)) = self.begin_before_its_turn() else { return items.recv().ok() };
            let mut done = Vec::new();
            let read = read(part, &mut |item| {
                done.push(Ok(item));
                ControlFlow::Continue(())
            });
            done.extend(read.err().map(Err));
            if let Some(place) = self.state.lock().parts.get_mut(index) {
                *place = Part::Done(done);
            }
        }
    }

    /// The next part that has not begun, if one may be begun now.
    fn begin_before_its_turn(&self) -> Option<(usize, P)> {
        let mut state = self.state.lock();
        let State { parts, next, until } = &mut *state;
        let (index, place) = (*next, parts.get_mut(*next).filter(|_| *next < *until)?);
        *next += 1;
        match std::mem::replace(place, Part::Taken) {
            Part::New(part) => Some((index, part)),
            _ => None,
        }
    }

    /// Does parts as long as there are some.
    fn help(&self, read: &impl Fn(P, &mut dyn FnMut(T) -> ControlFlow<()>) -> Result<(), TableError>) {
        while let Some((part, sender)) = self.begin() {
            let mut give = |item| match sender.send(Ok(item)) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            };
            if let Err(error) = read(part, &mut give) {
                // The receiver is gone if an earlier part has failed.
                let _ = sender.send(Err(error));
            }
        }
    }

    /// The next part that no thread has started, and the sender of its results; `None` if there is none.
    fn begin(&self) -> Option<(P, SyncSender<Result<T, TableError>>)> {
        let mut state = self.state.lock();
        loop {
            let State { parts, next, until } = &mut *state;
            let place = parts.get_mut(*next)?;
            if *next < *until {
                let (sender, receiver) = sync_channel(ITEMS_AHEAD);
                *next += 1;
                match std::mem::replace(place, Part::Begun(receiver)) {
                    Part::New(part) => return Some((part, sender)),
                    other => *place = other,
                }
            } else {
                self.changed.wait(&mut state);
            }
        }
    }
}

/// Ends the work: no further part is started, and threads that send results are stopped.
struct End<'w, P, T>(&'w Work<P, T>);

impl<P, T> Drop for End<'_, P, T> {
    fn drop(&mut self) {
        self.0.state.lock().parts.clear();
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    use std::time::Duration;

    use super::*;

    /// Part `n` gives `n` numbers; one fails after its first.
    fn numbers(parts: u64, threads: usize, fails_at: Option<u64>, stops_at: Option<u64>) -> (Vec<u64>, bool, usize) {
        let (mut taken, read_parts) = (Vec::new(), AtomicUsize::new(0));
        let read = |part: u64, give: &mut dyn FnMut(u64) -> ControlFlow<()>| {
            read_parts.fetch_add(1, Relaxed);
            for i in 0..part {
                if give(100 * part + i).is_break() {
                    break;
                }
                if Some(part) == fails_at {
                    return Err(TableError::Cancelled);
                }
            }
            Ok(())
        };
        let result = in_order((0..parts).collect(), threads, read, |number| {
            taken.push(number);
            match stops_at {
                Some(at) if at == number => Err(ExecError::from(TableError::Cancelled)),
                _ => Ok(()),
            }
        });
        (taken, result.is_ok(), read_parts.into_inner())
    }

    #[test]
    fn what_parts_give_comes_in_their_order() {
        let all = numbers(40, 1, None, None);
        assert_eq!(all.0.len(), 39 * 40 / 2);
        for threads in 2..6 {
            assert_eq!(numbers(40, threads, None, None), all);
        }
        assert_eq!(numbers(0, 3, None, None), (Vec::new(), true, 0));
    }

    /// Part 1 ends only after part 2, so the thread waiting for it must have continued.
    #[test]
    fn nobody_waits_while_there_is_something_to_do() {
        let (done, is_done) = std::sync::mpsc::channel();
        let is_done = Mutex::new(is_done);
        let read = |part: u64, give: &mut dyn FnMut(u64) -> ControlFlow<()>| {
            match part {
                1 => is_done.lock().recv_timeout(Duration::from_secs(30)).map_err(|_| TableError::Cancelled)?,
                2 => done.send(()).map_err(|_| TableError::Cancelled)?,
                _ => {}
            }
            let _ = give(part);
            Ok(())
        };
        for _ in 0..100 {
            let mut taken = Vec::new();
            in_order((0..4).collect(), 2, read, |part| {
                taken.push(part);
                Ok(())
            })
            .unwrap();
            assert_eq!(taken, [0, 1, 2, 3]);
        }
    }

    #[test]
    fn the_first_error_ends_it() {
        let failed = numbers(40, 1, Some(20), None);
        let stopped = numbers(40, 1, None, Some(2003));
        assert!(!failed.1 && !stopped.1 && failed.2 == 21 && stopped.2 == 21);
        for threads in 2..6 {
            let ahead = 21 + threads * PARTS_AHEAD;
            for (found, wanted) in
                [(numbers(40, threads, Some(20), None), &failed), (numbers(40, threads, None, Some(2003)), &stopped)]
            {
                assert_eq!((&found.0, found.1), (&wanted.0, wanted.1));
                assert!(found.2 <= ahead, "{threads}: {}", found.2);
            }
        }
    }
}
