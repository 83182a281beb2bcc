//! The operator key of an empty store: the one that was given, or one that is made and left in a file.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use toolgate_config::Settings;
use toolgate_governance::Governance;
use toolgate_sealing::{format_api_key, new_secret};

use crate::{ambient::SystemEntropy, failure::Failure};

/// Name of the file that holds a key which was made, beside the data.
const KEY_FILE: &str = "bootstrap.key";

/// How operators get in.
pub(crate) struct Operator {
    /// A key was given, and the store has another one, which stays in force.
    pub(crate) given_is_ignored: bool,
    /// Where the key was written that was made just now.
    pub(crate) key_file: Option<PathBuf>,
}

/// Makes sure that an operator can get in. A key that is made is in its file before the store has it, so that a stop in
/// between cannot leave a store that nobody can open.
pub(crate) async fn bootstrap(governance: &Governance, settings: &Settings) -> Result<Operator, Failure> {
    if let Some(given) = &settings.keys.bootstrap_key {
        let bootstrapped = governance.bootstrap(given.expose()).await.map_err(Failure::Prepare)?;
        return Ok(Operator { given_is_ignored: bootstrapped.given_is_ignored, key_file: None });
    }
    if governance.is_bootstrapped().await.map_err(Failure::Prepare)? {
        return Ok(Operator { given_is_ignored: false, key_file: None });
    }
    let path = settings.store.data_dir.join(KEY_FILE);
    let text = prepared(&path).map_err(|source| Failure::File { path: path.clone(), source })?;
    governance.bootstrap(&text).await.map_err(Failure::Prepare)?;
    Ok(Operator { given_is_ignored: false, key_file: Some(path) })
}

/// The key in the file; a new one where there is no file yet.
fn prepared(path: &Path) -> io::Result<String> {
    match fs::read_to_string(path) {
        Ok(text) if !text.trim().is_empty() => return Ok(text.trim().to_owned()),
        Ok(_) => fs::remove_file(path)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let mut id = [0; 16];
    SystemEntropy::fill(&mut id);
    let text = format_api_key(&id, &new_secret());
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    writeln!(file, "{}", text.as_str())?;
    file.sync_all()?;
    Ok(text.to_string())
}
