//! Both services as a caller has them, called in this process, over the store in memory and scripted tool servers.

mod access;
mod answers;
mod ring;
mod tenants;
