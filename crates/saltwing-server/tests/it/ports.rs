//! Where a server listens, and where it refuses to.

use std::net::{Ipv4Addr, TcpListener, TcpStream};

use saltwing::Database;
use saltwing_server::{ListenOptions, Port, Protocol, Server, ServerError, ServerOptions};

use crate::{address, free_ports, started};

/// The error of a server that does not start.
fn refusal(database: &Database, options: ServerOptions) -> ServerError {
    Server::start(database.clone(), options).map(|running| running.addresses().to_vec()).unwrap_err()
}

fn everywhere() -> ServerOptions {
    let mut options = free_ports();
    options.listen.address = Ipv4Addr::UNSPECIFIED.into();
    options
}

#[test]
fn a_port_of_0_is_a_free_one() {
    let running = started(free_ports());
    let protocols: Vec<Protocol> = running.addresses().iter().map(|address| address.protocol).collect();
    assert_eq!(protocols, [Protocol::Postgres, Protocol::Avatica, Protocol::Http]);
    for address in running.addresses() {
        assert!(address.address.ip().is_loopback() && address.address.port() != 0 && !address.is_tls, "{address:?}");
        TcpStream::connect(address.address).unwrap();
    }
}

#[test]
fn a_port_can_be_left_out() {
    let mut options = free_ports();
    (options.listen.pg_port, options.listen.avatica_port) = (Port::Off, Port::Off);
    let running = started(options);
    assert_eq!(running.addresses().len(), 1);
    assert_eq!(running.addresses()[0].protocol, Protocol::Http);
}

#[test]
fn without_a_port_there_is_no_server() {
    let listen =
        ListenOptions { pg_port: Port::Off, avatica_port: Port::Off, http_port: Port::Off, ..ListenOptions::default() };
    let error = refusal(&Database::memory().unwrap(), ServerOptions { listen, ..ServerOptions::default() });
    assert!(matches!(error, ServerError::NoListener) && error.is_usage() && error.help().is_some());
}

#[test]
fn a_port_that_is_taken_is_named() {
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let mut options = free_ports();
    options.listen.avatica_port = Port::Number(taken.local_addr().unwrap().port());
    let error = refusal(&Database::memory().unwrap(), options);
    assert!(error.to_string().starts_with("--avatica-port: 127.0.0.1:") && !error.is_usage(), "{error}");
    assert!(error.help().unwrap().contains("off"));
}

#[test]
fn outside_loopback_it_takes_tls_and_users() {
    let database = Database::memory().unwrap();
    let error = refusal(&database, everywhere());
    assert!(matches!(error, ServerError::NoTls { .. }) && error.is_usage(), "{error}");
    for way in ["--tls-cert", "--insecure", "--listen 127.0.0.1"] {
        assert!(error.help().unwrap().contains(way));
    }
    let mut options = everywhere();
    options.tls.insecure = true;
    let error = refusal(&database, options.clone());
    assert!(matches!(error, ServerError::NoUsers { .. }) && error.is_usage(), "{error}");
    for way in ["CREATE USER", "--listen 127.0.0.1", "tunnel"] {
        assert!(error.help().unwrap().contains(way));
    }
    database.connect().blocking().execute("CREATE USER ann PASSWORD 'correct horse'", ()).unwrap();
    let running = Server::start(database, options).unwrap();
    let port = address(&running, Protocol::Http).port();
    TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
}

/// IPv6 has addresses that are those of IPv4's loopback.
#[test]
fn all_of_loopback_is_this_machine() {
    for (text, is_refused) in [
        ("127.9.9.9", false),
        ("::1", false),
        ("::ffff:127.0.0.1", false),
        ("::", true),
        ("192.0.2.1", true),
        ("::ffff:192.0.2.1", true),
    ] {
        let mut options = free_ports();
        options.listen.address = text.parse().unwrap();
        assert_eq!(options.check().is_err(), is_refused, "{text}");
    }
}
