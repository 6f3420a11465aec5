//! Queries without an answer are logged with their text.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::server::Server;

/// The fields of all events of the catalog, one event a text.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.push_str(&format!("{field}={value:?}\n"));
    }
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "saltwing::pg_catalog"
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields(format!("{}\n", event.metadata().level()));
        event.record(&mut fields);
        self.0.lock().unwrap().push(fields.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[tokio::test]
async fn a_query_without_an_answer_is_logged() {
    let log = Log::default();
    let _guard = tracing::subscriber::set_default(log.clone());
    let server = Server::with("CREATE TABLE t (k BIGINT PRIMARY KEY)");
    let owner = server.owner();
    let logged = || std::mem::take(&mut *log.0.lock().unwrap());
    for sql in [
        "SELECT * FROM pg_catalog.pg_unheard_of",
        "SELECT pg_unheard_of(1)",
        "SELECT nothing FROM pg_class",
        "SELECT oid FROM pg_class FOR UPDATE",
        "SELECT 'x'::hstore FROM pg_class",
        "SELECT oid FROM pg_class WHERE (",
    ] {
        owner.try_ask(sql).await.unwrap_err();
        let events = logged();
        assert!(
            matches!(events.as_slice(), [event] if event.starts_with("WARN") && event.contains(sql)),
            "{sql}: {events:?}"
        );
    }
    // An object that is not there is an answer.
    owner.try_ask("SELECT 'nothing'::regclass").await.unwrap_err();
    owner.try_ask("SELECT oid FROM pg_class WHERE relname = 't'").await.unwrap();
    assert_eq!(logged(), Vec::<String>::new());
}
