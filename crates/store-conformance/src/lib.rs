//! The promises of the store port as callable tests.
