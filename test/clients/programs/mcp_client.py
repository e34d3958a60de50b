"""Drives a server with the official Python client: reads a request as JSON on
standard input and prints a report as JSON; steps_test.go says what is in them.
{mode} chooses the era of the protocol: "legacy" opens with initialize, "auto"
prefers not to."""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp_types import ElicitResult


def transport(request: dict):
    if url := request.get("url"):
        headers = request.get("headers")
        if request["transport"] == "sse":
            return sse_client(url, headers=headers)
        return streamable_http_client(url, http_client=create_mcp_http_client(headers=headers))
    command = request["command"]
    return StdioServerParameters(command=command[0], args=command[1:])


async def main() -> None:
    request = json.load(sys.stdin)
    answers, asked = request.get("answers"), []

    async def elicit(_context, params) -> ElicitResult:
        asked.append({"message": params.message, "choices": params.requested_schema["properties"]["answer"]["enum"]})
        if len(asked) <= len(answers) and (answer := answers[len(asked) - 1]):
            return ElicitResult(action="accept", content={"answer": answer})
        return ElicitResult(action="decline")

    client = Client(
        transport(request),
        mode=request.get("mode") or "auto",
        elicitation_callback=elicit if answers else None,
    )
    async with client:
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
            "version": client.protocol_version,
            "tools": [tool.name for tool in tools.tools],
            "results": results,
            "asked": asked,
        }))


asyncio.run(main())
