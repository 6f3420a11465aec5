//! Expressions evaluated over Arrow columns
