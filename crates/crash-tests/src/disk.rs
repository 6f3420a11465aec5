//! A disk, as a trace says that it was written to, and what is on it after a power cut.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;
use std::rc::Rc;

use crate::trace::Record;
use history_tests::Random;

const PAGE: u64 = 4096;
/// Bytes that a disk writes as a whole.
const SECTOR: usize = 512;

/// What a power cut leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Rule {
    /// Names in the order in which they were made, up to the last sync of anything: ext4's journal. Bytes as of the last sync of
    /// their file.
    Ext4,
    /// As ext4, but a random choice of the unsynced pages is on the disk, and of the unsynced names the first n.
    Torn,
    /// As ext4, and files as long as they were, with zeros where nothing was synced.
    Zero,
    /// As torn, and harsher: sectors of 512 bytes instead of pages, of any version that a page had since the last sync of its file; and
    /// any length that the file had since then.
    Sector,
    /// As sector, and each name by itself is either as POSIX promises it, or as it was last.
    Subset,
    /// To the letter: a file's name is there when its directory was synced after it was made.
    Posix,
    /// Every write is on the disk, as after the process alone was killed.
    Killed,
}

type Page = Rc<[u8]>;
type Names = BTreeMap<String, u64>;

#[derive(Clone, Default)]
struct Contents {
    pages: HashMap<u64, Page>,
    bytes: u64,
}

#[derive(Default)]
struct Inode {
    now: Contents,
    synced: Contents,
    /// Pages that differ from what is synced.
    dirty: BTreeSet<u64>,
    /// Changes so far.
    changes: u64,
    /// The contents that pages got by changes after the last sync began, each with the number of its change.
    versions: BTreeMap<u64, Vec<(u64, Page)>>,
    /// The lengths that the file got so.
    lengths: Vec<(u64, u64)>,
}

/// A change of names.
#[derive(Clone)]
enum Change {
    Made(String, u64),
    Renamed(String, String),
    Unlinked(String),
    Folder(String),
    FolderGone(String),
}

/// A sync that has begun.
enum Syncing {
    File { inode: u64, pages: Vec<(u64, Option<Page>)>, bytes: u64, changes_of_file: u64, changes: usize },
    Folder { path: String, names: Names, folders: BTreeSet<String>, changes: usize },
}

/// Names of files and folders.
#[derive(Clone, Default)]
struct Tree {
    names: Names,
    folders: BTreeSet<String>,
}

/// The disk below one directory.
pub struct Disk {
    root: String,
    files: HashMap<u64, Inode>,
    /// By the system's number of a file, ours: the system uses numbers again.
    inodes: HashMap<u64, u64>,
    now: Tree,
    /// As POSIX promises.
    promised: Tree,
    changes: Vec<Change>,
    /// Of these, how many a journal of metadata has.
    changes_synced: usize,
    syncing: HashMap<u64, Syncing>,
    /// The serial of the directory's sync of which the names are being listed.
    listing: u64,
}

impl Disk {
    /// An empty disk.
    pub fn new(root: &Path) -> Self {
        let root = root.to_string_lossy().into_owned();
        let tree = Tree { names: Names::new(), folders: BTreeSet::from([root.clone()]) };
        Self {
            root,
            files: HashMap::new(),
            inodes: HashMap::new(),
            now: tree.clone(),
            promised: tree,
            changes: Vec::new(),
            changes_synced: 0,
            syncing: HashMap::new(),
            listing: 0,
        }
    }

    /// A disk that has what a directory has, all of it synced.
    ///
    /// # Errors
    /// Those of reading it.
    pub fn load(root: &Path) -> io::Result<Self> {
        let mut disk = Self::new(root);
        disk.load_folder(root)?;
        disk.promised = disk.now.clone();
        disk.changes_synced = disk.changes.len();
        Ok(disk)
    }

    fn load_folder(&mut self, folder: &Path) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let name = path.to_string_lossy().into_owned();
            if path.is_dir() {
                self.change(Change::Folder(name));
                self.load_folder(&path)?;
                continue;
            }
            let (ours, mut file) = (self.files.len() as u64, Inode::default());
            file.write(0, &fs::read(&path)?);
            file.dirty.clear();
            file.forget(u64::MAX);
            file.synced = file.now.clone();
            self.files.insert(ours, file);
            self.change(Change::Made(name, ours));
        }
        Ok(())
    }

    /// Goes on by one record.
    pub fn apply(&mut self, record: &Record) {
        let text = || String::from_utf8_lossy(&record.text).into_owned();
        match record.kind {
            'C' => self.opened(&text(), record.inode, record.number),
            'N' => self.listed(&text(), record.inode),
            'W' => self.file(record.inode, |file| file.write(record.number, &record.text)),
            'T' => self.file(record.inode, |file| file.cut(record.number)),
            'F' => self.sync_began(record.inode, record.number),
            'D' => self.folder_sync_began(text(), record.number),
            'f' | 'd' => self.sync_ended(record.number),
            'R' => {
                if let Some((from, to)) = text().split_once('\0') {
                    self.change(Change::Renamed(from.to_owned(), to.to_owned()));
                }
            }
            'U' => self.change(Change::Unlinked(text())),
            'M' => self.change(Change::Folder(text())),
            'X' => self.change(Change::FolderGone(text())),
            _ => {}
        }
    }

    fn file(&mut self, inode: u64, act: impl FnOnce(&mut Inode)) {
        if let Some(file) = self.inodes.get(&inode).and_then(|inode| self.files.get_mut(inode)) {
            act(file);
        }
    }

    fn change(&mut self, change: Change) {
        self.now.apply(&change);
        self.changes.push(change);
    }

    fn opened(&mut self, path: &str, inode: u64, how: u64) {
        let (is_new, is_emptied) = (how & 1 == 1, how & 2 == 2);
        match self.now.names.get(path) {
            Some(ours) if !is_new => {
                self.inodes.insert(inode, *ours);
                if is_emptied {
                    self.file(inode, |file| file.cut(0));
                }
            }
            _ => {
                let ours = self.files.len() as u64;
                self.files.insert(ours, Inode::default());
                self.inodes.insert(inode, ours);
                self.change(Change::Made(path.to_owned(), ours));
            }
        }
    }

    /// A name that a synced directory has: it may be there by a rename that the trace has not seen.
    fn listed(&mut self, path: &str, inode: u64) {
        let Some(&ours) = self.inodes.get(&inode) else { return };
        if self.now.names.get(path) != Some(&ours) {
            let before = self.now.names.iter().find(|(_, inode)| **inode == ours).map(|(path, _)| path.clone());
            if let Some(before) = before {
                self.change(Change::Renamed(before, path.to_owned()));
            }
        }
        // The rename was before the sync began.
        if let Some(Syncing::Folder { path, names, changes, .. }) = self.syncing.get_mut(&self.listing) {
            *names = children(&self.now.names, path);
            *changes = self.changes.len();
        }
    }

    fn sync_began(&mut self, inode: u64, serial: u64) {
        let changes = self.changes.len();
        let Some(&inode) = self.inodes.get(&inode) else { return };
        if let Some(file) = self.files.get(&inode) {
            let pages = file.dirty.iter().map(|page| (*page, file.now.pages.get(page).cloned())).collect();
            let (bytes, changes_of_file) = (file.now.bytes, file.changes);
            self.syncing.insert(serial, Syncing::File { inode, pages, bytes, changes_of_file, changes });
        }
    }

    fn folder_sync_began(&mut self, path: String, serial: u64) {
        let names = children(&self.now.names, &path);
        let folders = self.now.folders.iter().filter(|folder| parent(folder) == path).cloned().collect();
        self.listing = serial;
        self.syncing.insert(serial, Syncing::Folder { path, names, folders, changes: self.changes.len() });
    }

    fn sync_ended(&mut self, serial: u64) {
        let made = match self.syncing.remove(&serial) {
            None => return,
            Some(Syncing::File { inode, pages, bytes, changes_of_file, changes }) => {
                if let Some(file) = self.files.get_mut(&inode) {
                    file.synced(pages, bytes);
                    file.forget(changes_of_file);
                }
                changes
            }
            Some(Syncing::Folder { path, names, folders, changes }) => {
                self.promised.names.retain(|name, _| parent(name) != path);
                self.promised.names.extend(names);
                self.promised.folders.retain(|folder| parent(folder) != path || folders.contains(folder));
                self.promised.folders.extend(folders);
                changes
            }
        };
        self.changes_synced = self.changes_synced.max(made);
    }

    /// Writes into the empty directory `to` what a power cut now leaves by a rule.
    ///
    /// # Errors
    /// Those of writing there.
    pub fn rebuild(&self, rule: Rule, random: &mut Random, to: &Path) -> io::Result<()> {
        let tree = self.tree(rule, random);
        for folder in &tree.folders {
            fs::create_dir_all(self.place(folder, to))?;
        }
        for (name, inode) in &tree.names {
            let Some(file) = self.files.get(inode).filter(|_| tree.folders.contains(parent(name))) else { continue };
            file.left(rule, random).write_to(&self.place(name, to))?;
        }
        Ok(())
    }

    fn tree(&self, rule: Rule, random: &mut Random) -> Tree {
        let changes = match rule {
            Rule::Killed => return self.now.clone(),
            Rule::Posix => return self.promised.clone(),
            Rule::Subset => return self.mixed_tree(random),
            Rule::Ext4 | Rule::Zero => self.changes_synced,
            Rule::Torn | Rule::Sector => {
                self.changes_synced + random.below((self.changes.len() - self.changes_synced) as u64 + 1) as usize
            }
        };
        let mut tree = Tree { names: Names::new(), folders: BTreeSet::from([self.root.clone()]) };
        self.changes.iter().take(changes).for_each(|change| tree.apply(change));
        tree
    }

    /// Each name as POSIX promises it, or as it was last.
    fn mixed_tree(&self, random: &mut Random) -> Tree {
        let folders = self.now.folders.union(&self.promised.folders).cloned().collect();
        let mut names = Names::new();
        for name in self.now.names.keys().chain(self.promised.names.keys()).collect::<BTreeSet<_>>() {
            let tree = if random.below(2) == 0 { &self.now } else { &self.promised };
            if let Some(inode) = tree.names.get(name) {
                names.insert(name.clone(), *inode);
            }
        }
        Tree { names, folders }
    }

    fn place(&self, path: &str, to: &Path) -> std::path::PathBuf {
        to.join(path.strip_prefix(&self.root).unwrap_or(path).trim_start_matches('/'))
    }
}

impl Tree {
    fn apply(&mut self, change: &Change) {
        match change {
            Change::Made(path, inode) => {
                self.names.insert(path.clone(), *inode);
            }
            Change::Renamed(from, to) => {
                if let Some(inode) = self.names.remove(from) {
                    self.names.insert(to.clone(), inode);
                }
            }
            Change::Unlinked(path) => {
                self.names.remove(path);
            }
            Change::Folder(path) => {
                self.folders.insert(path.clone());
            }
            Change::FolderGone(path) => {
                self.folders.remove(path);
            }
        }
    }
}

impl Inode {
    fn write(&mut self, at: u64, bytes: &[u8]) {
        let mut at = at;
        let mut bytes = bytes;
        while !bytes.is_empty() {
            let (page, offset) = (at / PAGE, (at % PAGE) as usize);
            let count = bytes.len().min(PAGE as usize - offset);
            let mut whole = self.now.pages.get(&page).map_or_else(|| vec![0; PAGE as usize], |page| page.to_vec());
            whole[offset..offset + count].copy_from_slice(&bytes[..count]);
            self.put(page, whole.into());
            at += count as u64;
            bytes = &bytes[count..];
        }
        if at > self.now.bytes {
            self.now.bytes = at;
            self.lengths.push((self.changes, at));
        }
    }

    fn put(&mut self, page: u64, contents: Page) {
        self.changes += 1;
        self.versions.entry(page).or_default().push((self.changes, contents.clone()));
        self.now.pages.insert(page, contents);
        self.dirty.insert(page);
    }

    fn cut(&mut self, length: u64) {
        if length < self.now.bytes {
            let last = length / PAGE;
            let gone: Vec<u64> = self.now.pages.keys().copied().filter(|page| *page >= last).collect();
            // What was written there is gone, whether it had reached the disk or not.
            self.versions.retain(|page, _| *page < last);
            for page in gone {
                self.dirty.insert(page);
                let kept = self.now.pages.remove(&page).filter(|_| page == last && !length.is_multiple_of(PAGE));
                if let Some(kept) = kept {
                    let mut whole = kept.to_vec();
                    whole[(length % PAGE) as usize..].fill(0);
                    self.put(page, whole.into());
                }
            }
        }
        self.now.bytes = length;
        self.changes += 1;
        self.lengths.push((self.changes, length));
    }

    /// Forgets the versions and lengths of the first changes, which are on the disk.
    fn forget(&mut self, changes: u64) {
        self.lengths.retain(|(number, _)| *number > changes);
        self.versions.values_mut().for_each(|versions| versions.retain(|(number, _)| *number > changes));
        self.versions.retain(|_, versions| !versions.is_empty());
    }

    fn synced(&mut self, pages: Vec<(u64, Option<Page>)>, bytes: u64) {
        for (page, contents) in pages {
            let is_newest = match (&contents, self.now.pages.get(&page)) {
                (Some(synced), Some(now)) => Rc::ptr_eq(synced, now),
                (synced, now) => synced.is_none() && now.is_none(),
            };
            if is_newest {
                self.dirty.remove(&page);
            }
            match contents {
                Some(contents) => self.synced.pages.insert(page, contents),
                None => self.synced.pages.remove(&page),
            };
        }
        self.synced.bytes = bytes;
    }

    fn left(&self, rule: Rule, random: &mut Random) -> Contents {
        match rule {
            Rule::Killed => self.now.clone(),
            Rule::Ext4 | Rule::Posix => self.synced.clone(),
            Rule::Zero => Contents { bytes: self.now.bytes.max(self.synced.bytes), ..self.synced.clone() },
            Rule::Sector | Rule::Subset => self.left_by_sector(random),
            Rule::Torn => {
                let mut left = self.synced.clone();
                let share = random.pick(&[0, 50, 90, 100]);
                for page in &self.dirty {
                    if let Some(contents) = self.now.pages.get(page).filter(|_| random.below(100) < share) {
                        left.pages.insert(*page, contents.clone());
                        left.bytes = left.bytes.max(self.now.bytes.min((page + 1) * PAGE));
                    }
                }
                if random.below(10) < 3 {
                    left.bytes = left.bytes.max(self.now.bytes);
                }
                left
            }
        }
    }
}

impl Inode {
    /// The synced contents, cut to one of the unsynced lengths or not, with some of the unsynced versions of pages, or with some
    /// sectors of these.
    fn left_by_sector(&self, random: &mut Random) -> Contents {
        let mut left = self.synced.clone();
        let share = random.pick(&[0, 30, 70, 95]);
        if !self.lengths.is_empty() && random.below(3) > 0 {
            let chosen = random.below(self.lengths.len() as u64) as usize;
            left.bytes = self.lengths[chosen].1;
            let lowest = self.lengths[..=chosen].iter().map(|(_, length)| *length).min().unwrap_or(left.bytes);
            if lowest < self.synced.bytes {
                left.pages.retain(|page, _| (page + 1) * PAGE <= lowest);
            }
        }
        for (page, versions) in &self.versions {
            if random.below(100) >= share {
                continue;
            }
            let version = &versions[random.below(versions.len() as u64) as usize].1;
            let mut whole = left.pages.get(page).map_or_else(|| vec![0; PAGE as usize], |page| page.to_vec());
            let is_torn = random.below(3) == 0;
            for (old, new) in whole.chunks_mut(SECTOR).zip(version.chunks(SECTOR)) {
                if !is_torn || random.below(2) == 0 {
                    old.copy_from_slice(new);
                }
            }
            left.pages.insert(*page, whole.into());
            if random.below(2) == 0 {
                left.bytes = left.bytes.max(self.now.bytes.min((page + 1) * PAGE));
            }
        }
        left
    }
}

impl Contents {
    fn write_to(&self, path: &Path) -> io::Result<()> {
        let mut file = File::create(path)?;
        for (page, contents) in &self.pages {
            if let Some(count) = self.bytes.checked_sub(page * PAGE).filter(|count| *count > 0) {
                file.seek(SeekFrom::Start(page * PAGE))?;
                file.write_all(&contents[..count.min(PAGE) as usize])?;
            }
        }
        file.set_len(self.bytes)
    }
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

fn children(names: &Names, folder: &str) -> Names {
    names.iter().filter(|(name, _)| parent(name) == folder).map(|(name, inode)| (name.clone(), *inode)).collect()
}
