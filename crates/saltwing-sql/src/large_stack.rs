//! A thread for what needs more stack than the caller may have.

use crate::error::SqlError;
use crate::{guard, place};

/// The system maps only the used part.
const LARGE_STACK_BYTES: usize = 64 << 20;

/// Runs `run` on a thread with 64 MB of stack, and waits for it.
///
/// # Errors
/// 54001 if the system gives no thread.
pub fn on_large_stack<T: Send>(run: impl FnOnce() -> T + Send) -> Result<T, SqlError> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(LARGE_STACK_BYTES).spawn_scoped(scope, run);
        let Ok(thread) = thread else {
            let what = "brackets inside brackets, while the system gives no thread for more,";
            return Err(SqlError::too_deep(what, guard::SHALLOW_NESTING, place::origin()));
        };
        Ok(thread.join().unwrap_or_else(|cause| std::panic::resume_unwind(cause)))
    })
}
