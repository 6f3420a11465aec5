//! How the answer of a statement is sent.

/// How the answer of a statement is sent.
#[derive(Clone, Copy)]
pub(super) struct AnswerForm<'a> {
    /// Whether the rows are described before they are sent: in the simple protocol.
    pub(super) describes: bool,
    /// The codes of the formats of the columns.
    pub(super) format_codes: &'a [i16],
}

impl AnswerForm<'_> {
    /// That of the simple protocol.
    pub(super) const SIMPLE: Self = Self { describes: true, format_codes: &[] };
}
