// Drives a server with the official TypeScript SDK: reads {command, steps} as
// JSON on standard input and prints a report as JSON.
import { readFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const { command, steps } = JSON.parse(readFileSync(0, "utf8"));
const client = new Client({ name: "sdk-test", version: "1" });
await client.connect(new StdioClientTransport({ command: command[0], args: command.slice(1) }));
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
  console.log(JSON.stringify({ server: client.getServerVersion().name, tools: tools.map((t) => t.name), results }));
} finally {
  await client.close();
}
