//! What is persisted: keys, rows and codecs, written once for every engine.
