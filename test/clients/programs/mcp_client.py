"""Drives a server with the official Python client: reads {command, steps} as
JSON on standard input and prints a report as JSON. {mode} chooses the era of
the protocol: "legacy" opens with initialize, "auto" prefers not to."""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters


async def main() -> None:
    request = json.load(sys.stdin)
    command = request["command"]
    server = StdioServerParameters(command=command[0], args=command[1:])
    async with Client(server, mode=request.get("mode") or "auto") as client:
        tools = await client.list_tools()
        results = []
        for step in request["steps"]:
            result = await client.call_tool(step["tool"], step["arguments"])
            results.append({
                "text": "".join(getattr(part, "text", "") for part in result.content),
                "isError": result.is_error,
                "code": (result.meta or {}).get("mcp-workspace/code", ""),
            })
        print(json.dumps({
            "server": client.server_info.name,
            "tools": [tool.name for tool in tools.tools],
            "results": results,
        }))


asyncio.run(main())
