//! Java classes of filters.

use crate::exception::Exception;

/// The name of a filter's or comparator's class in its package.
pub(crate) fn name_of(class: &str) -> Option<&str> {
    class.strip_prefix("org.apache.hadoop.hbase.filter.")
}

/// What servers say to a class that they do not know.
pub(crate) fn not_found(class: &str) -> Exception {
    Exception::do_not_retry(format!("java.lang.ClassNotFoundException: {class}"))
}
