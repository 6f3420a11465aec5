//! The files under `slt/`, on stores and salts.
//!
//! Combinations are chosen so that each pair of values meets: of store, salt, executor, layout, and indexes on every column. With
//! `SLT_ALL=1` all combinations run. The binary `sql-tests` runs other files: `sql-tests --store memory --full-scan allow PATH`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use saltwing::StoreKind::{Memory, Redb, Sled};
use sql_tests::Executor::{Auto, DataFusion, Direct};
use sql_tests::Store::{self, FakeRemote, FakeRemoteRows};
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

/// Each pair of values meets, but for the tiny layout on the store that has no blocks. Sled, an experiment, and one bucket,
/// a salt like others, run once. The cluster that writes each row by itself has no indexes.
fn chosen() -> Vec<Options> {
    let [plain, tiny] = [false, true];
    let [indexed, unindexed] = [true, false];
    vec![
        combination(Memory, 0, Auto, plain, indexed),
        combination(Memory, 7, Direct, tiny, unindexed),
        combination(Memory, 256, DataFusion, tiny, indexed),
        combination(Redb, 0, Direct, tiny, indexed),
        combination(Redb, 7, DataFusion, plain, unindexed),
        combination(Redb, 256, Auto, tiny, unindexed),
        combination(FakeRemote, 0, DataFusion, plain, unindexed),
        combination(FakeRemote, 7, Auto, plain, indexed),
        combination(FakeRemote, 256, Direct, plain, unindexed),
        combination(Sled, 1, Auto, tiny, unindexed),
        combination(FakeRemoteRows, 0, Auto, plain, unindexed),
        combination(FakeRemoteRows, 7, DataFusion, plain, unindexed),
    ]
}

fn combination(store: impl Into<Store>, salt: u16, executor: Executor, tiny_layout: bool, index_all: bool) -> Options {
    Options { salt, executor, tiny_layout, index_all, ..Options::of(store) }
}

fn all() -> Vec<Options> {
    let stores = [Memory, Redb, Sled].map(Store::from).into_iter().chain([FakeRemote]);
    let salted = stores.flat_map(|store| SALTS.map(|salt| (store, salt)));
    let executed = salted.flat_map(|(store, salt)| [Auto, Direct, DataFusion].map(|executor| (store, salt, executor)));
    let booleans = [(false, false), (false, true), (true, false), (true, true)];
    executed
        .flat_map(|(store, salt, executor)| {
            booleans.map(|(tiny_layout, index_all)| combination(store, salt, executor, tiny_layout, index_all))
        })
        .collect()
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
fn each_pair_of_values_meets() {
    let parts = |options: &Options| {
        [
            options.store.as_str().to_owned(),
            format!("salt {}", options.salt),
            options.executor.as_str().to_owned(),
            format!("tiny {}", options.tiny_layout),
            format!("indexes {}", options.index_all),
        ]
    };
    let pairs = |all: Vec<Options>| -> BTreeSet<(String, String)> {
        let pairs_of = |options: Options| {
            let parts = parts(&options);
            let pair = |i: usize, j: usize| (parts[i].clone(), parts[j].clone());
            (0..5).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| pair(i, j)).collect::<Vec<_>>()
        };
        all.into_iter().flat_map(pairs_of).collect()
    };
    let mut wanted = pairs(all());
    let runs_once = |part: &String| part == Store::from(Sled).as_str() || part == "salt 1";
    let has_no_blocks = |(a, b): &(String, String)| [a, b].map(String::as_str) == ["tiny true", FakeRemote.as_str()];
    wanted.retain(|pair| !runs_once(&pair.0) && !runs_once(&pair.1) && !has_no_blocks(pair));
    let missing: Vec<_> = wanted.difference(&pairs(chosen())).cloned().collect();
    assert_eq!(missing, []);
}
