// The page at /: lists the router's agents, calls their tools, gets their prompts, reads their resources and talks with them over
// MCPBrowserClient. What an agent says is shown as text, never as markup.
import { MCPBrowserClient, createAgentClient } from '/MCPBrowserClient.js';
import { converse, partners } from '/browser/chat.js';
import { buildForm, element } from '/browser/form.js';

const MAX_TOOLS = 300; // that are shown at a time; the filter finds the others
const MAX_TEXT = 200000; // characters of one part of a result that are shown
const REFRESH = 5000; // milliseconds between two looks at the agents

const $ = (id) => document.getElementById(id);

let token = '';
let client = null;
const ALL = '*'; // in place of an agent's name, which cannot have it

let kind = location.hash === '#chat' ? 'chat' : 'tools'; // that is listed
let tools = []; // as the agent defines them
let lacking = ''; // why there is nobody to talk to, '' while that is not known
let partner = ''; // the URI of whom was talked with last
let items = { tools: [], prompts: [], resources: [], chat: [] }; // each {key, name, title, description, mark, schema, uri, template}
let chosen = null; // the item that is shown
const approved = new Set(); // destructive tools that are not asked about again
let readForm = () => ({});
let running = null; // AbortController of the call
let listed = ''; // the agents that are shown, as JSON
let lost = false; // whether the router did not say which agents there are

function headers() {
  return token ? { Authorization: `Bearer ${token}` } : {};
}

// notice says what is wrong, '' for nothing; again is for what can be tried again.
function notice(text, again = false) {
  lost = false;
  $('notice').hidden = !text;
  $('why').textContent = text;
  $('again').hidden = !again;
}

function explain(error) {
  const code = error?.code === undefined ? '' : ` (code ${error.code})`;
  return `${error?.message ?? error}${code}`;
}

// ---- agents

async function refresh() {
  try {
    const response = await fetch('/agents.json', { headers: headers(), cache: 'no-store' });
    if (response.status === 401) $('login').hidden = false;
    if (!response.ok) throw new Error(response.status === 401 ? 'The router wants a token.' : `The router answers HTTP ${response.status}.`);
    const { agents } = await response.json();
    if (lost) {
      notice('');
      if (!items.tools.length) disconnect(); // it may be there now
    }
    showAgents(agents);
  } catch (error) {
    const why = error instanceof TypeError ? 'The router does not answer. It is asked again every few seconds.' : error.message;
    const text = `The agents are not known: ${why}`;
    if (!lost || $('why').textContent !== text) notice(text);
    lost = true;
    listed = '';
    $('state').hidden = true; // it may be another by now
  }
}

function showAgents(agents) {
  const now = JSON.stringify(agents);
  if (now === listed && client) return; // somebody may be choosing
  listed = now;
  const select = $('agents');
  const before = select.value;
  const well = (state) => !state || state === 'ok';
  select.replaceChildren(
    ...agents.map(({ name, state }) => element('option', { value: name, 'data-state': state }, well(state) ? name : `${name} (${state})`)),
    ...(agents.length > 1 ? [element('option', { value: ALL }, 'all agents')] : []),
  );
  select.disabled = agents.length === 0;
  if (agents.length === 0) {
    disconnect();
    empty();
    notice('The router has no agents. Add one to routing.json; it appears here by itself.');
    return;
  }
  if ([...select.options].some(({ value }) => value === before)) select.value = before;
  const state = select.selectedOptions[0].dataset.state ?? '';
  $('state').textContent = state;
  $('state').hidden = well(state);
  $('state').classList.toggle('bad', !well(state));
  if (select.value !== before || !client) open(select.value);
}

// disconnect makes the next look at the agents open one.
function disconnect() {
  client?.close();
  client = null;
}

async function open(name) {
  client?.close();
  const options = { headers: headers(), exactNumbers: true, pollIntervalMs: 1000, capabilities: { elicitation: { form: {} } }, onRequest: answer };
  const opened = name === ALL ? new MCPBrowserClient({ baseUrl: location.origin, ...options }) : createAgentClient(name, options);
  client = opened;
  empty();
  notice('');
  $('server').textContent = 'connecting…';
  try {
    const { serverInfo, protocolVersion, capabilities } = await opened.connect();
    const all = capabilities?.tools ? await opened.listTools() : [];
    if (client !== opened) return; // another agent was chosen meanwhile
    tools = all;
    items.tools = all.map(toolItem);
    $('server').textContent = [introduced(serverInfo, name), serverInfo?.version, '· MCP', protocolVersion].filter(Boolean).join(' ').slice(0, 200);
    showItems();
    if (kind === 'tools' && items.tools.length) show(items.tools[0]);
    const [prompts, resources, templates] = await Promise.all([
      capabilities?.prompts ? opened.listPrompts() : [],
      capabilities?.resources ? opened.listResources() : [],
      capabilities?.resources ? opened.listResourceTemplates().catch(() => []) : [], // servers may have none
      listPartners(),
    ]);
    if (client !== opened) return;
    items.prompts = prompts.map(promptItem);
    items.resources = [...resources.map(resourceItem), ...templates.map(templateItem)];
    showItems();
    if (!chosen && items[kind].length && kind !== 'chat') show(items[kind][0]);
  } catch (error) {
    if (client !== opened) return;
    if (error.status === 401) $('login').hidden = false;
    $('server').textContent = '';
    notice(`${name}: ${explain(error)}`, error.status !== 401);
  }
}

// introduced is what a server calls itself. The router puts its own name and the agent's in front, which stands beside it.
function introduced(info, agent) {
  const name = String(info?.title ?? info?.name ?? '');
  return name.endsWith(`-proxy:${agent}`) ? agent : name;
}

// ---- what an agent offers

function toolItem(tool) {
  const hint = (name) => tool.annotations?.[name] === true;
  const mark = hint('destructiveHint') ? 'destructive' : hint('readOnlyHint') ? 'read-only' : undefined;
  return { name: tool.name, title: tool.title ?? tool.annotations?.title, description: tool.description, mark, schema: tool.inputSchema };
}

function promptItem({ name, title, description, arguments: args }) {
  const all = (Array.isArray(args) ? args : []).filter((each) => typeof each?.name === 'string');
  const properties = Object.fromEntries(all.map((each) => [each.name, { type: 'string', description: each.description }]));
  return { name: String(name), title, description, schema: { properties, required: all.filter((each) => each.required).map((each) => each.name) } };
}

function resourceItem({ uri, name, title, description, mimeType }) {
  return { name: String(title ?? name ?? uri), uri: String(uri), description: [uri, mimeType, description].filter(Boolean).join('\n'), schema: {} };
}

function templateItem({ uriTemplate, name, title, description, mimeType }) {
  const uri = { type: 'string', title: 'with its {parts} filled in', default: String(uriTemplate) };
  return {
    name: String(title ?? name ?? uriTemplate), mark: 'template', description: [uriTemplate, mimeType, description].filter(Boolean).join('\n'),
    schema: { properties: { uri }, required: ['uri'] },
  };
}

// listPartners finds whom one can talk with. What is shown stays, if that is still there.
async function listPartners() {
  const asked = client;
  const server = $('agents').value;
  const found = server === ALL ? { items: [], why: 'A conversation is with one agent: choose one above.' } : await partners(asked, server, tools);
  if (client !== asked) return;
  items.chat = found.items;
  lacking = found.why;
  if (kind !== 'chat') return;
  const now = items.chat.find(({ uri }) => uri === (chosen?.uri ?? partner));
  if (chosen && now) {
    chosen = now;
    converse(placeOf(now));
  } else show(now ?? items.chat[0] ?? null);
  showItems();
}

function placeOf(item) {
  const refused = (error, server) => {
    $('login').hidden = false;
    notice(`${server}: ${explain(error)}`);
  };
  return { item, server: $('agents').value, client: () => client, refused };
}

function empty() {
  tools = [];
  lacking = '';
  items = { tools: [], prompts: [], resources: [], chat: [] };
  show(null);
  showItems();
}

function showItems() {
  const all = items[kind];
  const wanted = $('filter').value.trim().toLowerCase();
  const found = all.filter(({ name, title, uri }) => [name, title, uri].some((text) => String(text ?? '').toLowerCase().includes(wanted)));
  $('tools').replaceChildren(
    ...found.slice(0, MAX_TOOLS).map((item) => {
      const button = element('button', { type: 'button', 'data-mark': item.mark, title: item.name.slice(0, 500) }, element('span', {}, item.name.slice(0, 200)));
      button.item = item;
      button.addEventListener('click', () => {
        show(item);
        $(kind === 'chat' ? 'say' : 'title').focus();
      });
      return element('li', {}, button);
    }),
  );
  const more = found.length > MAX_TOOLS ? `, the first ${MAX_TOOLS} shown` : '';
  $('count').textContent = `${wanted ? `${found.length} of ` : ''}${all.length} ${kind === 'chat' ? 'agents' : kind}${more}`;
  $('make').hidden = kind !== 'chat' || !all.length || all.some(({ made }) => made) || !creator();
  for (const button of $('kinds').children) button.setAttribute('aria-pressed', String(button.value === kind));
  $('filter').placeholder = `Filter ${kind === 'chat' ? 'agents' : kind}`;
  mark();
}

function mark() {
  for (const button of $('tools').querySelectorAll('button')) {
    if (button.item === chosen) button.setAttribute('aria-current', 'true');
    else button.removeAttribute('aria-current');
  }
}

// creator is the tool that makes agents, if there is one.
function creator() {
  return items.tools.find(({ name }) => name === 'create_agent');
}

const VERBS = { tools: 'Call', prompts: 'Get', resources: 'Read' };

function show(item) {
  running?.abort();
  running = null; // how it ends belongs to nothing that is shown
  busy(false, '');
  chosen = item;
  const talking = kind === 'chat';
  $('tool').hidden = !item || talking;
  $('nobody').hidden = !talking || Boolean(item) || !lacking;
  $('lacking').textContent = lacking;
  $('nobody').lastElementChild.hidden = !creator();
  converse(talking && item ? placeOf(item) : null);
  $('result').replaceChildren();
  if (talking) partner = item?.uri ?? partner;
  else if (item) {
    $('title').textContent = item.name;
    $('description').textContent = String(item.description ?? item.title ?? '');
    $('run').textContent = VERBS[kind];
    $('marks').hidden = !item.mark;
    $('marks').replaceChildren(...(item.mark ? [element('span', { class: item.mark === 'destructive' ? 'badge bad' : 'badge' }, item.mark)] : []));
    readForm = buildForm($('fields'), item.schema);
  }
  mark();
}

// ---- a call

let asked = true; // a promise while somebody is asked whether to call

async function call(event) {
  event.preventDefault();
  if ($('confirm').open) return;
  await asked; // a dialog that is closed tells so a little later
  if (running || $('confirm').open) return;
  const args = readForm();
  const item = chosen;
  if (args) $('result').replaceChildren();
  if (!args || !(await allowed(item, args)) || running || chosen !== item) return;
  const mine = new AbortController();
  running = mine;
  const began = performance.now();
  busy(true, 'waiting for the answer…');
  $('result').replaceChildren();
  try {
    const result = await request(item, args, {
      signal: mine.signal,
      onProgress: (progress) => running === mine && showProgress(progress),
      onTaskUpdate: (task) => running === mine && showTask(task),
    });
    if (running === mine) showResult(result, performance.now() - began);
  } catch (error) {
    if (running !== mine) return;
    if (mine.signal.aborted) $('result').replaceChildren(element('p', { class: 'quiet' }, 'Cancelled.'));
    else showError(error);
  } finally {
    if (running === mine) {
      running = null;
      busy(false, '');
    }
  }
}

async function request(item, args, options) {
  switch (kind) {
    case 'prompts':
      return { content: (await client.getPrompt(item.name, args, options)).messages.map(({ role, content }) => ({ role, ...content })) };
    case 'resources':
      return { content: (await client.readResource(item.uri ?? args.uri, options)).map(resourcePart) };
  }
  return client.callTool(item.name, args, options);
}

// resourcePart is one part of a resource as a tool would return it.
function resourcePart({ uri, mimeType = '', text, blob }) {
  const type = ['image', 'audio'].find((each) => blob !== undefined && mimeType.startsWith(`${each}/`));
  return type ? { type, mimeType, data: blob } : { type: 'resource', resource: { uri, mimeType, text: text ?? `${mimeType || 'binary'}, base64:\n${blob}` } };
}

// allowed asks before a tool is called that says that it destroys something, unless somebody wanted no more questions.
function allowed(item, args) {
  const key = JSON.stringify([$('agents').value, item.name]);
  if (item.mark !== 'destructive' || approved.has(key)) return true;
  const dialog = $('confirm');
  $('danger').textContent = `${$('agents').value === ALL ? 'The agent' : $('agents').value} marks ${item.name.slice(0, 200)} as destructive. Call it with these arguments?`;
  $('sent').textContent = JSON.stringify(args, null, 2);
  dialog.returnValue = 'no'; // Escape
  dialog.showModal();
  asked = new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      if (dialog.returnValue === 'always') approved.add(key);
      resolve(dialog.returnValue !== 'no');
    }, { once: true });
  });
  return asked;
}

let step = ''; // how far the call is

function busy(on, activity) {
  step = '';
  $('run').disabled = on;
  $('keys').hidden = on;
  $('cancel').hidden = !on;
  $('progress').hidden = true;
  $('progress').removeAttribute('value');
  $('activity').textContent = activity;
}

function showProgress({ progress, total, message }) {
  const bar = $('progress');
  const [done, all] = [progress, total].map((n) => Number(n?.rawJSON ?? n));
  bar.hidden = false;
  if (all > 0) {
    bar.max = all;
    bar.value = Math.min(done, all);
  } else {
    bar.removeAttribute('value');
  }
  step = [all > 0 ? `${Math.floor((100 * Math.min(done, all)) / all)} %` : '', message ?? (all > 0 ? `${done} of ${all}` : `${done} so far`)].filter(Boolean).join(' · ');
  $('activity').textContent = step.slice(0, 500);
}

function showTask({ status, statusMessage }) {
  $('progress').hidden = false; // without a value as long as nobody says how far it is
  $('activity').textContent = [step, `task ${status}${statusMessage ? `: ${statusMessage}` : ''}`].filter(Boolean).join(' · ').slice(0, 500);
}

function showResult(result, took) {
  const failed = result.isError === true;
  const parts = (Array.isArray(result.content) ? result.content : []).map((each) => {
    const shown = part(each);
    if (each?.role) shown.firstChild.prepend(`${each.role}: `);
    return shown;
  });
  if (result.structuredContent !== undefined) parts.push(block('structured', JSON.stringify(result.structuredContent, null, 2)));
  if (!parts.length) parts.push(element('p', { class: 'quiet' }, 'The result is empty.'));
  const head = element('p', { class: failed ? 'bad' : 'good' }, `${failed ? 'The tool failed' : 'Done'} after ${(took / 1000).toFixed(2)} s`);
  $('result').replaceChildren(head, ...parts);
}

function showError(error) {
  const parts = [element('p', { class: 'bad' }, explain(error))];
  if (error?.data !== undefined) parts.push(block('data', JSON.stringify(error.data, null, 2)));
  $('result').replaceChildren(...parts);
}

function part(content) {
  const url = `data:${content?.mimeType};base64,${content?.data}`;
  switch (content?.type) {
    case 'text':
      return block('text', String(content.text));
    case 'image':
      if (/^image\/[\w.+-]+$/.test(content.mimeType)) return figure(content.mimeType, element('img', { src: url, alt: 'picture in the result' }));
      break;
    case 'audio':
      if (/^audio\/[\w.+-]+$/.test(content.mimeType)) return figure(content.mimeType, element('audio', { src: url, controls: true }));
      break;
    case 'resource_link':
      return block('resource link', [content.uri, content.title ?? content.name, content.description].filter(Boolean).join('\n'));
    case 'resource':
      return block(`resource ${content.resource?.uri}`, String(content.resource?.text ?? JSON.stringify(content.resource, null, 2)));
  }
  return block(String(content?.type), JSON.stringify(content, null, 2));
}

function figure(caption, node) {
  return element('figure', {}, element('figcaption', {}, caption), node);
}

function block(caption, text = '') {
  const cut = text.length > MAX_TEXT ? `\n… ${text.length - MAX_TEXT} more characters` : '';
  return figure(caption.slice(0, 500), element('pre', { tabindex: 0 }, text.slice(0, MAX_TEXT) + cut));
}

// ---- questions of an agent

let asking = Promise.resolve();

function answer(method, params) {
  if (method !== 'elicitation/create' || (params?.mode ?? 'form') !== 'form') return undefined;
  const asked = asking.then(() => ask(params, running?.signal));
  asking = asked.catch(() => {});
  return asked;
}

// ask shows the form in a dialog, one at a time.
function ask({ message, requestedSchema }, signal) {
  $('question').textContent = String(message ?? '');
  const read = buildForm($('answers'), requestedSchema, { prefill: true });
  const dialog = $('ask');
  const over = new AbortController();
  return new Promise((resolve) => {
    const end = (result) => {
      over.abort();
      dialog.close();
      resolve(result);
    };
    const listen = (node, type, f) => node?.addEventListener(type, f, { signal: over.signal });
    listen($('answer'), 'submit', (event) => {
      event.preventDefault();
      if (event.submitter?.value === 'decline') return end({ action: 'decline' });
      const content = read();
      if (content) end({ action: 'accept', content });
    });
    listen(dialog, 'cancel', () => end({ action: 'cancel' })); // Escape
    listen(signal, 'abort', () => end({ action: 'cancel' }));
    dialog.showModal();
  });
}

// ---- the page

function change(to) {
  kind = to;
  $('filter').value = '';
  show(items[kind].find(({ uri }) => kind === 'chat' && uri === partner) ?? items[kind][0] ?? null);
  showItems();
}

$('agents').addEventListener('change', () => {
  open($('agents').value);
  refresh();
});
$('again').addEventListener('click', () => {
  open($('agents').value);
  refresh();
});
$('filter').addEventListener('input', showItems);
$('kinds').addEventListener('click', ({ target }) => {
  if (!target.value || target.value === kind) return;
  change(target.value);
  if (kind === 'chat' && client) listPartners(); // there may be more by now
});
for (const button of document.querySelectorAll('button.create')) {
  button.addEventListener('click', () => {
    change('tools');
    show(creator() ?? null);
    $('title').focus();
  });
}
$('call').addEventListener('submit', call);
$('call').addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) $('call').requestSubmit(); // Enter alone is a new line
});
$('cancel').addEventListener('click', () => running?.abort());
$('login').addEventListener('submit', (event) => {
  event.preventDefault();
  token = $('token').value;
  $('token').value = '';
  $('login').hidden = true; // until somebody refuses it
  disconnect();
  notice('');
  refresh();
});
addEventListener('pagehide', () => client?.close());
setInterval(() => document.hidden || refresh(), REFRESH);
refresh();
