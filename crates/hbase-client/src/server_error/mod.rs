//! Exceptions of servers, and what they ask of the client.

mod advice;
mod exception;
mod reaction;
mod text;

pub use exception::ServerError;
pub use reaction::Reaction;
