//! Text to typed settings: file, then environment, then flags.
