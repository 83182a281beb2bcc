//! Who calls, and what they may do.

use std::{fmt, str::FromStr};

use crate::{AgentId, ClientId, Fault, KeyId, Moment};

/// A right that a credential can carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// The operator's view: the whole catalogue.
    Read,
    /// Rulings and plain upstreams.
    Write,
    /// What agents see and call.
    Call,
    /// Clients, keys, private and stdio upstreams.
    Admin,
}

impl Scope {
    /// All, in the order in which they are shown.
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Call, Self::Admin];

    /// As written in keys, requests and errors.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "mcp:read",
            Self::Write => "mcp:write",
            Self::Call => "mcp:call",
            Self::Admin => "mcp:admin",
        }
    }

    fn bit(self) -> u8 {
        1 << self as u8
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A text that is no scope.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("is not a scope; use mcp:read, mcp:write, mcp:call or mcp:admin")]
pub struct NotAScope;

impl FromStr for Scope {
    type Err = NotAScope;

    fn from_str(text: &str) -> Result<Self, NotAScope> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == text).ok_or(NotAScope)
    }
}

/// A set of scopes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Scopes(u8);

impl Scopes {
    /// Every scope.
    pub fn all() -> Self {
        Scope::ALL.into_iter().collect()
    }

    /// Whether `scope` is in it.
    pub fn contains(self, scope: Scope) -> bool {
        self.0 & scope.bit() != 0
    }

    /// In the order in which they are shown.
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL.into_iter().filter(move |scope| self.contains(*scope))
    }
}

impl FromIterator<Scope> for Scopes {
    fn from_iter<I: IntoIterator<Item = Scope>>(scopes: I) -> Self {
        Self(scopes.into_iter().fold(0, |bits, scope| bits | scope.bit()))
    }
}

impl fmt::Debug for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(Scope::as_str)).finish()
    }
}

/// Somebody whose credential was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The tenant that the credential belongs to.
    pub client: ClientId,
    /// Whether requests may name another tenant.
    pub operator: bool,
    /// What it may do.
    pub scopes: Scopes,
    /// The agent that it is: it sees what reaches that agent, and nothing else.
    pub agent: Option<AgentId>,
    /// Who it is, as written into rulings and logs: stable, printable, no secret.
    pub subject: String,
    /// The credential, to ask later whether it still stands.
    pub key: KeyId,
    /// When the credential ends by itself.
    pub expires_at: Option<Moment>,
}

impl Caller {
    /// Refuses anyone but an operator.
    pub fn require_operator(&self) -> Result<(), Fault> {
        if self.operator { Ok(()) } else { Err(Fault::OperatorRequired) }
    }

    /// Refuses a caller without `scope`. An agent has [`Scope::Call`] at most, whatever its credential says.
    pub fn require(&self, scope: Scope) -> Result<(), Fault> {
        let may_have_it = self.agent.is_none() || scope == Scope::Call;
        if may_have_it && self.scopes.contains(scope) { Ok(()) } else { Err(Fault::ScopeMissing(scope)) }
    }

    /// The tenant that a request is about. Naming one's own is always allowed; for anyone but an operator, another one
    /// does not exist.
    pub fn acting_for(&self, named: Option<ClientId>) -> Result<ClientId, Fault> {
        match named {
            None => Ok(self.client),
            Some(client) if client == self.client || self.operator => Ok(client),
            Some(_) => Err(Fault::ClientNotFound),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(operator: bool) -> Caller {
        Caller {
            client: ClientId::from_bytes([1; 16]),
            operator,
            scopes: [Scope::Read].into_iter().collect(),
            agent: None,
            subject: "key:test".into(),
            key: KeyId::from_bytes([3; 16]),
            expires_at: None,
        }
    }

    #[test]
    fn a_missing_scope_is_refused_by_name() {
        assert_eq!(caller(true).require(Scope::Read), Ok(()));
        assert_eq!(caller(true).require(Scope::Admin), Err(Fault::ScopeMissing(Scope::Admin)));
    }

    #[test]
    fn law_04_an_agent_has_no_scope_but_that_of_calling() {
        let agent = Some(AgentId::from_bytes([4; 16]));
        let caller = Caller { scopes: Scopes::all(), agent, ..caller(false) };
        for scope in Scope::ALL {
            assert_eq!(caller.require(scope).is_ok(), scope == Scope::Call, "{scope}");
        }
    }

    #[test]
    fn another_client_does_not_exist_for_anyone_but_an_operator() {
        let other = ClientId::from_bytes([2; 16]);
        assert_eq!(caller(false).acting_for(Some(other)), Err(Fault::ClientNotFound));
        assert_eq!(caller(true).acting_for(Some(other)), Ok(other));
        assert_eq!(caller(false).acting_for(Some(caller(false).client)), Ok(caller(false).client));
    }

    #[test]
    fn every_scope_reads_back_as_written() {
        for scope in Scope::ALL {
            assert_eq!(scope.as_str().parse(), Ok(scope));
        }
        assert_eq!("mcp:everything".parse::<Scope>(), Err(NotAScope));
    }
}
