//! The files under `slt/`, on stores and salts; sqlite's corpus where it is at hand.
//!
//! | variable | what runs |
//! |---|---|
//! | (none) | a subset of the combinations in which every store, salt and executor occurs, sled once; half of them on blocks of 4 rows, some with an index on every column |
//! | `SLT_ALL=1` | all combinations |
//! | `SLT_CORPUS=1` | `../shared/corpora/sqlite-slt` too, which takes minutes |

use std::path::{Path, PathBuf};

use saltwing::StoreKind::{Memory, Redb, Sled};
use sql_tests::Executor::{Auto, DataFusion, Direct};
use sql_tests::Store::{self, FakeRemote};
use sql_tests::{Executor, Options, has_relational_engine, run_files, select};

/// By whom it is run, the statement, and what is wrong.
type Fault = (&'static [Executor], &'static str, &'static str);

/// What is wrong today, and must be: what is right comes off the list.
const OPEN: [Fault; 0] = [];

const JOBS: usize = 2;
const SALTS: [u16; 4] = [0, 1, 7, 256];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// Every store meets every salt, every executor every store, and all of them the tiny layout. The last ones have an index on
/// every column.
fn chosen() -> Vec<Options> {
    let plain = [
        combination(Memory, 0, Auto, false),
        combination(Memory, 1, Direct, true),
        combination(Memory, 7, DataFusion, true),
        combination(Memory, 256, Auto, false),
        combination(Redb, 0, DataFusion, false),
        combination(Redb, 1, Auto, true),
        combination(Redb, 7, Direct, false),
        combination(Redb, 256, DataFusion, false),
        combination(Redb, 7, Auto, true),
        combination(Sled, 7, Auto, true),
        combination(FakeRemote, 0, Auto, false),
        combination(FakeRemote, 7, DataFusion, false),
        combination(FakeRemote, 3, Direct, false),
    ];
    let indexed = [
        combination(Memory, 0, Direct, false),
        combination(Memory, 7, DataFusion, true),
        combination(Redb, 4, Auto, true),
        combination(FakeRemote, 0, Auto, false),
    ];
    let indexed = indexed.into_iter().map(|options| Options { index_all: true, ..options });
    plain.into_iter().chain(indexed).collect()
}

fn combination(store: impl Into<Store>, salt: u16, executor: Executor, tiny_layout: bool) -> Options {
    Options { salt, executor, tiny_layout, ..Options::of(store) }
}

fn all() -> Vec<Options> {
    let stores = [Memory, Redb, Sled].map(Store::from).into_iter().chain([FakeRemote]);
    let salted = stores.flat_map(|store| SALTS.map(|salt| (store, salt)));
    let executed = salted.flat_map(|(store, salt)| [Auto, Direct, DataFusion].map(|executor| (store, salt, executor)));
    let laid_out = executed.flat_map(|(store, salt, executor)| {
        [false, true].map(|tiny_layout| combination(store, salt, executor, tiny_layout))
    });
    laid_out.flat_map(|options| [false, true].map(|index_all| Options { index_all, ..options.clone() })).collect()
}

/// The options as the binary has them.
fn shown(options: &Options) -> String {
    let (store, salt, executor) = (options.store.as_str(), options.salt, options.executor.as_str());
    let tiny_layout = if options.tiny_layout { " --tiny-layout" } else { "" };
    let index_all = if options.index_all { " --index-all" } else { "" };
    format!("--store {store} --salt {salt} --executor {executor}{tiny_layout}{index_all}")
}

fn run(paths: &[PathBuf], options: &Options, faults: &[Fault]) -> String {
    let (mut failures, mut open) = (String::new(), Vec::new());
    let files = select(paths).unwrap().files;
    let totals = run_files(&files, options, JOBS, |file| {
        for failure in &file.failures {
            match faults.iter().position(|(who, sql, _)| who.contains(&options.executor) && *sql == failure.sql) {
                Some(known) => open.push(known),
                None => failures.push_str(&format!("{failure}\n\n")),
            }
        }
    });
    for (i, (who, sql, why)) in faults.iter().enumerate() {
        if who.contains(&options.executor) && !open.contains(&i) {
            failures.push_str(&format!("{sql}\n  is on the list of what is wrong ({why}), and is right\n\n"));
        }
    }
    let totals = totals.unwrap();
    println!("{}: {totals}", shown(options));
    assert!(totals.passed > 0, "nothing ran");
    failures
}

#[test]
fn our_files_hold_on_every_store_salt_and_executor() {
    let relational = has_relational_engine().unwrap();
    let mut paths = select(&[root().join("slt")]).unwrap().files;
    if !relational {
        println!("no relational engine in this build: what needs it is skipped");
        // Their statements, not only their queries, need it.
        paths.retain(|path| !path.parent().is_some_and(|folder| folder.ends_with("subquery")));
    }
    let combinations = if std::env::var_os("SLT_ALL").is_some() { all() } else { chosen() };
    let mut failures = String::new();
    for options in combinations {
        let executor = match (relational, options.executor) {
            (false, DataFusion) => continue,
            (false, _) => Direct,
            (true, executor) => executor,
        };
        let options = Options { executor, ..options };
        let failed = run(&paths, &options, &OPEN);
        if !failed.is_empty() {
            failures.push_str(&format!("== {}\n{failed}", shown(&options)));
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

#[test]
fn the_corpus_holds() {
    let corpus = root().join("../../shared/corpora/sqlite-slt");
    if std::env::var_os("SLT_CORPUS").is_none() || !corpus.exists() {
        println!("skipped: set SLT_CORPUS=1, with the corpus at {}", corpus.display());
        return;
    }
    let executor = if has_relational_engine().unwrap() { Auto } else { Direct };
    let options = Options { executor, full_scan: Some("allow".into()), ..Options::of(Memory) };
    let files: Vec<PathBuf> = ["select1.test", "select2.test", "select3.test"].map(|name| corpus.join(name)).into();
    let failures = run(&files, &options, &[]);
    assert!(failures.is_empty(), "\n{failures}");
}
