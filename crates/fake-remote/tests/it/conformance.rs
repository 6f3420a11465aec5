//! The fake cluster does what every store of tables must, whatever happens to its regions and calls.

use std::sync::Arc;

use fake_remote::{AtomicScope, Faults, RemoteStore};
use saltwing_access::{TableStore, conformance};

const SCOPES: [AtomicScope; 2] = [AtomicScope::Row, AtomicScope::Store];

#[test]
fn it_conforms_without_faults() {
    for scope in SCOPES {
        conformance::check(&|clock| Arc::new(RemoteStore::with_clock(scope, Faults::none(), clock)));
    }
}

#[test]
fn it_conforms_while_regions_change_and_calls_fail() {
    for scope in SCOPES {
        for seed in 1..4 {
            conformance::check(&|clock| Arc::new(RemoteStore::with_clock(scope, Faults::often(seed), clock)));
        }
    }
}

#[test]
fn it_conforms_while_threads_read_ahead() {
    let faults = Faults { scans_at_once: 3, page_rows: 7, ..Faults::often(9) };
    for scope in SCOPES {
        conformance::check(&|clock| Arc::new(RemoteStore::with_clock(scope, faults, clock)));
    }
}

#[test]
fn capabilities_say_what_a_commit_writes_as_a_whole() {
    for scope in SCOPES {
        let store = RemoteStore::new(scope, Faults::often(1));
        let is_whole = scope == AtomicScope::Store;
        assert_eq!(store.capabilities().atomic, scope);
        assert_eq!(store.capabilities().check_atomic("a test").is_ok(), is_whole);
        assert_eq!(store.capabilities().sets_columns, !is_whole);
    }
}
