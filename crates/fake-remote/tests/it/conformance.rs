//! The fake cluster does what every store of tables must, whatever happens to its regions and calls.

use std::sync::Arc;

use fake_remote::{AtomicScope, Faults, RemoteStore};
use saltwing_access::{TableStore, conformance};

#[test]
fn it_conforms_without_faults() {
    conformance::check(&|clock| Arc::new(RemoteStore::with_clock(AtomicScope::Store, Faults::none(), clock)));
}

#[test]
fn it_conforms_while_regions_change_and_calls_fail() {
    for seed in 1..4 {
        conformance::check(&|clock| Arc::new(RemoteStore::with_clock(AtomicScope::Store, Faults::often(seed), clock)));
    }
}

#[test]
fn capabilities_say_what_a_commit_writes_at_once() {
    for scope in [AtomicScope::Row, AtomicScope::Store] {
        let store = RemoteStore::new(scope, Faults::often(1));
        assert_eq!(store.capabilities().atomic, scope);
        assert_eq!(store.capabilities().check_rows(2).is_ok(), scope == AtomicScope::Store);
    }
}
