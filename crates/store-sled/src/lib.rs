//! The store on one machine: sled behind a single committer.
