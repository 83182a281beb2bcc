/// Lifts the page cap of a list.
///
/// A caller in this process puts it into the request's extensions to have a list answered whole, from one snapshot. No
/// wire request can carry it: extensions of a received request are filled by this process alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WholeAnswer;
