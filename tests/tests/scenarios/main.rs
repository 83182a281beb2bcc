//! The running server, as its users meet it: the real binary, real tool servers, and clients in other languages.

mod process;
