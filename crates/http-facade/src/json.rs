//! Writing JSON straight into one buffer, so that text which must stay exact is copied and never parsed.

/// An object under way: its members are written in the order of the calls.
pub(crate) struct Object<'a> {
    out: &'a mut Vec<u8>,
    next: u8,
}

impl<'a> Object<'a> {
    pub(crate) fn open(out: &'a mut Vec<u8>) -> Self {
        Self { out, next: b'{' }
    }

    pub(crate) fn close(self) {
        if self.next == b'{' {
            self.out.push(b'{');
        }
        self.out.push(b'}');
    }

    /// Begins a member and gives the buffer for its value. The name must need no escaping.
    pub(crate) fn member(&mut self, name: &'static str) -> &mut Vec<u8> {
        self.out.push(std::mem::replace(&mut self.next, b','));
        self.out.push(b'"');
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"\":");
        self.out
    }

    pub(crate) fn text(&mut self, name: &'static str, text: &str) {
        write_text(self.member(name), text);
    }

    pub(crate) fn text_or_null(&mut self, name: &'static str, text: Option<&str>) {
        match text {
            Some(text) => self.text(name, text),
            None => self.raw(name, "null"),
        }
    }

    /// A value that is JSON text already.
    pub(crate) fn raw(&mut self, name: &'static str, json: &str) {
        self.member(name).extend_from_slice(json.as_bytes());
    }
}

/// An array whose elements are written by `write`.
pub(crate) fn write_array<T, E>(
    out: &mut Vec<u8>,
    elements: &[T],
    mut write: impl FnMut(&mut Vec<u8>, &T) -> Result<(), E>,
) -> Result<(), E> {
    out.push(b'[');
    for (index, element) in elements.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(out, element)?;
    }
    out.push(b']');
    Ok(())
}

fn write_text(out: &mut Vec<u8>, text: &str) {
    serde_json::to_writer(out, text).expect("a vector takes every write, and any text is a JSON string");
}
