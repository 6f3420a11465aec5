//! Calls of code of others over bytes of others: a panic becomes an error, and leaves no trace on stderr.
//!
//! Some readers panic on bytes that contradict themselves. Such a panic is a fault of the file, and not of the program, so its text and
//! its stack must not appear among the messages of a program that embeds this library.
//!
//! # The panic hook
//! The hook of the process writes these messages, and runs before a panic can be caught. The first call therefore puts a hook of its own
//! in front of the one that is there, once. It says nothing about a panic on a thread that is inside of [`quietly`], and passes every other
//! panic on to the hook that it found: the program's own panics are reported as before. A program that sets a hook later replaces
//! ours, and then gets the panics of readers too. Threads that the called code starts are not quiet.
//!
//! Code of our own is not called this way: its panic is a bug, and its stack is wanted.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    /// How many calls of [`quietly`] the thread is inside of.
    static QUIET: Cell<u32> = const { Cell::new(0) };
}

static HOOK: Once = Once::new();

/// Runs a call of foreign code.
///
/// The caller must not go on with values that the call changed, unless the code that made them says that they survive a panic.
///
/// # Errors
/// The text of its panic.
pub fn quietly<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    // Hooks cannot be set while the thread unwinds.
    if !std::thread::panicking() {
        HOOK.call_once(install_hook);
    }
    let _inside = Inside::enter();
    catch_unwind(AssertUnwindSafe(call)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()));
        text.unwrap_or_else(|| "a panic without a text".to_owned())
    })
}

fn install_hook() {
    let previous = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        // A thread whose values are gone already is not inside of a call.
        if QUIET.try_with(Cell::get).unwrap_or(0) == 0 {
            previous(panic);
        }
    }));
}

/// The time inside of a call.
struct Inside;

impl Inside {
    fn enter() -> Self {
        QUIET.with(|quiet| quiet.set(quiet.get().saturating_add(1)));
        Self
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        QUIET.with(|quiet| quiet.set(quiet.get().saturating_sub(1)));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Panics that a hook of the program saw on the threads of these tests.
    static SEEN: AtomicUsize = AtomicUsize::new(0);

    #[test]
    fn a_panic_is_an_error_and_the_hook_of_the_program_sees_the_others() {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let text = panic.payload().downcast_ref::<&str>().copied().unwrap_or_default();
            match text.starts_with("of this test") {
                true => drop(SEEN.fetch_add(1, Ordering::SeqCst)),
                false => previous(panic),
            }
        }));
        assert_eq!(quietly(|| 1), Ok(1));
        assert_eq!(quietly(|| -> u8 { panic!("of this test: {}", "quiet") }), Err("of this test: quiet".to_owned()));
        assert_eq!(quietly(|| quietly(|| -> u8 { panic!("of this test") })), Ok(Err("of this test".to_owned())));
        assert_eq!(SEEN.load(Ordering::SeqCst), 0);
        // After a call the thread is as loud as before, and other threads always were.
        assert!(catch_unwind(|| panic!("of this test")).is_err());
        assert_eq!(SEEN.load(Ordering::SeqCst), 1);
        let other = quietly(|| std::thread::spawn(|| panic!("of this test")).join().is_err());
        assert_eq!((other, SEEN.load(Ordering::SeqCst)), (Ok(true), 2));
    }
}
