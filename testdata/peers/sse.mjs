// A client of the TypeScript SDK 1 over HTTP+SSE of 2024-11-05: connects to the URL that it is given, lists the tools, and calls the one that
// it is given, with progress. Says what it got as JSON.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";

const [url, name] = process.argv.slice(2);
const client = new Client({ name: "old-host", version: "1.0.0" });
await client.connect(new SSEClientTransport(new URL(url)));
const { tools } = await client.listTools();
let progress = 0;
const { content } = await client.callTool({ name, arguments: {} }, undefined, { onprogress: () => progress++ });
await client.close();
console.log(JSON.stringify({ tools: tools.length, progress, content }));
