//! Bytes of answers on their way to a socket.

use std::io;

use bytes::Bytes;
use tokio::io::AsyncWriteExt;
use tokio::net::tcp::OwnedWriteHalf;
use tokio::sync::mpsc;

/// Bytes to send.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) bytes: Bytes,
    /// Sends pieces of so many bytes.
    pub(crate) piece_bytes: usize,
    /// Cuts the connection after these bytes.
    pub(crate) then_cut: bool,
}

impl Answer {
    pub(crate) fn whole(bytes: Bytes) -> Self {
        Self { bytes, piece_bytes: usize::MAX, then_cut: false }
    }

    pub(crate) fn cut(bytes: Bytes) -> Self {
        Self { then_cut: true, ..Self::whole(bytes) }
    }
}

/// Where a connection's answers go.
#[derive(Clone, Debug)]
pub(crate) struct Sender(mpsc::UnboundedSender<Answer>);

impl Sender {
    /// Sends an answer; nothing happens if the connection is gone.
    pub(crate) fn send(&self, answer: Answer) {
        // The client is gone: so is the need of an answer.
        let _ = self.0.send(answer);
    }
}

pub(crate) fn channel() -> (Sender, mpsc::UnboundedReceiver<Answer>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    (Sender(sender), receiver)
}

/// Writes answers as they come, until one cuts the connection.
pub(crate) async fn write(
    mut answers: mpsc::UnboundedReceiver<Answer>,
    mut socket: OwnedWriteHalf,
) -> Result<(), io::Error> {
    while let Some(answer) = answers.recv().await {
        for piece in answer.bytes.chunks(answer.piece_bytes.max(1)) {
            socket.write_all(piece).await?;
            if piece.len() < answer.bytes.len() {
                tokio::task::yield_now().await;
            }
        }
        if answer.then_cut {
            return Ok(());
        }
    }
    Ok(())
}
