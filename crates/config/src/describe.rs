//! The effective configuration as text.

use std::fmt::Write;

use crate::fields::{FIELDS, Shown};
use crate::settings::Settings;

impl Settings {
    /// Every setting as it stands, as a configuration file that would give the same settings but for its
    /// secrets, which are hidden.
    #[must_use]
    pub fn describe(&self) -> String {
        let mut page = String::new();
        let mut current = "";
        for field in FIELDS {
            let (section, name) = field.key.split_once('.').expect("a key is a section and a name");
            if section != current {
                let gap = if current.is_empty() { "" } else { "\n" };
                page += &format!("{gap}[{section}]\n");
                current = section;
            }
            let written = match (field.show)(self) {
                Shown::Value(value) => writeln!(page, "{name} = {value}"),
                Shown::Unset => writeln!(page, "# {name} is not set"),
                Shown::Hidden => writeln!(page, "# {name} is set and not shown"),
            };
            written.expect("a string takes all text");
        }
        page
    }
}
