//! Types, values, expression trees with a scalar evaluator, table and key definitions
