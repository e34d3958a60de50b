"""Drives a server with the FastMCP client: reads a request as JSON on standard
input and prints a report as JSON; steps_test.go says what is in them."""

import asyncio
import json
import sys

from fastmcp import Client
from fastmcp.client.transports import SSETransport, StdioTransport, StreamableHttpTransport


def transport(request: dict):
    if url := request.get("url"):
        kind = SSETransport if request["transport"] == "sse" else StreamableHttpTransport
        return kind(url, headers=request.get("headers"))
    command = request["command"]
    return StdioTransport(command[0], command[1:], keep_alive=False)


async def main() -> None:
    request = json.load(sys.stdin)
    async with Client(transport(request), mode=request.get("mode") or "auto") as client:
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
            "version": client.protocol_version,
            "tools": [tool.name for tool in tools],
            "results": results,
        }))


asyncio.run(main())
