// What the client sends, to servers that answer as told (B2, B3).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load, serve, refuse, modern, legacy, discovered } from './serve.mjs';

const module = await load();
const { MCPBrowserClient, MCPError, createAgentClient } = module;

test('the exports are the class, twice, and createAgentClient', async (t) => {
  assert.equal(module.default, MCPBrowserClient);
  const server = await serve(t, modern(() => ({ tools: [] })));
  await createAgentClient('a b/c', { router: `${server.baseUrl}/` }).listTools();
  assert.equal(server.seen[0].url, '/mcps/a%20b%2Fc/mcp');
  await new MCPBrowserClient({ baseUrl: `${server.baseUrl}/mcps/x/` }).ping();
  assert.equal(server.seen.at(-1).url, '/mcps/x/mcp');
});

test('a relative baseUrl without a page is a clear error', () => {
  assert.throws(() => new MCPBrowserClient({ baseUrl: '/mcps/x' }), /baseUrl "\/mcps\/x" is relative, and there is no page.*http:\/\/127\.0\.0\.1:8088/);
  assert.throws(() => new MCPBrowserClient({}), /baseUrl is missing/);
});

test('a relative baseUrl is resolved on a page', async (t) => {
  const server = await serve(t, modern(() => ({ tools: [] })));
  globalThis.document = { baseURI: `${server.baseUrl}/some/page.html` };
  t.after(() => delete globalThis.document);
  await new MCPBrowserClient({ baseUrl: '/mcps/x' }).listTools();
  assert.equal(server.seen[0].url, '/mcps/x/mcp');
});

test('modern requests say in _meta and in headers what they are', async (t) => {
  const server = await serve(t, modern(() => ({ content: [] })));
  const client = new MCPBrowserClient({ ...server, headers: { Authorization: 'Bearer abc' }, capabilities: { elicitation: {} }, clientInfo: { name: 'n', version: 'v' } });
  await client.callTool(' grüß', { a: 1 }, { meta: { async: true } });
  await client.readResource('file:///a');
  const [, call, read] = server.seen;
  assert.deepEqual(call.message.params, {
    name: ' grüß',
    arguments: { a: 1 },
    _meta: {
      async: true,
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'n', version: 'v' },
      'io.modelcontextprotocol/clientCapabilities': { elicitation: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } },
    },
  });
  assert.equal(call.headers['mcp-method'], 'tools/call');
  assert.equal(call.headers['mcp-name'], `=?base64?${Buffer.from(' grüß').toString('base64')}?=`);
  assert.equal(call.headers['mcp-protocol-version'], '2026-07-28');
  assert.equal(call.headers.authorization, 'Bearer abc');
  assert.equal(call.headers.accept, 'application/json, text/event-stream');
  assert.equal(call.headers['mcp-session-id'], undefined);
  assert.equal(read.headers['mcp-name'], 'file:///a');
});

test('arguments travel in headers where the schema says so; a definition that is not known is fetched', async (t) => {
  const inputSchema = {
    properties: { region: { type: 'string', 'x-mcp-header': 'Region' }, deep: { properties: { n: { type: 'integer', 'x-mcp-header': 'N' } } }, plain: { type: 'string' } },
  };
  const broken = { properties: { a: { type: 'string', 'x-mcp-header': 'no such header' } } };
  const server = await serve(t, modern(({ id, method }, { response, headers }) => {
    if (method === 'tools/list') return { tools: [{ name: 'x', inputSchema }, { name: 'bad', inputSchema: broken }, 'no tool'] };
    if (headers['mcp-param-region'] === undefined) return void refuse(response, 400, id, -32020, 'a header is missing');
    return { content: [] };
  }));
  const client = new MCPBrowserClient(server);
  await client.callTool('x', { region: '日本', deep: { n: 7 }, plain: 'p' });
  assert.deepEqual(server.methods(), ['server/discover', 'tools/call', 'tools/list', 'tools/call']);
  const { headers } = server.seen.at(-1);
  assert.equal(headers['mcp-param-region'], `=?base64?${Buffer.from('日本').toString('base64')}?=`);
  assert.equal(headers['mcp-param-n'], '7');
  assert.deepEqual((await client.listTools()).map(({ name }) => name), ['x']);
});

for (const [why, answer] of [
  ['400 with JSON-RPC', ({ id }, { response }) => refuse(response, 400, id, -32600, 'Bad Request: no session')],
  ['400 with text', (_, { response }) => response.writeHead(400).end('what?')],
  ['404', (_, { response }) => response.writeHead(404).end()],
  ['200 with method not found', ({ id }, { response }) => refuse(response, 200, id, -32601, 'Method not found')],
  ['a discover without our version', ({ id }, { response }) => void response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { supportedVersions: ['2099-01-01', '2025-11-25'] } }))],
  ['an unsupported version', ({ id }, { response }) => refuse(response, 400, id, -32022, 'Unsupported protocol version', { supported: ['2025-11-25'] })],
]) {
  test(`a server that answers discover with ${why} is initialized`, async (t) => {
    const script = legacy((message) => (message?.method === 'tools/list' ? { tools: [] } : {}));
    const server = await serve(t, (message, http) => (message?.method === 'server/discover' ? void answer(message, http) : script(message, http)));
    const client = new MCPBrowserClient(server);
    const { era, protocolVersion } = await client.connect();
    assert.deepEqual([era, protocolVersion], ['legacy', '2025-11-25']);
    await client.listTools();
    assert.deepEqual(server.methods(), ['server/discover', 'initialize', 'notifications/initialized', 'tools/list']);
    const { headers, message } = server.seen.at(-1);
    assert.deepEqual([headers['mcp-session-id'], headers['mcp-protocol-version'], headers['mcp-method']], ['session-1', '2025-11-25', undefined]);
    assert.equal(message.params._meta, undefined);
    assert.equal(server.seen[2].headers['mcp-session-id'], 'session-1');
    await client.close();
    assert.deepEqual([server.seen.at(-1).http, server.seen.at(-1).headers['mcp-session-id']], ['DELETE', 'session-1']);
    await assert.rejects(client.listTools(), /closed/);
  });
}

for (const [why, status, code] of [['header mismatch', 400, -32020], ['missing capability', 400, -32021], ['forbidden', 403, undefined], ['unauthorized', 401, undefined]]) {
  test(`${why} is no sign of an older server`, async (t) => {
    const server = await serve(t, ({ id }, { response }) => {
      if (code) return void refuse(response, status, id, code, 'no');
      response.writeHead(status, { 'Content-Type': 'application/json' }).end('{"error":"forbidden","detail":"not you"}');
    });
    const error = await new MCPBrowserClient(server).listTools().catch((e) => e);
    assert.ok(error instanceof MCPError);
    assert.deepEqual([error.status, error.code], [status, code]);
    assert.match(error.message, code ? /^no$/ : /forbidden: not you/);
    assert.deepEqual(server.methods(), ['server/discover']);
  });
}

test('who asked for an old version gets that without asking for the new', async (t) => {
  const server = await serve(t, legacy(() => ({ tools: [] })));
  await new MCPBrowserClient({ ...server, protocolVersion: '2025-03-26' }).listTools();
  assert.equal(server.seen[0].message.params.protocolVersion, '2025-03-26');
});

test('a failed start is tried again by the next request', async (t) => {
  let up = false;
  const server = await serve(t, (message, { response }) => (up ? modern(() => ({ tools: [] }))(message, { response }) : void response.writeHead(403).end()));
  const client = new MCPBrowserClient(server);
  await assert.rejects(client.listTools());
  up = true;
  assert.deepEqual(await client.listTools(), []);
});

test('many first requests at once make one handshake, and a session that is gone is replaced once', async (t) => {
  const gone = new Set();
  const server = await serve(t, legacy((message, { response, headers }) => {
    if (gone.has(headers['mcp-session-id'])) return void refuse(response, 404, message.id, -32000, 'Missing or invalid MCP session');
    return { echo: message.params.n };
  }));
  const client = new MCPBrowserClient(server);
  const all = () => Promise.all(Array.from({ length: 20 }, async (_, n) => assert.equal((await client.request('x', { n })).echo, n)));
  await all();
  gone.add('session-1');
  await all();
  const methods = server.methods();
  assert.equal(methods.filter((method) => method === 'initialize').length, 2);
  const ids = server.seen.map(({ message }) => message?.id).filter((id) => id !== undefined);
  assert.equal(new Set(ids).size, ids.length, 'ids are unique');
  gone.add('session-2');
  gone.add('session-3');
  await assert.rejects(client.request('x', { n: 0 }), (e) => e.status === 404 && e.code === -32000); // once, not for ever
});

test('lists are read to their end, and one that has none is noticed', async (t) => {
  const server = await serve(t, modern(({ method, params }) => {
    if (method === 'resources/list') return params.cursor === undefined ? { resources: [1], nextCursor: '' } : params.cursor === '' ? { resources: [2], nextCursor: 'b' } : { resources: [3] };
    if (method === 'prompts/list') return { prompts: [1], nextCursor: 'again' };
    return { resourceTemplates: 'none' };
  }));
  const client = new MCPBrowserClient(server);
  assert.deepEqual(await client.listResources(), [1, 2, 3]);
  await assert.rejects(client.listPrompts(), /repeats the cursor "again"/);
  await assert.rejects(client.listResourceTemplates(), /no list of resourceTemplates/);
});

test('a list of very many items is read', async (t) => {
  const server = await serve(t, modern(() => ({ resources: Array(300000).fill(0) })));
  assert.equal((await new MCPBrowserClient(server).listResources()).length, 300000);
});

test('errors carry code, message, data and status', async (t) => {
  const server = await serve(t, modern(({ id }, { response }) => refuse(response, 502, id, -32603, 'Failed to reach agent: x', { kind: 'upstream' })));
  await assert.rejects(new MCPBrowserClient(server).request('x'), { name: 'MCPError', code: -32603, message: 'Failed to reach agent: x', data: { kind: 'upstream' }, status: 502 });
});

test('answers that are none are errors', async (t) => {
  const answers = { empty: (r) => r.writeHead(202).end(), text: (r) => r.end('<html>login</html>'), other: (r) => r.end('{"jsonrpc":"2.0","id":"somebody else","result":{}}') };
  const server = await serve(t, modern(({ params }, { response }) => void answers[params.how](response)));
  const client = new MCPBrowserClient(server);
  await assert.rejects(client.request('x', { how: 'empty' }), /without a JSON-RPC response: HTTP 202/);
  await assert.rejects(client.request('x', { how: 'text' }), /HTTP 200, <html>login/);
  await assert.rejects(client.request('x', { how: 'other' }), /answers request somebody else instead of/);
});

test('a server that sends us elsewhere is not followed', async (t) => {
  const elsewhere = await serve(t, () => discovered);
  const server = await serve(t, (_, { response }) => void response.writeHead(307, { Location: elsewhere.baseUrl }).end());
  await assert.rejects(new MCPBrowserClient(server).ping(), (e) => e instanceof MCPError && /cannot be reached/.test(e.message) && e.cause !== undefined);
  assert.deepEqual(elsewhere.seen, []);
});

for (const [era, script] of [['modern', modern], ['legacy', legacy]]) {
  test(`a cancelled request is cancelled at the server, too (${era})`, { timeout: 10000 }, async (t) => {
    const stop = new AbortController();
    let left, told;
    const closed = new Promise((resolve) => (left = resolve));
    const cancelled = new Promise((resolve) => (told = resolve));
    const server = await serve(t, script((message, { response }) => {
      if (message.method === 'notifications/cancelled') {
        told(message.params);
        return {};
      }
      response.on('close', left);
      stop.abort();
    }));
    const client = new MCPBrowserClient(server);
    await assert.rejects(client.callTool('x', {}, { signal: stop.signal }), { name: 'AbortError' });
    await closed;
    if (era === 'legacy') assert.equal((await cancelled).requestId, server.seen.find(({ message }) => message.method === 'tools/call').message.id);
    await assert.rejects(client.callTool('x', {}, { signal: AbortSignal.abort() }), { name: 'AbortError' });
    assert.equal(server.methods().filter((method) => method === 'tools/call').length, 1);
  });

  test(`silence ends a request, signs of life do not (${era})`, { timeout: 30000 }, async (t) => {
    const server = await serve(t, script(async (message, { response }) => {
      if (message.method !== 'tools/call' || message.params.name === 'dead') return message.id === undefined ? {} : undefined;
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      for (let i = 0; i < 8; i++) {
        response.write(': here\n\n');
        await new Promise((resolve) => setTimeout(resolve, 300));
      }
      response.end(`data: {"jsonrpc":"2.0","id":${message.id},"result":{"content":[]}}\n\n`);
    }));
    const client = new MCPBrowserClient(server);
    await assert.rejects(client.callTool('dead', {}, { timeout: 100 }), { code: -32003, data: { kind: 'timeout' } });
    await client.callTool('alive', {}, { timeout: 2000 }); // takes 2,400 ms
  });
}

test('close ends what runs', { timeout: 10000 }, async (t) => {
  let arrived;
  const there = new Promise((resolve) => (arrived = resolve));
  const server = await serve(t, modern(() => void arrived()));
  const client = new MCPBrowserClient(server);
  const call = assert.rejects(client.callTool('x'), /the client was closed/);
  await there;
  await client.close();
  await call;
});

test('a callback that throws ends its call, and nothing else', async (t) => {
  const server = await serve(t, modern(({ id, params }, { response }) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.write(`data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"${params._meta.progressToken}","progress":1}}\n\n`);
    response.end(`data: {"jsonrpc":"2.0","id":${id},"result":{"content":[]}}\n\n`);
  }));
  const client = new MCPBrowserClient(server);
  await assert.rejects(client.callTool('x', {}, { onProgress: () => { throw new RangeError('mine'); } }), RangeError);
  const seen = [];
  await client.callTool('x', {}, { onProgress: ({ progress }) => seen.push(progress) });
  assert.deepEqual(seen, [1]);
});

test('a server that asks for ever is left', async (t) => {
  const server = await serve(t, modern(() => ({ resultType: 'input_required', requestState: 's' })));
  await assert.rejects(new MCPBrowserClient(server).callTool('x'), /asked 10 times/);
});

