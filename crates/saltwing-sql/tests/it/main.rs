//! Texts to statements: golden readings, texts that print as themselves, and broken texts.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod depth;
mod dynamic;
mod golden;
mod phoenix_statements;
mod properties;
mod readings;
mod support;
