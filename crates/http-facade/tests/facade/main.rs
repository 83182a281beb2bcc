//! The HTTP face over a hand-written double of the catalogue.

#![cfg(test)]

mod contract;
mod double;

mod caching;
mod conditional;
mod document;
mod errors;
mod guards;
mod melbis;
mod oxp;
mod oxp_call;
mod prisme;
mod query;
mod schemas;
mod shape;
mod wire;
