//! WHERE to key ranges, residual filter and verdict
