// Prompts, and completion of their arguments.

import { ProtocolError, acceptedContent, inputRequired } from "@modelcontextprotocol/server";
import { png, text } from "./media.mjs";

const INVALID_PARAMS = -32602;
const required = (name) => ({ name, description: name, required: true });
const user = (...blocks) => ({ messages: blocks.map((content) => ({ role: "user", content })) });

const context = inputRequired.elicit({
  message: "What context should the prompt use?",
  requestedSchema: { type: "object", properties: { context: { type: "string" } }, required: ["context"] },
});

function inContext(_, { mcpReq }) {
  const given = acceptedContent(mcpReq.inputResponses, "user_context");
  if (given === undefined) return inputRequired({ inputRequests: { user_context: context } });
  return user(text(`In this context: ${given.context}`));
}

const prompts = new Map([
  ["test_simple_prompt", { run: () => user(text("This is a simple prompt for testing.")) }],
  [
    "test_prompt_with_arguments",
    {
      arguments: [required("arg1"), required("arg2")],
      run: ({ arg1, arg2 }) => user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
    },
  ],
  [
    "test_prompt_with_embedded_resource",
    {
      arguments: [required("resourceUri")],
      run: ({ resourceUri: uri }) =>
        user(
          { type: "resource", resource: { uri, mimeType: "text/plain", text: "Embedded content." } },
          text("Please process the embedded resource above."),
        ),
    },
  ],
  ["test_prompt_with_image", { run: () => user({ type: "image", ...png }, text("Please analyze the image above.")) }],
  ["test_input_required_result_prompt", { run: inContext }],
]);

export function registerPrompts(server) {
  const listed = [...prompts].map(([name, prompt]) => ({ name, description: name, arguments: prompt.arguments }));
  server.setRequestHandler("prompts/list", () => ({ prompts: listed }));
  server.setRequestHandler("prompts/get", ({ params }, context) => {
    const prompt = prompts.get(params.name);
    if (prompt === undefined) throw new ProtocolError(INVALID_PARAMS, `Unknown prompt: ${params.name}`);
    return prompt.run(params.arguments ?? {}, context);
  });
  const completion = { values: [], total: 0, hasMore: false };
  server.setRequestHandler("completion/complete", () => ({ completion }));
}
