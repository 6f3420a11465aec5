//! The files under `slt/`, on stores and salts; sqlite's corpus where it is at hand.
//!
//! | variable | what runs |
//! |---|---|
//! | (none) | a subset of the combinations in which every store, salt and executor occurs, sled and fjall once; half of them on blocks of 4 rows |
//! | `SLT_ALL=1` | all combinations |
//! | `SLT_CORPUS=1` | `../shared/corpora/sqlite-slt` too, which takes minutes |
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::path::{Path, PathBuf};

use saltwing::StoreKind::{Fjall, Memory, Redb, Sled};
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

/// Store, salt, executor, and whether the layout is tiny.
type Combination = (Store, u16, Executor, bool);

/// Every store meets every salt, every executor every store, and all of them the tiny layout.
fn chosen() -> Vec<Combination> {
    let remote = [(FakeRemote, 0, Auto, false), (FakeRemote, 7, DataFusion, false), (FakeRemote, 3, Direct, false)];
    let embedded = [
        (Memory, 0, Auto, false),
        (Memory, 1, Direct, true),
        (Memory, 7, DataFusion, true),
        (Memory, 256, Auto, false),
        (Redb, 0, DataFusion, false),
        (Redb, 1, Auto, true),
        (Redb, 7, Direct, false),
        (Redb, 256, DataFusion, false),
        (Fjall, 7, Auto, true),
        (Sled, 7, Auto, true),
    ];
    let embedded = embedded.map(|(kind, salt, executor, tiny)| (Store::from(kind), salt, executor, tiny));
    embedded.into_iter().chain(remote).collect()
}

fn all() -> Vec<Combination> {
    let stores = [Memory, Redb, Fjall, Sled].map(Store::from);
    let pairs = stores.into_iter().chain([FakeRemote]).flat_map(|store| SALTS.map(|salt| (store, salt)));
    let triples = pairs.flat_map(|(store, salt)| [Auto, Direct, DataFusion].map(|executor| (store, salt, executor)));
    triples.flat_map(|(store, salt, executor)| [false, true].map(|tiny| (store, salt, executor, tiny))).collect()
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
    println!("{} --salt {} --executor {}: {totals}", options.store.as_str(), options.salt, options.executor.as_str());
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
    for (store, salt, executor, tiny_layout) in combinations {
        let executor = match (relational, executor) {
            (false, DataFusion) => continue,
            (false, _) => Direct,
            (true, executor) => executor,
        };
        let options = Options { salt, executor, tiny_layout, ..Options::of(store) };
        let failed = run(&paths, &options, &OPEN);
        if !failed.is_empty() {
            failures.push_str(&format!(
                "== {} --salt {salt} --executor {}{}\n{failed}",
                store.as_str(),
                executor.as_str(),
                if tiny_layout { " --tiny-layout" } else { "" }
            ));
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
