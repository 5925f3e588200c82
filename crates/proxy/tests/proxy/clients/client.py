"""Asks a scripted upstream in every way that the official Python SDKs know, and prints what came as one JSON object."""

import json
import sys

import anthropic
import openai

base_url, rounds = sys.argv[1], int(sys.argv[2])
claude = anthropic.Anthropic(base_url=base_url, api_key="key", max_retries=0)
gpt = openai.OpenAI(base_url=base_url + "/v1", api_key="key", max_retries=0)
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
OUTPUT = "".join(f"line {at} of the output: {at * 7919}\n" for at in range(60))
CALLS = range(rounds)
TOOLS = [{"name": "Bash", "description": "Runs a command.", "input_schema": {"type": "object"}}]
FUNCTIONS = [{"type": "function", "function": {"name": "shell", "parameters": {"type": "object"}}}]


def claude_history(scenario):
    messages = [{"role": "user", "content": f"scenario {scenario};"}]
    for at in CALLS:
        call = {"type": "tool_use", "id": f"toolu_{at}", "name": "Bash", "input": {"command": f"run {at}"}}
        result = {"type": "tool_result", "tool_use_id": f"toolu_{at}", "content": f"round {at}\n{OUTPUT}"}
        messages += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    return messages


def chat_history(scenario):
    messages = [{"role": "user", "content": f"scenario {scenario};"}]
    for at in CALLS:
        function = {"name": "shell", "arguments": json.dumps({"command": f"run {at}"})}
        call = {"id": f"call_{at}", "type": "function", "function": function}
        messages += [{"role": "assistant", "content": None, "tool_calls": [call]},
                     {"role": "tool", "tool_call_id": f"call_{at}", "content": f"round {at}\n{OUTPUT}"}]
    return messages


def responses_history(scenario):
    items = [{"role": "user", "content": f"scenario {scenario};"}]
    for at in CALLS:
        arguments = json.dumps({"command": f"run {at}"})
        items += [{"type": "function_call", "call_id": f"call_{at}", "name": "shell", "arguments": arguments},
                  {"type": "function_call_output", "call_id": f"call_{at}", "output": f"round {at}\n{OUTPUT}"}]
    return items


def ask_claude(scenario, messages=None, **more):
    messages = messages or claude_history(scenario)
    return claude.messages.create(model="claude-sonnet-4-5", max_tokens=500, messages=messages, tools=TOOLS, **more)


def stream_claude(scenario, **more):
    history = claude_history(scenario)
    asked = dict(model="claude-sonnet-4-5", max_tokens=500, messages=history, tools=TOOLS)
    with claude.messages.stream(**asked, **more) as stream:
        kinds = [event.type for event in stream]
        return {"kinds": kinds, "message": stream.get_final_message().model_dump()}


def ask_gpt(scenario, messages=None, **more):
    return gpt.chat.completions.create(model="gpt-4.1", messages=messages or chat_history(scenario), **more)


def refused(ask, kind):
    try:
        ask()
    except kind as error:
        return {"status": error.status_code, "class": type(error).__name__, "body": error.body}
    return "not refused"


def cancelled():
    stream = ask_gpt("endless", stream=True)
    first = next(iter(stream)).model_dump()
    stream.close()
    return first


picture = [{"role": "user", "content": [
    {"type": "text", "text": "scenario plain;"},
    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}]}]
image_url = [{"role": "user", "content": [
    {"type": "text", "text": "scenario plain;"},
    {"type": "image_url", "image_url": {"url": "data:image/png;base64," + PIXEL}}]}]
thinking = {"type": "enabled", "budget_tokens": 1024}
responses = dict(model="gpt-4.1", store=False)
print(json.dumps({
    "claude": ask_claude("plain").model_dump(),
    "claude_stream": stream_claude("stream"),
    "claude_tools": ask_claude("tools").model_dump(),
    "claude_stream_tools": stream_claude("stream_tools"),
    "claude_picture": ask_claude("plain", picture).model_dump(),
    "claude_thinking": stream_claude("stream_thinking", thinking=thinking, extra_body={"max_tokens": 2000}),
    "claude_count": claude.messages.count_tokens(
        model="claude-sonnet-4-5", messages=claude_history("count"), tools=TOOLS).model_dump(),
    "claude_400": refused(lambda: ask_claude("bad"), anthropic.BadRequestError),
    "claude_529": refused(lambda: ask_claude("busy"), anthropic.APIStatusError),
    "gpt": ask_gpt("plain").model_dump(),
    "gpt_stream": [chunk.model_dump() for chunk in ask_gpt("stream", stream=True)],
    "gpt_tools": ask_gpt("tools", tools=FUNCTIONS).model_dump(),
    "gpt_picture": ask_gpt("plain", image_url).model_dump(),
    "gpt_400": refused(lambda: ask_gpt("bad"), openai.BadRequestError),
    "gpt_529": refused(lambda: ask_gpt("busy"), openai.APIStatusError),
    "responses": gpt.responses.create(input=responses_history("plain"), **responses).model_dump(),
    "responses_stream": [event.model_dump() for event in gpt.responses.create(
        input=responses_history("stream"), stream=True, **responses)],
    "cancelled": cancelled(),
}))
