"""A small MCP client: starts a workspace server over standard input and output,
and writes, edits, finds and reads a file through it.

    pip install -r requirements.txt
    python main.py                               starts mcp-workspace
    mkdir -p /tmp/demo
    python main.py mcp-workspace --backend local --root /tmp/demo --permissions permissive

The server's command may also be given in MCP_SERVER, its words separated by
spaces.
"""

import asyncio
import os
import sys
from typing import Any

from mcp import Client, StdioServerParameters


async def call(client: Client, tool: str, arguments: dict[str, Any]) -> None:
    """Print a tool's answer; a failed tool is an exception."""
    result = await client.call_tool(tool, arguments)
    text = "".join(part.text for part in result.content if part.type == "text")
    if result.is_error:
        raise RuntimeError(f"{tool}: {text}")
    print(f"\n{tool}\n{text}")


async def main() -> None:
    command = sys.argv[1:] or os.environ.get("MCP_SERVER", "mcp-workspace").split()
    async with Client(StdioServerParameters(command=command[0], args=command[1:])) as client:
        print("connected to", client.server_info.name)
        tools = await client.list_tools()
        print("tools:", " ".join(tool.name for tool in tools.tools))

        await call(client, "write_file", {"path": "greeting.txt", "content": "hello\nworld\n"})
        await call(client, "edit_file", {"path": "greeting.txt", "old_string": "world", "new_string": "workspace"})
        await call(client, "grep", {"pattern": "work", "output_mode": "content"})
        await call(client, "read_file", {"path": "greeting.txt"})


asyncio.run(main())
