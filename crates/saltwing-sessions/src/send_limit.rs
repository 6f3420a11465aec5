//! A limit on the time for which a client may read nothing of its answer.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// A connection whose writes fail with an error of the kind `TimedOut` if the client reads no byte for a time.
pub struct SendLimit<S> {
    stream: S,
    limit: Option<Duration>,
    /// Runs while a write waits.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl<S> SendLimit<S> {
    /// `None` is no limit.
    pub fn new(stream: S, limit: Option<Duration>) -> Self {
        Self { stream, limit, waiting: None }
    }

    /// The connection.
    pub fn get_ref(&self) -> &S {
        &self.stream
    }

    /// The connection, without a limit.
    pub fn into_inner(self) -> S {
        self.stream
    }

    /// The result of a write, or the error if the time is over.
    fn within<T>(&mut self, context: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        match (written, self.limit) {
            (Poll::Pending, Some(limit)) => {
                let waiting = self.waiting.get_or_insert_with(|| Box::pin(tokio::time::sleep(limit)));
                ready!(waiting.as_mut().poll(context));
                self.waiting = None;
                Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client reads nothing of its answer")))
            }
            (written, _) => {
                self.waiting = None;
                written
            }
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for SendLimit<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for SendLimit<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.within(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.within(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.within(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let ended = Pin::new(&mut self.stream).poll_shutdown(context);
        self.within(context, ended)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::future::poll_fn;
    use std::io::{self, ErrorKind};
    use std::pin::Pin;
    use std::task::{Context, Poll};
    use std::time::Duration;

    use tokio::io::AsyncWrite;

    use super::SendLimit;

    /// A client that takes a byte for each `true`, and then nothing.
    struct Client(VecDeque<bool>);

    impl AsyncWrite for Client {
        fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
            match self.0.pop_front() {
                Some(true) => Poll::Ready(Ok(1)),
                _ => Poll::Pending,
            }
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Pending
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Pending
        }
    }

    async fn written(stream: &mut SendLimit<Client>) -> io::Result<usize> {
        poll_fn(|context| Pin::new(&mut *stream).poll_write(context, b"x")).await
    }

    #[test]
    fn a_write_to_a_client_that_reads_nothing_fails_after_the_limit() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let limit = Duration::from_millis(20);
            let mut limited = SendLimit::new(Client([true, true].into()), Some(limit));
            assert_eq!((written(&mut limited).await.unwrap(), written(&mut limited).await.unwrap()), (1, 1));
            assert_eq!(written(&mut limited).await.unwrap_err().kind(), ErrorKind::TimedOut);
            let flushed = poll_fn(|context| Pin::new(&mut limited).poll_flush(context)).await;
            assert_eq!(flushed.unwrap_err().kind(), ErrorKind::TimedOut);
            let mut unlimited = SendLimit::new(Client([false].into()), None);
            assert!(tokio::time::timeout(limit * 3, written(&mut unlimited)).await.is_err());
        });
    }
}
