//! The forms of functions, from the texts in which SHOW FUNCTIONS has them.

use saltwing::SqlType;

use super::index_parts::elements;
use crate::pg_type;

/// The number of `"any"`, which stands for any type.
const ANY: u32 = 2276;

/// Names and types of the arguments, and the type of the result, of a form such as `LTRIM(text VARCHAR [, characters VARCHAR]) -> VARCHAR`.
pub(super) fn read_signature(form: &str) -> (Vec<(String, u32)>, u32) {
    let (call, result) = form.rsplit_once("->").unwrap_or((form, "any"));
    let inside = call.split_once('(').map_or("", |(_, rest)| rest);
    let inside = inside.split_once(") WITHIN").map_or(inside, |(inside, _)| inside);
    let inside = inside.trim_end().strip_suffix(')').unwrap_or(inside);
    // What may be left out stands in brackets; a form has all of its arguments here.
    let inside = inside.replace(['[', ']'], "");
    let argument = |text: &str| match text.split_once(' ') {
        Some((name, ty)) => (name.to_owned(), type_oid(ty)),
        None => (text.to_owned(), ANY),
    };
    let arguments = elements(&inside).into_iter().filter(|text| !matches!(*text, ".." | "*"));
    (arguments.map(argument).collect(), type_oid(result))
}

fn type_oid(name: &str) -> u32 {
    let ty: Result<SqlType, _> = name.trim().parse();
    ty.map_or(ANY, |ty| pg_type::of_column(ty).0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_have_arguments_and_a_result() {
        let (arguments, result) = read_signature("LTRIM(text VARCHAR [, characters VARCHAR]) -> VARCHAR");
        assert_eq!(arguments, [("text".to_owned(), 1043), ("characters".to_owned(), 1043)]);
        assert_eq!(result, 1043);
        assert_eq!(read_signature("COUNT(*) -> BIGINT"), (vec![], 20));
        assert_eq!(read_signature("CONCAT(value any, ..) -> VARCHAR"), (vec![("value".to_owned(), ANY)], 1043));
        let ordered =
            "APPROX_PERCENTILE_CONT(share DOUBLE [, centroids BIGINT]) WITHIN GROUP (ORDER BY value DOUBLE) -> DOUBLE";
        assert_eq!(read_signature(ordered), (vec![("share".to_owned(), 701), ("centroids".to_owned(), 20)], 701));
        assert_eq!(read_signature("now"), (vec![], ANY));
    }
}
