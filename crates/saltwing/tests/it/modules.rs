//! The order of modules: inside a crate, imports go one way, between files and between the folders at the top of `src`.
//!
//! The test reads `use` declarations and paths in the source text, and follows re-exports to the file that defines a name. It
//! sees neither macros nor calls of methods.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::repository::sources_below;

type Module = Vec<String>;
type Graph = BTreeMap<Module, BTreeSet<Module>>;

/// So many imports are followed from one name to its definition.
const DEPTH_MAX: usize = 8;

/// A path in the source, and the name under which a `use` imports it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Reference {
    path: Vec<String>,
    name: Option<String>,
    is_public: bool,
}

/// The source without comments, and without the tests at its end.
fn product_code(source: &str) -> String {
    let code: Vec<&str> = source.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
    let code = code.join("\n");
    match code.find("#[cfg(test)]\nmod tests {") {
        Some(tests) => code[..tests].to_owned(),
        None => code,
    }
}

fn word(text: &str) -> &str {
    &text[..text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len())]
}

/// Reads a path with what stands in its braces; the text behind it.
fn read_tree<'t>(mut text: &'t str, prefix: &[String], found: &mut Vec<Reference>) -> &'t str {
    let mut path = prefix.to_vec();
    loop {
        text = text.trim_start();
        if let Some(inside) = text.strip_prefix('{') {
            text = inside;
            loop {
                text = text.trim_start();
                match text.chars().next() {
                    None => return text,
                    Some('}') => return &text[1..],
                    Some(',') => text = &text[1..],
                    Some(c) if c.is_alphanumeric() || c == '_' || c == '*' || c == '{' => {
                        text = read_tree(text, &path, found);
                    }
                    Some(c) => text = &text[c.len_utf8()..],
                }
            }
        }
        let segment = word(text);
        text = &text[segment.len()..];
        if !segment.is_empty() && segment != "self" || path.is_empty() {
            path.push(segment.to_owned());
        }
        match text.strip_prefix("::") {
            Some(rest) => text = rest,
            None => break,
        }
    }
    let (mut name, rest) = (path.last().cloned(), text.trim_start());
    if let Some(alias) = rest.strip_prefix("as ") {
        let alias = word(alias.trim_start());
        name = Some(alias.to_owned());
        text = rest.split_once(alias).map_or(rest, |(_, behind)| behind);
    }
    found.push(Reference { path, name, is_public: false });
    text
}

/// All references of a file: `use` declarations, and paths of two words at least.
fn references(code: &str) -> Vec<Reference> {
    let mut all = Vec::new();
    let mut at = 0;
    while at < code.len() {
        let rest = &code[at..];
        let segment = word(rest);
        if segment.is_empty() {
            at += rest.chars().next().map_or(1, char::len_utf8);
            continue;
        }
        if segment == "use" && rest[3..].starts_with(char::is_whitespace) {
            let line = &code[code[..at].rfind('\n').map_or(0, |end| end + 1)..at];
            let mut found = Vec::new();
            let behind = read_tree(&rest[3..], &[], &mut found);
            let is_public = line.trim_start().starts_with("pub");
            all.extend(found.into_iter().map(|reference| Reference { is_public, ..reference }));
            at = code.len() - behind.len();
        } else if rest[segment.len()..].starts_with("::") {
            // The path ends at the first part that goes on with something else.
            let mut kept = Vec::new();
            for part in rest.split("::") {
                let name = word(part);
                if name.is_empty() {
                    break;
                }
                kept.push(name.to_owned());
                if name.len() < part.len() {
                    break;
                }
            }
            all.push(Reference { path: kept, name: None, is_public: false });
            at += segment.len();
            while code[at..].starts_with("::") {
                at += 2 + word(&code[at + 2..]).len();
            }
        } else {
            at += segment.len();
        }
    }
    all
}

/// A path from the crate's root; `None` for one that leads to another crate, or to a name of the file itself.
fn absolute(
    modules: &BTreeMap<Module, Vec<Reference>>,
    of: &Module,
    path: &[String],
    depth: usize,
) -> Option<Vec<String>> {
    let first = path.first().filter(|_| depth < DEPTH_MAX)?;
    let mut base = of.clone();
    let mut rest = path;
    match first.as_str() {
        "crate" => (base, rest) = (Vec::new(), &path[1..]),
        "self" => rest = &path[1..],
        "super" => {
            while rest.first().is_some_and(|segment| segment == "super") {
                base.pop();
                rest = &rest[1..];
            }
        }
        child => {
            base.push(child.to_owned());
            rest = &path[1..];
            if !modules.contains_key(&base) {
                // A name that the file imports: `use crate::text;` and then `text::format(..)`.
                let is_it = |other: &&Reference| other.name.as_ref() == Some(first) && other.path != path;
                let import = modules.get(of)?.iter().find(is_it)?;
                base = absolute(modules, of, &import.path, depth + 1)?;
            }
        }
    }
    base.extend(rest.iter().cloned());
    Some(base)
}

/// The module that defines what a path names.
fn defined_in(modules: &BTreeMap<Module, Vec<Reference>>, path: &[String], depth: usize) -> Module {
    let known = (0..=path.len()).rev().find(|len| modules.contains_key(&path[..*len])).unwrap_or(0);
    let module = path[..known].to_vec();
    let Some(name) = path.get(known).filter(|_| depth < DEPTH_MAX) else { return module };
    let import = modules[&module].iter().find(|reference| reference.name.as_ref() == Some(name));
    match import.and_then(|import| absolute(modules, &module, &import.path, depth)) {
        Some(mut target) => {
            target.extend(path[known + 1..].iter().cloned());
            defined_in(modules, &target, depth + 1)
        }
        None => module,
    }
}

/// Whether the parent of a module has an item of the module's name, too: `mod call; pub use call::call;`.
fn hands_on(modules: &BTreeMap<Module, Vec<Reference>>, module: &[String]) -> bool {
    let Some((name, parent)) = module.split_last() else { return false };
    let imports = modules.get(parent).into_iter().flatten();
    imports
        .filter(|import| import.name.as_ref() == Some(name))
        .any(|import| absolute(modules, &parent.to_vec(), &import.path, 0).is_some_and(|path| path != module))
}

fn graph(sources: &BTreeMap<Module, String>) -> Graph {
    let modules: BTreeMap<Module, Vec<Reference>> =
        sources.iter().map(|(module, source)| (module.clone(), references(&product_code(source)))).collect();
    let imports = |(module, all): (&Module, &Vec<Reference>)| {
        // A face hands names on without using them.
        let used = all.iter().filter(|reference| !reference.is_public);
        let targets = used.filter_map(|reference| {
            let path = absolute(&modules, module, &reference.path, 0)?;
            let target = defined_in(&modules, &path, 0);
            // The import of a module is none of its names: the paths that go on from it are found by themselves. But the name may
            // be that of an item, too, which the parent hands on.
            let is_module = reference.name.is_some() && target == path && !hands_on(&modules, &path);
            (target != *module && !is_module).then_some(target)
        });
        (module.clone(), targets.collect())
    };
    modules.iter().map(imports).collect()
}

/// The modules on circles, or between two of them.
fn circles(graph: &Graph) -> BTreeSet<Module> {
    let mut left: BTreeSet<Module> = graph.keys().cloned().collect();
    loop {
        let imports = |from: &Module, to: &Module| graph.get(from).is_some_and(|targets| targets.contains(to));
        let is_tied = |module: &&Module| {
            left.iter().any(|other| imports(module, other)) && left.iter().any(|other| imports(other, module))
        };
        let tied: BTreeSet<Module> = left.iter().filter(is_tied).cloned().collect();
        if tied.len() == left.len() {
            return left;
        }
        left = tied;
    }
}

/// What the modules on circles import of each other.
fn imports_on_circles(graph: &Graph) -> Vec<String> {
    let tied = circles(graph);
    let imports = |module: &Module| {
        let targets = graph[module].iter().filter(|target| tied.contains(*target));
        targets.map(|target| format!("{} imports {}", module.join("::"), target.join("::"))).collect::<Vec<_>>()
    };
    tied.iter().flat_map(imports).collect()
}

/// The graph of what stands at the top of `src`: each folder with its files is one module.
fn of_tops(graph: &Graph) -> Graph {
    let top = |module: &Module| module.first().cloned().into_iter().collect::<Module>();
    let mut tops = Graph::new();
    for (module, targets) in graph {
        let others = targets.iter().map(top).filter(|target| *target != top(module));
        tops.entry(top(module)).or_default().extend(others);
    }
    tops
}

/// The sources of a crate by module, its tests and its `main.rs` apart.
fn modules_of(src: &Path) -> BTreeMap<Module, String> {
    let mut modules = BTreeMap::from([(Vec::new(), String::new())]);
    for path in sources_below(src) {
        let mut module: Module = path
            .with_extension("")
            .strip_prefix(src)
            .unwrap()
            .iter()
            .map(|part| part.to_string_lossy().into())
            .collect();
        if module.last().is_some_and(|stem| ["mod", "lib"].contains(&stem.as_str())) {
            module.pop();
        }
        if module.last().is_none_or(|stem| !["tests", "main"].contains(&stem.as_str())) {
            modules.insert(module, std::fs::read_to_string(&path).unwrap());
        }
    }
    modules
}

#[test]
fn imports_inside_a_crate_go_one_way() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut wrong = Vec::new();
    for entry in std::fs::read_dir(crates).unwrap() {
        let (folder, name) = {
            let entry = entry.unwrap();
            (entry.path().join("src"), entry.file_name().to_string_lossy().into_owned())
        };
        let graph = graph(&modules_of(&folder));
        wrong.extend(imports_on_circles(&graph).into_iter().map(|import| format!("{name}: {import}")));
        wrong.extend(
            imports_on_circles(&of_tops(&graph)).into_iter().map(|import| format!("{name}, folders: {import}")),
        );
    }
    assert!(wrong.is_empty(), "imports form circles:\n{}", wrong.join("\n"));
}

#[test]
fn circles_are_found() {
    let of = |files: &[(&str, &str)]| {
        let module =
            |name: &str| name.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect::<Module>();
        let sources = files.iter().map(|(name, source)| (module(name), (*source).to_owned())).collect();
        let graph = graph(&sources);
        (circles(&graph).len(), circles(&of_tops(&graph)).len())
    };
    assert_eq!(of(&[("", "mod a; mod b;"), ("a", "use crate::b::X;"), ("b", "pub struct X;")]), (0, 0));
    assert_eq!(of(&[("", ""), ("a", "use crate::b::{Y, X};"), ("b", "fn f() { crate::a::g() }")]), (2, 2));
    // By way of a face, and under another name.
    let face = ("", "pub use a::X as Z;");
    assert_eq!(of(&[face, ("a", "use super::b::f;"), ("b", "use crate::Z;")]), (2, 2));
    // By way of a module that is imported, also under another name.
    let by_module = "use crate::{b as other, c};\nfn f() { other::g() }";
    assert_eq!(of(&[("", ""), ("a", by_module), ("b", "use crate::a;\nfn g() { a::f() }"), ("c", "")]), (2, 2));
    assert_eq!(of(&[("", ""), ("a", by_module), ("b", "use crate::a;\nfn g() {}"), ("c", "")]), (0, 0));
    // A function that has the name of its module.
    let face = ("", "mod call; mod b; pub use call::call;");
    assert_eq!(of(&[face, ("b", "use crate::call;"), ("call", "use crate::b::f;")]), (2, 2));
    // Between the files of two folders there is no circle, but between the folders.
    let files =
        [("", ""), ("a::x", "use crate::b::y::T;"), ("b::y", ""), ("b::z", "use crate::a::w::T;"), ("a::w", "")];
    assert_eq!(of(&files), (0, 2));
    // Tests and comments do not count.
    let tests = "#[cfg(test)]\nmod tests {\n    use crate::a::X;\n}\n";
    assert_eq!(of(&[("", ""), ("a", "use crate::b::X;"), ("b", tests), ("c", "// crate::a::X")]), (0, 0));
}
