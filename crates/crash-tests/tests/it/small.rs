//! A small run of each kind; long ones are run by hand (docs/crashes.md).

use std::process::Command;

fn holds(arguments: &[&str]) {
    let output = Command::new(env!("CARGO_BIN_EXE_crash-tests")).args(arguments).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    println!("{printed}");
    assert!(output.status.success(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn what_was_acknowledged_survives_a_power_cut() {
    let rules = "ext4,torn,zero,sector,subset";
    holds(&["power", "--cuts", "12", "--rule", rules, "--statements", "400", "--seed", "11"]);
}

#[test]
fn damage_is_reported_or_has_no_effect() {
    holds(&["damage", "--trials", "30", "--statements", "300", "--seed", "11"]);
}

/// Not on sled, where a transaction may have read a commit that the kill takes away.
#[test]
fn a_killed_process_leaves_whole_transactions() {
    // As many kills as make it sure that one of them meets a commit whose outcome is unknown, which a run must have.
    holds(&["kill", "--rounds", "20", "--threads", "8", "--seed", "11"]);
}
