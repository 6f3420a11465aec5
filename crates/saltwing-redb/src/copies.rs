//! Copies of the pages on which others hang: without them one damaged page would cost many intact ones.
//!
//! ```text
//!  data/copies   slot │ slot │ ..
//!    slot        what it is a copy of 8 │ checksum of that and of the content 4 │ 0 4 │ content 4096
//! ```
//!
//! A copy is written after what it copies was synced, and is not synced itself: an old one does no harm. Whoever takes
//! one holds it to what it knows of the page. An error of this file is none of the database, and ends the copying.

use std::collections::HashMap;
use std::fs::File;
use std::io::Result;
use std::path::Path;

use parking_lot::Mutex;

use crate::positioned;
use crate::positioned::PAGE;

/// The file in the directory's `data`.
pub(crate) const FILE: &str = "copies";

const HEADER: usize = 16;
const SLOT: usize = HEADER + PAGE as usize;

/// What a copy is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Original {
    /// A page of redb's.
    Page(u64),
    /// The checksums of a group.
    Sums(u64),
    /// The sector of redb's header.
    Header,
}

impl Original {
    fn number(self) -> u64 {
        match self {
            Self::Page(page) => page,
            Self::Sums(group) => (1 << 62) | group,
            Self::Header => 1 << 63,
        }
    }

    /// The one of a number.
    fn of(number: u64) -> Self {
        match (number >> 63, (number >> 62) & 1) {
            (1, _) => Self::Header,
            (_, 1) => Self::Sums(number ^ (1 << 62)),
            _ => Self::Page(number),
        }
    }
}

/// The number of a slot whose copy was cut off: that of page 0, which holds redb's header and has no copy as a page.
const CUT: u64 = 0;

/// The file of copies.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    /// `None` if there are no copies: in files of earlier releases, and after an error.
    state: Mutex<Option<State>>,
}

#[derive(Debug)]
struct State {
    file: File,
    /// The slots, by the numbers of their originals.
    slots: HashMap<u64, u64>,
    free: Vec<u64>,
    /// The number of slots.
    len: u64,
    /// Copies that are not in the file yet.
    waiting: HashMap<u64, Vec<u8>>,
}

impl Copies {
    /// The copies in a folder. A writer makes the file, and empties that of a database which is new.
    pub(crate) fn open(folder: &Path, readonly: bool, is_new: bool) -> Self {
        let mut options = File::options();
        options.read(true);
        if !readonly {
            options.write(true).create(true).truncate(is_new);
        }
        let file = options.open(folder.join(FILE));
        Self { state: Mutex::new(file.and_then(State::of).ok()) }
    }

    /// Takes a copy, which [`Copies::write`] writes.
    pub(crate) fn keep(&self, original: Original, content: &[u8]) {
        if let Some(state) = &mut *self.state.lock() {
            let mut whole = content.to_vec();
            whole.resize(PAGE as usize, 0);
            state.waiting.insert(original.number(), whole);
        }
    }

    /// The originals have other content, which needs no copy.
    pub(crate) fn forget(&self, pages: std::ops::Range<u64>) {
        if let Some(state) = &mut *self.state.lock() {
            for page in pages {
                state.waiting.remove(&page);
                state.free.extend(state.slots.remove(&page));
            }
        }
    }

    /// Forgets the copies of pages and groups from these numbers on, because the file of pages was cut there; the next opening does not
    /// find them either. A page that the file gets there later is another page.
    pub(crate) fn cut(&self, pages: u64, groups: u64) {
        let is_cut = |number: u64| match Original::of(number) {
            Original::Page(page) => page >= pages,
            Original::Sums(group) => group >= groups,
            Original::Header => false,
        };
        let mut state = self.state.lock();
        if state.as_mut().is_some_and(|state| state.cut(is_cut).is_err()) {
            *state = None;
        }
    }

    /// Writes the copies that wait.
    pub(crate) fn write(&self) {
        let mut state = self.state.lock();
        if state.as_mut().is_some_and(|state| state.write().is_err()) {
            *state = None;
        }
    }

    /// A copy, if there is one that is whole.
    pub(crate) fn find(&self, original: Original) -> Option<Vec<u8>> {
        let state = self.state.lock();
        let state = state.as_ref()?;
        let number = original.number();
        if let Some(waiting) = state.waiting.get(&number) {
            return Some(waiting.clone());
        }
        let mut slot = vec![0; SLOT];
        positioned::read(&state.file, state.slots.get(&number)? * SLOT as u64, &mut slot).ok()?;
        let content = slot.split_off(HEADER);
        (slot == header(number, &content)).then_some(content)
    }
}

fn header(number: u64, content: &[u8]) -> Vec<u8> {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&number.to_le_bytes());
    hasher.update(content);
    [&number.to_le_bytes()[..], &hasher.finalize().to_le_bytes(), &[0; 4]].concat()
}

impl State {
    fn of(file: File) -> Result<Self> {
        let len = file.metadata()?.len() / SLOT as u64;
        let mut state = Self { file, slots: HashMap::new(), free: Vec::new(), len, waiting: HashMap::new() };
        for slot in 0..len {
            let mut number = [0; 8];
            positioned::read(&state.file, slot * SLOT as u64, &mut number)?;
            match u64::from_le_bytes(number) {
                CUT => state.free.push(slot),
                // The later one counts, and the other one is free.
                number => state.free.extend(state.slots.insert(number, slot)),
            }
        }
        Ok(state)
    }

    fn cut(&mut self, is_cut: impl Fn(u64) -> bool) -> Result<()> {
        self.waiting.retain(|number, _| !is_cut(*number));
        for (_, slot) in self.slots.extract_if(|number, _| is_cut(*number)) {
            positioned::write(&self.file, slot * SLOT as u64, &CUT.to_le_bytes())?;
            self.free.push(slot);
        }
        Ok(())
    }

    fn write(&mut self) -> Result<()> {
        for (number, content) in self.waiting.drain() {
            let slot = *self.slots.entry(number).or_insert_with(|| {
                self.free.pop().unwrap_or_else(|| {
                    self.len += 1;
                    self.len - 1
                })
            });
            let bytes = [header(number, &content), content].concat();
            positioned::write(&self.file, slot * SLOT as u64, &bytes)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn copies_are_found_again_if_they_are_whole() {
        let home = tempfile::tempdir().unwrap();
        let page = |byte: u8| vec![byte; PAGE as usize];
        let copies = Copies::open(home.path(), false, true);
        copies.keep(Original::Header, &[5; 512]);
        copies.keep(Original::Page(7), &page(7));
        copies.keep(Original::Page(8), &page(8));
        copies.keep(Original::Sums(7), &page(9));
        for is_written in [false, true] {
            if is_written {
                copies.write();
            }
            assert_eq!(copies.find(Original::Page(7)), Some(page(7)));
            assert_eq!(copies.find(Original::Sums(7)), Some(page(9)));
            assert_eq!(copies.find(Original::Header).unwrap()[..513], [&[5; 512][..], &[0]].concat());
            assert_eq!(copies.find(Original::Sums(8)), None);
        }
        copies.forget(6..8);
        assert_eq!(copies.find(Original::Page(7)), None);
        copies.keep(Original::Page(9), &page(10));
        copies.write();
        let path = home.path().join(FILE);
        let mut bytes = fs::read(&path).unwrap();
        assert_eq!(bytes.len(), 4 * SLOT, "the slot of the one that was forgotten is used again");
        let reader = Copies::open(home.path(), true, false);
        assert_eq!([7, 8, 9].map(|number| reader.find(Original::Page(number))), [None, Some(page(8)), Some(page(10))]);
        bytes.iter_mut().skip(2000).step_by(SLOT).for_each(|byte| *byte ^= 1);
        fs::write(&path, &bytes).unwrap();
        let reader = Copies::open(home.path(), true, false);
        assert!([8, 9].iter().all(|number| reader.find(Original::Page(*number)).is_none()));
        assert_eq!(Copies::open(&home.path().join("missing"), true, false).find(Original::Header), None);
    }

    #[test]
    fn copies_of_what_was_cut_off_do_not_come_back() {
        let home = tempfile::tempdir().unwrap();
        let originals = [Original::Header, Original::Page(5), Original::Page(6), Original::Sums(2), Original::Sums(3)];
        let copies = Copies::open(home.path(), false, true);
        originals.iter().for_each(|original| copies.keep(*original, &[1; PAGE as usize]));
        copies.write();
        copies.keep(Original::Page(7), &[1; PAGE as usize]);
        copies.cut(6, 3);
        copies.write();
        for copies in [copies, Copies::open(home.path(), false, false)] {
            let found = originals.map(|original| copies.find(original).is_some());
            assert_eq!((found, copies.find(Original::Page(7))), ([true, true, false, true, false], None));
        }
        assert!(originals.iter().all(|original| Original::of(original.number()) == *original));
        let again = Copies::open(home.path(), false, false);
        again.keep(Original::Page(8), &[2; PAGE as usize]);
        again.write();
        let slots = fs::metadata(home.path().join(FILE)).unwrap().len() / SLOT as u64;
        assert_eq!(slots, originals.len() as u64, "its slot was free");
    }
}
