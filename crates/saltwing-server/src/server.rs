//! The start of a server: what it needs is checked, its ports are bound, and its thread begins.

use std::net::SocketAddr;
use std::sync::Arc;

use saltwing::Database;
use saltwing_avatica::Avatica;
use saltwing_postgres::{Postgres, TlsConfig};
use saltwing_sessions::{Protocol, Sessions};
use tokio::runtime::Runtime;
use tokio::sync::watch;

use crate::certificates::Certificates;
use crate::http_connection::HttpConnections;
use crate::listener::{Accepted, Bound, Listener};
use crate::listening_address::ListeningAddress;
use crate::option_value::Port;
use crate::running::{Control, Listeners, Running, Service};
use crate::{ServerError, ServerOptions, avatica_port, console_port, recorder};

/// A server over a database.
pub struct Server;

impl Server {
    /// Starts a server in threads of its own. It serves when this returns: its ports are bound, and connections are accepted.
    ///
    /// # Errors
    /// Those of [`ServerOptions::check`]; [`ServerError::NoUsers`] outside loopback; the files of TLS; [`ServerError::Bind`]; [`ServerError::System`];
    /// the catalog's.
    pub fn start(database: Database, options: ServerOptions) -> Result<Running, ServerError> {
        options.check()?;
        if !options.is_loopback() && !database.has_users()? {
            return Err(ServerError::NoUsers { address: options.listen.address });
        }
        let certificates = match (&options.tls.certificate, &options.tls.key) {
            (Some(certificate), Some(key)) => Some(Arc::new(Certificates::read(certificate, key)?)),
            _ => None,
        };
        recorder::recorder();
        let sessions = Sessions::new(database, options.limits.limits());
        if !options.is_loopback() {
            sessions.require_users();
        }
        let runtime = tokio::runtime::Builder::new_multi_thread().thread_name("saltwing-server").enable_all().build();
        let runtime = runtime.map_err(|source| ServerError::System { resource: "threads", source })?;
        let bound = bind_all(&runtime, &options)?;
        let addresses = addresses(&bound, &options);
        let listeners = open_all(&runtime, bound, &sessions, certificates.as_deref(), options.clone());
        let (stop, stopping) = watch::channel(false);
        let control = Control { stop: Arc::new(stop), certificates };
        let service = Service { runtime, sessions, listeners, stopping, grace: options.limits.grace.0 };
        Running::begin(addresses, control, service)
    }
}

/// Binds the ports, each before any accepts.
fn bind_all(runtime: &Runtime, options: &ServerOptions) -> Result<Vec<Bound>, ServerError> {
    let _entered = runtime.enter();
    let listen = &options.listen;
    let ports = [
        (Protocol::Postgres, "--pg-port", listen.pg_port),
        (Protocol::Avatica, "--avatica-port", listen.avatica_port),
        (Protocol::Http, "--http-port", listen.http_port),
    ];
    let mut bound = Vec::new();
    for (protocol, option, port) in ports {
        if let Port::Number(port) = port {
            let address = SocketAddr::new(listen.address, port);
            bound.push(Bound::new(protocol, address).map_err(|source| ServerError::Bind {
                option,
                address,
                source,
            })?);
        }
    }
    Ok(bound)
}

fn addresses(bound: &[Bound], options: &ServerOptions) -> Vec<ListeningAddress> {
    let has_certificate = options.tls.certificate.is_some();
    let address = |bound: &Bound| {
        let is_tls = has_certificate && (bound.protocol() != Protocol::Postgres || !options.tls.insecure);
        ListeningAddress { protocol: bound.protocol(), address: bound.address(), is_tls }
    };
    bound.iter().map(address).collect()
}

fn open_all(
    runtime: &Runtime,
    bound: Vec<Bound>,
    sessions: &Sessions,
    certificates: Option<&Certificates>,
    options: ServerOptions,
) -> Listeners {
    let _entered = runtime.enter();
    let limits = sessions.limits();
    let mut listeners = Listeners { clients: Vec::new(), console: None };
    let http = |protocol, router, connections_max| {
        let tls = certificates.map(Certificates::http);
        HttpConnections::new(protocol, router, tls, connections_max, limits.send_timeout)
    };
    for bound in bound {
        match bound.protocol() {
            Protocol::Postgres => {
                let tls = certificates
                    .map(|files| TlsConfig { current: files.postgres(), is_required: !options.tls.insecure });
                listeners.clients.push(open_postgres(bound, Postgres::new(sessions.clone(), tls)));
            }
            Protocol::Avatica => {
                let router = avatica_port::router(Avatica::new(sessions.clone()), limits.message_bytes_max);
                listeners.clients.push(open_http(bound, http(Protocol::Avatica, router, limits.connections_max)));
            }
            Protocol::Http => {
                let router =
                    console_port::router(sessions.clone(), options.listen.http_host.clone().unwrap_or_default());
                listeners.console = Some(open_http(bound, http(Protocol::Http, router, console_port::CONNECTIONS_MAX)));
            }
        }
    }
    listeners
}

fn open_postgres(bound: Bound, postgres: Postgres) -> Listener {
    let postgres = Arc::new(postgres);
    bound.open(move |accepted: Accepted| {
        let postgres = postgres.clone();
        async move { postgres.serve(accepted.stream, accepted.peer).await }
    })
}

fn open_http(bound: Bound, connections: HttpConnections) -> Listener {
    bound.open(move |accepted| connections.clone().serve(accepted))
}
