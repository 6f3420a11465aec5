//! Threads that may outlive their statement or their database.
//!
//! A thread must not be detached, that is, its handle must not be dropped: while glibc detaches a thread that is just
//! ending, it can read the freed stack of the thread, and the process dies (glibc's bug 19951). A large stack is unmapped
//! at once, so the threads with large stacks are those in danger.

use std::thread::JoinHandle;

use parking_lot::Mutex;

/// The threads that were not joined yet.
static RUNNING: Mutex<Vec<JoinHandle<()>>> = Mutex::new(Vec::new());

/// Takes over a thread that its starter does not wait for: a later call joins it, after its end. This call does not wait
/// for it. Logs panics of the threads that it joins.
pub fn reap_later(thread: JoinHandle<()>) {
    let ended: Vec<_> = {
        let mut running = RUNNING.lock();
        running.push(thread);
        running.extract_if(.., |thread| thread.is_finished()).collect()
    };
    for thread in ended {
        let name = thread.thread().name().unwrap_or_default().to_owned();
        if thread.join().is_err() {
            tracing::error!(thread = name, "a thread panicked");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_thread_is_joined_after_its_end_and_nobody_waits_for_it() {
        let (end, ended) = channel::<()>();
        reap_later(std::thread::spawn(move || ended.recv().unwrap_or_default()));
        assert_eq!(RUNNING.lock().len(), 1);
        drop(end);
        while !RUNNING.lock().iter().all(JoinHandle::is_finished) {
            std::thread::sleep(Duration::from_millis(1));
        }
        let (end, ended) = channel::<()>();
        reap_later(std::thread::spawn(move || ended.recv().unwrap_or_default()));
        assert_eq!(RUNNING.lock().len(), 1, "the first one is joined");
        drop(end);
    }
}
