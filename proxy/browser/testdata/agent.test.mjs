// Everything that the client does, against our own agent in both eras (B2, B3, B5): DEMO and EVERYTHING are base URLs, NAME
// is how the first introduces itself.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from './serve.mjs';

const { MCPBrowserClient, MCPError } = await load();
const { DEMO, EVERYTHING, NAME } = process.env;
const text = (result) => result.content.map((part) => part.text).join('');

const timeout = 120000; // of a busy machine

for (const [era, protocolVersion] of [['modern', undefined], ['legacy', '2025-11-25'], ['legacy', '2025-06-18']]) {
  const spoken = protocolVersion ?? '2026-07-28';
  const using = (name, f) => test(`${name} (${spoken})`, { timeout }, async (t) => {
    const made = (baseUrl, options) => {
      const client = new MCPBrowserClient({ baseUrl, protocolVersion, pollIntervalMs: 50, ...options });
      t.after(() => client.close());
      return client;
    };
    await f(made, t);
  });

  using('the server is known', async (made) => {
    const found = await made(DEMO).connect();
    assert.deepEqual([found.era, found.protocolVersion, found.serverInfo.name], [era, spoken, NAME]);
    assert.ok(found.capabilities.tools && found.capabilities.resources && found.capabilities.prompts);
  });

  using('tools are listed over all pages, and called', async (made) => {
    const client = made(DEMO);
    const names = (await client.listTools()).map((tool) => tool.name);
    for (const name of ['echo', 'add', 'sleep', 'execute_code']) assert.ok(names.includes(name), `${name} among ${names}`);
    assert.equal(text(await client.callTool('execute_code', { code: '1 + 1' })).includes('2'), true);
    assert.deepEqual((await client.callTool('add', { a: 40, b: 2 })).structuredContent, { sum: 42, exact: true });
    assert.equal(text(await client.callTool('echo', { message: 'grüß 🙂' })), 'grüß 🙂');
    const failed = await client.callTool('fail', { message: 'as asked' });
    assert.deepEqual([failed.isError, text(failed)], [true, 'as asked']);
    await assert.rejects(client.callTool('nope'), (e) => e instanceof MCPError && e.code === -32602 && /Tool 'nope' not found/.test(e.message));
  });

  using('resources and templates are listed and read', async (made) => {
    const client = made(DEMO);
    const [first] = await client.listResources();
    const contents = await client.readResource(first.uri);
    assert.equal(contents[0].uri, first.uri);
    assert.ok((await client.listResourceTemplates()).every((template) => template.uriTemplate));
    await assert.rejects(client.readResource('file:///no/such'), (e) => e instanceof MCPError && Number.isInteger(e.code));
  });

  using('prompts are listed, got and completed', async (made) => {
    const client = made(DEMO);
    const greet = (await client.listPrompts()).find((prompt) => prompt.arguments?.length);
    assert.ok(greet);
    const { messages } = await client.getPrompt('greet', { name: 'Ada' });
    assert.match(messages[0].content.text, /Ada/);
    assert.deepEqual((await client.complete({ type: 'ref/prompt', name: 'greet' }, 'name', 'A')).values, ['Ada', 'Alan']);
  });

  using('a ping is answered', async (made) => made(DEMO).ping());

  using('progress comes before the result, each call its own', async (made) => {
    const client = made(DEMO);
    const steps = { a: 3, b: 4 };
    await Promise.all(Object.entries(steps).map(async ([key, total]) => {
      const seen = [];
      let late = false; // a slow machine makes a task of the call, which is looked at now and then
      await client.callTool('sleep', { seconds: 0.1, steps: total }, { onProgress: (p) => seen.push(p), onTaskUpdate: () => (late = true) });
      const all = Array.from({ length: total }, (_, i) => ({ progress: i + 1, total, message: `step ${i + 1} of ${total}` }));
      const found = seen.map(({ progress, total, message }) => ({ progress, total, message }));
      assert.deepEqual(found, late ? all.filter(({ progress }) => found.some((p) => p.progress === progress)) : all, `${key}, late: ${late}`);
    }));
  });

  using('sixty-four calls at once get their own answers', async (made) => {
    const client = made(EVERYTHING);
    await Promise.all(Array.from({ length: 64 }, async (_, n) => assert.equal(text(await client.callTool('greet', { name: `n${n}` })), `Hello, n${n}!`)));
  });

  using('a cancelled call stops at the agent', async (made) => {
    const client = made(DEMO);
    for (let tries = 3, took = Infinity; took > 15000; tries--) {
      assert.ok(tries > 0, 'each ran to its end');
      const stop = new AbortController();
      const began = performance.now();
      const cancelled = assert.rejects(client.callTool('sleep', { seconds: 20, steps: 2000 }, { signal: stop.signal, onProgress: () => stop.abort() }), { name: 'AbortError' });
      await cancelled;
      await client.callTool('echo', { message: 'next' }); // one call runs at a time: this waits for one that was not cancelled
      took = performance.now() - began; // a call that a slow machine made a task while we left goes on: nobody reads its id
    }
  });

  // A client of the modern era knows tasks anyway; the others are told {taskId, status}.
  using('a call that is not waited for becomes a task', async (made) => {
    const states = [];
    const result = await made(DEMO).callTool('sleep', { seconds: 0.3 }, { meta: { async: true }, onTaskUpdate: ({ status }) => states.push(status) });
    assert.match(text(result), /slept/);
    assert.equal(states.at(-1), 'completed');
    assert.ok((era === 'modern' ? ['working'] : ['pending', 'running']).includes(states[0]), states.join());
  });

  using('a question is answered', async (made) => {
    const asked = [];
    const onRequest = (method, params) => {
      asked.push([method, params.message]);
      return method === 'elicitation/create' ? { action: 'accept', content: { username: 'ada', email: 'ada@example.org' } } : undefined;
    };
    const client = made(EVERYTHING, { capabilities: { elicitation: { form: {} } }, onRequest });
    assert.match(text(await client.callTool('test_elicitation', { message: 'Who are you?' })), /action=accept.*ada@example\.org/);
    assert.deepEqual(asked, [['elicitation/create', 'Who are you?']]);
  });

  using('a server that asks what nobody declared is refused by itself', async (made) => {
    const result = await made(EVERYTHING).callTool('test_elicitation', { message: 'Who?' }).catch((error) => error);
    assert.ok(result.isError || result instanceof MCPError);
  });

  if (spoken !== '2025-06-18') {
    using('tasks are followed, with their questions, to a result or an error', async (made) => {
      const onRequest = () => ({ action: 'accept', content: { confirm: true, name: 'Ada' } });
      const client = made(EVERYTHING, { capabilities: { elicitation: { form: {} } }, onRequest });
      const states = [];
      const onTaskUpdate = ({ status }) => states.push(status);
      assert.match(text(await client.callTool('slow_compute', { seconds: 0.6, label: 'x' }, { task: true, onTaskUpdate })), /computed "x"/);
      assert.equal(states[0], 'working');
      assert.equal(states.at(-1), 'completed');
      assert.match(text(await client.callTool('confirm_delete', { filename: 'f' }, { task: true })), /deleted f/);
      assert.equal((await client.callTool('failing_job')).isError, true); // runs as a task only, which its definition says
      await assert.rejects(client.callTool('protocol_error_job'), (e) => e.code === -32603 && /broke, as it always does/.test(e.message));
    });
    using('a task that is left is cancelled', async (made) => {
      const client = made(EVERYTHING);
      const stop = new AbortController();
      let id;
      const left = client.callTool('slow_compute', { seconds: 30 }, { task: true, signal: stop.signal, onTaskUpdate: ({ taskId }) => { id = taskId; stop.abort(); } });
      await assert.rejects(left, { name: 'AbortError' });
      for (let status; status !== 'cancelled'; await new Promise((resolve) => setTimeout(resolve, 20))) ({ status } = await client.request('tasks/get', { taskId: id }));
    });
  }
}

test('a connection that the agent ends is taken up again', { timeout }, async () => {
  const client = new MCPBrowserClient({ baseUrl: EVERYTHING, protocolVersion: '2025-11-25' });
  const result = await client.callTool('test_reconnection');
  assert.ok(!result.isError, JSON.stringify(result));
  await client.close();
});

test('arguments travel in headers', { timeout }, async () => {
  const client = new MCPBrowserClient({ baseUrl: EVERYTHING });
  const args = { region: 'münchen', priority: 3 };
  assert.deepEqual(JSON.parse(text(await client.callTool('test_header_params', args))), args);
});

test('a session that was deleted is replaced', { timeout }, async () => {
  let session;
  const spy = async (url, init) => {
    const response = await fetch(url, init);
    session = response.headers.get('Mcp-Session-Id') ?? session;
    return response;
  };
  const client = new MCPBrowserClient({ baseUrl: DEMO, protocolVersion: '2025-11-25', fetch: spy });
  await client.ping();
  const first = session;
  await fetch(`${DEMO}/mcp`, { method: 'DELETE', headers: { 'Mcp-Session-Id': first } });
  assert.equal(text(await client.callTool('echo', { message: 'again' })), 'again');
  assert.notEqual(session, first);
  await client.close();
  const headers = { 'Content-Type': 'application/json', 'Mcp-Session-Id': session };
  const gone = await fetch(`${DEMO}/mcp`, { method: 'POST', headers, body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' });
  assert.equal(gone.status, 404);
});
