// A small MCP client: starts a workspace server over standard input and
// output, and writes, edits, finds and reads a file through it.
//
//   npm install
//   npm start                                    starts mcp-workspace
//   mkdir -p /tmp/demo
//   npm start -- mcp-workspace --backend local --root /tmp/demo --permissions permissive
//
// The server's command may also be given in MCP_SERVER, its words separated by
// spaces.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { CallToolResult } from "@modelcontextprotocol/sdk/types.js";

const given = process.argv.slice(2);
const [command, ...args] = given.length > 0 ? given : (process.env.MCP_SERVER ?? "mcp-workspace").split(" ");

const client = new Client({ name: "example-typescript", version: "1" });
await client.connect(new StdioClientTransport({ command, args }));
try {
  console.log("connected to", client.getServerVersion()?.name);
  const { tools } = await client.listTools();
  console.log("tools:", tools.map((tool) => tool.name).join(" "));

  await call("write_file", { path: "greeting.txt", content: "hello\nworld\n" });
  await call("edit_file", { path: "greeting.txt", old_string: "world", new_string: "workspace" });
  await call("grep", { pattern: "work", output_mode: "content" });
  await call("read_file", { path: "greeting.txt" });
} finally {
  await client.close();
}

/** Prints a tool's answer; a failed tool is an exception. */
async function call(name: string, args: Record<string, unknown>): Promise<void> {
  const result = (await client.callTool({ name, arguments: args })) as CallToolResult;
  const text = result.content.map((part) => (part.type === "text" ? part.text : "")).join("");
  if (result.isError) {
    throw new Error(`${name}: ${text}`);
  }
  console.log(`\n${name}\n${text}`);
}
