//! Revisions, page tokens and etags: opaque to callers, and of no use to another client (law 10).

use std::sync::Arc;

use sha2::{Digest, Sha256};
use toolgate_call_log::Position;
use toolgate_catalog::{AgentEntry, Revision, ToolEntry, ToolKey, UpstreamEntry, tool_units::UnitKey};
use toolgate_definition::Fingerprint;
use toolgate_domain::{AgentId, ClientId, Fault, KeyId, ToolId, UpstreamId};
use toolgate_sealing::{Sealer, TokenKind};

/// Stands for everything in a request that its answer depends on.
pub(crate) type RequestDigest = [u8; 16];

/// Longest token that is looked at: a page token with the longest name of a tool is shorter.
const MAX_TOKEN_BYTES: usize = 4096;

/// What renders answers, here and in the faces over this service: the same catalogue may look otherwise in the next release,
/// and an etag of this one must not stand for that.
const RENDERING: &str = env!("CARGO_PKG_VERSION");

/// The tokens of one client.
pub(crate) struct Tokens<'a> {
    sealer: &'a Sealer,
    client: ClientId,
}

impl<'a> Tokens<'a> {
    pub(crate) fn new(sealer: &'a Sealer, client: ClientId) -> Self {
        Self { sealer, client }
    }

    pub(crate) fn revision(&self, revision: Revision) -> String {
        self.seal(TokenKind::Revision, &revision.0.to_be_bytes())
    }

    /// The revision behind a token; `None` for the empty text.
    pub(crate) fn open_revision(&self, text: &str, field: &str) -> Result<Option<Revision>, Fault> {
        if text.is_empty() {
            return Ok(None);
        }
        let bytes = self.open(TokenKind::Revision, text).and_then(|plain| <[u8; 8]>::try_from(plain).ok());
        let bytes =
            bytes.ok_or_else(|| Fault::invalid(field, "is not a revision that this client was given"))?;
        Ok(Some(Revision(u64::from_be_bytes(bytes))))
    }

    /// Where the next page of a list of tools begins.
    pub(crate) fn tool_page(&self, of: RequestDigest, after: &ToolKey) -> String {
        let plain = [of.as_slice(), after.upstream.bytes(), after.name.as_bytes()].concat();
        self.seal(TokenKind::Page, &plain)
    }

    pub(crate) fn open_tool_page(&self, of: RequestDigest, text: &str) -> Result<Option<ToolKey>, Fault> {
        let Some((upstream, rest)) = self.open_page(of, text)? else { return Ok(None) };
        let name = std::str::from_utf8(&rest).map_err(|_| not_a_page())?;
        Ok(Some(ToolKey { upstream, name: Arc::from(name) }))
    }

    /// Where the next page of a list of definitions begins.
    pub(crate) fn definition_page(&self, of: RequestDigest, after: &Fingerprint) -> String {
        self.seal(TokenKind::Page, &[of.as_slice(), after.as_bytes()].concat())
    }

    pub(crate) fn open_definition_page(
        &self,
        of: RequestDigest,
        text: &str,
    ) -> Result<Option<Fingerprint>, Fault> {
        let Some((head, rest)) = self.open_page(of, text)? else { return Ok(None) };
        let bytes = [head.bytes().as_slice(), &rest].concat().try_into().map_err(|_| not_a_page())?;
        Ok(Some(Fingerprint::from_bytes(bytes)))
    }

    /// Where the next page of a list of upstreams begins.
    pub(crate) fn upstream_page(&self, of: RequestDigest, after: UpstreamId) -> String {
        self.seal(TokenKind::Page, &[of.as_slice(), after.bytes()].concat())
    }

    pub(crate) fn open_upstream_page(
        &self,
        of: RequestDigest,
        text: &str,
    ) -> Result<Option<UpstreamId>, Fault> {
        Ok(self.open_page(of, text)?.map(|(upstream, _)| upstream))
    }

    /// Where the next page of a list of units begins. Of a folder's name no character is a control character.
    pub(crate) fn unit_page(&self, of: RequestDigest, after: &UnitKey) -> String {
        let folders: String = after.path.iter().flat_map(|folder| [folder.as_str(), "\0"]).collect();
        self.seal(TokenKind::Page, &[of.as_slice(), after.upstream.bytes(), folders.as_bytes()].concat())
    }

    pub(crate) fn open_unit_page(&self, of: RequestDigest, text: &str) -> Result<Option<UnitKey>, Fault> {
        let Some((upstream, rest)) = self.open_page(of, text)? else { return Ok(None) };
        let folders = std::str::from_utf8(&rest).map_err(|_| not_a_page())?;
        let path = folders.split_terminator('\0').map(str::to_owned).collect();
        Ok(Some(UnitKey { path, upstream }))
    }

    /// Where the next page of a list of API keys begins.
    pub(crate) fn key_page(&self, of: RequestDigest, after: KeyId) -> String {
        self.seal(TokenKind::Page, &[of.as_slice(), after.bytes()].concat())
    }

    pub(crate) fn open_key_page(&self, of: RequestDigest, text: &str) -> Result<Option<KeyId>, Fault> {
        Ok(self.open_page(of, text)?.map(|(id, _)| KeyId::from_bytes(*id.bytes())))
    }

    /// Where the next page of a list of agents begins.
    pub(crate) fn agent_page(&self, of: RequestDigest, after: AgentId) -> String {
        self.seal(TokenKind::Page, &[of.as_slice(), after.bytes()].concat())
    }

    pub(crate) fn open_agent_page(&self, of: RequestDigest, text: &str) -> Result<Option<AgentId>, Fault> {
        Ok(self.open_page(of, text)?.map(|(id, _)| AgentId::from_bytes(*id.bytes())))
    }

    /// Where the next page of a list of rulings begins.
    pub(crate) fn ruling_page(&self, of: RequestDigest, after: u64) -> String {
        self.seal(TokenKind::Page, &[of.as_slice(), &u128::from(after).to_be_bytes()].concat())
    }

    pub(crate) fn open_ruling_page(&self, of: RequestDigest, text: &str) -> Result<u64, Fault> {
        let page = self.open_page(of, text)?;
        let sequence = page.map_or(Ok(0), |(id, _)| u64::try_from(u128::from_be_bytes(*id.bytes())));
        sequence.map_err(|_| not_a_page())
    }

    /// Where the next page of the log of calls begins.
    pub(crate) fn call_page(&self, of: RequestDigest, from: Position) -> String {
        let plain = [of.as_slice(), &from.segment.to_be_bytes(), &from.offset.to_be_bytes()].concat();
        self.seal(TokenKind::Page, &plain)
    }

    pub(crate) fn open_call_page(&self, of: RequestDigest, text: &str) -> Result<Position, Fault> {
        let Some((id, _)) = self.open_page(of, text)? else { return Ok(Position::default()) };
        let place = u128::from_be_bytes(*id.bytes());
        Ok(Position { segment: (place >> 64) as u64, offset: place as u64 })
    }

    /// Where the next page of the list of clients begins. Of use to the operator's own client alone.
    pub(crate) fn client_page(&self, of: RequestDigest, after: &str) -> String {
        self.seal(TokenKind::Page, &[of.as_slice(), after.as_bytes()].concat())
    }

    pub(crate) fn open_client_page(&self, of: RequestDigest, text: &str) -> Result<Option<String>, Fault> {
        if text.is_empty() {
            return Ok(None);
        }
        let plain = self.open(TokenKind::Page, text).ok_or_else(not_a_page)?;
        let name = plain.strip_prefix(&of).ok_or_else(not_a_page)?;
        std::str::from_utf8(name).map(|name| Some(name.to_owned())).map_err(|_| not_a_page())
    }

    fn open_page(&self, of: RequestDigest, text: &str) -> Result<Option<(UpstreamId, Vec<u8>)>, Fault> {
        if text.is_empty() {
            return Ok(None);
        }
        let plain = self.open(TokenKind::Page, text).ok_or_else(not_a_page)?;
        let (digest, rest) = plain.split_first_chunk::<16>().ok_or_else(not_a_page)?;
        let (upstream, rest) = rest.split_first_chunk::<16>().ok_or_else(not_a_page)?;
        if *digest != of {
            return Err(Fault::invalid("page_token", "belongs to another request; change no other field"));
        }
        Ok(Some((UpstreamId::from_bytes(*upstream), rest.to_vec())))
    }

    /// Stands for a whole answer: the same request at the same revision, answered by the same release.
    pub(crate) fn answer(&self, of: RequestDigest, revision: Revision) -> String {
        self.answer_by(RENDERING, of, revision)
    }

    fn answer_by(&self, rendering: &str, of: RequestDigest, revision: Revision) -> String {
        let plain = [of.as_slice(), &revision.0.to_be_bytes(), rendering.as_bytes()].concat();
        self.seal(TokenKind::Etag, &plain)
    }

    /// Stands for a tool as it is.
    pub(crate) fn tool(&self, entry: &ToolEntry) -> String {
        self.version(entry.tool.id.bytes(), entry.changed)
    }

    /// The change behind a tool's etag; `None` for the empty text.
    pub(crate) fn open_tool(&self, tool: ToolId, text: &str) -> Result<Option<Revision>, Fault> {
        self.open_version(tool.bytes(), text, "is not an etag of this tool")
    }

    /// Stands for an upstream as it is declared; empty for one that is not.
    pub(crate) fn upstream(&self, entry: &UpstreamEntry) -> String {
        let UpstreamEntry { upstream, declared, .. } = entry;
        if *declared == Revision::ZERO {
            return String::new();
        }
        self.version(upstream.id.bytes(), *declared)
    }

    /// The declaration behind an upstream's etag; `None` for the empty text.
    pub(crate) fn open_upstream(&self, upstream: UpstreamId, text: &str) -> Result<Option<Revision>, Fault> {
        self.open_version(upstream.bytes(), text, "is not an etag of this upstream")
    }

    /// Stands for an agent as it is declared.
    pub(crate) fn agent(&self, entry: &AgentEntry) -> String {
        self.version(entry.agent.id.bytes(), entry.changed)
    }

    /// The change behind an agent's etag; `None` for the empty text.
    pub(crate) fn open_agent(&self, agent: AgentId, text: &str) -> Result<Option<Revision>, Fault> {
        self.open_version(agent.bytes(), text, "is not an etag of this agent")
    }

    fn version(&self, id: &[u8; 16], changed: Revision) -> String {
        self.seal(TokenKind::Etag, &[id.as_slice(), &changed.0.to_be_bytes()].concat())
    }

    fn open_version(&self, id: &[u8; 16], text: &str, problem: &str) -> Result<Option<Revision>, Fault> {
        if text.is_empty() {
            return Ok(None);
        }
        let plain = self.open(TokenKind::Etag, text).unwrap_or_default();
        let of_it = plain.strip_prefix(id.as_slice()).and_then(|rest| <[u8; 8]>::try_from(rest).ok());
        let bytes = of_it.ok_or_else(|| Fault::invalid("etag", problem))?;
        Ok(Some(Revision(u64::from_be_bytes(bytes))))
    }

    fn seal(&self, kind: TokenKind, plain: &[u8]) -> String {
        self.sealer.seal_token(kind, self.client.bytes(), plain)
    }

    fn open(&self, kind: TokenKind, text: &str) -> Option<Vec<u8>> {
        let fits = text.len() <= MAX_TOKEN_BYTES;
        fits.then(|| self.sealer.open_token(kind, self.client.bytes(), text).ok()).flatten()
    }
}

/// Of the parts of a request, each with its length so that no two requests read alike.
pub(crate) fn digest<'p>(parts: impl IntoIterator<Item = &'p [u8]>) -> RequestDigest {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part);
    }
    let whole: [u8; 32] = hasher.finalize().into();
    let mut half = RequestDigest::default();
    half.copy_from_slice(&whole[..16]);
    half
}

fn not_a_page() -> Fault {
    Fault::invalid("page_token", "is not a token that this client was given; begin again without it")
}

#[cfg(test)]
mod tests {
    use toolgate_sealing::MasterKey;

    use super::*;

    #[test]
    fn law_10_a_token_of_one_client_is_worthless_to_another() {
        let sealer = Sealer::new(&MasterKey::ephemeral());
        let [ours, theirs] = [1, 2].map(|byte| Tokens::new(&sealer, ClientId::from_bytes([byte; 16])));
        let revision = ours.revision(Revision(7));
        assert_eq!(ours.open_revision(&revision, "min_revision"), Ok(Some(Revision(7))));
        assert!(theirs.open_revision(&revision, "min_revision").is_err());
        let key = ToolKey { upstream: UpstreamId::from_bytes([3; 16]), name: Arc::from("a") };
        let page = ours.tool_page([0; 16], &key);
        assert_eq!(ours.open_tool_page([0; 16], &page), Ok(Some(key)));
        assert!(theirs.open_tool_page([0; 16], &page).is_err());
    }

    #[test]
    fn a_page_token_of_another_request_or_kind_is_refused() {
        let sealer = Sealer::new(&MasterKey::ephemeral());
        let tokens = Tokens::new(&sealer, ClientId::from_bytes([1; 16]));
        let page = tokens.upstream_page([0; 16], UpstreamId::from_bytes([3; 16]));
        assert!(tokens.open_upstream_page([1; 16], &page).is_err());
        assert!(tokens.open_revision(&page, "min_revision").is_err());
        assert!(tokens.open_upstream_page([0; 16], &"x".repeat(MAX_TOKEN_BYTES + 1)).is_err());
    }

    #[test]
    fn law_13_an_etag_of_one_release_does_not_stand_for_the_answer_of_another() {
        let sealer = Sealer::new(&MasterKey::ephemeral());
        let tokens = Tokens::new(&sealer, ClientId::from_bytes([1; 16]));
        let now = tokens.answer([0; 16], Revision(7));
        assert_eq!(now, tokens.answer_by(env!("CARGO_PKG_VERSION"), [0; 16], Revision(7)));
        assert_ne!(now, tokens.answer_by("0.0.1", [0; 16], Revision(7)));
    }

    #[test]
    fn requests_that_differ_only_in_where_a_field_ends_have_different_digests() {
        assert_ne!(digest([&b"ab"[..], b"c"]), digest([&b"a"[..], b"bc"]));
    }
}
