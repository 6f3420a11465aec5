//! Direct execution: single-table reads, DML
