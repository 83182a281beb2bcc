use toolgate_api_proto::v1::Tool;

use super::random::Random;

/// A ruling, as it stands in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    Approve,
    Revoke,
    Disable,
    Enable,
}

/// A tool that one writer alone rules about.
#[derive(Debug)]
pub(super) struct Owned {
    pub(super) id: String,
    pub(super) client_id: String,
    pub(super) upstream_id: String,
    pub(super) name: String,
    pub(super) hash: String,
    /// Acknowledged, in order; each changed something.
    pub(super) acts: Vec<Word>,
    /// Sent, and not answered when the process was killed.
    pub(super) in_flight: Option<Word>,
}

impl Owned {
    pub(super) fn new(tool: Tool) -> Self {
        Self {
            id: tool.id,
            client_id: tool.client_id,
            upstream_id: tool.upstream_id,
            name: tool.name,
            hash: tool.definition_hash,
            acts: Vec::new(),
            in_flight: None,
        }
    }

    /// Whether it is approved, and whether it is switched off.
    pub(super) fn stands(&self) -> (bool, bool) {
        stands(&self.acts)
    }

    /// An act that changes something.
    pub(super) fn next(&self, random: &mut Random) -> Word {
        match (random.below(2), self.stands()) {
            (0, (false, _)) => Word::Approve,
            (0, (true, _)) => Word::Revoke,
            (_, (_, false)) => Word::Disable,
            (_, (_, true)) => Word::Enable,
        }
    }
}

/// What acts come to: whether the tool is approved, and whether it is switched off.
pub(super) fn stands(acts: &[Word]) -> (bool, bool) {
    acts.iter().fold((false, false), |(approved, disabled), act| match act {
        Word::Approve => (true, disabled),
        Word::Revoke => (false, disabled),
        Word::Disable => (approved, true),
        Word::Enable => (approved, false),
    })
}
