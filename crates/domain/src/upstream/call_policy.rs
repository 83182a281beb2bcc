/// How calls of an upstream's tools are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CallPolicy {
    /// What a call does where the upstream's list may be another by now.
    pub freshness: Freshness,
    /// Which calls share what the upstream keeps between them.
    pub isolation: Isolation,
}

/// What a call does where there is evidence that an upstream lists something else than what was read last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Freshness {
    /// It waits for a sync, and is decided by what that found.
    #[default]
    Check,
    /// It goes by what is known, while a sync is under way.
    Serve,
    /// It is refused until a sync has found what is listed.
    Refuse,
}

/// Which calls may share a session with an upstream, or its process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Isolation {
    /// All of its client.
    Shared,
    /// Those of one agent, or of one key that is bound to none.
    #[default]
    PerAgent,
    /// Those of one session of one agent or key; a call outside a session shares with none.
    PerSession,
}
