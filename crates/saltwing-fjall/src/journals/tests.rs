//! Journals made byte by byte: several of them, and what fjall would not write so soon.

use std::fs;
use std::path::{Path, PathBuf};

use saltwing_store::commit_number::CommitMark;
use saltwing_store::watermark::Marks;
use xxhash_rust::xxh3::xxh3_64;

use super::{Verdict, check, salvage};

/// A batch of one value, behind its mark if it has one.
fn batch(mark: Option<CommitMark>, order: u64) -> Vec<u8> {
    let item = |key: &[u8], value: &[u8]| {
        let head = [&[2, 0, 0][..], &7_u64.to_le_bytes(), &(key.len() as u16).to_le_bytes()].concat();
        let bytes = (value.len() as u32).to_le_bytes();
        [&head[..], &bytes, &bytes, key, value].concat()
    };
    let marked = mark.map_or(Vec::new(), |mark| item(CommitMark::KEY, &mark.encode()));
    let items = [marked, item(b"key", &[9; 50])].concat();
    let count = 1 + u32::from(mark.is_some());
    let start = [&[1][..], &count.to_le_bytes(), &order.to_le_bytes()].concat();
    let end = [&[3][..], &xxh3_64(&items).to_le_bytes(), b"FJL\x03"].concat();
    [start, items, end].concat()
}

fn numbered(number: u64, synced: u64) -> Vec<u8> {
    batch(Some(CommitMark { number, synced, order_min: number * 10, skipped: 0 }), number * 10)
}

fn numbers(numbers: std::ops::RangeInclusive<u64>) -> Vec<u8> {
    numbers.flat_map(|number| numbered(number, number - 1)).collect()
}

/// Journals of a database whose newest number on the disk, and number that needs no journal, are known.
struct Journals(tempfile::TempDir);

impl Journals {
    fn of(journals: &[Vec<u8>]) -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("data")).unwrap();
        for (number, bytes) in journals.iter().enumerate() {
            // fjall allocates zeros beforehand.
            fs::write(home.path().join(format!("data/{number}.jnl")), [&bytes[..], &[0; 5_000]].concat()).unwrap();
        }
        Self(home)
    }

    fn data(&self) -> std::path::PathBuf {
        self.0.path().join("data")
    }

    fn check(&self, acknowledged: u64, settled: u64) -> Result<Verdict, String> {
        check(&self.data(), Marks { acknowledged, settled }).map_err(|error| error.to_string())
    }

    /// Lengths of the journals after the cuts.
    fn cut(&self, acknowledged: u64, settled: u64) -> Vec<u64> {
        let verdict = self.check(acknowledged, settled).unwrap();
        assert!(verdict.notice().is_some());
        let kept = verdict.kept.clone();
        let (_, notice) = verdict.cut(self.0.path()).unwrap();
        assert!(notice.is_some());
        self.holds_as_kept(&kept);
        self.lengths()
    }

    /// The journals are those of a verdict, with its content, followed by zeros.
    fn holds_as_kept(&self, kept: &[(PathBuf, u64)]) {
        assert_eq!(kept.len(), self.lengths().len());
        for (path, bytes) in kept {
            let held = fs::read(path).unwrap();
            let (kept, behind) = held.split_at(usize::try_from(*bytes).unwrap());
            assert!(kept.last().is_none_or(|last| *last != 0), "{} ends before {bytes}", path.display());
            assert!(behind.iter().all(|byte| *byte == 0), "{} goes on behind {bytes}", path.display());
        }
    }

    fn lengths(&self) -> Vec<u64> {
        let length = |number: u8| fs::metadata(self.data().join(format!("{number}.jnl"))).map(|file| file.len());
        (0..4).filter_map(|number| length(number).ok()).collect()
    }

    fn refused(&self, acknowledged: u64, settled: u64) -> String {
        let before = contents(&self.data());
        let told = self.check(acknowledged, settled).unwrap_err();
        assert_eq!(contents(&self.data()), before);
        told
    }
}

fn contents(data: &Path) -> Vec<Vec<u8>> {
    (0..4).filter_map(|number| fs::read(data.join(format!("{number}.jnl"))).ok()).collect()
}

fn without(mut bytes: Vec<u8>, range: std::ops::Range<usize>) -> Vec<u8> {
    bytes[range].fill(0);
    bytes
}

#[test]
fn whole_journals_need_nothing() {
    let verdict = Journals::of(&[numbers(4..=6), numbers(7..=9)]).check(9, 0).unwrap();
    assert_eq!((verdict.required, verdict.cuts.len()), (9, 0));
}

#[test]
fn the_end_of_the_last_journal_may_be_torn() {
    let first = numbers(4..=6);
    let torn = without(numbered(7, 6), 20..60);
    assert_eq!(Journals::of(&[first.clone(), torn.clone()]).cut(6, 0), [first.len() as u64 + 5_000, 0]);
    let told = Journals::of(&[first, torn]).refused(7, 0);
    assert!(told.contains("1.jnl") && told.contains("at byte 0"), "{told}");
}

#[test]
fn batches_behind_a_torn_one_vouch_for_it_if_they_saw_it_on_the_disk() {
    let good = numbers(1..=3);
    let torn = without(numbered(4, 3), 20..60);
    let unsynced = [good.clone(), torn.clone(), numbered(5, 3)].concat();
    assert_eq!(Journals::of(&[unsynced]).cut(3, 0), [good.len() as u64]);
    let told = Journals::of(&[[good, torn, numbered(5, 4)].concat()]).refused(3, 0);
    assert!(told.contains("a whole batch follows"), "{told}");
}

#[test]
fn a_closed_journal_is_never_torn() {
    let torn = [numbers(1..=3), without(numbered(4, 3), 20..60)].concat();
    assert!(Journals::of(&[torn, numbered(5, 3)]).refused(3, 0).contains("0.jnl"));
    assert!(Journals::of(&[Vec::new(), numbers(5..=6)]).refused(3, 0).contains("empty"));
}

#[test]
fn a_gap_is_damage() {
    assert!(Journals::of(&[numbers(1..=3), numbers(5..=6)]).refused(6, 0).contains("missing"));
    assert!(Journals::of(&[[numbers(1..=3), numbers(5..=6)].concat()]).refused(6, 0).contains("missing"));
    assert!(Journals::of(&[numbers(1..=3)]).refused(4, 0).contains("missing at its end"));
}

#[test]
fn numbers_that_only_tables_have_are_no_gap() {
    let skipping = |skipped| batch(Some(CommitMark { number: 9, synced: 8, order_min: 90, skipped }), 90);
    let verdict = Journals::of(&[[numbers(1..=3), skipping(5)].concat()]).check(9, 0).unwrap();
    assert_eq!((verdict.required, verdict.newest), (9, Some(9)));
    assert!(Journals::of(&[[numbers(1..=3), skipping(4)].concat()]).refused(9, 0).contains("missing"));
}

#[test]
fn an_order_number_is_held_to_its_neighbours_and_its_mark() {
    let mark = |number| Some(CommitMark { number, synced: number - 1, order_min: number * 10, skipped: 0 });
    for order in [0, 19, 20, 31, 1 << 40, u64::MAX] {
        let journal = [batch(mark(2), 20), batch(mark(3), order), batch(mark(4), 40)].concat();
        let outcome = Journals::of(&[journal]).check(4, 0);
        assert_eq!(outcome.is_ok(), order == 31, "{order}: {outcome:?}");
    }
}

#[test]
fn after_a_close_all_journals_can_go() {
    let damaged = without(numbers(1..=3), 20..60);
    let journals = [damaged, numbers(4..=6), numbers(7..=9)];
    assert_eq!(Journals::of(&journals).cut(9, 9), [0]);
    assert!(Journals::of(&journals).refused(9, 8).contains("0.jnl"));
    // Later batches are needed, even if they were not acknowledged.
    assert!(Journals::of(&journals).refused(8, 8).contains("0.jnl"));
}

#[test]
fn journals_of_releases_before_the_numbers() {
    let old: Vec<u8> = (1..4).flat_map(|order| batch(None, order)).collect();
    assert_eq!(Journals::of(std::slice::from_ref(&old)).check(0, 0).unwrap().cuts.len(), 0);
    let torn = [old.clone(), without(batch(None, 4), 20..60)].concat();
    assert_eq!(Journals::of(std::slice::from_ref(&torn)).cut(0, 0), [old.len() as u64]);
    assert!(Journals::of(&[[torn.clone(), batch(None, 5)].concat()]).refused(0, 0).contains("follows"));
    // An earlier release has written to a database that this one had closed.
    assert!(Journals::of(&[[numbers(1..=3), torn, batch(None, 5)].concat()]).refused(3, 3).contains("follows"));
    let damaged = [numbers(1..=2), without(numbered(3, 2), 20..60), batch(None, 5)].concat();
    assert!(Journals::of(&[damaged]).refused(3, 3).contains("0.jnl"));
}

#[test]
fn a_cut_can_be_undone() {
    let journals = Journals::of(&[without(numbers(1..=3), 20..60), numbers(4..=6)]);
    let before = contents(&journals.data());
    let (made, _) = journals.check(6, 6).unwrap().cut(journals.0.path()).unwrap();
    assert_eq!(journals.lengths(), [0]);
    made.iter().rev().for_each(|made| made.undo().unwrap());
    assert_eq!(contents(&journals.data()), before);
}

/// The bytes that a salvage uses of each journal, and its report.
fn saved(journals: &Journals, acknowledged: u64) -> (Vec<Vec<u8>>, Vec<String>) {
    let saved = salvage(&journals.data(), Marks { acknowledged, settled: 0 }).unwrap();
    let used = saved.journals.iter().map(|(path, parts)| {
        let bytes = fs::read(path).unwrap_or_default();
        parts.iter().flat_map(|part| bytes[part.start as usize..part.end as usize].to_vec()).collect()
    });
    let told = saved.left_out.iter().map(|left| format!("{}, {}: {}", left.file, left.place, left.what));
    (used.collect(), told.collect())
}

fn flip(journals: &Journals, journal: u8, at: usize) {
    let path = journals.data().join(format!("{journal}.jnl"));
    let mut bytes = fs::read(&path).unwrap();
    bytes[at] ^= 8;
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_salvage_leaves_out_the_damaged_commit_alone() {
    let (one, all) = (numbered(1, 0).len(), numbers(1..=9));
    for at in [one * 4, one * 4 + 7, one * 4 + 40, one * 5 - 1] {
        let journals = Journals::of(std::slice::from_ref(&all));
        flip(&journals, 0, at);
        let (used, told) = saved(&journals, 9);
        assert_eq!(used, [[&all[..one * 4], &all[one * 5..]].concat()], "{at}");
        let place = format!("data/0.jnl, bytes {} to {}: ", one * 4, one * 5);
        assert!(told.len() == 1 && told[0].starts_with(&place) && told[0].ends_with("commit 5 is lost"), "{told:?}");
    }
    // Two places.
    let journals = Journals::of(std::slice::from_ref(&all));
    [2, 6].into_iter().for_each(|batch| flip(&journals, 0, one * batch + 40));
    let (used, told) = saved(&journals, 9);
    assert_eq!(used, [[&all[..one * 2], &all[one * 7..]].concat()]);
    assert!(told.len() == 1 && told[0].ends_with("commits 3 to 7 are lost"), "{told:?}");
}

#[test]
fn a_salvage_tells_which_commits_are_missing_at_the_end() {
    let (one, all) = (numbered(1, 0).len(), numbers(1..=9));
    let journals = Journals::of(std::slice::from_ref(&all));
    flip(&journals, 0, one * 8 + 40);
    let (used, told) = saved(&journals, 9);
    assert_eq!(used, [&all[..one * 8]]);
    assert!(told.len() == 1 && told[0].contains("from byte") && told[0].contains("from 9 on"), "{told:?}");
    let whole = Journals::of(std::slice::from_ref(&all));
    let (used, told) = saved(&whole, 12);
    assert_eq!(used, [&all[..]]);
    assert!(told.len() == 1 && told[0].ends_with("acknowledged up to 12"), "{told:?}");
    assert_eq!(saved(&whole, 9), (used, Vec::new()));
}

#[test]
fn a_salvage_goes_on_in_later_journals() {
    let (one, first, second) = (numbered(1, 0).len(), numbers(1..=4), numbers(5..=8));
    let journals = Journals::of(&[first.clone(), second.clone()]);
    flip(&journals, 0, one * 3 + 40);
    let (used, told) = saved(&journals, 8);
    assert_eq!(used, [&first[..one * 3], &second[..]]);
    assert!(told.len() == 1 && told[0].ends_with("commit 4 is lost"), "{told:?}");
    // A journal is missing.
    let journals = Journals::of(&[first.clone(), second.clone(), numbers(9..=10)]);
    fs::remove_file(journals.data().join("1.jnl")).unwrap();
    let (used, told) = saved(&journals, 10);
    assert_eq!(used, [first, numbers(9..=10)]);
    assert!(told.len() == 1 && told[0].ends_with("commits 5 to 8 are lost"), "{told:?}");
    let none = Journals::of(&[]);
    let (used, told) = saved(&none, 3);
    assert_eq!((used, told.len()), (vec![Vec::new()], 1));
}

/// A row may hold the bytes of a journal.
#[test]
fn a_salvage_takes_no_batch_out_of_a_value() {
    let mark = CommitMark { number: 3, synced: 2, order_min: 30, skipped: 0 };
    let holding = {
        let value = [numbers(4..=9), vec![7; 20]].concat();
        let item = |key: &[u8], value: &[u8]| {
            let head = [&[2, 0, 0][..], &7_u64.to_le_bytes(), &(key.len() as u16).to_le_bytes()].concat();
            let bytes = (value.len() as u32).to_le_bytes();
            [&head[..], &bytes, &bytes, key, value].concat()
        };
        let items = [item(CommitMark::KEY, &mark.encode()), item(b"key", &value)].concat();
        let start = [&[1][..], &2_u32.to_le_bytes(), &30_u64.to_le_bytes()].concat();
        [start, items.clone(), [&[3][..], &xxh3_64(&items).to_le_bytes(), b"FJL\x03"].concat()].concat()
    };
    for behind in [Vec::new(), numbers(4..=5)] {
        let journals = Journals::of(&[[numbers(1..=2), holding.clone(), behind.clone()].concat()]);
        assert_eq!(saved(&journals, 3).1, [""; 0]);
        flip(&journals, 0, numbers(1..=2).len() + holding.len() - 15);
        let (used, told) = saved(&journals, 3);
        assert_eq!(used, [[numbers(1..=2), behind].concat()]);
        assert_eq!(told.len(), 1, "{told:?}");
    }
}
