//! The list of tool definitions. Its members are the documented ones and no other.

use std::convert::Infallible;

use toolgate_api_proto::v1::{ToolDefinition, ToolRequirements};

use crate::json::{Object, write_array};

/// Bytes of a definition besides its texts. A little more than the most.
const FRAME_BYTES: usize = 512;

/// The body for `definitions`. Schemas are copied as the text that they are.
pub(super) fn render(definitions: &[ToolDefinition]) -> Vec<u8> {
    let mut out = Vec::with_capacity(FRAME_BYTES + definitions.iter().map(size_hint).sum::<usize>());
    let mut list = Object::open(&mut out);
    list.text("$schema", super::SCHEMA);
    let Ok(()) = write_array(list.member("items"), definitions, |out, definition| {
        write_definition(out, definition);
        Ok::<_, Infallible>(())
    });
    list.close();
    out
}

fn size_hint(definition: &ToolDefinition) -> usize {
    let schemas = [&definition.input_schema_json, &definition.output_schema_json];
    let schemas: usize = schemas.into_iter().flatten().map(String::len).sum();
    FRAME_BYTES + definition.description.len() + schemas
}

fn write_definition(out: &mut Vec<u8>, definition: &ToolDefinition) {
    let mut object = Object::open(out);
    object.text("id", &definition.id);
    object.text("name", &definition.name);
    object.text("description", &definition.description);
    object.text("version", &definition.version);
    if let Some(schema) = &definition.input_schema_json {
        object.raw("input_schema", schema);
    }
    if let Some(schema) = &definition.output_schema_json {
        object.raw("output_schema", schema);
    }
    if let Some(requirements) = &definition.requirements {
        write_requirements(object.member("requirements"), requirements);
    }
    object.close();
}

fn write_requirements(out: &mut Vec<u8>, requirements: &ToolRequirements) {
    let mut object = Object::open(out);
    let Ok(()) = write_array(object.member("authorization"), &requirements.authorization, |out, provider| {
        let mut object = Object::open(out);
        object.text("id", &provider.id);
        object.close();
        Ok::<_, Infallible>(())
    });
    object.raw("user_id", if requirements.user_id { "true" } else { "false" });
    object.close();
}
