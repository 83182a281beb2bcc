use std::hash::{BuildHasher, RandomState};

/// Numbers that a seed decides (SplitMix64).
#[derive(Debug, Clone)]
pub(super) struct Random {
    seed: u64,
    state: u64,
}

impl Random {
    /// A new seed each time.
    pub(super) fn seeded() -> Self {
        Self::of(RandomState::new().hash_one(0))
    }

    fn of(seed: u64) -> Self {
        Self { seed, state: seed }
    }

    pub(super) fn seed(&self) -> u64 {
        self.seed
    }

    /// Another source, decided by this one.
    pub(super) fn split(&mut self) -> Self {
        Self::of(self.next())
    }

    /// A number below `bound`.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
