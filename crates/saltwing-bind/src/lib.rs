//! Statement and catalog to a bound statement
