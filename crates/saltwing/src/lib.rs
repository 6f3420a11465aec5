//! SQL over sorted keys: the library
