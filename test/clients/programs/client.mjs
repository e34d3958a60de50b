// Drives a server with the second version of the official TypeScript SDK: reads
// a request as JSON on standard input and prints a report as JSON; steps_test.go
// says what is in them. {mode} chooses the era of the protocol: "legacy",
// "auto", or a version without sessions, which it then insists on.
import { json } from "node:stream/consumers";
import { Client, SSEClientTransport, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const request = await json(process.stdin);
const { url, headers, answers, steps, mode } = request;
const Transport = request.transport === "sse" ? SSEClientTransport : StreamableHTTPClientTransport;
const client = new Client({ name: "client-test", version: "1" }, {
  capabilities: answers ? { elicitation: { form: {} } } : {},
  versionNegotiation: { mode: mode === "legacy" || mode === "auto" ? mode : { pin: mode } },
});
const asked = [];
if (answers) {
  client.setRequestHandler("elicitation/create", ({ params }) => {
    asked.push({ message: params.message, choices: params.requestedSchema.properties.answer.enum });
    const answer = answers[asked.length - 1];
    return answer ? { action: "accept", content: { answer } } : { action: "decline" };
  });
}
await client.connect(new Transport(new URL(url), { requestInit: { headers } }));
try {
  const { tools } = await client.listTools();
  const results = [];
  for (const { tool, arguments: args } of steps) {
    const result = await client.callTool({ name: tool, arguments: args });
    results.push({
      text: result.content.map((part) => part.text ?? "").join(""),
      isError: result.isError ?? false,
      code: result._meta?.["mcp-workspace/code"] ?? "",
    });
  }
  console.log(JSON.stringify({
    server: client.getServerVersion()?.name,
    version: client.getNegotiatedProtocolVersion(),
    tools: tools.map((tool) => tool.name),
    results,
    asked,
  }));
} finally {
  await client.close();
}
