// Calls that become tasks, and when they are looked at (B5).
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { load, serve, refuse, modern, legacy } from './serve.mjs';

const { MCPBrowserClient } = await load();
const sum = { content: [{ type: 'text', text: '42' }] };

// intervals between the looks that a server saw, and the first since the call.
function intervals(server, look) {
  const looks = server.seen.filter(({ http, message, url }) => ['tools/call', look].includes(message?.method) || (http === 'GET' && url.split('?')[0] === look));
  const at = looks.map((each) => each.at);
  return at.slice(1).map((time, i) => time - at[i]);
}

// The times that timers were set for. How much later a busy machine lets them off says nothing of the client.
const timers = [];
const { setTimeout } = globalThis;
globalThis.setTimeout = (f, ms, ...rest) => {
  timers.push(ms);
  return setTimeout(f, ms, ...rest);
};
beforeEach(() => timers.splice(0));

function assertIntervals(found, count, ms) {
  assert.equal(found.length, count);
  for (const each of found) assert.ok(each >= ms - 5, `looked after ${each} ms instead of ${ms}`);
  assert.equal(timers.splice(0).filter((each) => each === ms).length, count, `timers of ${ms} ms`);
}

// A modern task that is over at the third look.
function modernTask(pollIntervalMs, last = { status: 'completed', result: sum }) {
  let looks = 0;
  return modern(({ method }) => {
    if (method === 'tools/call') return { resultType: 'task', taskId: 't1', status: 'working', pollIntervalMs };
    assert.equal(method, 'tasks/get');
    return ++looks < 3 ? { taskId: 't1', status: 'working', pollIntervalMs } : { taskId: 't1', ...last };
  });
}

test('the interval is the one that was asked for', async (t) => {
  const server = await serve(t, modernTask(20));
  const updates = [];
  const client = new MCPBrowserClient({ ...server, pollIntervalMs: 120 });
  assert.deepEqual(await client.callTool('x', {}, { onTaskUpdate: ({ taskId, status }) => updates.push(`${taskId} ${status}`) }), sum);
  assert.deepEqual(updates, ['t1 working', 't1 working', 't1 working', 't1 completed']);
  assertIntervals(intervals(server, 'tasks/get'), 3, 120);
  assert.equal(server.seen.at(-1).headers['mcp-name'], 't1');
});

test('the interval is the server\'s when that is longer', async (t) => {
  const server = await serve(t, modernTask(150));
  await new MCPBrowserClient({ ...server, pollIntervalMs: 10 }).callTool('x');
  assertIntervals(intervals(server, 'tasks/get'), 3, 150);
});

test('an interval that is none is ours', async (t) => {
  for (const nonsense of ['soon', {}, -1, null]) {
    const server = await serve(t, modernTask(nonsense));
    await new MCPBrowserClient({ ...server, pollIntervalMs: 40 }).callTool('x');
    assertIntervals(intervals(server, 'tasks/get'), 3, 40);
  }
});

test('the interval is five seconds by default, with sooner looks at first', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let looked = 0;
  const client = new MCPBrowserClient({
    baseUrl: 'http://127.0.0.1:1',
    fetch: async (_, { body }) => {
      const { id, method } = JSON.parse(body);
      if (method === 'tasks/get') looked++;
      const results = {
        'server/discover': { capabilities: {} },
        'tools/call': { resultType: 'task', taskId: 't', status: 'working' },
        'tasks/get': looked < 5 ? { status: 'working' } : { status: 'completed', result: sum },
      };
      const result = results[method];
      return new Response(JSON.stringify({ jsonrpc: '2.0', id, result }), { headers: { 'Content-Type': 'application/json' } });
    },
  });
  let waits;
  const waiting = new Promise((resolve) => (waits = resolve));
  const call = client.callTool('x', {}, { onTaskUpdate: () => waits() });
  await waiting;
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  for (const [i, ms] of [1000, 2000, 4000, 5000, 5000].entries()) {
    for (let k = 0; k < 20; k++) await settle();
    t.mock.timers.tick(ms - 1);
    for (let k = 0; k < 20; k++) await settle();
    assert.equal(looked, i, `looked within ${ms} ms`);
    t.mock.timers.tick(1);
  }
  assert.deepEqual(await call, sum);
  assert.equal(looked, 5);
});

test('progress of a task is that of its page, where the server has one', async (t) => {
  for (const has of [true, false]) {
    let looks = 0;
    const server = await serve(t, modern((message, { request, response }) => {
      if (request.method === 'GET') {
        const page = { status: 'running', log: `1 info x: progress 9 of 9 no\n2026 progress 1 of 4 one\n2026 progress ${++looks} of 4 step\n` };
        response.writeHead(has ? 200 : 404, { 'Content-Type': 'application/json' }).end(JSON.stringify(has ? page : {}));
        return undefined;
      }
      if (message.method === 'tools/call') return { resultType: 'task', taskId: 't 1', status: 'working' };
      return server.seen.filter((each) => each.message?.method === 'tasks/get').length < 3 ? { status: 'working' } : { status: 'completed', result: sum };
    }));
    const progress = [];
    const client = new MCPBrowserClient({ ...server, pollIntervalMs: 5 });
    assert.deepEqual(await client.callTool('x', {}, { onProgress: (p) => progress.push(`${p.progress}/${p.total} ${p.message}`) }), sum);
    assert.deepEqual(progress, has ? ['1/4 step', '2/4 step'] : []);
    assert.equal(server.seen.filter(({ http }) => http === 'GET').length, has ? 2 : 1);
    assert.equal(server.seen.find(({ http }) => http === 'GET').url, '/task?taskId=t%201');
  }
});

test('a task that failed is its error, or the result that says so', async (t) => {
  const error = { code: -32603, message: 'broke', data: { kind: 'internal' } };
  const ending = async (last) => new MCPBrowserClient({ ...(await serve(t, modernTask(1, last))), pollIntervalMs: 1 }).callTool('x');
  await assert.rejects(ending({ status: 'failed', error }), { code: -32603, message: 'broke', data: { kind: 'internal' } });
  await assert.rejects(ending({ status: 'cancelled', statusMessage: 'by hand' }), { message: 'by hand', data: { kind: 'cancelled' } });
  const failed = { content: [], isError: true };
  assert.deepEqual(await ending({ status: 'completed', result: failed }), failed);
});

test('a task that asks gets each answer once', async (t) => {
  let given, looks = 0;
  const updates = [];
  const server = await serve(t, modern(({ method, params }) => {
    if (method === 'tools/call') return { resultType: 'task', taskId: 't', status: 'working' };
    if (method === 'tasks/update') {
      updates.push(given = params.inputResponses);
      return { resultType: 'complete' };
    }
    // The server takes its time to notice the answer.
    if (!given || ++looks < 3) return { status: 'input_required', inputRequests: { q: { method: 'elicitation/create', params: { message: '?' } } } };
    return { status: 'completed', result: sum };
  }));
  const client = new MCPBrowserClient({ ...server, pollIntervalMs: 5, onRequest: () => ({ action: 'accept', content: {} }) });
  assert.deepEqual(await client.callTool('x'), sum);
  assert.deepEqual(updates, [{ q: { action: 'accept', content: {} } }]);
});

test('a legacy task is looked at with tasks/get and fetched with tasks/result', async (t) => {
  let looks = 0;
  const server = await serve(t, legacy(({ method, params }) => {
    const task = (status) => ({ taskId: 't1', status, pollInterval: 60 });
    if (method === 'tools/call') {
      assert.deepEqual(params.task, { ttl: 5000 });
      return { task: task('working') };
    }
    if (method === 'tasks/get') return task(++looks < 2 ? 'working' : 'completed');
    assert.equal(method, 'tasks/result');
    return sum;
  }));
  assert.deepEqual(await new MCPBrowserClient({ ...server, pollIntervalMs: 5 }).callTool('x', {}, { task: { ttl: 5000 } }), sum);
  assertIntervals(intervals(server, 'tasks/get'), 2, 60);
});

test('{taskId, status} as a result is looked at beside the endpoint', async (t) => {
  let looks = 0;
  const server = await serve(t, modern((message, { request, response }) => {
    if (message) return { content: [{ type: 'text', text: '{"taskId":"t 1","status":"pending"}' }] };
    assert.equal(request.url, '/task?taskId=t%201');
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify(++looks < 3 ? { status: 'running' } : { status: 'completed', result: sum }));
  }));
  const updates = [];
  assert.deepEqual(await new MCPBrowserClient({ ...server, pollIntervalMs: 70 }).callTool('x', {}, { onTaskUpdate: ({ status }) => updates.push(status) }), sum);
  assert.deepEqual(updates, ['pending', 'running', 'running', 'completed']);
  assertIntervals(intervals(server, '/task'), 3, 70);
});

test('a result that only looks like a task is the result', async (t) => {
  const ticket = { content: [], structuredContent: { taskId: 'JIRA-1', status: 'running' } };
  const server = await serve(t, modern((message, { response }) => (message ? ticket : void response.writeHead(404).end())));
  assert.deepEqual(await new MCPBrowserClient({ ...server, pollIntervalMs: 1 }).callTool('x'), ticket);
});

test('a look that fails for a moment does not lose the task', async (t) => {
  let looks = 0;
  const server = await serve(t, modern(({ id, method }, { response }) => {
    if (method === 'tools/call') return { resultType: 'task', taskId: 't', status: 'working' };
    if (++looks === 1) return void refuse(response, 502, id, -32603, 'Failed to reach agent');
    if (looks === 2) return void response.destroy();
    return { status: 'completed', result: sum };
  }));
  assert.deepEqual(await new MCPBrowserClient({ ...server, pollIntervalMs: 5 }).callTool('x'), sum);
  assert.equal(looks, 3);
});

test('who leaves a task cancels it', { timeout: 10000 }, async (t) => {
  let cancelled;
  const told = new Promise((resolve) => (cancelled = resolve));
  const server = await serve(t, modern(({ method, params }) => {
    if (method === 'tasks/cancel') cancelled(params.taskId);
    return method === 'tools/call' ? { resultType: 'task', taskId: 't9', status: 'working' } : {};
  }));
  const stop = new AbortController();
  await assert.rejects(new MCPBrowserClient(server).callTool('x', {}, { signal: stop.signal, onTaskUpdate: () => setTimeout(() => stop.abort(), 10) }), { name: 'AbortError' });
  assert.equal(await told, 't9');
});
