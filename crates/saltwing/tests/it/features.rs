//! Every third-party crate has one set of features, whatever is built: otherwise the shell, a crate with its tests and the whole
//! workspace would each build DataFusion anew. `crates/workspace-hack` asks for these features.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::sync::Mutex;

use serde_json::Value;

use crate::repository::{metadata, root};

/// Features differ by platform. The lists are those of one, so that the test says the same on all.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// A crate as `name v1.2.3`, with the sets of features in which a build has it.
type Crates = BTreeMap<String, BTreeSet<String>>;

/// Reads lines `name v1.2.3|feature,feature`, without the crates of this repository, which stand with their paths.
fn crates_of(tree: &str) -> Crates {
    let mut crates = Crates::new();
    for (name, features) in tree.lines().filter_map(|line| line.split_once('|')) {
        let name = name.trim_end_matches(" (proc-macro)");
        if !name.contains('(') {
            let features = features.trim_end_matches(" (*)").to_owned();
            crates.entry(name.to_owned()).or_default().insert(features);
        }
    }
    crates
}

fn built_by(arguments: &[&str]) -> Crates {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--locked", "--target", TARGET, "--prefix", "none", "--format", "{p}|{f}"])
        .args(arguments)
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let crates = crates_of(&String::from_utf8_lossy(&output.stdout));
    assert!(!crates.is_empty(), "{arguments:?} builds nothing");
    crates
}

/// The lines of workspace-hack that are missing if some builds have some crates with other features than the whole.
fn missing_lines(whole: &Crates, parts: &[(String, Crates)]) -> Vec<String> {
    let mut wrong: BTreeMap<&String, BTreeSet<&str>> = BTreeMap::new();
    for (name, _) in whole.iter().filter(|(_, features)| features.len() > 1) {
        wrong.entry(name).or_default().insert("--workspace");
    }
    for (build, crates) in parts {
        for (name, features) in crates {
            if whole.get(name) != Some(features) {
                wrong.entry(name).or_default().insert(build);
            }
        }
    }
    let all_features = |name: &String| -> BTreeSet<String> {
        let sets = parts.iter().map(|(_, crates)| crates).chain([whole]).filter_map(|crates| crates.get(name));
        let features = sets.flatten().flat_map(|set| set.split(',')).filter(|feature| !feature.is_empty());
        features.map(|feature| format!("\"{feature}\"")).collect()
    };
    let line = |(crate_, builds): (&String, BTreeSet<&str>)| {
        let (name, version) = crate_.split_once(" v").unwrap();
        let parts: Vec<&str> = version.split('.').collect();
        let version = if parts[0] == "0" { parts[..2].join(".") } else { parts[0].to_owned() };
        let features: Vec<String> = all_features(crate_).into_iter().collect();
        let builds = builds.into_iter().collect::<Vec<_>>().join("; ");
        format!(
            "# other features in: {builds}\n{name} = {{ version = \"{version}\", default-features = false, features = [{}] }}",
            features.join(", ")
        )
    };
    wrong.into_iter().map(line).collect()
}

/// The builds that are compared: each member with its tests, and those that depend on workspace-hack without them, too.
fn builds_of_members() -> Vec<String> {
    let metadata = metadata();
    let mut builds = Vec::new();
    for package in metadata["packages"].as_array().unwrap() {
        let name = package["name"].as_str().unwrap();
        if name == "workspace-hack" {
            continue;
        }
        builds.push(format!("-p {name} -e normal,build,dev"));
        let is_hack = |dependency: &&Value| dependency["name"] == "workspace-hack";
        let hack = package["dependencies"].as_array().unwrap().iter().find(is_hack);
        let targets = package["targets"].as_array().unwrap();
        if targets.iter().any(|target| target["kind"][0] == "proc-macro") {
            // All that the tests of a procedural macro need is built for the compiler, beside the same for the programs.
            assert!(
                hack.is_none(),
                "{name} is a procedural macro and depends on workspace-hack: name the features of syn"
            );
            continue;
        }
        let hack = hack.unwrap_or_else(|| panic!("{name} does not depend on workspace-hack: its tests need it"));
        if hack["kind"].is_null() {
            builds.push(format!("-p {name} -e normal,build"));
        }
    }
    assert!(builds.contains(&"-p saltwing-cli -e normal,build".to_owned()), "the shell depends on workspace-hack");
    builds
}

#[test]
fn a_third_party_crate_has_one_set_of_features() {
    let whole = built_by(&["--workspace", "-e", "normal,build,dev"]);
    let left = Mutex::new(builds_of_members());
    let parts = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some(build) = left.lock().unwrap().pop() else { return };
                    let crates = built_by(&build.split(' ').collect::<Vec<_>>());
                    parts.lock().unwrap().push((build, crates));
                }
            });
        }
    });
    let parts = parts.into_inner().unwrap();
    assert!(parts.len() > 20, "{} builds", parts.len());
    let missing = missing_lines(&whole, &parts);
    assert!(
        missing.is_empty(),
        "crates/workspace-hack/Cargo.toml lacks these lines (in [build-dependencies], too, if build scripts or procedural macros use the crate):\n{}",
        missing.join("\n")
    );
}

/// A crate that nothing else uses any more would be built for its line alone.
#[test]
fn workspace_hack_names_what_is_used() {
    let used = built_by(&["--workspace", "-e", "normal,build,dev", "--prune", "workspace-hack"]);
    let metadata = metadata();
    let packages = metadata["packages"].as_array().unwrap();
    let hack = packages.iter().find(|package| package["name"] == "workspace-hack").unwrap();
    let names = hack["dependencies"].as_array().unwrap().iter().map(|dependency| dependency["name"].as_str().unwrap());
    let unused: Vec<&str> =
        names.filter(|name| !used.keys().any(|used| used.split(' ').next() == Some(name))).collect();
    assert!(unused.is_empty(), "crates/workspace-hack/Cargo.toml names what nothing else uses: {unused:?}");
}

#[test]
fn the_missing_line_is_printed() {
    let whole = crates_of("libc v0.2.1|default,std\nsyn v2.0.1 (proc-macro)| (*)\nours v0.1.0 (/src/ours)|a\n");
    let same = ("-p a".to_owned(), crates_of("libc v0.2.1|default,std (*)\nours v0.1.0 (/src/ours)|\n"));
    assert_eq!(missing_lines(&whole, std::slice::from_ref(&same)), [""; 0]);
    let other = ("-p b".to_owned(), crates_of("libc v0.2.1|extra,std\nsyn v2.0.1|\n"));
    assert_eq!(
        missing_lines(&whole, &[same, other]),
        [
            "# other features in: -p b\nlibc = { version = \"0.2\", default-features = false, features = [\"default\", \"extra\", \"std\"] }"
        ]
    );
    let twice = crates_of("libc v0.2.1|std\nlibc v0.2.1|\n");
    assert_eq!(missing_lines(&twice, &[]).len(), 1);
}
