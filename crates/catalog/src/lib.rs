//! Use cases of the catalogue: sync, read model, list, get, watch.
