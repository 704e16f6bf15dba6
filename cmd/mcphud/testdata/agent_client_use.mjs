import assert from 'node:assert/strict';
import { AgentMcpClient } from './agent_client.mjs';

const client = new AgentMcpClient();
assert.equal(client.getAgentUrl('b'), `http://localhost:${process.env.ROUTER_PORT}/mcps/b/mcp`);
const tools = await client.listTools('b');
assert.ok(tools.some((t) => t.name === 'execute_code'), JSON.stringify(tools));
const result = await client.callTool('b', 'add', { a: 1, b: 2 });
assert.equal(result.structuredContent.sum, 3);
const resources = await client.listResources('b');
assert.ok(resources.some((r) => r.uri === 'status://queue'), JSON.stringify(resources));
const content = await client.readResource('b', 'status://queue');
assert.equal(JSON.parse(content).concurrency, 1);
// Through another agent, and what that says when there is nobody.
const through = await client.callTool('b', 'call_agent', { agent: 'c', tool: 'add', args: { a: 2, b: 2 } });
assert.equal(through.structuredContent.sum, 4);
const nobody = await client.callTool('b', 'call_agent', { agent: 'ghost', tool: 'add' });
assert.equal(nobody.isError, true);
await assert.rejects(client.listTools('ghost'), { code: -32601, message: "Agent 'ghost' not found" });
console.log('all of it worked');
