//! Statements that must stop while servers do not answer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use fake_hbase::Fault;
use saltwing_access::{Budget, KeySet, Projection, ScanContext, ScanRoute, ScanSpec, Table, TableError};
use saltwing_hbase::Options;
use saltwing_types::ErrorCode;

use crate::golden::definitions;
use crate::world::{World, context};

/// Longer than any test waits.
const LONG: Duration = Duration::from_secs(3600);

fn world(call_time: Duration) -> (World, Arc<Table>) {
    let mut options = Options::default();
    options.call_time = call_time;
    let world = World::with_options(options);
    world.define(&definitions()["CA1"], &[b"m"]);
    let table = world.table(None, "CA1");
    assert!(!world.store.snapshot().unwrap().contains(&table, b"warm").unwrap());
    (world, table)
}

fn hang(world: &World) {
    world.cluster.on_call(
        usize::MAX,
        |call| !call.is_meta() && ["Get", "Scan", "Multi"].contains(&call.method.as_str()),
        Fault::Lost,
    );
}

/// Each kind of read, for the statement of the thread or of a context.
fn reads(world: &World, table: &Arc<Table>, context: &ScanContext) -> Vec<TableError> {
    let snapshot = world.store.snapshot().unwrap();
    let columns = Projection::all(table);
    let spec = ScanSpec::new(table, vec![0], Vec::new()).unwrap();
    let _entered = context.enter();
    let scanned = |route: ScanRoute| snapshot.scan(&spec, route, context.clone()).unwrap().next_columns().err();
    let mut values = saltwing_expr::RowValues::new(4);
    let keys = [b"a".to_vec(), b"z".to_vec()];
    [
        snapshot.get(&columns, b"a").err(),
        world.store.point(&columns, b"z").err(),
        snapshot.get_all(&columns, &keys, &mut values, Some(context)).err(),
        scanned(ScanRoute::of(KeySet::all())),
        scanned(ScanRoute { limit: Some(1), ..ScanRoute::of(KeySet::all()) }),
    ]
    .into_iter()
    .map(Option::unwrap)
    .collect()
}

#[test]
fn a_statement_ends_at_its_limit_and_names_the_server() {
    let (world, table) = world(LONG);
    hang(&world);
    for kind in 0..5 {
        let context = ScanContext::new(Budget { time_max: Some(Duration::from_millis(100)), ..Budget::default() });
        let began = Instant::now();
        let error = &reads(&world, &table, &context)[0];
        assert_eq!(error.code(), ErrorCode::Timeout, "{kind}: {error}");
        assert!(began.elapsed() < Duration::from_secs(10));
    }
    let context = ScanContext::new(Budget { time_max: Some(Duration::from_millis(100)), ..Budget::default() });
    let error = world.store.snapshot().unwrap();
    let _entered = context.enter();
    let error = error.get(&Projection::all(&table), b"a").unwrap_err();
    assert!(matches!(&error, TableError::StoppedWaiting { server, .. } if server.contains("127.0.0.1")), "{error}");
}

#[test]
fn a_cancel_ends_each_kind_of_read_at_once() {
    let (world, table) = world(LONG);
    hang(&world);
    let context = context();
    let cancelling = context.clone();
    let canceller = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        cancelling.cancel();
    });
    let began = Instant::now();
    for error in reads(&world, &table, &context) {
        assert_eq!(error.code(), ErrorCode::Cancelled, "{error}");
    }
    assert!(began.elapsed() < Duration::from_secs(10));
    canceller.join().unwrap();
}

#[test]
fn a_call_ends_after_its_time_and_names_the_server() {
    let (world, table) = world(Duration::from_millis(200));
    hang(&world);
    for error in reads(&world, &table, &context()) {
        assert_eq!(error.code(), ErrorCode::Unavailable, "{error}");
        assert!(error.to_string().contains("127.0.0.1:"), "{error}");
    }
}

/// A scan that is polled is woken when its rows are there, and when the statement is cancelled.
#[test]
fn a_scan_that_is_polled_is_woken() {
    struct Woken(std::thread::Thread);
    impl std::task::Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let (world, table) = world(LONG);
    let waker = std::task::Waker::from(Arc::new(Woken(std::thread::current())));
    let mut task = std::task::Context::from_waker(&waker);
    let scan = |context: &ScanContext| {
        let spec = ScanSpec::new(&table, vec![0], Vec::new()).unwrap();
        world.store.snapshot().unwrap().scan(&spec, ScanRoute::of(KeySet::all()), context.clone()).unwrap()
    };
    let mut until_ready = |scan: &mut dyn saltwing_access::RowSource| {
        let began = Instant::now();
        while scan.poll_ready(&mut task).unwrap().is_pending() {
            std::thread::park_timeout(Duration::from_secs(10));
            assert!(began.elapsed() < Duration::from_secs(9), "it is woken");
        }
    };
    let mut empty = scan(&context());
    until_ready(&mut *empty);
    assert!(empty.next_columns().unwrap().is_none());
    hang(&world);
    let context = context();
    let mut hanging = scan(&context);
    let cancelling = context.clone();
    let canceller = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        cancelling.cancel();
    });
    until_ready(&mut *hanging);
    assert_eq!(hanging.next_columns().unwrap_err().code(), ErrorCode::Cancelled);
    canceller.join().unwrap();
}
