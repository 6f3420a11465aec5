//! Random conversations with a server, valid, hostile and damaged: PostgreSQL's protocol, Avatica's, and the console's calls.
//!
//! ```text
//! seed ──> batches ──> cases ──> real sockets ──> a server of our own
//!                        └── SQL of a grammar, texts of sql-tests, mutated; messages in any order; bytes flipped, cut, spliced
//! ```
//!
//! A case follows from the seed, its batch and its number alone. After each batch the server must live, have written no panic into its log, answer
//! others in time, hold a bounded amount of memory and threads, use no processor, and have no session left.
//!
//! | module | has |
//! |---|---|
//! | `campaign` | batches against servers, and the search for the case that broke one |
//! | `case`, `conversation` | what is sent; how it is sent, and what the answers must be |
//! | `generator` | the case of a seed, a batch and a number |
//! | `postgres_case`, `avatica_case`, `console_case` | cases of each protocol |
//! | `http_framing`, `protobuf` | requests of HTTP, right and broken; bytes of protobuf messages |
//! | `sql`, `expression`, `words`, `corpus` | texts of statements |
//! | `mutation` | damage to bytes and texts |
//! | `health` | what must hold after a batch |
//! | `options` | how long, of which seed, which protocols |

mod avatica_case;
mod campaign;
mod case;
mod console_case;
mod conversation;
mod corpus;
mod expression;
mod generator;
mod health;
mod http_framing;
mod mutation;
mod options;
mod postgres_case;
mod protobuf;
mod sql;
mod words;

pub use campaign::run;
pub use options::FuzzOptions;
