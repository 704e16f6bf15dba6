/**
 * MCPBrowserClient talks to one MCP server over Streamable HTTP, from a web page or from Node 20 and newer. It needs
 * nothing but fetch, and speaks both eras of the protocol: 2026-07-28, which has no sessions, and the revisions before
 * it, which begin with initialize. Which of them a server knows is found out with the first request.
 *
 *     import MCPBrowserClient from '/MCPBrowserClient.js';
 *     const client = new MCPBrowserClient({ baseUrl: '/mcps/agent-name' });
 *     const result = await client.callTool('execute_code', { code: '1 + 1' });
 *
 * Numbers are JavaScript's: integers above 2^53 are rounded. Where the browser has JSON.rawJSON, arguments may hold such objects,
 * and with exactNumbers results have them for numbers that would be rounded.
 *
 * @typedef {{taskId: string, status: string, statusMessage?: string, pollInterval?: number, pollIntervalMs?: number}} Task
 *   A call that nobody waits for. Its status is one of the server's words, in the end completed, failed or cancelled.
 *
 * @typedef {object} CallOptions
 * @property {AbortSignal} [signal] Cancels the request, or the task that it became.
 * @property {number} [timeout] Milliseconds of silence after which the request is given up; 0 waits for ever.
 * @property {(progress: {progress: number, total?: number, message?: string}) => void} [onProgress]
 * @property {(task: Task) => void} [onTaskUpdate] Called with each state of a call that became a task.
 * @property {boolean | {ttl?: number}} [task] Asks a server of 2025-11-25 to run the tool as a task.
 * @property {object} [meta] Further members of params._meta, such as {async: true}.
 *
 * @typedef {object} Options
 * @property {string} baseUrl The endpoint is this with /mcp after it. On a page it may be relative.
 * @property {number} [pollIntervalMs] Milliseconds between two looks at a task, unless the server wants more; 5000, with the
 *   first looks after 1, 2 and 4 seconds.
 * @property {boolean} [exactNumbers] Gives JSON.rawJSON objects for numbers that JavaScript would round.
 * @property {number} [timeout] What CallOptions.timeout is if a call does not say; 60000.
 * @property {HeadersInit} [headers] Sent with each request, such as Authorization.
 * @property {object} [capabilities] What onRequest can answer, such as {elicitation: {form: {}}}.
 * @property {(method: string, params: any) => any} [onRequest] Answers what the server asks; undefined for what it cannot.
 * @property {(method: string, params: any) => void} [onNotification] Gets what the server tells, progress aside.
 * @property {{name: string, version: string}} [clientInfo]
 * @property {string} [protocolVersion] The one to speak; without it the newest that the server knows.
 * @property {typeof fetch} [fetch]
 */

const MODERN = '2026-07-28';
const LEGACY = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
const TASKS = 'io.modelcontextprotocol/tasks';
const META = 'io.modelcontextprotocol/';

const HEADER_MISMATCH = -32020;
const MISSING_CAPABILITY = -32021;
const METHOD_NOT_FOUND = -32601;
const INTERNAL = -32603;
const TIMEOUT = -32003;

const BOTH = { Accept: 'application/json, text/event-stream', 'Content-Type': 'application/json' };

const OVER = ['completed', 'failed', 'cancelled'];
const MAX_TEXT = 64 * 1024 * 1024; // characters of one message
const MAX_DEPTH = 32; // of schemas that are looked into
const MAX_PAGES = 1000; // of one list
const MAX_ROUNDS = 10; // in which a server may ask before it answers one request
const MAX_TRIES = 5; // to come back to a stream that broke, or to a task
const MAX_TIMER = 2 ** 31 - 1; // milliseconds; a longer timer ends at once
const POLL = [1000, 2000, 4000, 5000]; // milliseconds between looks at a task, the last of them for good
const MIN_RETRY = 50; // milliseconds before a stream that broke is asked for, whatever the server says

/** What a server answers instead of a result, or why there is no answer. */
export class MCPError extends Error {
  /**
   * @param {string} message
   * @param {{code?: number, data?: any, status?: number, cause?: any}} [about] code and data are those of JSON-RPC, status
   *   is that of HTTP; each is undefined where there is none.
   */
  constructor(message, { code, data, status, cause } = {}) {
    super(message, { cause });
    this.name = 'MCPError';
    this.code = code;
    this.data = data;
    this.status = status;
  }
}

/**
 * createAgentClient makes the client of one agent of the router that the page came from, or of the one at options.router.
 * @param {string} agentName
 * @param {Partial<Options> & {router?: string}} [options]
 */
export function createAgentClient(agentName, { router = '', ...options } = {}) {
  return new MCPBrowserClient({ baseUrl: `${router.replace(/\/+$/, '')}/mcps/${encodeURIComponent(agentName)}`, ...options });
}

/** The client of one server. Its methods can run at the same time. */
export class MCPBrowserClient {
  #options;
  #base;
  #closing = new AbortController();
  #server = null; // promise of what the server is, once somebody asked
  #ids = 0;
  #progress = new Map(); // callbacks by progress token
  #pageless = false; // whether the server has no pages of tasks
  #tools = new Map(); // definitions by name, as far as they were listed

  /** @param {Options} options */
  constructor(options) {
    this.#options = { timeout: 60000, headers: {}, capabilities: {}, ...options };
    this.#options.clientInfo ??= { name: 'mcp-browser-client', version: '1.0.0' };
    this.#base = absolute(this.#options.baseUrl);
  }

  /**
   * connect finds out what the server speaks. Every other method does that by itself.
   * @returns {Promise<{era: 'modern' | 'legacy', protocolVersion: string, serverInfo: any, capabilities: any, instructions?: string}>}
   */
  async connect(options = {}) {
    const { era, protocolVersion, serverInfo, capabilities, instructions } = await this.#connected(options.signal);
    return { era, protocolVersion, serverInfo, capabilities, instructions };
  }

  /** @returns {Promise<any[]>} all pages */
  async listTools(options) {
    const tools = (await this.#list('tools/list', 'tools', options)).filter((tool) => typeof tool?.name === 'string');
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
    if ((await this.#connected()).era === 'legacy') return tools;
    return tools.filter((tool) => mirrored(tool.inputSchema) !== null);
  }

  /**
   * callTool returns the tool's result: {content, structuredContent, isError, …}. A failure that the tool reports itself is
   * a result, too. If the call becomes a task, that is followed to its end.
   * @param {string} name
   * @param {object} [args]
   * @param {CallOptions} [options]
   */
  async callTool(name, args = {}, options = {}) {
    const call = () => {
      const required = this.#tools.get(name)?.execution?.taskSupport === 'required';
      return this.request('tools/call', { name, arguments: args }, { task: required, ...options });
    };
    const known = this.#tools.has(name);
    try {
      return await call();
    } catch (error) {
      // How some tools are to be called is in their definition only.
      if (known || (error.code !== HEADER_MISMATCH && error.code !== METHOD_NOT_FOUND)) throw error;
      await this.listTools({ signal: options.signal });
      if (!this.#tools.has(name)) throw error;
      return call();
    }
  }

  /** @returns {Promise<any[]>} all pages */
  listResources(options) {
    return this.#list('resources/list', 'resources', options);
  }

  /** @returns {Promise<any[]>} all pages */
  listResourceTemplates(options) {
    return this.#list('resources/templates/list', 'resourceTemplates', options);
  }

  /** @returns {Promise<{uri: string, mimeType?: string, text?: string, blob?: string}[]>} the contents; most have one part */
  async readResource(uri, options) {
    return (await this.request('resources/read', { uri }, options)).contents;
  }

  /** @returns {Promise<any[]>} all pages */
  listPrompts(options) {
    return this.#list('prompts/list', 'prompts', options);
  }

  /** @returns {Promise<{description?: string, messages: any[]}>} */
  getPrompt(name, args = {}, options) {
    return this.request('prompts/get', { name, arguments: args }, options);
  }

  /**
   * complete proposes values for an argument of a prompt or of a resource template.
   * @param {{type: 'ref/prompt', name: string} | {type: 'ref/resource', uri: string}} ref
   * @returns {Promise<{values: string[], total?: number, hasMore?: boolean}>}
   */
  async complete(ref, name, value, options) {
    return (await this.request('completion/complete', { ref, argument: { name, value } }, options)).completion;
  }

  /** ping rejects when the server does not answer. 2026-07-28 has no ping, its servers are asked what they are. */
  async ping(options) {
    const { era } = await this.#connected(options?.signal);
    await this.request(era === 'modern' ? 'server/discover' : 'ping', {}, options);
  }

  /** close ends what runs, and the session if there is one. */
  async close() {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort(new MCPError('the client was closed'));
    const server = await this.#server?.catch(() => null);
    if (!server?.sessionId) return;
    try {
      await this.#fetch(server, 'DELETE', {}, undefined, AbortSignal.timeout(5000));
    } catch {
      // The server forgets the session in its own time.
    }
  }

  /**
   * request sends any method, answers what the server asks in between, and returns the result, also of a task.
   * @param {string} method
   * @param {object} [params]
   * @param {CallOptions} [options]
   */
  async request(method, params = {}, options = {}) {
    const _meta = { ...params._meta, ...options.meta };
    const token = options.onProgress && `progress-${++this.#ids}`;
    if (token) {
      _meta.progressToken = token;
      this.#progress.set(token, options.onProgress);
    }
    try {
      return await this.#settle(await this.#ask(method, { ...params, _meta }, options), options);
    } finally {
      this.#progress.delete(token);
    }
  }

  async #list(method, member, options) {
    const items = [];
    const seen = new Set();
    for (let cursor; seen.size < MAX_PAGES; seen.add(cursor)) {
      const page = await this.request(method, cursor === undefined ? {} : { cursor }, options);
      if (!Array.isArray(page?.[member])) throw new MCPError(`the answer to ${method} has no list of ${member}`, { data: page });
      for (const item of page[member]) items.push(item); // there may be more than a call takes arguments
      cursor = page.nextCursor ?? undefined; // an empty string is a cursor, too
      if (cursor === undefined) return items;
      if (seen.has(cursor)) throw new MCPError(`${method} never ends: the server repeats the cursor ${JSON.stringify(cursor)}`);
    }
    throw new MCPError(`${method} has more than ${MAX_PAGES} pages`);
  }

  // ---- what the server is

  async #connected(signal) {
    this.#closing.signal.throwIfAborted();
    if (!this.#server) {
      const found = this.#negotiate();
      found.catch(() => this.#forget(found)); // the next request tries again
      this.#server = found;
    }
    const found = this.#server;
    const server = await unless(signal, found);
    if (!server.gone) return server;
    this.#forget(found);
    return this.#connected(signal);
  }

  #forget(found) {
    if (this.#server === found) this.#server = null;
  }

  async #negotiate() {
    const wanted = this.#options.protocolVersion;
    if (wanted && wanted !== MODERN) return this.#initialize(wanted);
    const server = { era: 'modern', protocolVersion: MODERN };
    let offered;
    try {
      const found = await this.#exchange(server, 'server/discover', {}, {});
      offered = found.supportedVersions;
      if (!Array.isArray(offered) || offered.includes(MODERN)) {
        const serverInfo = found._meta?.[`${META}serverInfo`] ?? found.serverInfo;
        return Object.assign(server, { serverInfo, capabilities: found.capabilities ?? {}, instructions: found.instructions });
      }
    } catch (error) {
      if (wanted || !mayBeLegacy(error)) throw error;
      offered = error.data?.supported;
    }
    return this.#initialize((Array.isArray(offered) && LEGACY.find((version) => offered.includes(version))) || LEGACY[0]);
  }

  async #initialize(protocolVersion) {
    const { capabilities, clientInfo } = this.#options;
    const server = { era: 'legacy', protocolVersion: '', sessionId: '' };
    const found = await this.#exchange(server, 'initialize', { protocolVersion, capabilities, clientInfo }, {});
    if (!LEGACY.includes(found?.protocolVersion)) {
      throw new MCPError(`the server answers initialize with the protocol version ${JSON.stringify(found?.protocolVersion)}`, { data: found });
    }
    const { serverInfo, instructions } = found;
    Object.assign(server, { protocolVersion: found.protocolVersion, serverInfo, capabilities: found.capabilities ?? {}, instructions });
    await this.#tell(server, { method: 'notifications/initialized' });
    return server;
  }

  // ---- requests

  // ask gets a result that is not input_required, in a new session if the one that there was is gone.
  async #ask(method, params, options) {
    let server = await this.#connected(options.signal);
    const send = (extra) => this.#exchange(server, method, { ...params, ...extra, ...this.#taskParams(server, method, options) }, options);
    let result;
    try {
      result = await send();
    } catch (error) {
      if (error.status !== 404 || !server.sessionId || error.code === METHOD_NOT_FOUND) throw error;
      server.gone = true;
      server = await this.#connected(options.signal);
      result = await send();
    }
    for (let round = 1; server.era === 'modern' && result?.resultType === 'input_required'; round++) {
      if (round > MAX_ROUNDS) throw new MCPError(`the server asked ${MAX_ROUNDS} times and still does not answer ${method}`);
      const extra = result.requestState === undefined ? {} : { requestState: result.requestState };
      if (result.inputRequests) extra.inputResponses = await this.#inputs(result.inputRequests);
      result = await send(extra);
    }
    return result;
  }

  #taskParams(server, method, { task }) {
    if (!task || method !== 'tools/call' || server.era === 'modern') return {};
    return { task: task === true ? {} : task };
  }

  async #exchange(server, method, params, { signal, timeout = this.#options.timeout }) {
    const id = ++this.#ids;
    const wait = patience(timeout, method, [signal, this.#closing.signal]);
    try {
      wait.signal.throwIfAborted();
      return await this.#send(server, { jsonrpc: '2.0', id, method, params: this.#envelope(server, params) }, wait);
    } catch (error) {
      if (!wait.signal.aborted) throw error;
      // Of the modern era the end of the response stream says it. A session that ends takes its requests along.
      if (server.era === 'legacy' && method !== 'initialize' && !this.#closing.signal.aborted) {
        const reason = String(wait.signal.reason?.message ?? wait.signal.reason);
        const told = this.#tell(server, { method: 'notifications/cancelled', params: { requestId: id, reason } });
        told.catch(() => {}); // here it is over anyway
      }
      throw wait.signal.reason;
    } finally {
      wait.end();
    }
  }

  #envelope(server, { _meta, ...params }) {
    const meta = { ..._meta };
    if (server.era === 'modern') {
      const { capabilities, clientInfo } = this.#options;
      meta[`${META}protocolVersion`] = server.protocolVersion;
      meta[`${META}clientInfo`] = clientInfo;
      meta[`${META}clientCapabilities`] = { ...capabilities, extensions: { ...capabilities.extensions, [TASKS]: {} } };
    }
    return Object.keys(meta).length ? { ...params, _meta: meta } : params;
  }

  // send posts a request and returns its result.
  async #send(server, message, wait) {
    const headers = server.era === 'modern' ? { ...BOTH, ...this.#mirror(message) } : BOTH;
    const response = await this.#fetch(server, 'POST', headers, JSON.stringify(message), wait.signal);
    if (message.method === 'initialize') server.sessionId = response.headers.get('Mcp-Session-Id') ?? '';
    const answer = isStream(response) ? await this.#follow(server, message.id, response, wait) : await whole(response, wait, this.#exact());
    if (answer?.jsonrpc !== '2.0' || !('result' in answer || answer.error)) throw refusal(response, answer);
    if (answer.error) throw failure(answer.error, response.status);
    if (answer.id !== message.id) throw new MCPError(`the server answers request ${answer.id} instead of ${message.id}`, { data: answer });
    return answer.result;
  }

  // mirror repeats in headers what 2026-07-28 wants to see there.
  #mirror({ method, params }) {
    const headers = { 'Mcp-Method': method };
    const named = { 'tools/call': 'name', 'prompts/get': 'name', 'resources/read': 'uri' };
    const name = params[named[method] ?? (method.startsWith('tasks/') ? 'taskId' : '')];
    if (name !== undefined) headers['Mcp-Name'] = headerValue(name);
    if (method !== 'tools/call') return headers;
    for (const [header, path] of mirrored(this.#tools.get(params.name)?.inputSchema) ?? []) {
      let value = path.reduce((at, key) => at?.[key], params.arguments);
      if (JSON.isRawJSON?.(value)) value = Number(value.rawJSON);
      if (['string', 'boolean', 'number'].includes(typeof value)) headers[`Mcp-Param-${header}`] = headerValue(String(value));
    }
    return headers;
  }

  #exact() {
    return this.#options.exactNumbers ? exact : undefined;
  }

  async #fetch(server, method, headers, body, signal, path = '/mcp') {
    const all = new Headers(this.#options.headers);
    for (const [name, value] of Object.entries(headers)) all.set(name, value);
    if (server.sessionId) all.set('Mcp-Session-Id', server.sessionId);
    if (server.protocolVersion >= '2025-06-18') all.set('MCP-Protocol-Version', server.protocolVersion);
    const url = this.#base + path;
    try {
      return await (this.#options.fetch ?? fetch)(url, { method, headers: all, body, signal, redirect: 'error', cache: 'no-store' });
    } catch (error) {
      throw new MCPError(`${url} cannot be reached: ${error.cause?.message ?? error.message}`, { cause: error });
    }
  }

  // tell posts what has no answer: a notification, or the answer to a request of the server.
  async #tell(server, message) {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message });
    const response = await this.#fetch(server, 'POST', BOTH, body, AbortSignal.timeout(this.#options.timeout || 60000));
    if (!response.ok) throw refusal(response, await whole(response));
    await response.body?.cancel();
  }

  // follow reads an event stream until the answer to request id is there, and comes back to one that broke before.
  async #follow(server, id, response, wait) {
    let lastId = '';
    let retry = 1000;
    let broken;
    for (let tries = 0; tries <= MAX_TRIES; tries++) {
      if (tries > 0) {
        if (!lastId || server.era === 'modern') break;
        await sleep(Math.max(retry, MIN_RETRY), wait.signal);
      }
      try {
        if (tries > 0) {
          const headers = { Accept: 'text/event-stream', 'Last-Event-ID': lastId };
          response = await this.#fetch(server, 'GET', headers, undefined, wait.signal);
        }
        if (!isStream(response)) throw refusal(response, await whole(response, wait));
        for await (const event of events(response.body, wait.restart)) {
          lastId = event.id ?? lastId;
          retry = event.retry ?? retry;
          if (event.type !== 'message' || !event.data) continue;
          const message = parse(event.data, this.#exact());
          if (message?.id === id && !message.method) return message;
          tries = 0;
          this.#incoming(server, message, wait);
        }
      } catch (error) {
        if (wait.signal.aborted || !passes(error)) throw error;
        broken = error;
      }
    }
    throw new MCPError('the stream ended before the answer came', { cause: broken });
  }

  // ---- what the server sends by itself

  #incoming(server, message, wait) {
    if (typeof message?.method !== 'string') return; // an answer to somebody else
    if (message.id !== undefined) {
      wait.hold(this.#serve(message.method, message.params).then((result) => ({ result }), wireError))
        .then((answer) => this.#tell(server, { id: message.id, ...answer }))
        .catch(() => {}); // a server that does not take the answer does not wait for it any more
    } else if (message.method === 'notifications/progress') {
      this.#progress.get(message.params?.progressToken)?.(message.params);
    } else {
      this.#options.onNotification?.(message.method, message.params);
    }
  }

  async #serve(method, params) {
    if (method === 'ping') return {};
    const result = await this.#options.onRequest?.(method, params);
    if (result === undefined) throw new MCPError(`Method not found: this client does not answer ${method}`, { code: METHOD_NOT_FOUND });
    return result;
  }

  // inputs answers the questions of 2026-07-28, one after the other because a person may be asked.
  async #inputs(requests) {
    const responses = [];
    for (const [key, { method, params }] of Object.entries(requests)) responses.push([key, await this.#serve(method, params)]);
    return Object.fromEntries(responses);
  }

  // ---- tasks

  // settle returns the result itself, or that of the task which the result stands for.
  async #settle(result, options) {
    const quiet = { signal: options.signal, timeout: options.timeout };
    const ask = (method, params, more) => this.#ask(method, params, { ...quiet, ...more });
    if (result?.resultType === 'task') {
      const { taskId } = result;
      const answered = new Set();
      return this.#watch(result, options, {
        look: async () => {
          const task = await ask('tasks/get', { taskId });
          if (options.onProgress && !OVER.includes(task.status)) await this.#taskProgress(taskId, options);
          return task;
        },
        cancel: () => this.#ask('tasks/cancel', { taskId }, {}),
        input: async ({ inputRequests = {} }) => {
          const open = Object.entries(inputRequests).filter(([key]) => !answered.has(key));
          if (!open.length) return;
          await ask('tasks/update', { taskId, inputResponses: await this.#inputs(Object.fromEntries(open)) });
          for (const [key] of open) answered.add(key);
        },
      });
    }
    if (options.task && typeof result?.task?.taskId === 'string') {
      const { taskId } = result.task;
      return this.#watch(result.task, options, {
        look: () => ask('tasks/get', { taskId }),
        cancel: () => this.#ask('tasks/cancel', { taskId }, {}),
        input: () => true, // the questions of a task come on the stream of tasks/result, which then waits for the end
        fetched: async () => ({ result: await ask('tasks/result', { taskId }, { timeout: 0 }) }),
      });
    }
    const task = plainTask(result);
    if (!task) return result;
    let ours = false;
    return this.#watch(task, options, {
      look: async () => {
        const page = await this.#taskPage(task.taskId, options.signal);
        ours ||= page !== null;
        if (page) return page;
        if (!ours) return { status: 'completed', result }; // it only looked like a task
        return { status: 'failed', error: { message: 'the server does not know the task any more' } };
      },
    });
  }

  // watch looks at a task until it is over, and returns its result.
  async #watch(task, options, { look, cancel, input, fetched }) {
    const { signal, onTaskUpdate } = options;
    try {
      const { pollIntervalMs } = this.#options;
      for (let failures = 0, looks = 0; ; looks++) {
        if (failures === 0) onTaskUpdate?.(task);
        if (OVER.includes(task.status)) break;
        if (task.status === 'input_required' && (await input?.(task))) break;
        const interval = Math.max(pollIntervalMs ?? POLL[Math.min(looks, POLL.length - 1)], Number(task.pollIntervalMs ?? task.pollInterval) || 0);
        await sleep(Math.min(interval, MAX_TIMER), AbortSignal.any([signal, this.#closing.signal].filter(Boolean)));
        try {
          task = await look(task);
          failures = 0;
        } catch (error) {
          if (!passes(error) || ++failures > MAX_TRIES) throw error; // the task goes on without us
        }
      }
      if (fetched) task = await fetched();
    } catch (error) {
      if (signal?.aborted) cancel?.().catch(() => {}); // it may be over
      throw error;
    }
    if (task.result !== undefined) return task.result;
    throw failure(task.error ?? { message: task.statusMessage || `the task is ${task.status}`, data: { kind: task.status } });
  }

  // taskProgress passes on how far a task is, where the server's page of it says so.
  async #taskProgress(taskId, { signal, onProgress }) {
    if (this.#pageless) return;
    try {
      const page = await this.#taskPage(taskId, signal);
      const lines = String(page?.log ?? '').matchAll(/^\S+ progress (\S+)(?: of (\S+))? (.*)$/gm);
      const [, progress, total, message] = [...lines].at(-1) ?? [];
      if (progress !== undefined) onProgress({ progress: Number(progress), total: total === undefined ? undefined : Number(total), message: message || undefined });
      this.#pageless = page === null;
    } catch (error) {
      if (signal?.aborted) throw error;
      this.#pageless = true; // the task is followed without it
    }
  }

  // taskPage is what the server shows of a task to those who know no tasks; null if it knows none of that id.
  async #taskPage(taskId, signal) {
    const wait = patience(this.#options.timeout, 'task', [signal, this.#closing.signal]);
    try {
      const path = `/task?taskId=${encodeURIComponent(taskId)}`;
      const response = await this.#fetch({}, 'GET', { Accept: 'application/json' }, undefined, wait.signal, path);
      const page = await whole(response, wait);
      if (response.status === 404) return null;
      if (!response.ok || typeof page?.status !== 'string') throw refusal(response, page);
      return page;
    } catch (error) {
      throw wait.signal.aborted ? wait.signal.reason : error;
    } finally {
      wait.end();
    }
  }
}

export default MCPBrowserClient;

// ---- answers

function isStream(response) {
  return response.ok && /^text\/event-stream\b/i.test(response.headers.get('Content-Type') ?? '');
}

// whole reads a body that is no stream: its JSON, or its text if it is none.
async function whole(response, wait, reviver) {
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of chunks(response.body, wait?.restart)) text = bounded(text + decoder.decode(bytes, { stream: true }));
  text += decoder.decode();
  try {
    return JSON.parse(text, reviver);
  } catch {
    return text;
  }
}

// exact is a reviver that keeps the digits of numbers that JavaScript would round, where the browser can.
function exact(key, value, context) {
  if (typeof value !== 'number' || !context || !JSON.rawJSON) return value;
  const rounded = Number.isInteger(value) ? !Number.isSafeInteger(value) : context.source.length > 16 && String(value) !== context.source;
  return rounded ? JSON.rawJSON(context.source) : value;
}

function parse(text, reviver) {
  try {
    return JSON.parse(text, reviver);
  } catch (error) {
    throw new MCPError(`an event is not JSON: ${error.message}`, { data: text.slice(0, 1000) });
  }
}

function bounded(text) {
  if (text.length > MAX_TEXT) throw new MCPError(`the server sends more than ${MAX_TEXT} characters in one message`);
  return text;
}

function failure(error, status) {
  return new MCPError(String(error.message), { code: error.code, data: error.data, status });
}

// refusal says what an answer means that is not JSON-RPC.
function refusal(response, body) {
  const parts = typeof body === 'string' ? [body.trim().slice(0, 200)] : [body?.error, body?.detail];
  const said = parts.filter((part) => typeof part === 'string').join(': ');
  const what = response.ok ? 'the server answers without a JSON-RPC response' : 'the server refuses the request';
  return new MCPError(`${what}: HTTP ${response.status}${said ? `, ${said}` : ''}`, { status: response.status, data: body });
}

// mayBeLegacy tells whether an error could be that of a server which does not know server/discover.
function mayBeLegacy(error) {
  if (!(error instanceof MCPError) || !error.status || error.status === 401 || error.status === 403) return false;
  return error.code !== HEADER_MISMATCH && error.code !== MISSING_CAPABILITY;
}

// passes tells whether an error may be gone with the next try.
function passes(error) {
  return error instanceof MCPError && (error.cause !== undefined || error.status >= 500);
}

function wireError(error) {
  return { error: { code: error instanceof MCPError ? (error.code ?? INTERNAL) : INTERNAL, message: String(error?.message ?? error) } };
}

// plainTask is the task that a tool's result of the form {taskId, status} stands for, where neither side knows tasks.
function plainTask(result) {
  let value = result?.structuredContent;
  if (!value && result?.content?.length === 1 && result.content[0].type === 'text' && result.content[0].text.length < 10000) {
    try {
      value = JSON.parse(result.content[0].text);
    } catch {
      return null;
    }
  }
  return typeof value?.taskId === 'string' && ['pending', 'queued', 'running', 'working'].includes(value.status) ? value : null;
}

// ---- event streams

async function* chunks(body, alive) {
  if (!body) return;
  const reader = body.getReader();
  let ended = false;
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error) => {
        ended = true;
        throw new MCPError(`the answer broke off: ${error.cause?.message ?? error.message}`, { cause: error });
      });
      ended = done;
      if (done) return;
      alive?.();
      yield value;
    }
  } finally {
    if (!ended) linger(reader);
  }
}

// linger reads the little that follows an answer, so that the connection can be used again.
async function linger(reader) {
  const timer = setTimeout(() => reader.cancel().catch(() => {}), 1000);
  try {
    while (!(await reader.read()).done);
  } catch {
    // It broke, or was cancelled.
  } finally {
    clearTimeout(timer);
  }
}

// events reads server-sent events as the HTML standard defines them: {type, data, id?, retry?}. One that has all its lines
// and lacks only the empty one after it counts, without its id.
async function* events(body, alive) {
  const decoder = new TextDecoder(); // drops a byte order mark, and waits for the rest of a character
  let begun = []; // pieces of a line that has no end yet
  let size = 0;
  let afterCR = false; // the last character was \r, which a \n may belong to
  let event = { type: 'message', lines: [] };
  for await (const bytes of chunks(body, alive)) {
    let text = decoder.decode(bytes, { stream: true });
    if (text && afterCR) {
      afterCR = false;
      if (text[0] === '\n') text = text.slice(1);
    }
    if (!text) continue;
    afterCR = text.endsWith('\r');
    size += text.length;
    if (size > MAX_TEXT) throw new MCPError(`the server sends more than ${MAX_TEXT} characters in one event`);
    const lines = text.split(/\r\n?|\n/);
    begun.push(lines[0]);
    if (lines.length === 1) continue;
    lines[0] = begun.join('');
    begun = [lines.pop()];
    for (const line of lines) {
      if (line !== '') {
        field(event, line);
        continue;
      }
      size = 0;
      yield complete(event);
      event = { type: 'message', lines: [] };
    }
  }
  if (event.lines.length && begun.join('') === '') yield { ...complete(event), id: undefined };
}

function field(event, line) {
  const [, name, value] = /^([^:]*):? ?([^]*)$/.exec(line);
  if (name === 'data') event.lines.push(value);
  else if (name === 'event') event.type = value || 'message';
  else if (name === 'id' && !value.includes('\0')) event.id = value;
  else if (name === 'retry' && /^\d{1,9}$/.test(value)) event.retry = Number(value);
}

function complete({ lines, ...event }) {
  return { ...event, data: lines.join('\n') };
}

// ---- headers

// headerValue writes a value so that a header can carry it.
function headerValue(value) {
  if (/^(?![ \t])[\x20-\x7e]*(?<![ \t])$/.test(value) && !/^=\?base64\?.*\?=$/.test(value)) return value;
  const bytes = new TextEncoder().encode(value);
  return `=?base64?${btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))}?=`;
}

// mirrored lists the arguments of a tool that travel in headers as well: [header, path]. It is null if the schema asks for
// what cannot be, in which case 2026-07-28 does not let the tool be called over HTTP.
function mirrored(schema) {
  const found = [];
  const names = new Set();
  const walk = (at, path) =>
    path.length <= MAX_DEPTH &&
    Object.entries(at?.properties ?? {}).every(([name, property]) => {
      const here = [...path, name];
      const header = property?.['x-mcp-header'];
      if (header === undefined) return walk(property, here);
      const types = [property.type].flat();
      if (typeof header !== 'string' || !/^[\w!#$%&'*+.^`|~-]+$/.test(header) || names.has(header.toLowerCase())) return false;
      if (!types.every((type) => ['string', 'integer', 'boolean'].includes(type))) return false;
      names.add(header.toLowerCase());
      found.push([header, here]);
      return true;
    });
  return walk(schema, []) ? found : null;
}

// ---- time, and where the server is

// patience ends a request by its signal: after a silence of ms milliseconds, or when one of the signals does. While it holds
// for a promise, silence does not count: somebody else is at work.
function patience(ms, method, signals) {
  const late = new AbortController();
  const why = `no sign of an answer to ${method} for ${ms} ms`;
  const lateness = () => late.abort(new MCPError(why, { code: TIMEOUT, data: { kind: 'timeout' } }));
  let timer;
  let holds = 0;
  let over = false;
  const restart = () => {
    clearTimeout(timer);
    if (ms > 0 && !over && holds === 0) timer = setTimeout(lateness, ms);
  };
  const hold = (promise) => {
    holds++;
    restart();
    return promise.finally(() => {
      holds--;
      restart();
    });
  };
  const end = () => {
    over = true;
    restart();
  };
  restart();
  return { signal: AbortSignal.any([late.signal, ...signals.filter(Boolean)]), restart, hold, end };
}

// unless is the promise, or the end of the signal if that comes first.
function unless(signal, promise) {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

async function sleep(ms, signal) {
  let timer;
  try {
    await unless(signal, new Promise((resolve) => (timer = setTimeout(resolve, ms))));
  } finally {
    clearTimeout(timer);
  }
}

function absolute(baseUrl) {
  if (typeof baseUrl !== 'string') throw new TypeError('MCPBrowserClient: baseUrl is missing; give {baseUrl: "/mcps/agent-name"}');
  const page = globalThis.document?.baseURI ?? globalThis.location?.href;
  let url;
  try {
    url = new URL(baseUrl, page);
  } catch {
    const why = page ? 'is not a URL' : 'is relative, and there is no page that it could be relative to';
    const example = 'http://127.0.0.1:8088/mcps/agent-name';
    throw new TypeError(`MCPBrowserClient: baseUrl ${JSON.stringify(baseUrl)} ${why}; give an absolute one, such as ${example}`);
  }
  return url.href.replace(/\/+$/, '');
}
