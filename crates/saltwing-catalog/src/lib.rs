//! Tables and schemas, kept as rows
