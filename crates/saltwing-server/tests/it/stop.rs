//! The end of a server.

use std::io::{Read, Write};
use std::net::TcpStream;

use saltwing::{Database, ErrorCode};
use saltwing_server::{Protocol, Server};

use crate::client::{connect, get};
use crate::{address, free_ports};

const ROWS: &str = "CREATE TABLE t (k INTEGER NOT NULL PRIMARY KEY); UPSERT INTO t VALUES (1), (2)";

#[test]
fn a_server_that_ended_has_closed_its_ports_and_its_database() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let database = Database::open(&path).unwrap();
    database.connect().blocking().execute_batch(ROWS).unwrap();
    let running = Server::start(database, free_ports()).unwrap();
    assert_eq!(Database::open(&path).map(|_| ()).unwrap_err().code(), ErrorCode::Locked);
    let addresses = running.addresses().to_vec();
    running.stop();
    running.wait().unwrap();
    for address in addresses {
        assert!(TcpStream::connect(address.address).is_err(), "{address:?}");
    }
    let rows: i64 = Database::open(&path)
        .unwrap()
        .connect()
        .blocking()
        .query_one::<(i64,)>("SELECT COUNT(*) FROM t WHERE k > 0", ())
        .unwrap()
        .0;
    assert_eq!(rows, 2);
}

#[test]
fn a_server_that_is_dropped_ends() {
    let directory = tempfile::tempdir().unwrap();
    let running = Server::start(Database::open(directory.path().join("db")).unwrap(), free_ports()).unwrap();
    let http = address(&running, Protocol::Http);
    drop(running);
    assert!(TcpStream::connect(http).is_err());
    Database::open(directory.path().join("db")).unwrap();
}

/// Clients of all ports: one that says nothing, one in the middle of a request, one between two requests.
#[test]
fn silent_clients_keep_no_server() {
    let mut options = free_ports();
    options.limits.grace = "100ms".parse().unwrap();
    let running = Server::start(Database::memory().unwrap(), options).unwrap();
    let mut clients: Vec<TcpStream> = running.addresses().iter().map(|address| connect(address.address)).collect();
    for protocol in [Protocol::Avatica, Protocol::Http] {
        let mut half = connect(address(&running, protocol));
        half.write_all(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc").unwrap();
        let mut between = connect(address(&running, protocol));
        between.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        between.read_exact(&mut [0; 12]).unwrap();
        clients.extend([half, between]);
    }
    assert_eq!(get(address(&running, Protocol::Http), "/readyz").status, 200);
    running.stop();
    running.wait().unwrap();
    for mut client in clients {
        // The end of the connection, in order or not.
        let _: std::io::Result<usize> = client.read_to_end(&mut Vec::new());
    }
}

/// What stops a server is a handle that other threads have.
#[test]
fn another_thread_can_stop_it() {
    let running = Server::start(Database::memory().unwrap(), free_ports()).unwrap();
    let control = running.control();
    let stopper = std::thread::spawn(move || {
        control.stop();
        control
    });
    running.wait().unwrap();
    // Of a server that is gone nothing is stopped, and nothing fails.
    stopper.join().unwrap().stop();
}
