//! Mistakes that newcomers make: the error comes soon, and says where and what to do.

use std::time::Duration;

use fake_hbase::Cluster;
use hbase_client::{CallContext, Client, Error, Get, Put, Registry, Scan};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

use crate::scripted::{context, run};

fn soon() -> CallContext {
    CallContext::within(Duration::from_millis(100))
}

/// The text of the error of a get, which names all that is given.
async fn get(registry: Registry, names: &[&str]) -> Error {
    let table = Client::new(registry).table_named("t").unwrap();
    let error = table.get(&soon(), Get::new("a")).await.unwrap_err();
    let text = error.to_string();
    assert!(names.iter().all(|name| text.contains(name)), "{text}");
    error
}

#[test]
fn addresses_where_nothing_listens_are_all_named() {
    run(async {
        // Ports of listeners that are gone.
        let mut addresses = Vec::new();
        for _ in 0..2 {
            addresses.push(TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().to_string());
        }
        let all = || addresses.iter().map(String::as_str);
        let names = |advice| [addresses[0].as_str(), addresses[1].as_str(), "refused", advice];
        get(Registry::servers(all()).unwrap(), &names("16000")).await;
        get(Registry::zookeeper(all()).unwrap(), &names("2181")).await;
    });
}

#[test]
fn a_web_page_is_named_as_such() {
    run(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                let _ = socket.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
            }
        });
        get(Registry::servers([address.as_str()]).unwrap(), &[&address, "HTTP"]).await;
        get(Registry::zookeeper([address.as_str()]).unwrap(), &[&address, "HTTP"]).await;
    });
}

#[test]
fn a_registry_without_servers_fails_at_once() {
    run(async {
        let error = get(Registry::servers([]).unwrap(), &["HOST:PORT"]).await;
        assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    });
}

#[test]
fn a_table_or_a_family_that_is_not_there_is_named() {
    run(async {
        let cluster = Cluster::start(1).unwrap();
        cluster.create_table("t", &["f"], &[]).unwrap();
        let master = cluster.master();
        let client = Client::new(Registry::servers([master.as_str()]).unwrap());
        let missing = client.table_named("fruit").unwrap().get(&context(), Get::new("a")).await.unwrap_err();
        assert_eq!(missing, Error::TableNotFound { table: "fruit".into() });
        let table = client.table_named("t").unwrap();
        let put = Put::new("a").unwrap().column(b"g", b"q", b"v").unwrap();
        let errors = [
            table.get(&context(), Get::new("a").column("g", "q")).await.unwrap_err(),
            table.mutate(&context(), put.clone()).await.into_result().unwrap_err(),
            table.multi(&context(), vec![put.into()]).await.remove(0).into_result().unwrap_err(),
            table.scan(Scan::all().column("g", "q")).next_rows(&context()).await.unwrap_err(),
        ];
        for error in errors {
            let text = error.to_string();
            assert!(
                text.contains("of the table t at")
                    && text.ends_with("Admin::descriptor lists the families of the table"),
                "{text}"
            );
            assert!(error.server().is_some());
        }
    });
}
