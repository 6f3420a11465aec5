//! Relational queries on DataFusion over our scans
