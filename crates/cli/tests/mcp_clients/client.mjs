// Asks an MCP server what the test wants to know, by the official TypeScript SDK, and prints it as one JSON object.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [kind, ...rest] = process.argv.slice(2);
const [original, words] = rest.slice(-2);
const server = rest.slice(0, -2);
const transport = kind === "stdio"
  ? new StdioClientTransport({ command: server[0], args: server.slice(1) })
  : new StreamableHTTPClientTransport(new URL(server[0]));

const client = new Client({ name: "liveset-test", version: "1" });
await client.connect(transport);
const call = (name, given) => client.callTool({ name, arguments: given });
const { tools } = await client.listTools();
const recalled = await call("recall", { id: original });
const lines = await call("recall", { id: original, lines: "2-3" });
const found = await call("search", { query: words });
const missed = await call("recall", { id: "0".repeat(32) });
const { resources } = await client.listResources();
const read = await client.readResource({ uri: resources[0].uri });
console.log(JSON.stringify({
  tools: tools.map((tool) => tool.name),
  read_only: tools.map((tool) => tool.annotations.readOnlyHint),
  recalled: recalled.content[0].text,
  lines: lines.content[0].text,
  found: found.content[0].text,
  missed: [missed.isError, missed.content[0].text],
  session: read.contents[0].text,
}));
await client.close();
