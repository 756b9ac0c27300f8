"""Calls of an agent as an MCP tool, beside blocking A2A sends to the same agent and beside a tool of MCP's SDK, which
stores nothing."""
from samples import number, rate_with_spread, table, times
from servers import EmbeddedBaton, McpSdk
from suites import throughput

SENDS, CALLS, SDK = "Baton, A2A sends", "Baton, tool calls", "MCP TypeScript SDK"


class InsideTools(EmbeddedBaton):
    version = "mcp"

    def __init__(self, places):
        super().__init__(places, name=CALLS, path="/mcp")


def run(context):
    servers = [EmbeddedBaton(context.places, name=SENDS), InsideTools(context.places), McpSdk(context.places, SDK)]
    found = throughput.measured(context, "send", servers)
    context.section("Agents as MCP tools", table(
        ["connections", "server", "per second", "p50 ms", "p99 ms", "CPU µs each"],
        [[connections, server, rate_with_spread(samples), number(samples.median("p50_ms")),
          number(samples.median("p99_ms")), number(samples.median("cpu_us"))]
         for (connections, server), samples in found.items()]))
    ratio = found[64, CALLS].median("rate") / found[64, SENDS].median("rate")
    context.target("tool calls, 64 connections, to A2A sends", "at least 0.8x", times(ratio), ratio >= 0.8)
