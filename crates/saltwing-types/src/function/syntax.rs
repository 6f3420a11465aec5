//! Expressions that look like calls but have their own syntax. They are listed with the functions, but other code
//! builds them.

/// A form of the language that is written like a function.
#[derive(Debug)]
pub struct SyntaxForm {
    /// The name, in upper case.
    pub name: &'static str,
    /// How it is written, without the name.
    pub form: &'static str,
    /// One sentence: the result.
    pub description: &'static str,
    /// An expression without columns, and its result as text.
    pub example: (&'static str, &'static str),
}

/// All forms, by name in alphabetical order.
pub static FORMS: &[SyntaxForm] = &[
    SyntaxForm {
        name: "ALL",
        form: "(array) -> BOOLEAN",
        description: "Behind a comparison: whether it holds for all elements.",
        example: ("0 < ALL(ARRAY[1, 2])", "true"),
    },
    SyntaxForm {
        name: "ANY",
        form: "(array) -> BOOLEAN",
        description: "Behind a comparison: whether it holds for an element.",
        example: ("2 = ANY(ARRAY[1, 2])", "true"),
    },
    SyntaxForm {
        name: "ARRAY",
        form: "[element, ..] -> array",
        description: "The array of these elements.",
        example: ("ARRAY['a', 'b']", "[\"a\",\"b\"]"),
    },
    SyntaxForm {
        name: "CASE",
        form: " WHEN condition THEN value .. [ELSE value] END",
        description: "The value of the first condition that holds; NULL if none does and there is no ELSE.",
        example: ("CASE WHEN 1 > 2 THEN 'a' ELSE 'b' END", "b"),
    },
    SyntaxForm {
        name: "CAST",
        form: "(value AS type) -> type",
        description: "The value in another type, as value::type.",
        example: ("CAST('42' AS INTEGER)", "42"),
    },
    SyntaxForm {
        name: "DATE_PART",
        form: "('field', at instant) -> INTEGER",
        description: "A field of the instant, as EXTRACT.",
        example: ("DATE_PART('month', DATE '2024-05-15')", "5"),
    },
    SyntaxForm {
        name: "EXTRACT",
        form: "(field FROM at instant) -> INTEGER",
        description: "YEAR, QUARTER, MONTH, WEEK, DAY, DOY, DOW, ISODOW, HOUR, MINUTE or SECOND of the instant.",
        example: ("EXTRACT(DAY FROM DATE '2024-05-15')", "15"),
    },
    SyntaxForm {
        name: "PHOENIX_ROW_TIMESTAMP",
        form: "([table]) -> DATE",
        description: "The time of the row: when it was written, or the value of a ROW_TIMESTAMP.",
        example: ("PHOENIX_ROW_TIMESTAMP() IS NOT NULL", "true"),
    },
];
