// Event streams, cut in every way (B4).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFileSync } from 'node:fs';
import { load, serve, modern, legacy, discovered } from './serve.mjs';

const { MCPBrowserClient, MCPError } = await load();
const recorded = readFileSync(new URL('torture.sse', import.meta.url));

/** streaming is a fetch whose answer to tools/call is the recording, in the pieces that cut makes. */
function streaming(cut) {
  return async (url, { body }) => {
    const { id, method } = JSON.parse(body);
    const json = (result) => new Response(JSON.stringify({ jsonrpc: '2.0', id, result }), { headers: { 'Content-Type': 'application/json' } });
    if (method === 'server/discover') return json(discovered);
    const bytes = new Uint8Array(Buffer.from(recorded.toString('latin1').replace('"id":"ID"', `"id":${id}`), 'latin1'));
    const pieces = cut(bytes);
    const stream = new ReadableStream({
      pull(controller) {
        const piece = pieces.shift();
        if (piece) controller.enqueue(piece);
        else controller.close();
      },
    });
    return new Response(stream, { headers: { 'Content-Type': 'text/event-stream; charset=utf-8' } });
  };
}

const every = (n) => (bytes) => Array.from({ length: Math.ceil(bytes.length / n) }, (_, i) => bytes.slice(i * n, (i + 1) * n));

async function replay(cut) {
  const told = [];
  const client = new MCPBrowserClient({ baseUrl: 'http://127.0.0.1:1', fetch: streaming(cut), onNotification: (method, params) => told.push([method, params]) });
  return { result: await client.callTool('x'), told };
}

const expected = {
  result: { content: [{ type: 'text', text: 'grüß 🙂 — done' }] },
  told: [
    ['notifications/message', { n: 1, data: 'after a byte order mark, with CRLF' }],
    ['notifications/message', { n: 2, data: 'LF, of several lines' }],
    ['notifications/message', { n: 3, data: 'CR alone' }],
    ['notifications/message', { n: 4, data: 'no space after the colon; ünïcödé 🧪' }],
    ['notifications/message', { n: 5, data: 'mixed ends' }],
    ['notifications/message', { n: 6, data: 'a field without a colon before' }],
  ],
};

test('the recording arrives whole', async () => assert.deepEqual(await replay((bytes) => [bytes]), expected));

test('the recording arrives byte by byte', async () => assert.deepEqual(await replay(every(1)), expected));

test('the recording arrives cut in two at every byte', async () => {
  for (let at = 1; at < recorded.length; at++) {
    assert.deepEqual(await replay((bytes) => [bytes.slice(0, at), bytes.slice(at)]), expected, `cut at ${at}`);
  }
});

test('the recording arrives in pieces of every size up to 64', async () => {
  for (let n = 2; n <= 64; n++) assert.deepEqual(await replay(every(n)), expected, `pieces of ${n}`);
});

test('a large event arrives in linear time', async (t) => {
  const text = 'ü'.repeat(4 << 20);
  const server = await serve(t, modern(({ id }, { response }) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } })}\n\n`);
  }));
  const began = performance.now();
  const result = await new MCPBrowserClient(server).callTool('big');
  assert.equal(result.content[0].text.length, text.length);
  assert.ok(performance.now() - began < 5000, `${performance.now() - began} ms for 8 MB`);
});

test('a stream that breaks is resumed after its last id, in the legacy era', async (t) => {
  let id;
  const server = await serve(t, legacy((message, { request, response, headers }) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    if (request.method === 'POST') {
      ({ id } = message);
      response.write('id: 7\nretry: 30\ndata:\n\n');
      response.write('id: 8\ndata: {"jsonrpc":"2.0","method":"notifications/message","params":{"data":"one"}}\n\n');
      setTimeout(() => response.destroy(), 20);
    } else if (headers['last-event-id'] === '8') {
      response.end('id: 9\ndata: {"jsonrpc":"2.0","method":"notifications/message","params":{"data":"two"}}\n\n'); // and ends again
    } else {
      response.end(`id: 10\ndata: {"jsonrpc":"2.0","id":${id},"result":{"content":[]}}\n\n`);
    }
  }));
  const told = [];
  const client = new MCPBrowserClient({ ...server, onNotification: (_, { data }) => told.push(data) });
  assert.deepEqual(await client.callTool('x'), { content: [] });
  assert.deepEqual(told, ['one', 'two']);
  const gets = server.seen.filter(({ http }) => http === 'GET');
  assert.deepEqual(gets.map(({ headers }) => [headers['last-event-id'], headers['mcp-session-id'], headers.accept]), [
    ['8', 'session-1', 'text/event-stream'],
    ['9', 'session-1', 'text/event-stream'],
  ]);
  assert.ok(gets[1].at - gets[0].at >= 25, 'retry is waited for');
});

test('a stream that ends without the answer is an error where nothing can be resumed', async (t) => {
  const cut = (_, { response }) => void response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end('id: 1\ndata: {"jsonrpc":"2.0","method":"x"}\n\n');
  const server = await serve(t, modern(cut));
  await assert.rejects(new MCPBrowserClient(server).callTool('x'), (e) => e instanceof MCPError && /ended before the answer/.test(e.message));
  assert.deepEqual(server.methods(), ['server/discover', 'tools/call']);
});

test('a server that does not let a stream be resumed is heard', async (t) => {
  const server = await serve(t, legacy((_, { request, response }) => {
    if (request.method === 'GET') return void response.writeHead(405, { 'Content-Type': 'application/json' }).end('{"error":"event_stream_not_supported"}');
    response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end('id: 1\nretry: 1\ndata:\n\n');
  }));
  await assert.rejects(new MCPBrowserClient(server).callTool('x'), (e) => e.status === 405 && /event_stream_not_supported/.test(e.message));
});

test('an event that is not JSON is an error', async (t) => {
  const server = await serve(t, modern((_, { response }) => void response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end('data: {"half\n\n')));
  await assert.rejects(new MCPBrowserClient(server).callTool('x'), /not JSON/);
});

test('what a server asks on the stream is answered', async (t) => {
  const answers = [];
  let finish;
  const server = await serve(t, legacy((message, { response }) => {
    if (message.method === undefined) {
      answers.push(message);
      if (answers.length === 3) finish();
      return void response.writeHead(202).end();
    }
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    for (const [id, method] of [['a', 'ping'], ['b', 'elicitation/create'], [3, 'roots/list']]) response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, method, params: {} })}\n\n`);
    finish = () => response.end(`data: {"jsonrpc":"2.0","id":${message.id},"result":{}}\n\n`);
  }));
  const client = new MCPBrowserClient({ ...server, onRequest: (method) => (method === 'elicitation/create' ? { action: 'decline' } : undefined) });
  await client.callTool('x');
  const by = Object.fromEntries(answers.map((answer) => [answer.id, answer]));
  assert.deepEqual(by.a.result, {});
  assert.deepEqual(by.b.result, { action: 'decline' });
  assert.equal(by[3].error.code, -32601);
});
