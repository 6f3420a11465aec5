//! Ranges against those of Apache Phoenix 5.2.1: never wider.

use std::collections::BTreeMap;
use std::fs;

use saltwing_plan::Condition;
use saltwing_rowkey::{KeyRange, merge_ranges};
use saltwing_types::text::unhex;
use serde_json::Value as Json;

use crate::support;

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../sql-tests/golden/ranges.jsonl");

/// Where our ranges are wider, and why that is right, or not worth more.
const WIDER: [(&str, &[u32]); 6] = [
    ("'' is a value of a NOT NULL VARCHAR column", &[5, 6, 14, 51, 180]),
    ("backslashes in strings are plain characters", &[12]),
    (
        "last columns hold NUL bytes, CHAR holds control characters: Phoenix's ranges lose them",
        &[4, 40, 144, 232, 477, 479, 488],
    ),
    ("Phoenix's ranges lose other rows", &[186, 228, 468, 572]),
    ("FLOOR and TRUNC of a descending column: Phoenix's bounds are not inverted", &[169, 176]),
    ("other bytes, but no row that can be stored", &[84, 93, 419, 568, 585, 602]),
];

/// On how many of the sound queries we read less than Phoenix, the same, and more.
#[derive(Debug, Default, PartialEq)]
struct Counts {
    tighter: usize,
    equal: usize,
    /// Of the equal ones, those in whose ranges we skip, where Phoenix reads on.
    skipping: usize,
    wider: usize,
}

fn ranges(json: &Json) -> Vec<KeyRange> {
    let key = |json: &Json| unhex(json.as_str().unwrap()).unwrap();
    let range = |pair: &Json| KeyRange::new(key(&pair[0]), Some(key(&pair[1])).filter(|end| !end.is_empty()));
    merge_ranges(json.as_array().unwrap().iter().filter_map(range).collect())
}

#[test]
fn never_wider_than_phoenix() {
    let golden = fs::read_to_string(GOLDEN).unwrap();
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    let (mut unread, mut wider) = (Vec::new(), Vec::new());
    let mut counts = Counts::default();
    for line in golden.lines() {
        let case: Json = serde_json::from_str(line).unwrap();
        let (id, query) = (case["id"].as_str().unwrap(), case["query"].as_str().unwrap());
        let query = query.split(" ORDER BY ").next().unwrap();
        let table = support::parser::create_table(case["ddl"].as_str().unwrap()).unwrap();
        let conditions = match query.split_once(" WHERE ") {
            None => Vec::new(),
            Some((_, text)) => match support::parser::condition(text, &table) {
                Ok(condition) => condition.into_conjuncts().into_iter().map(Condition::new).collect(),
                Err(error) => {
                    unread.push(format!("{id} {query}: {error}"));
                    continue;
                }
            },
        };
        let access = table.plan(conditions);
        *kinds.entry(format!("{} for {}", access.kind.as_str(), case["kind"].as_str().unwrap())).or_default() += 1;
        if case["oracle"]["missing"].as_u64().unwrap_or_default() > 0 || case["ranges"].is_null() {
            continue;
        }
        let theirs = ranges(&case["ranges"]);
        let inside = |ours: &KeyRange| theirs.iter().any(|range| range.intersect(ours).as_ref() == Some(ours));
        let ours = access.ranges.first(usize::MAX).unwrap();
        let number: u32 = id.rsplit('-').next().unwrap().parse().unwrap();
        let expected = WIDER.iter().any(|(_, numbers)| numbers.contains(&number));
        match (ours == theirs, ours.iter().all(inside)) {
            (true, _) => counts.equal += 1,
            (false, true) => counts.tighter += 1,
            (false, false) => counts.wider += 1,
        }
        counts.skipping += usize::from(ours == theirs && access.skip.is_some() && case["bounding"] == false);
        if ours.iter().all(inside) == expected {
            let what = if expected { "no longer wider" } else { "wider" };
            wider.push(format!(
                "{what}: {id} {}\n   {query}\n   ours {ours:?}\n   theirs {theirs:?}",
                table.definition()
            ));
        }
    }
    println!("{counts:?}\n{kinds:#?}\nunread {}\n{}", unread.len(), unread.join("\n"));
    assert!(wider.is_empty(), "{} not as expected:\n{}", wider.len(), wider.join("\n"));
    assert_eq!(counts, Counts { tighter: 172, equal: 397, skipping: 84, wider: 25 });
}
