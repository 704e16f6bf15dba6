// Drives an agent of the profile demo with a client that is not ours, and prints what it saw as one JSON object:
//
//   node clients.mjs v1|v2 URL
//
// v1 is @modelcontextprotocol/sdk, which speaks the revisions up to 2025-11-25; v2 is @modelcontextprotocol/client,
// told to speak 2026-07-28.
const [generation, url] = process.argv.slice(2);
const info = { name: 'mcphud-test', version: '1.0.0' };

async function connect() {
  if (generation === 'v1') {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
    const { LoggingMessageNotificationSchema } = await import('@modelcontextprotocol/sdk/types.js');
    const client = new Client(info);
    const transport = new StreamableHTTPClientTransport(new URL(url));
    await client.connect(transport);
    return {
      client,
      version: () => transport.protocolVersion,
      call: (params, options) => client.callTool(params, undefined, options),
      onLog: (f) => client.setNotificationHandler(LoggingMessageNotificationSchema, (n) => f(n.params)),
      close: async () => {
        await transport.terminateSession();
        await client.close();
      },
    };
  }
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const client = new Client(info, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  const transport = new StreamableHTTPClientTransport(new URL(url));
  await client.connect(transport);
  return {
    client,
    version: () => client.getNegotiatedProtocolVersion(),
    call: (params, options) => client.callTool(params, options),
    close: () => client.close(),
  };
}

// What a rejected promise says; null for one that was kept.
async function refusal(promise) {
  try {
    await promise;
    return null;
  } catch (e) {
    return { name: e.name, code: e.code ?? null, message: String(e.message) };
  }
}

const { client, version, call, onLog, close } = await connect();
const seen = { version: version(), server: client.getServerVersion(), capabilities: client.getServerCapabilities() };

seen.tools = (await client.listTools()).tools;
seen.resources = (await client.listResources()).resources;
seen.templates = (await client.listResourceTemplates()).resourceTemplates;
seen.prompts = (await client.listPrompts()).prompts;

seen.echo = await call({ name: 'echo', arguments: { message: 'grüß 🙂' } });
seen.add = await call({ name: 'add', arguments: { a: 40, b: 2 } });
seen.fail = await call({ name: 'fail', arguments: { message: 'as asked' } });
seen.contents = await call({ name: 'contents', arguments: {} });
seen.unknownTool = await refusal(call({ name: 'nope', arguments: {} }));

seen.read = [];
for (const { uri } of seen.resources) {
  seen.read.push((await client.readResource({ uri })).contents);
}
seen.note = await client.readResource({ uri: 'demo://note/ideas' });
seen.unknownResource = await refusal(client.readResource({ uri: 'demo://nothing' }));

seen.prompt = await client.getPrompt({ name: 'greet', arguments: { name: 'Ada', language: 'go' } });
seen.promptWithout = await refusal(client.getPrompt({ name: 'greet' }));
seen.completion = await client.complete({ ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'name', value: 'A' } });

seen.progress = [];
seen.slept = await call({ name: 'sleep', arguments: { seconds: 0.2, steps: 5 } }, { onprogress: (p) => seen.progress.push(p) });

// A call that reports its first step is running for certain; aborting it then tells the server.
const abort = new AbortController();
const begun = Date.now();
seen.cancelled = await refusal(
  call({ name: 'sleep', arguments: { seconds: 20, steps: 200 } }, { signal: abort.signal, onprogress: () => abort.abort('enough') }),
);
seen.afterCancel = await call({ name: 'echo', arguments: { message: 'still here' } });
seen.cancelMs = Date.now() - begun;

if (onLog) {
  seen.logs = [];
  onLog((p) => seen.logs.push(p.level));
  await client.setLoggingLevel('error');
  await call({ name: 'log', arguments: { message: 'hello' } });
  seen.ping = await client.ping();
}

await close();
console.log(JSON.stringify(seen));
