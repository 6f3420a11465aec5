//! Names of files for completion.

/// Most files that completion offers.
const FILES_MAX: usize = 200;

/// The files whose paths start with a text, directories with a slash at their ends. Hidden files are included only if their dot is
/// typed.
pub(super) fn starting(typed: &str) -> Vec<String> {
    let (directory, name) = typed.rsplit_once('/').map_or(("", typed), |(directory, name)| (directory, name));
    let place = match (directory, typed.starts_with('/')) {
        ("", true) => "/",
        ("", false) => ".",
        (directory, _) => directory,
    };
    let front = typed.strip_suffix(name).unwrap_or_default();
    let Ok(entries) = std::fs::read_dir(place) else { return Vec::new() };
    let mut found: Vec<String> = entries
        .flatten()
        .filter_map(|entry| {
            let file = entry.file_name().into_string().ok()?;
            let is_shown = file.starts_with(name) && (name.starts_with('.') || !file.starts_with('.'));
            let end = if entry.path().is_dir() { "/" } else { "" };
            is_shown.then(|| format!("{front}{file}{end}"))
        })
        .collect();
    found.sort_unstable();
    found.truncate(FILES_MAX);
    found
}
