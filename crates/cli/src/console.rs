use std::io::{BufRead, Write};

use crate::error::CommandError;
use crate::hidden::escape;

/// Puts the cursor at the start of the line and clears it.
const CLEAR_LINE: &str = "\r\u{1b}[2K";

/// What a command reads of the process that runs it, and writes to it.
///
/// Text leaves through [`say`](Self::say) and [`note`](Self::note), which write out every character that a reader would
/// not see, so nothing that an upstream chose reaches a terminal as a command to it.
pub struct Console<'a> {
    /// Results.
    pub out: &'a mut (dyn Write + Send),
    /// Everything that is not a result: errors, questions, explanations, progress.
    pub err: &'a mut (dyn Write + Send),
    /// Answers to questions.
    pub input: &'a mut (dyn BufRead + Send),
    /// A person can be shown something on `err` and asked through `input`.
    pub interactive: bool,
    /// `err` is a terminal, on which a line can be written over.
    pub shows_progress: bool,
    /// Value of the variable `TOOLGATE_ENDPOINT`.
    pub endpoint: Option<String>,
    /// Value of the variable `TOOLGATE_KEY`.
    pub key: Option<String>,
}

impl Console<'_> {
    /// A line of the result.
    pub(crate) fn say(&mut self, line: &str) -> Result<(), CommandError> {
        Ok(writeln!(self.out, "{}", escape(line))?)
    }

    /// A line beside the result.
    pub(crate) fn note(&mut self, line: &str) -> Result<(), CommandError> {
        Ok(writeln!(self.err, "{}", escape(line))?)
    }

    /// What went wrong, on a line, and what to do about it, on another.
    pub(crate) fn report(&mut self, error: &CommandError) -> Result<(), CommandError> {
        self.note(&format!("error: {error}"))?;
        match error.hint() {
            Some(hint) => self.note(&format!("hint: {hint}")),
            None => Ok(()),
        }
    }

    /// Asks a person. Anything but yes is no, the end of the input too.
    pub(crate) fn confirm(&mut self, question: &str) -> Result<(), CommandError> {
        self.out.flush()?;
        write!(self.err, "{} [y/N] ", escape(question))?;
        self.err.flush()?;
        let mut answer = String::new();
        self.input.read_line(&mut answer)?;
        match answer.trim().to_ascii_lowercase().as_str() {
            "y" | "yes" => Ok(()),
            _ => Err(CommandError::NotConfirmed),
        }
    }

    /// Shows how far a long act is, in place of what was shown before; an empty text ends it.
    pub(crate) fn progress(&mut self, text: &str) -> Result<(), CommandError> {
        if self.shows_progress {
            write!(self.err, "{CLEAR_LINE}{}", escape(text))?;
            self.err.flush()?;
        }
        Ok(())
    }
}
