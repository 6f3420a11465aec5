//! Pages, their checksums, and what is made good of damage.

use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use redb::StorageBackend;

use super::{Copies, GROUP_PAGES, PAGE, PageFile, ZEROS, inner_len, outer_len};
use crate::stand_in::is_of_stand_in;

fn open(path: &std::path::Path) -> PageFile {
    open_with(path, Copies::default())
}

fn open_with(path: &std::path::Path, copies: Copies) -> PageFile {
    let file = File::options().read(true).write(true).create(true).truncate(false).open(path).unwrap();
    PageFile::new(file, true, copies, Arc::default())
}

fn read(file: &PageFile, page: u64, pages: usize) -> std::io::Result<Vec<u8>> {
    let mut out = vec![0; pages * PAGE as usize];
    file.read(page * PAGE, &mut out).map(|()| out)
}

/// The damage of pages; `None` if they are as they were written.
fn damage(file: &PageFile, page: u64, pages: usize) -> Option<String> {
    let mut out = vec![0; pages * PAGE as usize];
    let damage = file.read_pages(page * PAGE, &mut out, true).unwrap();
    damage.map(|damage| file.damages.text(damage))
}

#[test]
fn zeros_have_the_checksum_of_zeros() {
    assert_eq!(crc32fast::hash(&[0; PAGE as usize]), ZEROS);
}

#[test]
fn lengths_go_both_ways() {
    for pages in [0, 1, 2, GROUP_PAGES - 1, GROUP_PAGES, GROUP_PAGES + 1, 5 * GROUP_PAGES, 5 * GROUP_PAGES + 7] {
        assert_eq!(inner_len(outer_len(pages * PAGE)), pages * PAGE);
    }
}

#[test]
fn pages_come_back_after_opening_again() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("pages");
    let file = open(&path);
    file.set_len((GROUP_PAGES + 20) * PAGE).unwrap();
    // Over the border of two groups, and a header.
    let pages: Vec<u8> = (0..4 * PAGE).map(|n| (n % 251) as u8).collect();
    file.write((GROUP_PAGES - 2) * PAGE, &pages).unwrap();
    file.write(0, &[7; 320]).unwrap();
    for file in [&file, &{
        file.sync_data().unwrap();
        open(&path)
    }] {
        assert_eq!(read(file, GROUP_PAGES - 2, 4).unwrap(), pages);
        assert_eq!(damage(file, 5, 1).unwrap(), "page 5 of data/pages does not have its checksum");
        let mut header = [0; 320];
        file.read(0, &mut header).unwrap();
        assert_eq!(header, [7; 320]);
    }
}

/// A power cut may keep any subset of the unsynced writes.
#[test]
fn a_header_is_not_in_the_file_before_the_pages_that_it_names_were_synced() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("pages");
    let file = open(&path);
    file.set_len(8 * PAGE).unwrap();
    file.write(0, &[1; 320]).unwrap();
    file.sync_data().unwrap();
    let header = || {
        let mut header = [0; 320];
        open(&path).read(0, &mut header).map(|()| header[0]).unwrap()
    };
    file.write(3 * PAGE, &[9; PAGE as usize]).unwrap();
    file.write(0, &[2; 320]).unwrap();
    file.write(4 * PAGE, &[9; PAGE as usize]).unwrap();
    assert_eq!(header(), 1);
    // A write is visible to reads of the same process.
    let mut own = [0; 5];
    file.read(7, &mut own).unwrap();
    assert_eq!(own, [2; 5]);
    file.sync_data().unwrap();
    assert_eq!(header(), 2);
    file.write(300, &[3; 20]).unwrap();
    file.close().unwrap();
    let mut header = [0; 320];
    open(&path).read(0, &mut header).unwrap();
    assert_eq!((header[299], header[300]), (2, 3));
}

#[test]
fn what_was_cut_off_comes_back_as_never_written() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("pages");
    let file = open(&path);
    file.set_len(3 * GROUP_PAGES * PAGE).unwrap();
    for page in [9, 10, GROUP_PAGES + 3, 2 * GROUP_PAGES] {
        file.write(page * PAGE, &[1; PAGE as usize]).unwrap();
    }
    for (pages, gone) in [(2 * GROUP_PAGES, 2 * GROUP_PAGES), (GROUP_PAGES + 3, GROUP_PAGES + 3), (10, 10)] {
        file.set_len(pages * PAGE).unwrap();
        file.set_len(3 * GROUP_PAGES * PAGE).unwrap();
        file.sync_data().unwrap();
        for file in [&file, &open(&path)] {
            assert!(damage(file, gone, 1).is_some());
            assert_eq!(read(file, 9, 1).unwrap(), vec![1; PAGE as usize]);
        }
    }
}

/// The checksums of a group that was cut off are not those of the one that comes there later.
#[test]
fn nothing_is_restored_where_the_file_was_cut_off() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("pages");
    let file = open_with(&path, Copies::open(home.path(), false, true));
    // Of the present version, in which a page of zeros that was written has a checksum of its own.
    file.set_len(3 * GROUP_PAGES * PAGE).unwrap();
    file.write(0, &[0; 320]).unwrap();
    for page in [GROUP_PAGES + 1, 2 * GROUP_PAGES + 1] {
        file.write(page * PAGE, &[0; PAGE as usize]).unwrap();
    }
    file.sync_data().unwrap();
    file.set_len(GROUP_PAGES * PAGE).unwrap();
    let reopened = open_with(&path, Copies::open(home.path(), false, false));
    let mut header = [0; 320];
    reopened.read(0, &mut header).unwrap();
    for file in [file, reopened] {
        file.set_len(3 * GROUP_PAGES * PAGE).unwrap();
        file.write((2 * GROUP_PAGES + 5) * PAGE, &[3; PAGE as usize]).unwrap();
        assert_eq!(file.damages.list(), [], "nothing is damaged");
        assert!(damage(&file, GROUP_PAGES + 1, 1).is_some(), "the page was not written since");
    }
}

#[test]
fn every_damaged_byte_is_reported() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("pages");
    let file = open(&path);
    file.set_len(8 * PAGE).unwrap();
    file.write(0, &[7; 320]).unwrap();
    file.write(2 * PAGE, &vec![3; 2 * PAGE as usize]).unwrap();
    file.sync_data().unwrap();
    let raw = File::options().read(true).write(true).open(&path).unwrap();
    let flip = |at: u64| {
        let mut byte = [0];
        raw.read_exact_at(&mut byte, at).unwrap();
        raw.write_all_at(&[byte[0] ^ 16], at).unwrap();
    };
    // The page, its checksum.
    for (at, page) in [(3 * PAGE + 5, 2), (4 * PAGE + 4095, 3), (2 * 4 + 1, 2)] {
        flip(at);
        let file = open(&path);
        assert_eq!(damage(&file, page, 1), Some(format!("page {page} of data/pages does not have its checksum")));
        assert!(is_of_stand_in(&read(&file, page, 1).unwrap()));
        assert_eq!(file.damages.list()[0].place, format!("page {page}"));
        flip(at);
        assert_eq!(damage(&open(&path), page, 1), None);
        // What redb writes there counts.
        file.write(page * PAGE, &[3; PAGE as usize]).unwrap();
        assert!(file.damages.list().is_empty() && damage(&file, page, 1).is_none());
    }
    // The header, its checksum.
    for at in [PAGE + 9, PAGE + 508] {
        flip(at);
        let error = open(&path).read(0, &mut [0; 320]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData);
        assert!(error.to_string().contains("page 0 "), "{error}");
        flip(at);
    }
}

/// The checksum of zeros is what a checksum is that was overwritten with zeros.
#[test]
fn zeros_over_pages_and_their_checksums_are_damage() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("pages");
    let file = open(&path);
    file.set_len(8 * PAGE).unwrap();
    file.write(0, &[7; 320]).unwrap();
    // A long value has pages of zeros.
    let mut value = vec![0; 3 * PAGE as usize];
    value[0] = 1;
    file.write(3 * PAGE, &value).unwrap();
    file.sync_data().unwrap();
    assert_eq!(read(&open(&path), 3, 3).unwrap(), value);
    let raw = File::options().write(true).open(&path).unwrap();
    raw.write_all_at(&[0; 8], 4 * 4).unwrap();
    let file = open(&path);
    file.read(0, &mut [0; 320]).unwrap();
    assert!(damage(&file, 3, 3).unwrap().starts_with("page 4 "));
    // Files of the first version do not tell such pages from pages that were never written.
    let mut sector = [0; 512];
    sector[..320].fill(7);
    let checksum = crc32fast::hash(&sector[..508]).to_le_bytes();
    sector[508..].copy_from_slice(&checksum);
    raw.write_all_at(&sector, PAGE).unwrap();
    let file = open(&path);
    file.read(0, &mut [0; 320]).unwrap();
    assert_eq!(read(&file, 3, 3).unwrap(), value);
    assert!(damage(&file, 4, 1).is_some(), "no page of redb begins with zeros");
    file.write(320, &[0]).unwrap();
    file.write(4 * PAGE, &[0; PAGE as usize]).unwrap();
    assert_eq!(read(&file, 3, 3).unwrap(), value);
}

#[test]
fn a_page_that_would_name_a_damaged_one_is_not_written() {
    let home = tempfile::tempdir().unwrap();
    let file = open(&home.path().join("pages"));
    file.set_len(8 * PAGE).unwrap();
    let stand_in = read(&file, 5, 1).unwrap();
    assert!(file.write(6 * PAGE, &stand_in).unwrap_err().to_string().contains("page 6 "));
    file.write(6 * PAGE, &[2; PAGE as usize]).unwrap();
}

/// redb's own pages: damage of each that has a copy costs nothing, and a writer writes it back.
#[test]
fn copies_take_the_place_of_pages_checksums_and_the_header() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("pages");
    let open = |is_writable| {
        let file = File::options().read(true).write(true).create(true).truncate(false).open(&path).unwrap();
        PageFile::new(file, is_writable, Copies::open(home.path(), !is_writable, false), Arc::default())
    };
    let file = open(true);
    file.set_len(8 * PAGE).unwrap();
    file.write(0, &[7; 320]).unwrap();
    let [branch, leaf] = [2, 1].map(|kind| vec![kind; PAGE as usize]);
    file.write(2 * PAGE, &branch).unwrap();
    file.write(3 * PAGE, &leaf).unwrap();
    file.sync_data().unwrap();
    drop(file);
    let good = std::fs::read(&path).unwrap();
    let damaged = |places: std::ops::Range<usize>| {
        let mut bad = good.clone();
        bad[places].fill(0x5a);
        std::fs::write(&path, bad).unwrap();
    };
    let page = |page: usize| (page + 1) * PAGE as usize..(page + 2) * PAGE as usize;
    for (places, restored) in [(page(2), 2), (0..4096, 3), (4096..4608, 0)] {
        for is_writable in [false, true] {
            damaged(places.clone());
            let file = open(is_writable);
            assert_eq!(file.is_header_copied().unwrap(), restored == 0);
            let mut header = [0; 320];
            file.read(0, &mut header).unwrap();
            assert_eq!(header, [7; 320]);
            assert_eq!((read(&file, 2, 1).unwrap(), read(&file, 3, 1).unwrap()), (branch.clone(), leaf.clone()));
            assert!(!file.damages.is_any());
            let list = file.damages.list();
            assert!(list.iter().any(|damage| damage.place == format!("page {restored}")), "{list:?}");
            file.write(0, &[7; 320]).unwrap();
            file.sync_data().unwrap();
            if is_writable {
                assert!(std::fs::read(&path).unwrap() == good, "page {restored} is not written back");
            }
        }
    }
    damaged(page(3));
    assert!(damage(&open(true), 3, 1).is_some(), "a page of rows has no copy");
    // A copy that is older than the page is none of it.
    std::fs::write(&path, &good).unwrap();
    let file = open(true);
    file.write(2 * PAGE, &[2, 9].repeat(PAGE as usize / 2)).unwrap();
    let old = std::fs::read(home.path().join("copies")).unwrap();
    file.sync_data().unwrap();
    drop(file);
    std::fs::write(home.path().join("copies"), old).unwrap();
    let mut bad = std::fs::read(&path).unwrap();
    bad[page(2)][100] ^= 1;
    std::fs::write(&path, bad).unwrap();
    assert!(damage(&open(true), 2, 1).is_some());
}
