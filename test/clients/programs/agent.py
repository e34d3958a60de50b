"""Lets a pydantic-ai agent drive a server. A function stands in for the model:
it asks for the tools of {steps} one after the other, as a model would, and ends
the run. Reads a request as JSON on standard input and prints what the model was
told, as JSON; steps_test.go says what is in them."""

import asyncio
import json
import sys

from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelMessage, ModelResponse, RetryPromptPart, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel


def transport(request: dict):
    if url := request.get("url"):
        return StreamableHttpTransport(url, headers=request.get("headers"))
    command = request["command"]
    return StdioTransport(command[0], command[1:], keep_alive=False)


async def main() -> None:
    request = json.load(sys.stdin)
    steps = request["steps"]
    offered: list[str] = []

    def answers(messages: list[ModelMessage]) -> list[ToolReturnPart | RetryPromptPart]:
        parts = [part for message in messages for part in message.parts]
        return [part for part in parts if isinstance(part, (ToolReturnPart, RetryPromptPart))]

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        offered[:] = [tool.name for tool in info.function_tools]
        done = len(answers(messages))
        if done == len(steps):
            return ModelResponse(parts=[TextPart("done")])
        step = steps[done]
        return ModelResponse(parts=[ToolCallPart(step["tool"], step["arguments"])])

    toolset = MCPToolset(transport(request), max_retries=3)
    async with Agent(FunctionModel(model), toolsets=[toolset]) as agent:
        run = await agent.run("Plan the shopping.")
    results = []
    for part in answers(run.all_messages()):
        text = part.model_response() if isinstance(part, RetryPromptPart) else part.model_response_str()
        results.append({"text": text, "isError": isinstance(part, RetryPromptPart), "code": ""})
    print(json.dumps({"server": run.output, "tools": offered, "results": results}))


asyncio.run(main())
