//! Listeners.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;

use tokio::sync::watch;

use super::connection::serve;
use super::shared::Shared;
use crate::server_id::ServerId;

/// Binds a socket: to this port, or to any if it is 0.
pub(crate) fn bind(port: u16) -> io::Result<(TcpListener, u16)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    listener.set_nonblocking(true)?;
    let port = listener.local_addr()?.port();
    Ok((listener, port))
}

/// Takes connections for a server, or for the master, while it lives.
pub(crate) fn listen(
    shared: &Arc<Shared>,
    server: Option<ServerId>,
    listener: TcpListener,
    mut lives: watch::Receiver<bool>,
) {
    let all = Arc::clone(shared);
    shared.runtime.spawn(async move {
        let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
        loop {
            let connection = tokio::select! {
                accepted = listener.accept() => accepted,
                _ = lives.wait_for(|lives| !lives) => return,
            };
            if let Ok((socket, _)) = connection {
                tokio::spawn(serve(Arc::clone(&all), server, socket, lives.clone()));
            }
        }
    });
}
