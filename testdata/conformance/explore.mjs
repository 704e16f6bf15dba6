// Walks through a server with a client that is not ours, and prints what it saw as one JSON object:
//
//   node explore.mjs v1|v2 CALLS http URL
//   node explore.mjs v1|v2 CALLS stdio COMMAND ARGS…
//
// CALLS is a JSON array of params of tools/call, and with "reports" how often progress is reported, which is waited for. v1 is @modelcontextprotocol/sdk, v2 is @modelcontextprotocol/client, which finds out
// which era the server is of.
const [generation, calls, kind, target, ...args] = process.argv.slice(2);
const info = { name: 'mcphud-test', version: '1.0.0' };
const capabilities = { roots: { listChanged: true }, sampling: {}, elicitation: { form: {}, url: {} } };
const asked = [];

// What the user, the model and the file system say.
const answers = {
  'roots/list': () => ({ roots: [{ uri: 'file:///work', name: 'work' }] }),
  'sampling/createMessage': () => ({ role: 'assistant', model: 'm', content: { type: 'text', text: 'sampled' } }),
  // go-sdk's everything server dies of what is not accepted there.
  'elicitation/create': (params) => (params.requestedSchema?.properties?.random ? { action: 'accept', content: { random: 'four' } } : { action: 'decline' }),
};
function answer(method) {
  return async (r) => {
    asked.push({ method, params: r.params });
    return answers[method](r.params);
  };
}

async function connect() {
  const env = { ...process.env };
  if (generation === 'v1') {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
    const types = await import('@modelcontextprotocol/sdk/types.js');
    const client = new Client(info, { capabilities });
    client.setRequestHandler(types.ListRootsRequestSchema, answer('roots/list'));
    client.setRequestHandler(types.CreateMessageRequestSchema, answer('sampling/createMessage'));
    client.setRequestHandler(types.ElicitRequestSchema, answer('elicitation/create'));
    const transport = kind === 'http' ? new StreamableHTTPClientTransport(new URL(target)) : new StdioClientTransport({ command: target, args, env, stderr: 'inherit' });
    await client.connect(transport);
    return { client, call: (params, options) => client.callTool(params, undefined, options) };
  }
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  const client = new Client(info, { capabilities, versionNegotiation: { mode: 'auto' } });
  for (const method of Object.keys(answers)) client.setRequestHandler(method, answer(method));
  const transport = kind === 'http' ? new StreamableHTTPClientTransport(new URL(target)) : new StdioClientTransport({ command: target, args, env, stderr: 'inherit' });
  await client.connect(transport);
  return { client, call: (params, options) => client.callTool(params, options) };
}

// The outcome of a promise, kept or not.
async function outcome(promise) {
  try {
    return { value: await promise };
  } catch (e) {
    return { error: { code: e.code ?? null, message: String(e.message), data: e.data ?? null } };
  }
}

const { client, call } = await connect();
const seen = { server: client.getServerVersion(), capabilities: client.getServerCapabilities(), instructions: client.getInstructions() ?? null };
const has = seen.capabilities ?? {};
if (has.tools) seen.tools = await outcome(client.listTools());
if (has.resources) {
  seen.resources = await outcome(client.listResources());
  seen.templates = await outcome(client.listResourceTemplates());
  seen.read = [];
  for (const { uri } of (seen.resources.value?.resources ?? []).slice(0, 3)) seen.read.push(await outcome(client.readResource({ uri })));
}
if (has.prompts) {
  seen.prompts = await outcome(client.listPrompts());
  seen.got = [];
  for (const p of seen.prompts.value?.prompts ?? []) {
    const filled = Object.fromEntries((p.arguments ?? []).map((a) => [a.name, '1']));
    seen.got.push(await outcome(client.getPrompt({ name: p.name, arguments: filled })));
  }
}
// What is on the wire: the SDK drops progress that it reads together with the result, or after it.
seen.calls = [];
const callOf = new Map(); // by progress token
const { transport } = client;
const send = transport.send.bind(transport);
transport.send = (message, options) => {
  if (message.method === 'tools/call') callOf.set(message.params._meta?.progressToken, seen.calls.at(-1));
  return send(message, options);
};
const handle = transport.onmessage;
transport.onmessage = (message, extra) => {
  if (message.method === 'notifications/progress') {
    const { progressToken, ...rest } = message.params;
    callOf.get(progressToken)?.progress.push(rest);
  }
  handle(message, extra);
};
for (const { reports = 0, ...params } of JSON.parse(calls)) {
  const one = { progress: [] };
  seen.calls.push(one);
  one.result = await outcome(call(params, { onprogress: () => {} }));
  for (const end = Date.now() + 30_000; one.progress.length < reports && Date.now() < end; ) await new Promise((done) => setTimeout(done, 10));
  one.progress.sort((a, b) => a.progress - b.progress); // over HTTP what follows the answer has a stream of its own
}
seen.asked = asked;
await client.close();
process.stdout.write(JSON.stringify(seen, null, 1) + '\n', () => process.exit(0)); // not before all of it is written
