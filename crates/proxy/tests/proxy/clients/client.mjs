// Asks a scripted upstream in every way that the official TypeScript SDKs know, and prints what came as one JSON object.

import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";

const [baseURL, rounds] = process.argv.slice(2);
const claude = new Anthropic({ baseURL, apiKey: "key", maxRetries: 0 });
const gpt = new OpenAI({ baseURL: baseURL + "/v1", apiKey: "key", maxRetries: 0 });
const calls = [...Array(Number(rounds)).keys()];
const output = [...Array(60).keys()].map((at) => `line ${at} of the output: ${at * 7919}\n`).join("");
const tools = [{ name: "Bash", description: "Runs a command.", input_schema: { type: "object" } }];
const functions = [{ type: "function", function: { name: "shell", parameters: { type: "object" } } }];

const claudeHistory = (scenario) => [
  { role: "user", content: `scenario ${scenario};` },
  ...calls.flatMap((at) => [
    { role: "assistant", content: [{ type: "tool_use", id: `toolu_${at}`, name: "Bash", input: { command: `run ${at}` } }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: `toolu_${at}`, content: `round ${at}\n${output}` }] },
  ]),
];
const chatHistory = (scenario) => [
  { role: "user", content: `scenario ${scenario};` },
  ...calls.flatMap((at) => [
    { role: "assistant", content: null, tool_calls: [
      { id: `call_${at}`, type: "function", function: { name: "shell", arguments: JSON.stringify({ command: `run ${at}` }) } }] },
    { role: "tool", tool_call_id: `call_${at}`, content: `round ${at}\n${output}` },
  ]),
];
const responsesHistory = (scenario) => [
  { role: "user", content: `scenario ${scenario};` },
  ...calls.flatMap((at) => [
    { type: "function_call", call_id: `call_${at}`, name: "shell", arguments: JSON.stringify({ command: `run ${at}` }) },
    { type: "function_call_output", call_id: `call_${at}`, output: `round ${at}\n${output}` },
  ]),
];

const askClaude = (scenario, more = {}) => claude.messages.create(
  { model: "claude-sonnet-4-5", max_tokens: 500, tools, messages: claudeHistory(scenario), ...more });
const streamClaude = async (scenario, more = {}) => {
  const stream = claude.messages.stream(
    { model: "claude-sonnet-4-5", max_tokens: 500, tools, messages: claudeHistory(scenario), ...more });
  const kinds = [];
  for await (const event of stream) kinds.push(event.type);
  return { kinds, message: await stream.finalMessage() };
};
const askGpt = (scenario, more = {}) => gpt.chat.completions.create(
  { model: "gpt-4.1", messages: chatHistory(scenario), ...more });
const all = async (stream) => {
  const events = [];
  for await (const event of await stream) events.push(event);
  return events;
};
const refused = async (ask) => {
  try {
    await ask();
    return "not refused";
  } catch (error) {
    return { status: error.status, name: error.constructor.name, body: error.error };
  }
};
const cancelled = async () => {
  const stream = await askGpt("endless", { stream: true });
  for await (const event of stream) {
    stream.controller.abort();
    return event;
  }
};

const responses = { model: "gpt-4.1", store: false };
console.log(JSON.stringify({
  claude: await askClaude("plain"),
  claude_stream: await streamClaude("stream"),
  claude_tools: await askClaude("tools"),
  claude_stream_tools: await streamClaude("stream_tools"),
  claude_thinking: await streamClaude("stream_thinking", { max_tokens: 2000, thinking: { type: "enabled", budget_tokens: 1024 } }),
  claude_count: await claude.messages.countTokens({ model: "claude-sonnet-4-5", tools, messages: claudeHistory("count") }),
  claude_400: await refused(() => askClaude("bad")),
  claude_529: await refused(() => askClaude("busy")),
  gpt: await askGpt("plain"),
  gpt_stream: await all(askGpt("stream", { stream: true })),
  gpt_tools: await askGpt("tools", { tools: functions }),
  gpt_400: await refused(() => askGpt("bad")),
  gpt_529: await refused(() => askGpt("busy")),
  responses: await gpt.responses.create({ input: responsesHistory("plain"), ...responses }),
  responses_stream: await all(gpt.responses.create({ input: responsesHistory("stream"), stream: true, ...responses })),
  cancelled: await cancelled(),
}));
