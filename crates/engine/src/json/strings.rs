//! Places of values: to come.
