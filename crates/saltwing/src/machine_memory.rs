//! The memory of the machine, or of the control group of the process.

use std::fs;
use std::path::Path;

/// The memory that is assumed if the system does not report it.
const ASSUMED_BYTES: u64 = 4 << 30;

/// The bytes of memory that the process may use, according to the system.
pub(crate) fn machine_memory() -> u64 {
    let total = fs::read_to_string("/proc/meminfo").ok().and_then(|text| total_of_meminfo(&text));
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limits = groups.lines().filter_map(|line| limit_of_group(line, Path::new("/sys/fs/cgroup")));
    limits.chain(total).min().unwrap_or(ASSUMED_BYTES)
}

fn total_of_meminfo(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// The lowest limit of a control group and its parents; `line` is a line of `/proc/self/cgroup`.
fn limit_of_group(line: &str, root: &Path) -> Option<u64> {
    let mut fields = line.splitn(3, ':').skip(1);
    let (controllers, path) = (fields.next()?, fields.next()?);
    let (root, file) = match controllers {
        "" => (root.to_owned(), "memory.max"),
        names if names.split(',').any(|name| name == "memory") => (root.join("memory"), "memory.limit_in_bytes"),
        _ => return None,
    };
    let group = root.join(path.trim_start_matches('/'));
    let groups = group.ancestors().take_while(|group| group.starts_with(&root));
    // "max" means no limit.
    groups.filter_map(|group| fs::read_to_string(group.join(file)).ok()?.trim().parse::<u64>().ok()).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_limit_counts() {
        assert_eq!(total_of_meminfo("MemTotal:       24000 kB\nMemFree: 1 kB\n"), Some(24_000 << 10));
        assert_eq!(total_of_meminfo("what"), None);
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("a/b")).unwrap();
        fs::create_dir_all(root.path().join("memory/c")).unwrap();
        fs::write(root.path().join("a/memory.max"), "1000\n").unwrap();
        fs::write(root.path().join("a/b/memory.max"), "max\n").unwrap();
        fs::write(root.path().join("memory/c/memory.limit_in_bytes"), "500\n").unwrap();
        assert_eq!(limit_of_group("0::/a/b", root.path()), Some(1000));
        assert_eq!(limit_of_group("0::/", root.path()), None);
        assert_eq!(limit_of_group("5:memory:/c", root.path()), Some(500));
        assert_eq!(limit_of_group("4:cpu,cpuacct:/c", root.path()), None);
        assert!(machine_memory() > 1 << 20);
    }
}
