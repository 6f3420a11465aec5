//! Objects by number and by name, for the functions of the catalog.

use std::collections::HashMap;

use crate::CatalogError;
use crate::definitions::{Definitions, Size};
use crate::name_path::name_parts;
use crate::pg_type::{PgType, format_type};
use crate::relations::{RELATIONS, class_names, descriptions, function_names, quoted};

/// The schemas whose objects are named without their schema.
const VISIBLE: [&str; 2] = ["pg_catalog", "public"];

/// The definitions, and what is looked up in them often.
pub(crate) struct Lookups {
    pub(crate) definitions: Definitions,
    /// Schema, name and kind of each relation, index and sequence.
    classes: HashMap<u32, (String, String, char)>,
    /// Numbers of these by schema and name.
    class_numbers: HashMap<(String, String), u32>,
    /// Name, arguments and result of each function.
    functions: HashMap<u32, (String, String, u32)>,
    /// Comments by object and column; those of relations before those of functions.
    comments: HashMap<(u32, u32, i32), String>,
}

impl Lookups {
    pub(crate) fn new(definitions: Definitions) -> Self {
        let (mut classes, mut class_numbers) = (HashMap::new(), HashMap::new());
        for (oid, schema, name, kind) in class_names(&definitions, &RELATIONS) {
            class_numbers.insert((schema.clone(), name.clone()), oid);
            classes.insert(oid, (schema, name, kind));
        }
        let functions = function_names(&definitions)
            .into_iter()
            .map(|(oid, name, arguments, result)| (oid, (name, arguments, result)));
        let functions = functions.collect();
        let comments =
            descriptions(&definitions).map(|it| ((it.object, it.class, it.column), it.text.to_owned())).collect();
        Self { definitions, classes, class_numbers, functions, comments }
    }

    /// The same with other numbers of rows and bytes.
    pub(crate) fn with_sizes(&self, sizes: HashMap<u32, Size>) -> Self {
        let definitions = Definitions { sizes, ..self.definitions.clone() };
        Self {
            definitions,
            classes: self.classes.clone(),
            class_numbers: self.class_numbers.clone(),
            functions: self.functions.clone(),
            comments: self.comments.clone(),
        }
    }

    /// Schema, name and kind of a relation, an index or a sequence.
    pub(crate) fn class(&self, oid: u32) -> Option<(&str, &str, char)> {
        self.classes.get(&oid).map(|(schema, name, kind)| (schema.as_str(), name.as_str(), *kind))
    }

    /// Whether an object is named without its schema.
    pub(crate) fn is_class_visible(&self, oid: u32) -> Option<bool> {
        let (schema, name, _) = self.class(oid)?;
        // One of the catalog comes before one of the name in `public`.
        let is_hidden =
            schema == "public" && self.class_numbers.contains_key(&("pg_catalog".to_owned(), name.to_owned()));
        Some(VISIBLE.contains(&schema) && !is_hidden)
    }

    /// The arguments and the result of a function.
    pub(crate) fn function(&self, oid: u32) -> Option<(&str, u32)> {
        self.functions.get(&oid).map(|(_, arguments, result)| (arguments.as_str(), *result))
    }

    /// The comment on an object of a relation of the catalog, by the number of this; of any relation without it.
    pub(crate) fn comment(&self, object: u32, class: Option<u32>, column: i32) -> Option<&str> {
        let classes = class.map_or_else(|| vec![1259, 1255], |class| vec![class]);
        classes.into_iter().find_map(|class| self.comments.get(&(object, class, column))).map(String::as_str)
    }

    /// The name of an object of a kind (`regclass`, `regtype` ..): with its schema if it needs one; its number if there is none.
    pub(crate) fn object_name(&self, kind: &str, oid: i64) -> String {
        let number = u32::try_from(oid).ok();
        if number == Some(0) {
            return "-".to_owned();
        }
        let found = number.and_then(|number| match kind {
            "regclass" => self.class(number).map(|(schema, name, _)| match self.is_class_visible(number) {
                Some(true) => quoted(name),
                _ => format!("{}.{}", quoted(schema), quoted(name)),
            }),
            "regtype" => Some(format_type(oid, None)).filter(|name| name != "???"),
            "regproc" => self.functions.get(&number).map(|(name, ..)| name.clone()),
            "regnamespace" => self.schema_name(number).map(|name| quoted(&name)),
            "regrole" => self.user_name(number).map(|name| quoted(&name)),
            _ => None,
        });
        found.unwrap_or_else(|| oid.to_string())
    }

    /// The number of the object that a text names, or is.
    ///
    /// # Errors
    /// [`CatalogError::NoObject`].
    pub(crate) fn object_number(&self, kind: &str, text: &str) -> Result<i64, CatalogError> {
        if text == "-" {
            return Ok(0);
        }
        if let (false, Ok(number)) = (text.is_empty(), text.parse::<u32>()) {
            return Ok(number.into());
        }
        let no_object = |kind| CatalogError::NoObject { kind, name: text.to_owned() };
        let parts = name_parts(text).unwrap_or_default();
        let (schema, name) = match parts.as_slice() {
            [name] => (None, name.as_str()),
            [schema, name] => (Some(schema.as_str()), name.as_str()),
            [database, schema, name] if *database == self.definitions.database => {
                (Some(schema.as_str()), name.as_str())
            }
            _ => (None, ""),
        };
        let found = match kind {
            "regclass" => self.class_number(schema, name).ok_or_else(|| no_object("relation")),
            "regtype" => PgType::by_sql_name(text).map(|ty| ty.0).ok_or_else(|| no_object("type")),
            "regproc" => self.function_number(name).ok_or_else(|| no_object("function")),
            "regnamespace" => self.definitions.schema_oid(name).ok_or_else(|| no_object("schema")),
            "regrole" => self.definitions.user_oid(name).ok_or_else(|| no_object("role")),
            _ => Err(no_object("object")),
        };
        found.map(i64::from)
    }

    fn class_number(&self, schema: Option<&str>, name: &str) -> Option<u32> {
        let of = |schema: &str| self.class_numbers.get(&(schema.to_owned(), name.to_owned())).copied();
        match schema {
            Some(schema) => of(schema),
            None => VISIBLE.iter().find_map(|schema| of(schema)),
        }
    }

    /// The least number of the functions of a name, whatever their arguments.
    fn function_number(&self, name: &str) -> Option<u32> {
        let name = quoted(name.split_once('(').map_or(name, |(name, _)| name));
        let named = self.functions.iter().filter(|(_, (known, ..))| *known == name);
        named.map(|(oid, _)| *oid).min()
    }

    /// The name of a schema.
    pub(crate) fn schema_name(&self, oid: u32) -> Option<String> {
        let fixed = ["pg_catalog", "public", "information_schema"].into_iter();
        let mut fixed = fixed.filter(|name| self.definitions.schema_oid(name) == Some(oid));
        let own = || self.definitions.schemas.iter().find(|schema| schema.oid == oid).map(|schema| schema.name.clone());
        fixed.next().map(str::to_owned).or_else(own)
    }

    /// The name of a user, or of the owner.
    pub(crate) fn user_name(&self, oid: u32) -> Option<String> {
        if oid == crate::definitions::OWNER {
            return Some(self.definitions.owner.clone());
        }
        self.definitions.users.iter().find(|user| user.oid == oid).map(|user| user.name.clone())
    }
}
