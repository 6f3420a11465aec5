//! What the operating system knows of this process; `None` where it does not tell.

/// Bytes that the process has handed to the system to be written.
pub fn bytes_written() -> Option<u64> {
    field("/proc/self/io", "wchar:")
}

/// Bytes of memory that the process has now.
pub fn resident_bytes() -> Option<u64> {
    field("/proc/self/status", "VmRSS:").map(|kilobytes| kilobytes * 1024)
}

fn field(file: &str, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}
