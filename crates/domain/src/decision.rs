//! Whether a caller may use a tool: one function, asked by every list, look-up and watch of what is served (law 5).
//!
//! The chain goes in order, and the first step that refuses names the reason: 1. the caller reaches the tool; 2. the
//! tool's upstream is switched on, as every registered one is; 3. the tool is served. A call adds: 4. its arguments, with
//! the locks written over them; 5. fit the approved input schema.

use std::{collections::BTreeSet, sync::Arc};

use toolgate_definition::arguments::{Arguments, InputSchema, Judgement, Misfit};

use crate::{Tool, ToolState, UpstreamId};

/// Which tools a caller reaches, whatever their state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// Every tool of its client: of a caller that is bound to no agent.
    Everything,
    /// The tools of these upstreams: of a caller that is bound to an agent which they are attached to.
    Attached(Arc<BTreeSet<UpstreamId>>),
}

impl Reach {
    /// Of an agent that is no longer there.
    pub fn nothing() -> Self {
        Self::Attached(Arc::default())
    }

    /// Whether tools of `upstream` are within it.
    pub fn includes(&self, upstream: UpstreamId) -> bool {
        match self {
            Self::Everything => true,
            Self::Attached(upstreams) => upstreams.contains(&upstream),
        }
    }
}

/// Why a caller may not use a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Denial {
    /// Nothing of it is attached to the caller's agent: for this caller there is no such tool.
    NotReached,
    /// It is in this state, which is not [`ToolState::Served`].
    NotServed(ToolState),
}

impl Denial {
    /// As written into answers and logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotReached => "not_reached",
            Self::NotServed(state) => state.as_str(),
        }
    }
}

/// Decides for a caller with this reach.
///
/// # Errors
/// The first reason that stands against it.
pub fn decide(reach: &Reach, tool: &Tool) -> Result<(), Denial> {
    if !reach.includes(tool.upstream) {
        return Err(Denial::NotReached);
    }
    match tool.state() {
        ToolState::Served => Ok(()),
        state => Err(Denial::NotServed(state)),
    }
}

/// Why a call is not made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallDenial {
    /// No call to the tool would be.
    Tool(Denial),
    /// Its arguments do not fit, for these reasons.
    Misfits(Vec<Misfit>),
}

/// A call that may be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admitted {
    /// What is to be sent.
    pub arguments: Arguments,
    /// The headers that repeat some of them, with their values (`x-mcp-header`).
    pub headers: Vec<(String, String)>,
    /// Why the approved input schema could not judge the arguments, where it could not: the upstream has to.
    pub unjudged: Option<String>,
}

/// Decides about a call by a caller with this reach. `schema` is that of the tool's present definition, which is the
/// approved one where the tool is served.
///
/// # Errors
/// The first reason that stands against it.
pub fn decide_call(
    reach: &Reach,
    tool: &Tool,
    sent: Arguments,
    schema: &InputSchema,
) -> Result<Admitted, CallDenial> {
    decide(reach, tool).map_err(CallDenial::Tool)?;
    let arguments = sent.with(&tool.ruled.locks);
    let unjudged = match schema.judge(&arguments, &tool.ruled.locks) {
        Judgement::Fits => None,
        Judgement::CannotBeJudged(reason) => Some(reason),
        Judgement::Misfits(misfits) => return Err(CallDenial::Misfits(misfits)),
    };
    Ok(Admitted { headers: schema.headers().headers(&arguments), arguments, unjudged })
}
