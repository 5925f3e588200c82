"""Asks an MCP server what the test wants to know, by the official Python SDK, and prints it as one JSON object."""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters


async def main(server, original, words):
    async with Client(server) as client:
        tools = await client.list_tools()
        recalled = await client.call_tool("recall", {"id": original})
        lines = await client.call_tool("recall", {"id": original, "lines": "2-3"})
        found = await client.call_tool("search", {"query": words})
        missed = await client.call_tool("recall", {"id": "0" * 32})
        resources = await client.list_resources()
        read = await client.read_resource(resources.resources[0].uri)
        print(json.dumps({
            "tools": [tool.name for tool in tools.tools],
            "read_only": [tool.annotations.read_only_hint for tool in tools.tools],
            "recalled": recalled.content[0].text,
            "lines": lines.content[0].text,
            "found": found.content[0].text,
            "missed": [missed.is_error, missed.content[0].text],
            "session": read.contents[0].text,
        }))


transport, *server, original, words = sys.argv[1:]
if transport == "stdio":
    server = StdioServerParameters(command=server[0], args=server[1:])
else:
    server = server[0]
asyncio.run(main(server, original, words))
