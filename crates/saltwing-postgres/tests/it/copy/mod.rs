//! COPY of streams.

mod incoming;
mod library;
mod limits;
mod outgoing;

use crate::raw::{Message, Raw, field};

/// Runs a text of the simple protocol with the bytes of its COPY FROM STDIN, each part a message.
async fn copy_in(raw: &mut Raw, sql: &str, parts: &[&[u8]]) -> Vec<Message> {
    let text = format!("{sql}\0");
    let mut messages = vec![(b'Q', text.as_bytes())];
    messages.extend(parts.iter().map(|part| (b'd', *part)));
    messages.push((b'c', b""));
    raw.send(&messages).await;
    raw.until('Z').await
}

/// Runs a COPY TO STDOUT; gives its bytes and all messages.
pub(crate) async fn copy_out(raw: &mut Raw, sql: &str) -> (Vec<u8>, Vec<Message>) {
    raw.send(&[(b'Q', format!("{sql}\0").as_bytes())]).await;
    let messages = raw.until('Z').await;
    let bytes = messages.iter().filter(|(kind, _)| *kind == 'd').flat_map(|(_, body)| body.clone()).collect();
    (bytes, messages)
}

/// The field of the first error.
fn error_field(messages: &[Message], name: char) -> String {
    field(&messages.iter().find(|(kind, _)| *kind == 'E').expect("an error").1, name)
}
