use crate::Definition;

/// What a tool does to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Effect {
    /// It only reads.
    Reads,
    /// It may change something. The effect of every tool of which nothing else is known.
    Changes,
}

impl Effect {
    /// The word on the wire: `reads` or `changes`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Reads => "reads",
            Self::Changes => "changes",
        }
    }
}

/// A tool's effect: a reviewer's `override_with` if there is one, else what the definition's `readOnlyHint` claims.
pub fn effect(override_with: Option<Effect>, definition: &Definition) -> Effect {
    let claimed = if definition.read_only_hint() { Effect::Reads } else { Effect::Changes };
    override_with.unwrap_or(claimed)
}
