//! Tables on any ordered store: read views, commits, scans
