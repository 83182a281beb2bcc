use std::error::Error;
use std::process::ExitCode;

use tonic::{Code, Status};

/// The page of `--help` about exit codes.
pub const EXIT_CODES_HELP: &str = "\
Exit codes:
  0  done
  1  failed in a way that none of the others name
  2  the command line, a file it names, or a field of the request is wrong
  3  not found
  4  conflict: a stale fingerprint, a name that is taken, the wrong state for the act
  5  no credential, a bad one, or one without the right
  6  unavailable: the server cannot be reached or did not answer in time, or the upstream cannot be listed";

/// How a command ended, as scripts see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Ok = 0,
    /// Failed in a way that none of the others name.
    Failure = 1,
    /// The command line, a file it names, or a field of the request is wrong. clap ends with it too.
    Usage = 2,
    /// What was named does not exist, or the caller may not know whether it does.
    NotFound = 3,
    /// What was named changed meanwhile, or its state stands against the act.
    Conflict = 4,
    /// No credential, a bad one, or one without the right.
    Denied = 5,
    /// The server cannot be reached or did not answer in time, or the upstream cannot be listed. Worth another try.
    Unavailable = 6,
}

impl Exit {
    /// The number that the process ends with.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// What a failed call ends the command with.
    pub(crate) fn of(status: &Status) -> Self {
        if is_broken_connection(status) {
            return Self::Unavailable;
        }
        match status.code() {
            Code::Ok => Self::Ok,
            Code::InvalidArgument => Self::Usage,
            Code::NotFound => Self::NotFound,
            Code::Aborted | Code::AlreadyExists | Code::FailedPrecondition => Self::Conflict,
            Code::PermissionDenied | Code::Unauthenticated => Self::Denied,
            // Nobody cancels a call of a command but a deadline on the way.
            Code::Unavailable | Code::DeadlineExceeded | Code::Cancelled => Self::Unavailable,
            Code::Unknown
            | Code::ResourceExhausted
            | Code::OutOfRange
            | Code::Unimplemented
            | Code::Internal
            | Code::DataLoss => Self::Failure,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        exit.code().into()
    }
}

/// Whether the status was made on this side, of a connection that broke or a deadline that passed. Its code is then a
/// guess; one that a server sent has no source.
pub(crate) fn is_broken_connection(status: &Status) -> bool {
    status.source().is_some()
}

/// Whether HTTP/2 answered with bodies that are not gRPC's. There is nothing to tell it by but the texts of tonic.
pub(crate) fn is_not_grpc(status: &Status) -> bool {
    let signs = ["grpc-status header missing", "invalid compression flag"];
    let says = |text: &str| signs.iter().any(|sign| text.contains(sign));
    let mut source = status.source();
    while let Some(error) = source {
        if says(&error.to_string()) {
            return true;
        }
        source = error.source();
    }
    says(status.message()) && status.details().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_status_code_has_its_exit_code() {
        let exits: Vec<_> =
            (0..=16).map(|code| Exit::of(&Status::new(Code::from_i32(code), "")).code()).collect();
        //  OK, CANCELLED, UNKNOWN, INVALID_ARGUMENT, DEADLINE_EXCEEDED, NOT_FOUND, ALREADY_EXISTS, PERMISSION_DENIED,
        //  RESOURCE_EXHAUSTED, FAILED_PRECONDITION, ABORTED, OUT_OF_RANGE, UNIMPLEMENTED, INTERNAL, UNAVAILABLE,
        //  DATA_LOSS, UNAUTHENTICATED
        assert_eq!(exits, [0, 6, 1, 2, 6, 3, 4, 5, 1, 4, 4, 1, 1, 1, 6, 1, 5]);
    }

    #[test]
    fn a_broken_connection_is_unavailable_whatever_its_code() {
        let status = Status::from_error(Box::new(std::io::Error::other("connection reset")));
        assert_eq!(status.code(), Code::Unknown);
        assert_eq!(Exit::of(&status), Exit::Unavailable);
    }
}
