//! The state of a tool: derived by one function, never stored.

/// The one word that decides whether agents see a tool. Where several conditions hold, the first in [`state`]'s order
/// names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ToolState {
    /// Approved as it is listed now, and nothing stands against it.
    Served,
    /// The last complete listing lacks it.
    Removed,
    /// An owner switched it off.
    Disabled,
    /// There is no approval that counts.
    Unapproved,
    /// Approved, and listed differently since.
    Drifted,
    /// A lock does not fit the definition.
    LockMismatch,
    /// Agents cannot be given its name.
    BadName,
}

impl ToolState {
    /// All seven, in the order of the documented enum.
    pub const ALL: [Self; 7] = [
        Self::Served,
        Self::Removed,
        Self::Disabled,
        Self::Unapproved,
        Self::Drifted,
        Self::LockMismatch,
        Self::BadName,
    ];

    /// As written in the documented shapes and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Served => "served",
            Self::Removed => "removed",
            Self::Disabled => "disabled",
            Self::Unapproved => "unapproved",
            Self::Drifted => "drifted",
            Self::LockMismatch => "lock_mismatch",
            Self::BadName => "bad_name",
        }
    }
}

/// Everything that the state depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conditions {
    /// The last complete listing lacks it.
    pub removed: bool,
    /// An owner switched it off.
    pub disabled: bool,
    /// Its upstream lists two different definitions under its name.
    pub conflicted: bool,
    /// An approval that counts exists.
    pub approved: bool,
    /// The approval is for the definition listed now. Means nothing without one.
    pub approval_fits: bool,
    /// A lock does not fit.
    pub lock_mismatch: bool,
    /// Its name is invalid, or another tool holds it.
    pub name_unusable: bool,
}

/// The state, in the documented order: removed, disabled, (two definitions: bad_name), unapproved, drifted,
/// lock_mismatch, bad_name, else served.
pub fn state(of: Conditions) -> ToolState {
    if of.removed {
        ToolState::Removed
    } else if of.disabled {
        ToolState::Disabled
    } else if of.conflicted {
        ToolState::BadName
    } else if !of.approved {
        ToolState::Unapproved
    } else if !of.approval_fits {
        ToolState::Drifted
    } else if of.lock_mismatch {
        ToolState::LockMismatch
    } else if of.name_unusable {
        ToolState::BadName
    } else {
        ToolState::Served
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conditions(bits: u8) -> Conditions {
        let bit = |n: u8| bits & (1 << n) != 0;
        Conditions {
            removed: bit(0),
            disabled: bit(1),
            conflicted: bit(2),
            approved: bit(3),
            approval_fits: bit(4),
            lock_mismatch: bit(5),
            name_unusable: bit(6),
        }
    }

    #[test]
    fn a_tool_is_served_only_when_nothing_at_all_stands_against_it() {
        for bits in 0..128 {
            let of = conditions(bits);
            let against = of.removed || of.disabled || of.conflicted || of.lock_mismatch || of.name_unusable;
            let served = of.approved && of.approval_fits && !against;
            assert_eq!(state(of) == ToolState::Served, served, "{of:?}");
        }
    }

    #[test]
    fn the_first_condition_in_the_documented_order_names_the_state() {
        // From the last in the order to the first: each one outranks all that came before it here.
        let mut of = conditions(0b001_1000);
        assert_eq!(state(of), ToolState::Served);
        of.name_unusable = true;
        assert_eq!(state(of), ToolState::BadName);
        of.lock_mismatch = true;
        assert_eq!(state(of), ToolState::LockMismatch);
        of.approval_fits = false;
        assert_eq!(state(of), ToolState::Drifted);
        of.approved = false;
        assert_eq!(state(of), ToolState::Unapproved);
        of.conflicted = true;
        assert_eq!(state(of), ToolState::BadName);
        of.disabled = true;
        assert_eq!(state(of), ToolState::Disabled);
        of.removed = true;
        assert_eq!(state(of), ToolState::Removed);
    }
}
