/// Why a server tells no more of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FollowEnd {
    /// It never tells: asking again brings nothing.
    NotOffered,
    /// It stopped, and may be asked again.
    Ended,
}
