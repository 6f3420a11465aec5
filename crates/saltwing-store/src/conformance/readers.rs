//! Reading beside other readers, without writing.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use super::Files;
use super::processes::{
    ACKNOWLEDGED_MIN, COUNTER, OTHER_SIDE, assert_whole, kill_after, one_put, other_side, say, write_for_ever,
};
use crate::{Access, Capabilities, Durability, Holder, OpenOptions, OrderedKv, StoreError, WriteStall};

type Opened = Result<Arc<dyn OrderedKv>, StoreError>;

fn options(access: Access) -> OpenOptions {
    OpenOptions { access, cache_bytes: 8 << 20, trace: None }
}

/// A process that writes is killed. Two readers at the same time find what it has acknowledged, a writer is refused as long as
/// one of them is there, and no file is another one, or newer, than before; then a writer finds all of it, too.
///
/// Holds stores that say so in their capabilities. `test` is the calling test's full name, `home` an empty directory; the test
/// must do nothing else.
pub fn readers_leave_a_killed_writers_files_alone(
    test: &str,
    home: &Path,
    open: impl Fn(&Path, OpenOptions) -> Opened,
) {
    if let Some(path) = other_side() {
        return write_for_ever(&*open(&path, options(Access::Create)).unwrap());
    }
    let path = home.join("db");
    let acknowledged = kill_after(test, &path, ACKNOWLEDGED_MIN);
    if !promises_it(&open, home) {
        return;
    }
    let before = Files::of(&path);
    let reader = open(&path, options(Access::ReadOnly)).unwrap();
    let second = open(&path, options(Access::ReadOnly)).unwrap();
    for reader in [reader, second] {
        assert_whole(&*reader, acknowledged);
        assert_opened_for_reading(&path);
        for access in [Access::Existing, Access::Create] {
            assert_eq!(refused(open(&path, options(access))), Holder::Readers);
        }
        for refused in
            [reader.write(one_put(), Durability::Synced), reader.clear(COUNTER), reader.reclaim(WriteStall::Allowed)]
        {
            // Without anything to clear or reclaim there is nothing to refuse either.
            assert!(matches!(refused, Ok(()) | Err(StoreError::ReadOnly { .. })), "{refused:?}");
        }
        reader.sync().unwrap();
        reader.close().unwrap();
        assert_whole(&*reader, acknowledged);
    }
    before.assert_unchanged();
    let writer = open(&path, options(Access::Existing)).unwrap();
    assert_whole(&*writer, acknowledged);
    assert_eq!(refused(open(&path, options(Access::ReadOnly))), Holder::Writer { process: Some(std::process::id()) });
}

/// A process without write permission reads at the same time as a reader in this one, and keeps writers out; a writer
/// keeps it out.
///
/// It has the directory on a mount of its own that is for reading only; where none can be made, as it is. Parameters as for
/// [`readers_leave_a_killed_writers_files_alone`].
pub fn readers_of_several_processes_go_together(test: &str, home: &Path, open: impl Fn(&Path, OpenOptions) -> Opened) {
    if let Some(path) = other_side() {
        return read_until_stopped(open(&path, options(Access::ReadOnly)));
    }
    let path = home.join("db");
    let writer = open(&path, options(Access::Create)).unwrap();
    if !promises_it(&open, home) {
        return;
    }
    writer.write(one_put(), Durability::Synced).unwrap();
    let refused_there = start_on_mount(test, &path).wait_with_output().unwrap();
    let printed = String::from_utf8_lossy(&refused_there.stdout).into_owned();
    assert!(printed.contains("got locked by Writer"), "{printed}");
    drop(writer);
    let before = Files::of(&path);
    let mut other = start_on_mount(test, &path);
    let mut lines = BufReader::new(other.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("got acknowledged")));
    let reader = open(&path, options(Access::ReadOnly)).unwrap();
    assert_eq!(reader.get(COUNTER, b"last").unwrap().unwrap(), b"acknowledged");
    drop(reader);
    assert_eq!(refused(open(&path, options(Access::Existing))), Holder::Readers);
    drop(other.stdin.take());
    lines.for_each(drop);
    other.wait().unwrap();
    before.assert_unchanged();
    let writer = open(&path, options(Access::Existing)).unwrap();
    writer.write(one_put(), Durability::Synced).unwrap();
}

/// Whether the store says that it reads without writing.
fn promises_it(open: &impl Fn(&Path, OpenOptions) -> Opened, home: &Path) -> bool {
    let store = open(&home.join("capabilities"), options(Access::Create)).unwrap();
    let Capabilities { name, reads_without_writing, .. } = store.capabilities();
    if !reads_without_writing {
        eprintln!("skipped: {name} does not read without writing");
    }
    *reads_without_writing
}

fn refused(opened: Opened) -> Holder {
    match opened {
        Ok(_) => panic!("was opened"),
        Err(StoreError::Locked { holder, .. }) => holder,
        Err(error) => panic!("{error}"),
    }
}

fn read_until_stopped(opened: Opened) {
    match opened {
        Err(StoreError::Locked { holder, .. }) => say(&format!("got locked by {holder:?}")),
        Err(error) => say(&format!("got {error}")),
        Ok(store) => {
            let value = store.get(COUNTER, b"last").unwrap().unwrap();
            say(&format!("got {}", String::from_utf8_lossy(&value)));
            // Until the other process ends, or has enough.
            let _ = std::io::stdin().read_line(&mut String::new());
        }
    }
}

/// Starts the other process without write permission. It reads until it gets the signal to end.
fn start_on_mount(test: &str, path: &Path) -> Child {
    let mount = r#"mount --bind "$0" "$0" && mount -o remount,ro,bind "$0""#;
    let unshare = |then: &str| {
        let mut command = Command::new("unshare");
        command.args(["-rm", "sh", "-c", &format!("{mount} && {then}")]).arg(path);
        command
    };
    let probe = unshare(r#"! touch "$0/probe""#).stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !probe.is_ok_and(|status| status.success()) {
        eprintln!("in part: no mount that is for reading only can be made here");
        return other_side_of(Command::new(std::env::current_exe().unwrap()), test, path);
    }
    let mut command = unshare(r#"exec "$@""#);
    command.arg(std::env::current_exe().unwrap());
    other_side_of(command, test, path)
}

/// Starts a command that runs this program as the other side, with a pipe on both ends.
fn other_side_of(mut command: Command, test: &str, path: &Path) -> Child {
    let command = command.args([test, "--exact", "--nocapture", "--test-threads=1"]).env(OTHER_SIDE, path);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
}

/// Where the system tells: this process has no file below `path` open for writing.
fn assert_opened_for_reading(path: &Path) {
    let Ok(descriptors) = fs::read_dir("/proc/self/fd") else { return };
    for descriptor in descriptors {
        let descriptor = descriptor.unwrap();
        let Ok(file) = fs::read_link(descriptor.path()) else { continue };
        let info = Path::new("/proc/self/fdinfo").join(descriptor.file_name());
        let Ok(info) = fs::read_to_string(info) else { continue };
        let flags = info.lines().find_map(|line| line.strip_prefix("flags:")).unwrap().trim();
        let is_for_reading = u32::from_str_radix(flags, 8).unwrap() & 3 == 0;
        assert!(is_for_reading || !file.starts_with(path), "{} is open for writing", file.display());
    }
}
