//! A connection that has to begin.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Sleep;
use tonic::transport::server::{Connected, TcpConnectInfo};

/// Bytes that no protocol here can do without: the preface of HTTP/2 has as many, and the shortest head of HTTP/1.1 more.
/// What reads less cannot know what to wait for, and so waits for ever.
const OPENING_BYTES: usize = 24;

/// A stream whose reads fail when its first [`OPENING_BYTES`] have not come in time.
pub(crate) struct Opening {
    stream: TcpStream,
    /// Bytes still to come, and until when; `None` once they have come.
    wait: Option<(usize, Pin<Box<Sleep>>)>,
}

impl Opening {
    pub(crate) fn new(stream: TcpStream, within: Duration) -> Self {
        Self { stream, wait: Some((OPENING_BYTES, Box::pin(tokio::time::sleep(within)))) }
    }
}

impl AsyncRead for Opening {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let before = buf.filled().len();
        let read = Pin::new(&mut this.stream).poll_read(cx, buf);
        let Some((missing, until)) = &mut this.wait else { return read };
        if read.is_pending() {
            ready!(until.as_mut().poll(cx));
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        match missing.checked_sub(buf.filled().len() - before) {
            None | Some(0) => this.wait = None,
            Some(rest) => *missing = rest,
        }
        read
    }
}

impl AsyncWrite for Opening {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

impl Connected for Opening {
    type ConnectInfo = TcpConnectInfo;

    fn connect_info(&self) -> TcpConnectInfo {
        self.stream.connect_info()
    }
}
