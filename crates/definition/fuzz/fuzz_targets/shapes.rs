//! No definition makes a projection panic or outgrow its bounds, and what has no references stays as it is.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toolgate_definition::limits::{MAX_INLINED_BYTES, SERVED_DEFINITION};
use toolgate_definition::projection::{ServerTool, brief, melbis_command, oxp_tool, refless};

fuzz_target!(|text: &str| {
    let _ = (ServerTool::read(text), brief(text), oxp_tool(text), melbis_command(text));
    let with_schema = format!(r#"{{"name":"t","inputSchema":{text}}}"#);
    let _ = (oxp_tool(&with_schema), melbis_command(&with_schema));
    let Ok(inlined) = refless(text) else { return };
    assert!(inlined.text.len() <= text.len().max(MAX_INLINED_BYTES) + 16);
    if inlined.text.len() <= SERVED_DEFINITION.max_bytes {
        let again = refless(&inlined.text).expect("a schema without references is JSON");
        assert_eq!(again.text, inlined.text);
        assert!(again.cuts.is_empty());
    }
});
