use bytes::Bytes;

/// The number of a commit. Totally ordered; 0 is "before the first".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Revision(pub u64);

impl Revision {
    /// Before the first commit; also the version of an absent key.
    pub const ZERO: Self = Self(0);
}

impl std::fmt::Display for Revision {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// A key with its value and the revision of its last write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The whole key.
    pub key: Bytes,
    /// What was last put there.
    pub value: Bytes,
    /// The revision of the commit that put it.
    pub version: Revision,
}

/// A page of a scan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScanPage {
    /// In key order, at most as many as asked for.
    pub rows: Vec<Row>,
    /// The newest revision when the page was begun.
    pub revision: Revision,
    /// Where the next page starts; `None` when the range is exhausted.
    pub next: Option<Bytes>,
}
