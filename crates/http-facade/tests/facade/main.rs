//! The HTTP face over a hand-written double of the catalogue.

#![cfg(test)]

mod double;

mod caching;
mod conditional;
mod errors;
mod guards;
mod oxp;
mod query;
mod shape;
mod wire;
