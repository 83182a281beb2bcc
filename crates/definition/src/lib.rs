//! What a tool definition is: exact JSON, canonical form, fingerprint and names.
