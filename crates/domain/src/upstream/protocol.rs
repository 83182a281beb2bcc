use super::Transport;
use crate::Violation;

/// What an upstream speaks. It is declared once, for good: another protocol is another upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Protocol {
    /// The Model Context Protocol.
    #[default]
    Mcp,
    /// The Open Tool Calling protocol, version 1.0.
    Oxp,
}

impl Protocol {
    /// What is wrong with speaking it over a transport.
    pub fn violation<S>(self, transport: &Transport<S>) -> Option<Violation> {
        match (self, transport) {
            (Self::Oxp, Transport::Stdio { .. }) => {
                Some(Violation::new("protocol", "is OXP, which takes a server over HTTP"))
            }
            (Self::Mcp | Self::Oxp, _) => None,
        }
    }
}
