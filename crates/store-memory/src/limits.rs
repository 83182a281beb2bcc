//! The bounds of this engine.

use std::num::NonZeroUsize;

/// Commits kept for watches that start in the past, unless set otherwise.
pub const HISTORY_COMMITS: NonZeroUsize = NonZeroUsize::new(10_000).expect("10,000 is not zero");
