// Tools that need an answer of their caller before they have one: by `input_required` in revision 2026-07-28, which the SDK
// makes requests of its own of in a session.

import {
  MissingRequiredClientCapabilityError,
  acceptedContent,
  inputRequired,
  inputResponse,
} from "@modelcontextprotocol/server";
import { text } from "./media.mjs";
import { requestStates } from "./request_state.mjs";

const said = (words) => ({ content: [text(words)] });
const { elicit, createMessage, listRoots } = inputRequired;

function form(message, properties, required = Object.keys(properties)) {
  return elicit({ message, requestedSchema: { type: "object", properties, required } });
}

function sample(prompt) {
  return createMessage({ messages: [{ role: "user", content: text(prompt) }], maxTokens: 100 });
}

// A tool that asks until everything that `questions` names is answered as it should be.
function asking(questions, answer, stamp) {
  return async (args, { mcpReq }) => {
    const asked = questions(args, mcpReq);
    const kinds = { "elicitation/create": "elicit", "sampling/createMessage": "sampling", "roots/list": "roots" };
    const given = (key) => inputResponse(mcpReq.inputResponses, key);
    const isAnswered = Object.entries(asked).every(([key, { method }]) => given(key).kind === kinds[method]);
    if (isAnswered && (stamp === undefined || mcpReq.requestState() === stamp)) return said(answer(given));
    const requestState = stamp && (await requestStates.mint(stamp));
    return inputRequired({ inputRequests: asked, ...(requestState && { requestState }) });
  };
}

const answered = (key) => (given) => {
  const { action, content } = given(key);
  return `Elicitation completed: action=${action}, content=${JSON.stringify(content)}`;
};

const sampled = (key) => (given) => `LLM response: ${given(key).result.content.text}`;
const name = () => form("What is your name?", { name: { type: "string" } });
const confirm = () => form("Please confirm", { ok: { type: "boolean" } });

const defaults = {
  name: { type: "string", default: "John Doe" },
  age: { type: "integer", default: 30 },
  score: { type: "number", default: 95.5 },
  status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
  verified: { type: "boolean", default: true },
};

const three = ["option1", "option2", "option3"];
const titled = ["value1", "value2", "value3"].map((value) => ({ const: value, title: `The ${value}` }));
const enums = {
  untitledSingle: { type: "string", enum: three },
  titledSingle: { type: "string", oneOf: titled },
  legacyEnum: { type: "string", enum: ["opt1", "opt2", "opt3"], enumNames: ["One", "Two", "Three"] },
  untitledMulti: { type: "array", items: { type: "string", enum: three } },
  titledMulti: { type: "array", items: { anyOf: titled } },
};

async function multiRound(_, { mcpReq }) {
  const stage = mcpReq.requestState();
  const ask = async (key, inputRequest) =>
    inputRequired({ inputRequests: { [key]: inputRequest }, requestState: await requestStates.mint(key) });
  if (stage === "step2" && acceptedContent(mcpReq.inputResponses, "step2") !== undefined) return said("Both known.");
  if (stage === "step1" && acceptedContent(mcpReq.inputResponses, "step1") !== undefined) {
    return ask("step2", form("Step 2: What is your favorite color?", { color: { type: "string" } }));
  }
  return ask("step1", form("Step 1: What is your name?", { name: { type: "string" } }));
}

function declared({ envelope }) {
  return envelope?.["io.modelcontextprotocol/clientCapabilities"] ?? {};
}

function whatIsDeclared(_, mcpReq) {
  const { elicitation, sampling } = declared(mcpReq);
  return { ...(elicitation && { user_name: name() }), ...(sampling && { greeting: sample("Generate a greeting") }) };
}

function missingCapability(_, { mcpReq }) {
  if (declared(mcpReq).sampling === undefined) {
    throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } });
  }
  return said("It is declared.");
}

const greeted = (given) => `Hello, ${given("user_name").content.name}!`;

export const askingTools = {
  test_sampling: asking(({ prompt }) => ({ answer: sample(prompt) }), sampled("answer")),
  test_elicitation: asking(
    ({ message }) => ({ user: form(message, { username: { type: "string" }, email: { type: "string" } }) }),
    answered("user"),
  ),
  test_elicitation_sep1034_defaults: asking(() => ({ form: form("Who?", defaults, []) }), answered("form")),
  test_elicitation_sep1330_enums: asking(() => ({ form: form("Which?", enums, []) }), answered("form")),
  test_streaming_elicitation: asking(() => ({ confirm: confirm() }), answered("confirm")),
  test_missing_capability: missingCapability,
  test_input_required_result_elicitation: asking(() => ({ user_name: name() }), greeted),
  test_input_required_result_sampling: asking(
    () => ({ capital_question: sample("What is the capital of France?") }),
    sampled("capital_question"),
  ),
  test_input_required_result_list_roots: asking(
    () => ({ client_roots: listRoots() }),
    (given) => `Roots: ${JSON.stringify(given("client_roots").roots)}`,
  ),
  test_input_required_result_request_state: asking(() => ({ confirm: confirm() }), () => "state-ok", "request"),
  test_input_required_result_tampered_state: asking(() => ({ confirm: confirm() }), () => "state-ok", "tampered"),
  test_input_required_result_multiple_inputs: asking(
    () => ({ user_name: name(), greeting: sample("Generate a greeting"), client_roots: listRoots() }),
    greeted,
    "multiple",
  ),
  test_input_required_result_multi_round: multiRound,
  test_input_required_result_capabilities: asking(whatIsDeclared, () => "All is known."),
};
