use std::{fs, path::PathBuf};

use crate::{checkout::Checkout, error::TaskError};

/// Remembers from which inputs something was installed, so that a second run skips it.
///
/// The stamp file holds the inputs themselves: there is no hash to trust, and a diff shows what changed.
pub(crate) struct Stamp {
    file: PathBuf,
    inputs: String,
}

impl Stamp {
    pub(crate) fn new(checkout: &Checkout, name: &str, inputs: String) -> Self {
        Self { file: checkout.tools().join(format!("{name}.stamp")), inputs }
    }

    pub(crate) fn is_current(&self) -> bool {
        fs::read_to_string(&self.file).is_ok_and(|written| written == self.inputs)
    }

    /// To be called when the work is done; whatever ends before leaves the stamp as it was.
    pub(crate) fn write(&self) -> Result<(), TaskError> {
        let folder = self.file.parent().expect("a stamp lies in the tools folder");
        fs::create_dir_all(folder).map_err(TaskError::file(folder))?;
        fs::write(&self.file, &self.inputs).map_err(TaskError::file(&self.file))
    }
}
