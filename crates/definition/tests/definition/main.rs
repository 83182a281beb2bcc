//! What holds for every text and every value, checked from outside the crate.

mod agreement;
mod corpus;
mod differences;
mod laws;
mod locks;
mod refless;
mod served;
mod shapes;
mod values;
mod vectors;
