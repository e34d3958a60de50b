"""Drives a server with the FastMCP client: reads {command, steps} as JSON on
standard input and prints a report as JSON."""

import asyncio
import json
import sys

from fastmcp import Client
from fastmcp.client.transports import StdioTransport


async def main() -> None:
    request = json.load(sys.stdin)
    command = request["command"]
    async with Client(StdioTransport(command[0], command[1:], keep_alive=False)) as client:
        tools = await client.list_tools()
        results = []
        for step in request["steps"]:
            result = await client.call_tool_mcp(step["tool"], step["arguments"])
            results.append({
                "text": "".join(getattr(part, "text", "") for part in result.content),
                "isError": result.is_error,
                "code": (result.meta or {}).get("mcp-workspace/code", ""),
            })
        print(json.dumps({
            "server": client.server_info.name,
            "tools": [tool.name for tool in tools],
            "results": results,
        }))


asyncio.run(main())
