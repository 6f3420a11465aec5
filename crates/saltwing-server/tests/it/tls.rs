//! Certificates, and their change while the server runs.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use saltwing::Database;
use saltwing_server::{Protocol, Running, Server, ServerError, ServerOptions, TlsOptions};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::client::{Answer, connect, exchange};
use crate::{address, free_ports};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/certificates").join(name)
}

/// A certificate and its key in a directory of the test.
struct Files(tempfile::TempDir);

impl Files {
    fn new(name: &str) -> Self {
        let files = Self(tempfile::tempdir().unwrap());
        files.replace_by(name);
        files
    }

    fn certificate(&self) -> PathBuf {
        self.0.path().join("server.crt")
    }

    fn key(&self) -> PathBuf {
        self.0.path().join("server.key")
    }

    fn replace_by(&self, name: &str) {
        std::fs::copy(fixture(&format!("{name}.crt")), self.certificate()).unwrap();
        std::fs::copy(fixture(&format!("{name}.key")), self.key()).unwrap();
    }

    fn options(&self) -> ServerOptions {
        let tls = TlsOptions { certificate: Some(self.certificate()), key: Some(self.key()), insecure: false };
        ServerOptions { tls, ..free_ports() }
    }

    fn start(&self) -> Running {
        Server::start(Database::memory().unwrap(), self.options()).unwrap()
    }

    fn refusal(&self) -> ServerError {
        Server::start(Database::memory().unwrap(), self.options()).map(|_| ()).unwrap_err()
    }
}

type Stream = StreamOwned<ClientConnection, TcpStream>;

/// A connection of a client that trusts one certificate, and asks for these protocols.
fn tls(address: SocketAddr, trusted: &str, protocols: &[&[u8]]) -> std::io::Result<Stream> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(fixture(&format!("{trusted}.crt"))).unwrap()).unwrap();
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap();
    let mut configuration = builder.with_root_certificates(roots).with_no_client_auth();
    configuration.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
    let connection =
        ClientConnection::new(Arc::new(configuration), ServerName::try_from("localhost").unwrap()).unwrap();
    let mut stream = StreamOwned::new(connection, connect(address));
    while stream.conn.is_handshaking() {
        stream.conn.complete_io(&mut stream.sock)?;
    }
    Ok(stream)
}

const REQUEST: &str = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";

fn get(stream: &mut Stream) -> Answer {
    exchange(stream, "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
}

#[test]
fn http_is_encrypted_if_there_is_a_certificate() {
    let running = Files::new("first").start();
    assert!(running.addresses().iter().all(|address| address.is_tls));
    for (protocol, status) in [(Protocol::Http, 200), (Protocol::Avatica, 405)] {
        let address = address(&running, protocol);
        assert_eq!(get(&mut tls(address, "first", &[]).unwrap()).status, status);
        assert_eq!(get(&mut tls(address, "first", &[b"http/1.1"]).unwrap()).status, status);
        assert!(tls(address, "second", &[]).is_err());
        assert!(tls(address, "first", &[b"postgresql"]).is_err());
        let mut plain = connect(address);
        plain.write_all(REQUEST.as_bytes()).unwrap();
        let mut answer = Vec::new();
        let _: std::io::Result<usize> = plain.read_to_end(&mut answer);
        assert!(!answer.starts_with(b"HTTP"), "{answer:?}");
    }
}

/// The console's cookie never goes over a connection without TLS then.
#[test]
fn the_cookie_of_a_login_is_kept_to_tls() {
    let running = Files::new("first").start();
    let mut stream = tls(address(&running, Protocol::Http), "first", &[]).unwrap();
    let head = "POST /api/login HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n";
    let answer = exchange(&mut stream, &format!("{head}Content-Length: 2\r\n\r\n{{}}"));
    assert!(answer.status == 200 && answer.head.contains("; samesite=strict; secure"), "{answer:?}");
}

#[test]
fn only_postgres_goes_without_tls_if_the_options_say_so() {
    let mut options = Files::new("first").options();
    options.tls.insecure = true;
    // The files are gone.
    assert!(matches!(
        Server::start(Database::memory().unwrap(), options.clone()).map(|_| ()),
        Err(ServerError::TlsFile { .. })
    ));
    let files = Files::new("first");
    (options.tls.certificate, options.tls.key) = (Some(files.certificate()), Some(files.key()));
    let running = Server::start(Database::memory().unwrap(), options).unwrap();
    let tls: Vec<(Protocol, bool)> =
        running.addresses().iter().map(|address| (address.protocol, address.is_tls)).collect();
    assert_eq!(tls, [(Protocol::Postgres, false), (Protocol::Avatica, true), (Protocol::Http, true)]);
}

#[test]
fn a_new_certificate_is_taken_over() {
    let files = Files::new("first");
    let running = files.start();
    let http = address(&running, Protocol::Http);
    let mut open = tls(http, "first", &[]).unwrap();
    files.replace_by("second");
    assert!(tls(http, "first", &[]).is_ok(), "the files alone change nothing");
    running.control().reload_certificates();
    assert_eq!(get(&mut tls(http, "second", &[]).unwrap()).status, 200);
    assert!(tls(http, "first", &[]).is_err());
    assert_eq!(get(&mut open).status, 200, "an open connection goes on");
}

#[test]
fn a_bad_certificate_leaves_the_earlier_one() {
    let files = Files::new("first");
    let running = files.start();
    let http = address(&running, Protocol::Http);
    let is_as_before = || tls(http, "first", &[]).is_ok();
    // The key of another certificate, half a file, no file.
    std::fs::copy(fixture("second.key"), files.key()).unwrap();
    running.control().reload_certificates();
    assert!(is_as_before());
    files.replace_by("second");
    let text = std::fs::read(files.certificate()).unwrap();
    std::fs::write(files.certificate(), &text[..text.len() / 2]).unwrap();
    running.control().reload_certificates();
    assert!(is_as_before());
    std::fs::remove_file(files.certificate()).unwrap();
    running.control().reload_certificates();
    assert!(is_as_before());
    files.replace_by("second");
    running.control().reload_certificates();
    assert!(!is_as_before() && tls(http, "second", &[]).is_ok());
}

#[test]
fn wrong_files_keep_a_server_from_starting() {
    let files = Files::new("first");
    std::fs::copy(fixture("second.key"), files.key()).unwrap();
    assert!(matches!(files.refusal(), ServerError::TlsContent { path, .. } if path == files.certificate()));
    std::fs::copy(fixture("first.crt"), files.key()).unwrap();
    let error = files.refusal();
    assert!(error.to_string().contains("server.key: there is no private key"), "{error}");
    std::fs::write(files.certificate(), "").unwrap();
    let error = files.refusal();
    assert!(error.to_string().contains("server.crt: there is no certificate"), "{error}");
    std::fs::remove_file(files.key()).unwrap();
    files.replace_by("first");
    std::fs::remove_file(files.key()).unwrap();
    assert!(matches!(files.refusal(), ServerError::TlsFile { path, .. } if path == files.key()));
    let mut options = files.options();
    options.tls.key = None;
    assert!(matches!(Server::start(Database::memory().unwrap(), options).map(|_| ()), Err(ServerError::HalfOfTls)));
}
