//! Texts of statements that the SQL files of the repository have, and names of functions.

use std::fs;
use std::path::Path;

use crate::TestError;
use crate::random::Random;

/// The longest text that is used.
const TEXT_BYTES_MAX: usize = 2000;

/// Texts and names that all cases use.
#[derive(Clone, Debug, Default)]
pub struct Corpus {
    statements: Vec<String>,
    functions: Vec<String>,
}

impl Corpus {
    /// Reads the repository's files.
    ///
    /// # Errors
    /// [`TestError::File`].
    pub fn read() -> Result<Self, TestError> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut corpus = Self::default();
        corpus.read_folder(&root.join("sql-tests/slt"))?;
        let text = read(&root.join("docs/functions.md"))?;
        corpus.functions = text.lines().filter_map(function_of).map(str::to_owned).collect();
        Ok(corpus)
    }

    fn read_folder(&mut self, folder: &Path) -> Result<(), TestError> {
        let failed = |source| TestError::File { path: folder.to_owned(), source };
        let mut paths: Vec<_> = fs::read_dir(folder)
            .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect())
            .map_err(failed)?;
        // The order of a folder is the system's; a seed must mean the same everywhere.
        paths.sort();
        for path in paths {
            match path.is_dir() {
                true => self.read_folder(&path)?,
                false => self.statements.extend(statements_of(&read(&path)?)),
            }
        }
        Ok(())
    }

    /// A statement.
    pub fn statement(&self, random: &mut Random) -> &str {
        random.one_of(&self.statements).map_or("SELECT 1", String::as_str)
    }

    /// A function's name.
    pub fn function(&self, random: &mut Random) -> &str {
        random.one_of(&self.functions).map_or("abs", String::as_str)
    }
}

fn read(path: &Path) -> Result<String, TestError> {
    fs::read_to_string(path).map_err(|source| TestError::File { path: path.to_owned(), source })
}

/// The statements of an SQL file: what follows a line `statement ..` or `query ..`, up to an empty line or the result.
fn statements_of(text: &str) -> Vec<String> {
    let blocks = text.split("\n\n").filter_map(|block| {
        let block = block.trim_start();
        let is_statement = block.starts_with("statement") || block.starts_with("query");
        let (_, statement) = block.split_once('\n').filter(|_| is_statement)?;
        let end = statement.find("\n----").unwrap_or(statement.len());
        statement.get(..end)
    });
    // A user of a database without users would lock all clients out, and a longer timeout let a statement run for minutes.
    let is_kept = |text: &str| {
        let upper = text.to_uppercase();
        !upper.contains("USER") && !upper.contains("TIMEOUT") && text.len() <= TEXT_BYTES_MAX && !text.is_empty()
    };
    blocks.filter(|text| is_kept(text)).map(str::to_owned).collect()
}

/// The function that a line of the list of functions describes.
fn function_of(line: &str) -> Option<&str> {
    let name = line.strip_prefix("| `")?.split(['(', '`']).next()?;
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_').then_some(name)
}

#[cfg(test)]
mod tests {
    use super::{Corpus, function_of, statements_of};

    #[test]
    fn files_have_statements_and_functions() {
        let file =
            "# About\n\nstatement ok\nCREATE TABLE t\n\nquery T\nSELECT 1\n  + 2\n----\n3\n\nstatement error 1\n\n";
        assert_eq!(statements_of(file), ["CREATE TABLE t", "SELECT 1\n  + 2"]);
        assert_eq!(function_of("| `ABS(value number) -> number` | The"), Some("ABS"));
        assert_eq!(function_of("| function | gives |"), None);
        let corpus = Corpus::read().unwrap();
        assert!(corpus.statements.len() > 1000 && corpus.functions.len() > 100);
    }
}
