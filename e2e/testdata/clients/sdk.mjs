// Connects with the official SDK, lists the tools, calls each reading tool and
// prints what it got as one JSON object. The SDK itself checks each answer
// against the tool's output schema.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [address, token] = process.argv.slice(2);
const client = new Client({ name: "vault-tests", version: "1.0.0" });
await client.connect(
  new StreamableHTTPClientTransport(new URL(address), {
    requestInit: { headers: { Authorization: `Bearer ${token}` } },
  }),
);
const { tools } = await client.listTools();
const answers = {};
for (const [name, args] of Object.entries({
  tree: { repo: "projects" },
  list_notes: { repo: "projects", limit: 5 },
  search_notes: { query: "decision", limit: 5 },
  read_note: { repo: "handbook", path: "onboarding/first-week.md" },
})) {
  const result = await client.callTool({ name, arguments: args });
  answers[name] = {
    isError: result.isError ?? false,
    structured: result.structuredContent,
    same: JSON.stringify(result.structuredContent) === JSON.stringify(JSON.parse(result.content[0].text)),
  };
}
const missing = await client.callTool({ name: "read_note", arguments: { repo: "handbook", path: "nowhere.md" } });
console.log(
  JSON.stringify({
    server: client.getServerVersion(),
    instructions: client.getInstructions(),
    tools: tools.map((t) => t.name),
    answers,
    missing: { isError: missing.isError, text: missing.content[0].text },
  }),
);
await client.close();
