//! A small run of each kind; long ones are run by hand (docs/crashes.md).

use std::process::Command;

fn holds(arguments: &[&str]) {
    let output = Command::new(env!("CARGO_BIN_EXE_crash-tests")).args(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    println!("{said}");
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn what_was_acknowledged_survives_a_power_cut() {
    for store in ["redb"] {
        let rules = "ext4,torn,zero";
        holds(&["power", "--store", store, "--cuts", "12", "--rule", rules, "--seconds", "3", "--seed", "11"]);
    }
}

#[test]
fn damage_is_told_or_of_no_effect() {
    for store in ["redb"] {
        holds(&["damage", "--store", store, "--trials", "30", "--seconds", "1.5", "--seed", "11"]);
    }
}

/// Not on sled: there a transaction may have read a commit that the kill takes away.
#[test]
fn a_killed_process_leaves_whole_transactions() {
    for store in ["redb"] {
        // As many kills as make it sure that one of them meets a commit whose outcome is unknown, which a run must have.
        holds(&["kill", "--store", store, "--rounds", "20", "--threads", "8", "--seed", "11"]);
    }
}
