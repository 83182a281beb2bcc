//! The store on sled keeps every promise of the port, over kills, damage and full disks too.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod child;
mod damage;
mod kill;
mod law_09;
mod model;
mod room;
mod subject;

use toolgate_store_conformance::promise_tests;

use subject::sled;

promise_tests!(sled; reads, commits, limits, watches, holds, closing, durability);
