// Drives a server with the official TypeScript SDK: reads a request as JSON on
// standard input and prints a report as JSON; steps_test.go says what is in
// them. Speaks the protocol of sessions, over any transport.
import { json } from "node:stream/consumers";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const request = await json(process.stdin);
const { command, url, headers, answers, steps } = request;

function transport() {
  if (!url) return new StdioClientTransport({ command: command[0], args: command.slice(1) });
  const Transport = request.transport === "sse" ? SSEClientTransport : StreamableHTTPClientTransport;
  return new Transport(new URL(url), { requestInit: { headers } });
}

const client = new Client({ name: "sdk-test", version: "1" }, { capabilities: answers ? { elicitation: {} } : {} });
const asked = [];
if (answers) {
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    asked.push({ message: params.message, choices: params.requestedSchema.properties.answer.enum });
    const answer = answers[asked.length - 1];
    return answer ? { action: "accept", content: { answer } } : { action: "decline" };
  });
}
const connection = transport();
await client.connect(connection);
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
  await connection.terminateSession?.();
  console.log(JSON.stringify({
    server: client.getServerVersion().name,
    version: connection.protocolVersion,
    tools: tools.map((tool) => tool.name),
    results,
    asked,
  }));
} finally {
  await client.close();
}
