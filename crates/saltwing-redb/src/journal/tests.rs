use std::fs;
use std::path::Path;

use saltwing_store::{Space, WriteBatch};

use super::{FILE, HEADER, Journal, LARGE_VALUE_BYTES, Torn};

fn batch(number: u64) -> WriteBatch {
    let mut batch = WriteBatch::new();
    batch.put(Space::new(number as u8), number.to_le_bytes(), vec![number as u8; 50]);
    batch.put(Space::new(1), b"empty", b"");
    batch.delete(Space::new(2), number.to_le_bytes());
    batch
}

/// The replayed batches by number, and the torn part; the error's text.
fn replayed(folder: &Path, base: u64, acknowledged: u64) -> Result<(Vec<u64>, Option<Torn>), String> {
    let mut journal = Journal::open(folder, false, base).unwrap();
    let (mut found, mut number) = (Vec::new(), base);
    let done = journal.replay::<std::io::Error>(acknowledged, |batch| {
        assert_eq!(batch, self::batch(number));
        found.push(number);
        number += 1;
        Ok(())
    });
    done.map(|torn| (found, torn)).map_err(|error| error.to_string())
}

fn read(folder: &Path, base: u64, acknowledged: u64) -> Result<Vec<u64>, String> {
    replayed(folder, base, acknowledged).map(|(found, _)| found)
}

/// The batches that a salvage reads, by number, and its report about the others.
fn salvaged(folder: &Path, base: u64, acknowledged: u64) -> (Vec<u64>, Vec<String>) {
    let mut journal = Journal::open_to_read(folder, base).unwrap();
    let mut found = Vec::new();
    let lost = journal.salvage::<std::io::Error>(acknowledged, |read| {
        let number = (1..100).find(|number| read == batch(*number)).unwrap();
        found.push(number);
        Ok(())
    });
    (found, lost.unwrap().into_iter().map(|lost| format!("{}: {}", lost.place, lost.what)).collect())
}

fn write(journal: &mut Journal, numbers: impl Iterator<Item = u64>, synced: u64) {
    for number in numbers {
        assert_eq!(journal.next, number);
        journal.append(&batch(number), synced).unwrap();
    }
}

#[test]
fn records_of_earlier_rounds_are_not_read() {
    let home = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(home.path(), true, 1).unwrap();
    assert!(journal.is_empty());
    write(&mut journal, 1..21, 0);
    assert_eq!(read(home.path(), 1, 0).unwrap(), (1..21).collect::<Vec<_>>());
    journal.begin_round(1 << 20).unwrap();
    assert_eq!(replayed(home.path(), 21, 20).unwrap(), (vec![], None));
    write(&mut journal, 21..25, 20);
    assert_eq!(replayed(home.path(), 21, 20).unwrap(), ((21..25).collect(), None));
}

/// The bytes of a journal's records: the file may be longer.
fn records(journal: &Journal, path: &Path) -> Vec<u8> {
    let mut bytes = fs::read(path).unwrap();
    bytes.truncate(usize::try_from(journal.at).unwrap());
    bytes
}

/// Every bit of every record: a synced batch is reported missing, wherever its number is known from.
#[test]
fn a_damaged_record_is_an_error_if_it_was_synced_and_an_end_if_not() {
    let home = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(home.path(), true, 1).unwrap();
    write(&mut journal, 1..4, 0);
    write(&mut journal, 4..6, 3);
    let (path, bytes) = (home.path().join(FILE), journal.at as usize / 5);
    let good = records(&journal, &path);
    for (acknowledged, by) in [(3, "the watermark"), (0, "a later record")] {
        for place in 0..good.len() {
            let mut bad = good.clone();
            bad[place] ^= 1 << (place % 8);
            fs::write(&path, &bad).unwrap();
            let record = place / bytes + 1;
            match read(home.path(), 1, acknowledged) {
                Ok(found) => {
                    assert!(record > 3, "byte {place} of record {record} was synced, says {by}");
                    assert_eq!(found, (1..record as u64).collect::<Vec<_>>());
                }
                Err(error) => {
                    assert!(record <= 3, "byte {place} of record {record}: {error}");
                    assert!(error.contains(&format!("at byte {}", (record - 1) * bytes)), "{error}");
                }
            }
        }
    }
}

/// Every byte, by one bit: the other batches are read, and the lost one is named.
#[test]
fn a_salvage_continues_after_a_damaged_record() {
    let home = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(home.path(), true, 1).unwrap();
    write(&mut journal, 1..6, 0);
    let (path, bytes) = (home.path().join(FILE), journal.at as usize / 5);
    let good = records(&journal, &path);
    assert_eq!(salvaged(home.path(), 1, 5), ((1..6).collect(), vec![]));
    for place in 0..good.len() {
        let mut bad = good.clone();
        bad[place] ^= 1 << (place % 8);
        fs::write(&path, &bad).unwrap();
        let record = place / bytes + 1;
        let (found, lost) = salvaged(home.path(), 1, 5);
        assert_eq!(found, (1..6).filter(|number| *number != record as u64).collect::<Vec<_>>(), "byte {place}");
        let (from, to) = ((record - 1) * bytes, record * bytes);
        assert_eq!(lost, [format!("bytes {from} to {to}: damaged; writes {record} to {record} are lost")]);
    }
    fs::write(&path, &good[..3 * bytes]).unwrap();
    let end = 3 * bytes;
    assert_eq!(
        salvaged(home.path(), 1, 5),
        (vec![1, 2, 3], vec![format!("bytes {end} to {end}: damaged; writes 4 to 5 are lost")])
    );
}

#[test]
fn a_torn_last_record_is_an_end_and_reported() {
    let home = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(home.path(), true, 1).unwrap();
    write(&mut journal, 1..4, 0);
    let path = home.path().join(FILE);
    let good = records(&journal, &path);
    let third = good.len() / 3 * 2;
    for cut in third..good.len() {
        fs::write(&path, &good[..cut]).unwrap();
        let (found, torn) = replayed(home.path(), 1, 2).unwrap();
        assert_eq!(found, [1, 2]);
        // Less than a header does not show that it belongs to this base.
        let expected = (cut >= third + HEADER).then_some(Torn { at: third as u64, end: cut as u64 });
        assert_eq!(torn, expected, "{cut}");
    }
    fs::write(&path, &good[..HEADER]).unwrap();
    assert!(read(home.path(), 1, 2).is_err());
}

/// The bytes after it are torn too, up to the last whole record.
#[test]
fn whole_records_after_a_lost_one_are_torn() {
    let home = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(home.path(), true, 1).unwrap();
    write(&mut journal, 1..9, 0);
    journal.begin_round(1 << 20).unwrap();
    write(&mut journal, 9..13, 8);
    let (path, end) = (home.path().join(FILE), journal.at);
    let mut bytes = fs::read(&path).unwrap();
    bytes[..HEADER + 9].fill(0);
    fs::write(&path, bytes).unwrap();
    assert_eq!(replayed(home.path(), 9, 8).unwrap(), (vec![], Some(Torn { at: 0, end })));
}

#[test]
fn a_missing_file_is_an_error() {
    let home = tempfile::tempdir().unwrap();
    drop(Journal::open(home.path(), true, 1).unwrap());
    fs::remove_file(home.path().join(FILE)).unwrap();
    assert!(Journal::open(home.path(), false, 1).unwrap_err().to_string().contains(FILE));
}

/// Batches of values around the size from which on values are written from where they are.
#[test]
fn large_values_come_back() {
    let home = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(home.path(), true, 1).unwrap();
    let sizes = [0, 1, LARGE_VALUE_BYTES - 1, LARGE_VALUE_BYTES, LARGE_VALUE_BYTES + 1, 3 * LARGE_VALUE_BYTES];
    let mut batches = Vec::new();
    for first in sizes {
        for second in sizes {
            let mut batch = WriteBatch::new();
            batch.put(Space::new(1), b"a", vec![1; first]);
            batch.delete(Space::new(2), b"b");
            batch.put(Space::new(3), b"c", vec![2; second]);
            journal.append(&batch, 0).unwrap();
            batches.push(batch);
        }
    }
    let mut read = Vec::new();
    let mut replayed = Journal::open(home.path(), false, 1).unwrap();
    let torn = replayed.replay::<std::io::Error>(0, |batch| {
        read.push(batch);
        Ok(())
    });
    assert_eq!((torn.unwrap(), read), (None, batches));
    assert_eq!((replayed.at, replayed.next), (journal.at, journal.next));
}

/// A crash before the last write of a large batch, which is the checksum.
#[test]
fn a_large_batch_without_its_checksum_is_torn() {
    let home = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(home.path(), true, 1).unwrap();
    write(&mut journal, 1..3, 0);
    let at = journal.at;
    let mut large = WriteBatch::new();
    large.put(Space::new(1), b"a", vec![1; 2 * LARGE_VALUE_BYTES]);
    journal.append(&large, 0).unwrap();
    let mut bytes = records(&journal, &home.path().join(FILE));
    bytes[at as usize..at as usize + 4].fill(0);
    fs::write(home.path().join(FILE), &bytes).unwrap();
    assert_eq!(replayed(home.path(), 1, 2).unwrap(), (vec![1, 2], Some(Torn { at, end: journal.at })));
}
