//! What redb gets in the place of a page that cannot be read.
//!
//! An error of a read would make redb refuse every later call, so a damaged page is a page with other content, made for
//! this: redb comes to an error by itself, for the keys of this page alone, and goes on with all others.
//!
//! ```text
//!  Refusing   a branch with two children whose page numbers redb refuses: every way through the page is an error, which
//!             has the number of the damage in it
//!  Marking    a leaf with two entries that no batch has: the empty key and one after all others. A walk meets them
//!             and continues with the next page
//! ```
//!
//! # Laws
//! 1. A refusing page is never taken for content: not for the sibling of a leaf either, which redb merges with a leaf
//!    that shrank without a look at its type. As a leaf, the page has one large value, and redb leaves such leaves alone.
//! 2. A marking page is given only to a thread that reads values for [`with_marks`], of a database that takes no
//!    writes.
//! 3. A branch that names a refusing page's children is not written ([`is_of_stand_in`]).

use std::cell::Cell;

/// The kinds of pages of redb.
const LEAF: u8 = 1;
const BRANCH: u8 = 2;
/// The greatest order of a page that redb takes.
const ORDER_MAX: u64 = 20;
const ORDER_REFUSED: u64 = 31;
/// Bits of a page number for its region, which has the number of the damage.
const REGION_BITS: u32 = 20;
const REGION_AT: u32 = 20;
const ORDER_AT: u32 = 59;
/// The most damages that a page number can tell apart; later ones share the last number.
pub(crate) const NUMBER_MAX: u32 = (1 << REGION_BITS) - 1;

/// The end of the only key of a refusing page, which is zeros. In a table whose keys have a fixed width the key begins with this number
/// itself. redb panics on a key of its table of free pages whose first byte it does not know; it knows 3.
const KEY_END: u32 = 0x103;

/// Bytes of the key after all others.
const LAST_KEY: [u8; 1024] = [0xff; 1024];
/// The value of a mark begins with it. Values of batches begin with a count of pieces, which is not 0.
const MARK: [u8; 13] = *b"\0damaged page";

thread_local! {
    static MARKS: Cell<bool> = const { Cell::new(false) };
}

/// Runs reads of values which know marks.
pub(crate) fn with_marks<T>(read: impl FnOnce() -> T) -> T {
    struct Reset(bool);
    impl Drop for Reset {
        fn drop(&mut self) {
            MARKS.set(self.0);
        }
    }
    let _reset = Reset(MARKS.replace(true));
    read()
}

/// Fills whole pages for the damage of this number.
pub(crate) fn fill(out: &mut [u8], number: u32) {
    out.fill(0);
    if MARKS.get() { fill_marking(out, number) } else { fill_refusing(out, number) }
}

fn put(out: &mut [u8], at: usize, bytes: &[u8]) {
    if let Some(place) = out.get_mut(at..at + bytes.len()) {
        place.copy_from_slice(bytes);
    }
}

/// ```text
///  branch   type 1 │ 0 │ keys 2 │ 0 4 │ checksums 2 × 16 │ children 2 × 8 │ end of the key 4
///  leaf     type 1 │ 0 │ entries 2 │ end of the key 4 │ end of the value 4 │ ..
/// ```
fn fill_refusing(out: &mut [u8], number: u32) {
    let len = u32::try_from(out.len()).unwrap_or(u32::MAX).to_le_bytes();
    let child = (ORDER_REFUSED << ORDER_AT) | (u64::from(number.min(NUMBER_MAX)) << REGION_AT);
    put(out, 0, &[BRANCH, 0, 1, 0]);
    // As a leaf: its one entry fills the page.
    put(out, 4, &len);
    put(out, 8, &len);
    put(out, 40, &child.to_le_bytes());
    put(out, 48, &child.to_le_bytes());
    put(out, 56, &KEY_END.to_le_bytes());
}

fn fill_marking(out: &mut [u8], number: u32) {
    let value = [&MARK[..], &number.to_le_bytes()].concat();
    let keys_at = 20;
    let ends = [0, LAST_KEY.len(), LAST_KEY.len() + value.len(), LAST_KEY.len() + 2 * value.len()];
    put(out, 0, &[LEAF, 0, 2, 0]);
    for (place, end) in ends.into_iter().enumerate() {
        put(out, 4 + 4 * place, &((keys_at + end) as u32).to_le_bytes());
    }
    put(out, keys_at, &LAST_KEY);
    put(out, keys_at + ends[1], &value);
    put(out, keys_at + ends[2], &value);
}

/// A mark of a damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    /// The number of the damage.
    pub(crate) number: u32,
    /// Whether it is the one after all other keys of its page.
    pub(crate) is_last: bool,
}

/// The mark that an entry is, if it is one.
pub(crate) fn mark(key: &[u8], value: &[u8]) -> Option<Mark> {
    let is_last = match key.len() {
        0 => false,
        len if len == LAST_KEY.len() && *key == LAST_KEY => true,
        _ => return None,
    };
    let number = value.strip_prefix(&MARK)?.first_chunk()?;
    Some(Mark { number: u32::from_le_bytes(*number), is_last })
}

/// Whether a key is after the marks of every page: a search for a mark from there on finds none.
pub(crate) fn is_after_marks(key: &[u8]) -> bool {
    *key >= LAST_KEY[..]
}

/// The error of redb for the refusing page of a damage.
pub(crate) fn error(number: u32) -> String {
    format!("Page r{number}.0/{ORDER_REFUSED} has order greater than the maximum of {ORDER_MAX}")
}

/// The number of the damage that an error of redb is about.
pub(crate) fn number_in(error: &str) -> Option<u32> {
    let (region, rest) = error.split_once("Page r")?.1.split_once(".0/")?;
    rest.starts_with(&format!("{ORDER_REFUSED} ")).then(|| region.parse().ok())?
}

/// Whether a page that redb writes is a refusing page, or a branch that has taken over children of one.
pub(crate) fn is_of_stand_in(page: &[u8]) -> bool {
    let keys = match page {
        [BRANCH, _, low, high, ..] => usize::from(u16::from_le_bytes([*low, *high])),
        _ => return false,
    };
    let children = page.get(8 + 16 * (keys + 1)..).unwrap_or_default().as_chunks::<8>().0;
    children.iter().take(keys + 1).any(|child| u64::from_le_bytes(*child) >> ORDER_AT > ORDER_MAX)
}

#[cfg(test)]
mod tests {
    use redb::backends::InMemoryBackend;
    use redb::{Database, ReadableDatabase, StorageBackend, TableDefinition};

    use super::*;

    /// A file in which the leaves that contain some bytes are damaged, once `is_bad` is set.
    #[derive(Debug, Default)]
    struct Damaged {
        file: InMemoryBackend,
        is_bad: std::sync::Arc<std::sync::atomic::AtomicBool>,
        /// The bytes of the bad leaves.
        content: Vec<u8>,
    }

    impl StorageBackend for Damaged {
        fn len(&self) -> std::io::Result<u64> {
            self.file.len()
        }
        fn read(&self, offset: u64, out: &mut [u8]) -> std::io::Result<()> {
            self.file.read(offset, out)?;
            let has_content = |out: &[u8]| out.windows(self.content.len()).any(|part| part == self.content);
            if self.is_bad.load(std::sync::atomic::Ordering::Relaxed) && out[0] == LEAF && has_content(out) {
                fill(out, 77);
            }
            Ok(())
        }
        fn set_len(&self, len: u64) -> std::io::Result<()> {
            self.file.set_len(len)
        }
        fn sync_data(&self) -> std::io::Result<()> {
            self.file.sync_data()
        }
        fn write(&self, offset: u64, data: &[u8]) -> std::io::Result<()> {
            assert!(!is_of_stand_in(data), "a stand-in is written at {offset}");
            self.file.write(offset, data)
        }
    }

    const TABLE: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("t");

    fn key(number: u32) -> [u8; 4] {
        number.to_be_bytes()
    }

    fn value(number: u32) -> Vec<u8> {
        format!("{number:0100}").into_bytes()
    }

    /// Keys 0 to 999 over many leaves. The leaf of 500 is bad, and so are leaves that still have its value in free bytes.
    fn database() -> Database {
        let is_bad = std::sync::Arc::<std::sync::atomic::AtomicBool>::default();
        let content = value(500);
        let file = Damaged { file: InMemoryBackend::new(), is_bad: is_bad.clone(), content };
        let database = redb::Builder::new().set_cache_size(0).create_with_backend(file).unwrap();
        let transaction = database.begin_write().unwrap();
        let mut table = transaction.open_table(TABLE).unwrap();
        for number in 0..1000 {
            table.insert(&key(number)[..], &value(number)[..]).unwrap();
        }
        drop(table);
        transaction.commit().unwrap();
        is_bad.store(true, std::sync::atomic::Ordering::Relaxed);
        database
    }

    fn readable(database: &Database) -> Vec<u32> {
        let table = database.begin_read().unwrap().open_table(TABLE).unwrap();
        let get = |number: &u32| table.get(&key(*number)[..]).is_ok_and(|found| found.is_some());
        (0..1000).filter(get).collect()
    }

    #[test]
    fn a_refusing_page_costs_its_keys_and_no_others() {
        let database = database();
        let whole = readable(&database);
        assert!(whole.len() > 800 && !whole.contains(&500), "{}", whole.len());
        let table = database.begin_read().unwrap().open_table(TABLE).unwrap();
        let error = table.get(&key(500)[..]).err().unwrap().to_string();
        assert_eq!(number_in(&error), Some(77), "{error}");
    }

    /// Deletions on both sides of the page make redb merge leaves with what is beside them.
    #[test]
    fn writes_beside_a_refusing_page_neither_take_it_over_nor_stop_the_database() {
        let database = database();
        let whole = readable(&database);
        for number in whole.iter().rev() {
            let transaction = database.begin_write().unwrap();
            let mut table = transaction.open_table(TABLE).unwrap();
            table.remove(&key(*number)[..]).unwrap();
            drop(table);
            transaction.commit().unwrap();
        }
        assert!(readable(&database).is_empty());
        let transaction = database.begin_write().unwrap();
        let mut table = transaction.open_table(TABLE).unwrap();
        assert!(table.insert(&key(500)[..], &b"new"[..]).is_err());
        drop(table);
        transaction.abort().unwrap();
        let transaction = database.begin_write().unwrap();
        let mut table = transaction.open_table(TABLE).unwrap();
        table.insert(&key(1)[..], &b"new"[..]).ok();
        drop(table);
        transaction.abort().unwrap();
    }

    #[test]
    fn a_walk_comes_to_marks_and_goes_on() {
        let database = database();
        let whole = readable(&database).len();
        let table = database.begin_read().unwrap().open_table(TABLE).unwrap();
        with_marks(|| {
            let mut marks = Vec::new();
            let mut keys = 0;
            for entry in table.range_owned::<&[u8]>(..).unwrap() {
                let (key, value) = entry.unwrap();
                match mark(key.value(), value.value()) {
                    Some(mark) => marks.push(mark),
                    None => keys += 1,
                }
            }
            let both = [false, true].map(|is_last| Mark { number: 77, is_last });
            assert!(marks.chunks(2).all(|page| *page == both) && !marks.is_empty(), "{marks:?}");
            assert_eq!(keys, whole);
            let after = table.range_owned(&key(500)[..]..).unwrap().next().unwrap().unwrap();
            assert!(mark(after.0.value(), after.1.value()).is_some_and(|mark| mark.is_last));
        });
    }

    #[test]
    fn stand_ins_differ_from_pages() {
        for len in [4096, 16384] {
            let mut page = vec![7; len];
            fill(&mut page, NUMBER_MAX);
            assert!(is_of_stand_in(&page));
        }
        assert!(!is_of_stand_in(&[7; 4096]));
        assert_eq!(number_in(&error(5)), Some(5));
        assert_eq!(number_in("Page r0.5/1 has order greater than the maximum of 20"), None);
        assert_eq!(mark(b"", b"value"), None);
    }
}
