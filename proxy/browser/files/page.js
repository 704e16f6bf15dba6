// The page at /: lists the router's agents, and calls their tools with MCPBrowserClient. What an agent says is shown as
// text, never as markup.
import { createAgentClient } from '/MCPBrowserClient.js';
import { buildForm, element } from '/browser/form.js';

const MAX_TOOLS = 300; // that are shown at a time; the filter finds the others
const MAX_TEXT = 200000; // characters of one part of a result that are shown
const REFRESH = 5000; // milliseconds between two looks at the agents

const $ = (id) => document.getElementById(id);

let token = '';
let client = null;
let tools = [];
let chosen = null; // name of the tool
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
      if (!tools.length) disconnect(); // it may be there now
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
  );
  select.disabled = agents.length === 0;
  if (agents.length === 0) {
    disconnect();
    tools = [];
    showTools();
    notice('The router has no agents. Add one to routing.json; it appears here by itself.');
    return;
  }
  if (agents.some(({ name }) => name === before)) select.value = before;
  const state = select.selectedOptions[0].dataset.state ?? '';
  $('state').textContent = state;
  $('state').hidden = !state;
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
  const opened = createAgentClient(name, { headers: headers(), pollIntervalMs: 1000, capabilities: { elicitation: { form: {} } }, onRequest: answer });
  client = opened;
  tools = [];
  show(null);
  showTools();
  notice('');
  $('server').textContent = 'connecting…';
  try {
    const { serverInfo, protocolVersion } = await opened.connect();
    const all = await opened.listTools();
    if (client !== opened) return; // another agent was chosen meanwhile
    tools = all;
    $('server').textContent = [serverInfo?.name, serverInfo?.version, '· MCP', protocolVersion].filter(Boolean).join(' ').slice(0, 200);
    showTools();
    if (tools.length) show(tools[0]);
  } catch (error) {
    if (client !== opened) return;
    if (error.status === 401) $('login').hidden = false;
    $('server').textContent = '';
    notice(`${name}: ${explain(error)}`, error.status !== 401);
  }
}

// ---- tools

function showTools() {
  const wanted = $('filter').value.trim().toLowerCase();
  const found = tools.filter((tool) => tool.name.toLowerCase().includes(wanted) || String(tool.title ?? '').toLowerCase().includes(wanted));
  $('tools').replaceChildren(
    ...found.slice(0, MAX_TOOLS).map((tool) => {
      const button = element('button', { type: 'button', 'aria-current': tool.name === chosen ? 'true' : undefined }, tool.name.slice(0, 200));
      button.addEventListener('click', () => {
        show(tool);
        $('title').focus();
      });
      return element('li', {}, button);
    }),
  );
  const more = found.length > MAX_TOOLS ? `, the first ${MAX_TOOLS} shown` : '';
  $('count').textContent = wanted ? `${found.length} of ${tools.length} tools${more}` : `${tools.length} tools${more}`;
}

function show(tool) {
  running?.abort();
  running = null; // how it ends belongs to no tool that is shown
  busy(false, '');
  chosen = tool?.name ?? null;
  $('tool').hidden = !tool;
  $('result').replaceChildren();
  if (tool) {
    $('title').textContent = tool.name;
    $('description').textContent = String(tool.description ?? tool.title ?? '');
    readForm = buildForm($('fields'), tool.inputSchema);
  }
  for (const button of $('tools').querySelectorAll('button')) {
    if (button.textContent === chosen?.slice(0, 200)) button.setAttribute('aria-current', 'true');
    else button.removeAttribute('aria-current');
  }
}

// ---- a call

async function call(event) {
  event.preventDefault();
  if (running) return;
  const args = readForm();
  if (!args) return;
  const mine = new AbortController();
  running = mine;
  const began = performance.now();
  busy(true, 'calling…');
  $('result').replaceChildren();
  try {
    const result = await client.callTool(chosen, args, {
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

function busy(on, activity) {
  $('run').disabled = on;
  $('keys').hidden = on;
  $('cancel').hidden = !on;
  $('progress').hidden = true;
  $('progress').removeAttribute('value');
  $('activity').textContent = activity;
}

function showProgress({ progress, total, message }) {
  const bar = $('progress');
  bar.hidden = false;
  if (total > 0) {
    bar.max = total;
    bar.value = Math.min(progress, total);
  } else {
    bar.removeAttribute('value');
  }
  $('activity').textContent = String(message ?? (total > 0 ? `${progress} of ${total}` : progress)).slice(0, 500);
}

function showTask({ status, statusMessage }) {
  $('progress').hidden = false; // how far it is does not reach us, that it goes on does
  $('activity').textContent = `task ${status}${statusMessage ? `: ${statusMessage}` : ''}`;
}

function showResult(result, took) {
  const failed = result.isError === true;
  const parts = (Array.isArray(result.content) ? result.content : []).map(part);
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
  const read = buildForm($('answers'), requestedSchema);
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

$('agents').addEventListener('change', () => {
  open($('agents').value);
  refresh();
});
$('again').addEventListener('click', () => {
  open($('agents').value);
  refresh();
});
$('filter').addEventListener('input', showTools);
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
