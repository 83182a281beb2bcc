//! The store on sled keeps every promise of the port, over kills, damage and full disks too.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod subject;

use toolgate_store_conformance::promise_tests;

use subject::sled;

promise_tests!(sled; reads, commits, limits, watches, holds, closing, durability);
