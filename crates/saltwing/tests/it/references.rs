//! Every page, heading and decision that sources and pages name is in the repository.

use std::path::Path;

use crate::repository::{files_below, root};

/// Documents that readers of the repository do not have.
const NOT_HERE: [[&str; 2]; 3] = [["DESIGN", " section"], ["DESIGN", ".md"], ["reference/", "phoenix"]];

/// The anchor that Markdown makes of a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn has_anchor(page: &str, wanted: &str) -> bool {
    page.lines().filter(|line| line.starts_with('#')).any(|line| anchor(line.trim_start_matches('#')) == wanted)
}

/// Whether `target`, `page.md` or `page.md#heading`, is there; `page` gives the text of a file.
fn is_there(target: &str, page: &dyn Fn(&str) -> Option<String>) -> bool {
    let (path, heading) = target.split_once('#').map_or((target, None), |(path, heading)| (path, Some(heading)));
    page(path).is_some_and(|text| heading.is_none_or(|heading| has_anchor(&text, heading)))
}

/// `docs/../x/./y` as `x/y`.
fn normal(path: &str) -> String {
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// The references of a file that lead nowhere. `page` gives the text of a file of the repository, `decision` says whether there
/// is a record of that number.
fn wrong_references(
    file: &str,
    text: &str,
    page: &dyn Fn(&str) -> Option<String>,
    decision: &dyn Fn(u32) -> bool,
) -> Vec<String> {
    let mut wrong: Vec<String> =
        NOT_HERE.iter().map(|parts| parts.concat()).filter(|name| text.contains(name)).collect();
    let named = |c: char| c.is_ascii_alphanumeric() || "-_/.#".contains(c);
    for (at, _) in text.match_indices("docs/") {
        if text[..at].ends_with(named) {
            continue; // A part of another path.
        }
        let end = text[at..].find(|c| !named(c)).map_or(text.len(), |length| at + length);
        let target = text[at..end].trim_end_matches(['.', '#']);
        if target.contains(".md") && !is_there(target, page) {
            wrong.push(target.to_owned());
        }
    }
    for word in ["decision ", "decisions ", "Decision "] {
        for (at, _) in text.match_indices(word) {
            let digits: String = text[at + word.len()..].chars().take_while(char::is_ascii_digit).collect();
            if digits.parse().is_ok_and(|number| !decision(number)) {
                wrong.push(format!("{word}{digits}"));
            }
        }
    }
    if !file.ends_with(".md") {
        return wrong;
    }
    for (at, _) in text.match_indices("](") {
        let target = text[at + 2..].split(')').next().unwrap_or_default();
        let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
        let resolved = match target.strip_prefix('#') {
            Some(_) => format!("{file}{target}"),
            None => normal(&format!("{folder}/{target}")),
        };
        let is_folder = || root().join(&resolved).is_dir();
        if !target.contains("://") && !is_folder() && !is_there(&resolved, page) {
            wrong.push(target.to_owned());
        }
    }
    wrong
}

/// Whether a file may name pages: a source, a page, or a script of the checks.
fn may_name_pages(path: &Path) -> bool {
    path.extension().is_some_and(|extension| ["rs", "md", "toml", "slt"].iter().any(|known| extension == *known))
        || path.parent().and_then(Path::file_name).is_some_and(|folder| folder == ".ci")
}

#[test]
fn every_reference_leads_somewhere() {
    let page = |path: &str| std::fs::read_to_string(root().join(path)).ok();
    let records = files_below(&root().join("docs/decisions"));
    let decision = |number: u32| {
        let start = format!("{number:04}-");
        records.iter().any(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&start)))
    };
    let all: Vec<_> = files_below(root()).into_iter().filter(|path| may_name_pages(path)).collect();
    assert!(all.len() > 600, "{} files", all.len());
    let mut wrong = Vec::new();
    for path in all {
        let file = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let found = wrong_references(&file, &text, &page, &decision);
        wrong.extend(found.into_iter().map(|reference| format!("{file}: {reference}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn wrong_references_are_found() {
    let known = format!("docs/{}.md", "known");
    let text = "# Title\n## EXPLAIN (FORMAT JSON)\n";
    let page = |path: &str| (path == known).then(|| text.to_owned());
    let decision = |number| number < 3;
    let check = |file: &str, text: &str| wrong_references(file, text, &page, &decision);
    let (unknown, wrong_heading) = (format!("docs/{}.md", "unknown"), format!("{known}#explain"));
    assert_eq!(check("a.rs", &format!("// see {known}, {known}#explain-format-json. decision 2")), [""; 0]);
    assert_eq!(check("a.rs", &format!("// see `{unknown}`.")), std::slice::from_ref(&unknown));
    assert_eq!(check("a.rs", &format!("// see {wrong_heading}.")), std::slice::from_ref(&wrong_heading));
    assert_eq!(check("a.rs", &format!("// {}{}", "decision ", 7)), [format!("{}{}", "decision ", 7)]);
    assert_eq!(check("a.rs", &format!("// {}", NOT_HERE[0].concat())), [NOT_HERE[0].concat()]);
    assert_eq!(check(&known, "[x](known.md) [y](known.md#title) [z](https://a.b/c)"), [""; 0]);
    assert_eq!(
        check(&known, "[x](other.md) [y](known.md#titel) [z](../c.md)"),
        ["other.md", "known.md#titel", "../c.md"]
    );
}
