//! The damaged pages that reads have met since the opening.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::RwLock;
use saltwing_store::LeftOut;

use crate::stand_in::{self, NUMBER_MAX};

/// The file of the pages, below the database's directory.
pub(crate) const FILE: &str = "data/pages";

/// The damaged pages that reads have met. Each has a number, which its stand-in carries.
#[derive(Debug, Default)]
pub(crate) struct Damages {
    /// Whether there are any; most databases have none, and ask at each read of a key that is not there.
    is_any: AtomicBool,
    met: RwLock<Vec<Damage>>,
    /// Those that copies have made good, with what was wrong.
    restored: RwLock<BTreeMap<u64, String>>,
}

#[derive(Debug)]
struct Damage {
    page: u64,
    /// What is wrong, as a predicate: `does not have its checksum`.
    what: String,
    /// Whether other content was written to the page since.
    is_gone: bool,
}

impl Damage {
    fn text(&self) -> String {
        format!("page {} of {FILE} {}", self.page, self.what)
    }
}

impl Damages {
    /// The number of a damage.
    pub(crate) fn note(&self, page: u64, what: &str) -> u32 {
        let mut met = self.met.write();
        let known = met.iter().position(|damage| damage.page == page && !damage.is_gone && damage.what == what);
        let number = known.unwrap_or_else(|| {
            met.push(Damage { page, what: what.to_owned(), is_gone: false });
            met.len() - 1
        });
        self.is_any.store(true, Ordering::Release);
        u32::try_from(number).unwrap_or(NUMBER_MAX).min(NUMBER_MAX)
    }

    /// Takes note of a damage that was made good.
    pub(crate) fn note_restored(&self, page: u64, what: &str) {
        self.restored.write().insert(page, format!("was restored from its copy: it {what}"));
    }

    /// Whether any were met that cost something.
    pub(crate) fn is_any(&self) -> bool {
        self.is_any.load(Ordering::Acquire)
    }

    /// Takes note of pages that were written.
    pub(crate) fn written(&self, pages: std::ops::Range<u64>) {
        if self.is_any() {
            let mut met = self.met.write();
            met.iter_mut().filter(|damage| pages.contains(&damage.page)).for_each(|damage| damage.is_gone = true);
        }
    }

    /// The damage of a number, as a sentence.
    pub(crate) fn text(&self, number: u32) -> String {
        let met = self.met.read();
        met.get(number as usize).map_or_else(|| format!("a page of {FILE} is damaged"), Damage::text)
    }

    /// What an error of redb's is about, as a sentence: the damage that it met, or its own words.
    pub(crate) fn explain(&self, error: &str) -> String {
        if let Some(number) = stand_in::number_in(error) {
            return self.text(number);
        }
        let first = self.met.read().first().map(Damage::text);
        first.map_or_else(|| error.to_owned(), |first| format!("{first} ({error})"))
    }

    /// The pages that are damaged, and those that were restored.
    pub(crate) fn list(&self) -> Vec<LeftOut> {
        let (met, restored) = (self.met.read(), self.restored.read());
        let place = |page: u64, what: &str| LeftOut {
            file: FILE.to_owned(),
            place: format!("page {page}"),
            what: what.to_owned(),
        };
        let met = met.iter().filter(|damage| !damage.is_gone).map(|damage| place(damage.page, &damage.what));
        met.chain(restored.iter().map(|(page, what)| place(*page, what))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Damages;

    #[test]
    fn a_damage_keeps_its_number_and_is_listed_until_its_page_is_written() {
        let damages = Damages::default();
        assert!(!damages.is_any() && damages.list().is_empty());
        assert_eq!([9, 5, 9].map(|page| damages.note(page, "is bad")), [0, 1, 0]);
        assert_eq!(damages.text(1), "page 5 of data/pages is bad");
        let error = "DB corrupted: Page r1.0/31 has order greater than the maximum of 20";
        assert_eq!(damages.explain(error), "page 5 of data/pages is bad");
        assert_eq!(damages.explain("a cycle"), "page 9 of data/pages is bad (a cycle)");
        damages.note_restored(7, "is bad");
        assert_eq!(damages.list().last().unwrap().what, "was restored from its copy: it is bad");
        damages.restored.write().clear();
        damages.written(4..6);
        let places: Vec<String> = damages.list().into_iter().map(|damage| damage.place).collect();
        assert_eq!(places, ["page 9"]);
        assert_eq!((damages.text(1), damages.note(5, "is bad")), ("page 5 of data/pages is bad".to_owned(), 2));
    }
}
