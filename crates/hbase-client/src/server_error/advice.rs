//! What a caller can do about exceptions that another try does not cure.

/// Classes, and what to do.
const ADVICE: &[(&str, &str)] = &[
    ("NoSuchColumnFamilyException", "Admin::descriptor lists the families of the table"),
    ("TableNotFoundException", "Admin::table_names lists the tables"),
    ("TableNotDisabledException", "Admin::disable_table disables the table"),
    ("TableNotEnabledException", "Admin::enable_table enables the table"),
    ("TableExistsException", "Admin::descriptor has its families"),
    ("NamespaceNotFoundException", "make the namespace with create_namespace in HBase's shell"),
    ("AccessDeniedException", "the user is Settings::user, and needs rights that HBase's shell grants"),
];

/// What to do about an exception, if its class or its text tells.
pub(super) fn advice(class: &str, text: &str) -> Option<&'static str> {
    if class == "DoNotRetryIOException" && text.contains("exceeds limit of") {
        return Some("divide the value, or raise hbase.server.keyvalue.maxsize at the servers");
    }
    ADVICE.iter().find(|(known, _)| *known == class).map(|(_, advice)| *advice)
}
