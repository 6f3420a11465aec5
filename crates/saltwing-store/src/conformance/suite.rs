//! The suite as tests.

/// Makes a test of each part of the suite for a persistent store. Call it once, in a test binary of its own, and not in a
/// module: the tests with two processes start that binary again by the names of its tests.
///
/// `$open` opens a directory: `fn(&Path, OpenOptions) -> Result<impl OrderedKv, StoreError>`. The caller needs `tempfile`.
#[macro_export]
macro_rules! store_contract_tests {
    ($open:path) => {
        use std::path::Path;
        use std::sync::Arc;

        use saltwing_store::conformance::fault::{Fault, FaultStore};
        use saltwing_store::{Access, OpenOptions, OrderedKv, StoreError, Trace, conformance};

        fn open(path: &Path, options: OpenOptions) -> Result<Arc<dyn OrderedKv>, StoreError> {
            $open(path, options).map(|store| -> Arc<dyn OrderedKv> { Arc::new(store) })
        }

        fn options(trace: Option<Trace>) -> OpenOptions {
            OpenOptions { access: Access::Create, cache_bytes: 8 << 20, trace }
        }

        fn open_or_create(path: &Path) -> Result<Arc<dyn OrderedKv>, StoreError> {
            open(path, options(None))
        }

        /// The name by which the test binary runs a test of this module.
        fn full_name(test: &str) -> String {
            match module_path!().split_once("::") {
                Some((_, module)) => format!("{module}::{test}"),
                None => test.to_owned(),
            }
        }

        /// In memory if possible: these tests create hundreds of databases, and cannot observe power cuts anyway.
        fn fresh() -> impl Fn() -> Arc<dyn OrderedKv> {
            let home = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
            move || open_or_create(home.path()).unwrap()
        }

        #[test]
        fn keeps_the_contract() {
            conformance::run(fresh);
        }

        #[test]
        fn keeps_the_contract_through_the_fault_wrapper() {
            conformance::run(|| {
                let open = fresh();
                move || -> Arc<dyn OrderedKv> { Arc::new(FaultStore::new(open(), Fault::None)) }
            });
        }

        #[test]
        fn stands_every_fault() {
            conformance::run_faults(fresh);
        }

        /// Checks the trace of a store.
        fn traced(hold: impl FnOnce(Arc<dyn OrderedKv>, &Trace)) {
            let home = tempfile::tempdir().unwrap();
            let trace = Trace::new();
            hold(open(home.path(), options(Some(trace.clone()))).unwrap(), &trace);
        }

        #[test]
        fn syncs_before_it_acknowledges() {
            traced(conformance::synced_before_acknowledged);
        }

        #[test]
        fn writers_share_a_sync() {
            traced(conformance::announced_writes_share_a_sync);
        }

        #[test]
        fn refuses_what_is_not_its_own() {
            let home = tempfile::tempdir().unwrap();
            conformance::directories(home.path(), open);
        }

        #[test]
        fn survives_kill() {
            let home = tempfile::tempdir().unwrap();
            conformance::survives_kill(&full_name("survives_kill"), home.path(), open_or_create);
        }

        #[test]
        fn clears_survive_kill() {
            let home = tempfile::tempdir().unwrap();
            conformance::clears_survive_kill(&full_name("clears_survive_kill"), home.path(), open_or_create);
        }

        #[test]
        fn reclaims_survive_kill() {
            let home = tempfile::tempdir().unwrap();
            conformance::reclaims_survive_kill(&full_name("reclaims_survive_kill"), home.path(), open_or_create);
        }

        #[test]
        fn second_process_is_refused() {
            let home = tempfile::tempdir().unwrap();
            conformance::second_process_is_refused(
                &full_name("second_process_is_refused"),
                home.path(),
                open_or_create,
            );
        }

        #[test]
        fn readers_leave_a_killed_writers_files_alone() {
            let home = tempfile::tempdir().unwrap();
            let test = full_name("readers_leave_a_killed_writers_files_alone");
            conformance::readers_leave_a_killed_writers_files_alone(&test, home.path(), open);
        }

        #[test]
        fn readers_of_several_processes_go_together() {
            let home = tempfile::tempdir().unwrap();
            let test = full_name("readers_of_several_processes_go_together");
            conformance::readers_of_several_processes_go_together(&test, home.path(), open);
        }

        #[test]
        fn failed_write_is_reported() {
            let home = tempfile::tempdir().unwrap();
            conformance::failed_write_is_reported(&full_name("failed_write_is_reported"), home.path(), open_or_create);
        }

        #[test]
        fn a_sync_is_a_system_call() {
            let home = tempfile::tempdir().unwrap();
            conformance::sync_is_a_system_call(&full_name("a_sync_is_a_system_call"), home.path(), open_or_create);
        }
    };
}
