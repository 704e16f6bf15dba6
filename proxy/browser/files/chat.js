// A conversation with an agent of the server that is open, over its tool ask_agent_stream. It is kept as long as the page is,
// and nowhere else. What the agent says, calls and gets is text, never markup.
import { element } from '/browser/form.js';

const STREAM = 'ask_agent_stream';
const CALL = 'mcphud/call'; // in _meta of a progress notification: {id, name, arguments, done, error, result, ms, more}
const LISTS = ['system-agents://list', 'my-agents://list'];

const MAX_AGENTS = 2000; // of one list
const MAX_TEXT = 200000; // characters of an answer that are shown
const MAX_STEP = 20000; // characters of the arguments and of the result of a call
const MAX_STEPS = 200; // calls that are shown of an answer
const MAX_TURNS = 50; // questions with their answers that stay on the page
const MAX_PAGE = 1000000; // characters of them
const MAX_SENT = 40000; // characters of what was said before that are sent with a question; agents take 100,000 with it
const MAX_MESSAGES = 40;
const MAX_SPOKEN = 4000; // characters of an answer that are read out while it comes
const FLUSH = 50; // milliseconds between two looks at what came, more for a long answer
const SILENCE = 600000; // milliseconds after which an answer is given up: a model may think for long

const $ = (id) => document.getElementById(id);

const talks = new Map(); // {turns, history, running, draft} by server and agent
let place = null; // {item, server, client, refused} of the conversation that is shown
let talk = null; // the one of place

/**
 * partners lists the agents that a server's ask_agent_stream can ask: {items, why}, where why tells what lacks if there are none.
 */
export async function partners(client, server, tools) {
  const tool = tools.find(({ name }) => name === STREAM);
  if (!tool) return { items: [], why: `${server} has no tool ask_agent_stream, which a conversation needs. The agent that comes with mcphud has: start “mcphud agent”, and add its URL to routing.json.` };
  const lists = await Promise.allSettled(LISTS.map(async (uri) => JSON.parse((await client.readResource(uri))[0].text)));
  const items = lists.flatMap(({ value }) => (Array.isArray(value) ? value.slice(0, MAX_AGENTS) : []))
    .filter((each) => typeof each?.uri === 'string' && typeof each.name === 'string')
    .map(({ uri, name, fully_qualified_name: full, description, user_id: user }) => ({ name: String(full ?? name).slice(0, 200), uri, description, mark: user ? 'made' : undefined, made: Boolean(user), tool }));
  const failed = lists.find(({ status }) => status === 'rejected');
  if (items.length || !failed) return { items, why: `${server} has no agents yet. Make one with its tool create_agent; it appears here.` };
  return { items, why: `${server} does not say which agents it has: ${failed.reason?.message ?? failed.reason}` };
}

/** converse shows the conversation with an agent, {item, server, client(), refused(error)}, or none. */
export function converse(where) {
  if (talk) talk.draft = $('say').value;
  place = where;
  talk = where && talkWith(where);
  $('conversation').hidden = !where;
  if (!where) return;
  const { name, description, tool } = where.item;
  $('partner').textContent = name;
  $('brief').textContent = String(description ?? '').slice(0, 2000);
  $('sayto').textContent = `Message to ${name}`;
  $('say').value = talk.draft;
  $('memory').textContent = takes(tool, 'history')
    ? 'Each question is sent with what was said before it here. Nothing of it is stored: it is gone when you leave or reload the page.'
    : 'Each question stands alone: this agent is not told what was said before. Nothing is stored by the page.';
  $('talk').replaceChildren(talk.turns);
  $('talk').scrollTop = $('talk').scrollHeight;
  state();
}

function talkWith({ server, item }) {
  const key = JSON.stringify([server, item.uri]);
  if (!talks.has(key)) talks.set(key, { turns: element('div', { class: 'turns' }), history: [], running: null, draft: '', activity: '', id: `page-${Date.now().toString(36)}-${talks.size}` });
  return talks.get(key);
}

function takes(tool, argument) {
  return tool.inputSchema?.properties?.[argument] !== undefined;
}

// state shows what can be done now.
function state() {
  const on = Boolean(talk?.running);
  $('send').disabled = on;
  $('sendkeys').hidden = on;
  $('stop').hidden = !on;
  $('fresh').hidden = on || !talk?.turns.childElementCount;
  $('chatting').textContent = talk?.activity ?? '';
}

function activity(of, text) {
  if (of.activity === text) return;
  of.activity = text;
  if (of === talk) state();
}

// ---- a question

async function ask(prompt) {
  const { item, server, client, refused } = place;
  const mine = talk;
  const used = client();
  const running = new AbortController();
  mine.running = running;
  const answer = new Answer(mine, item.name, prompt);
  activity(mine, 'waiting for the answer…');
  const args = { agent_uri: item.uri, prompt };
  if (takes(item.tool, 'calls')) args.calls = true;
  if (takes(item.tool, 'session_id')) args.session_id = mine.id;
  if (takes(item.tool, 'history') && mine.history.length) args.history = before(mine.history);
  try {
    const options = { signal: running.signal, timeout: SILENCE, onProgress: (progress) => mine.running === running && answer.progress(progress) };
    answer.end(await used.callTool(STREAM, args, options));
  } catch (error) {
    if (running.signal.aborted) answer.stop('Stopped.', 'quiet');
    else if (client() !== used) answer.stop('Stopped, since the page left this connection.', 'quiet');
    else if (error?.status === 401) {
      answer.stop('Not answered: a token is wanted. Give one above, and ask again.', 'bad');
      refused(error, server);
    } else answer.stop(`${answer.text ? 'The answer broke off' : 'No answer'}: ${error?.message ?? error}${error?.code === undefined ? '' : ` (code ${error.code})`}`, 'bad');
  } finally {
    mine.running = null;
    activity(mine, '');
    if (mine === talk) state();
  }
  if (answer.text) mine.history = before([...mine.history, { role: 'user', content: prompt }, { role: 'assistant', content: answer.text.slice(0, MAX_SENT / 2) }]);
}

// before is as much of what was said as is sent: the end of it.
function before(history) {
  const all = history.slice(-MAX_MESSAGES);
  let size = all.reduce((n, { content }) => n + content.length, 0);
  while (size > MAX_SENT) size -= all.shift().content.length;
  return all;
}

/** Answer is what comes to a question: calls on the way, text in pieces, and how it ends. */
class Answer {
  text = ''; // what is shown of it
  #size = 0; // characters that came
  #waiting = ''; // that are not shown yet
  #timer = 0;
  #unsaid = ''; // that are not read out yet
  #spoken = 0;
  #steps = new Map();
  #talk;
  #prompt;
  #words = document.createTextNode('');
  #calls = element('div', { class: 'calls' });
  #foot = element('div', { class: 'foot' });
  #node;
  #began = performance.now();

  constructor(mine, name, prompt) {
    this.#talk = mine;
    this.#prompt = prompt;
    const said = element('div', { class: 'words' });
    said.append(this.#words);
    this.#node = element('article', { class: 'answer', 'aria-label': `${name} answers`, 'aria-busy': 'true' }, element('p', { class: 'who' }, name), this.#calls, said, this.#foot);
    this.#place(() => {
      mine.turns.append(element('article', { class: 'question', 'aria-label': 'You ask' }, element('p', { class: 'who' }, 'You'), element('div', { class: 'words' }, prompt)), this.#node);
      const { turns } = mine;
      while (turns.childElementCount > 2 * MAX_TURNS || (turns.childElementCount > 2 && turns.textContent.length > MAX_PAGE)) turns.firstElementChild.remove();
    }, true);
  }

  // place changes the conversation, and keeps its end in sight for who looks at that.
  #place(change, always = false) {
    const log = $('talk');
    const atEnd = this.#talk === talk && (always || log.scrollHeight - log.scrollTop - log.clientHeight < 40);
    change();
    if (atEnd) log.scrollTop = log.scrollHeight;
  }

  progress({ message, _meta: meta }) {
    if (meta?.[CALL]) return this.#step(meta[CALL]);
    if (typeof message !== 'string' || !message) return undefined;
    activity(this.#talk, 'answering…');
    this.#size += message.length;
    const room = MAX_TEXT - this.text.length - this.#waiting.length;
    if (room > 0) this.#waiting += message.slice(0, room);
    this.#timer ||= setTimeout(() => this.#flush(), FLUSH + this.#size / 500);
    return undefined;
  }

  #flush() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    const text = this.#waiting;
    this.#waiting = '';
    if (!text) return;
    this.text += text;
    this.#place(() => this.#words.appendData(text));
    this.#speak(text);
  }

  // speak lets screen readers say an answer by sentences: by pieces it would be a stammer.
  #speak(text, rest = false) {
    if (this.#talk !== talk || this.#spoken > MAX_SPOKEN) return;
    this.#unsaid += text;
    const end = rest ? this.#unsaid.length : Math.max(this.#unsaid.lastIndexOf('. '), this.#unsaid.lastIndexOf('? '), this.#unsaid.lastIndexOf('! '), this.#unsaid.lastIndexOf('\n')) + 1;
    const say = this.#unsaid.slice(0, end).trim();
    this.#unsaid = this.#unsaid.slice(end);
    if (!say) return;
    this.#spoken += say.length;
    aloud(say.slice(0, MAX_SPOKEN));
    if (this.#spoken > MAX_SPOKEN) aloud('The answer goes on.');
  }

  #step(call) {
    const name = String(call.name).slice(0, 200);
    const id = String(call.id).slice(0, 200);
    let step = this.#steps.get(id);
    if (!step) {
      if (this.#steps.size > MAX_STEPS) return;
      if (this.#steps.size === MAX_STEPS) {
        this.#steps.set('', {});
        this.#place(() => this.#calls.append(element('p', { class: 'quiet' }, `More than ${MAX_STEPS} calls: the others are not shown.`)));
        return;
      }
      step = { state: element('span', { class: 'quiet' }, 'running…'), body: element('div') };
      step.node = element('details', { class: 'step' }, element('summary', {}, `called ${name} `, step.state), step.body);
      this.#steps.set(id, step);
      if (call.arguments) step.body.append(folded('arguments', pretty(call.arguments), call.more));
      this.#place(() => this.#calls.append(step.node));
    }
    if (!call.done) return activity(this.#talk, `calling ${name}…`);
    activity(this.#talk, 'waiting for the answer…');
    if (!step.state || step.over) return undefined;
    step.over = true;
    step.state.textContent = `${call.error ? 'failed after' : 'done in'} ${seconds(call.ms)}`;
    step.state.className = call.error ? 'bad' : 'good';
    this.#place(() => step.body.append(folded(call.error ? 'error' : 'result', pretty(call.result), call.more)));
    return undefined;
  }

  end(result) {
    this.#flush();
    const said = envelope(result);
    if (result?.isError) return this.stop(String(said?.message ?? textOf(result) ?? 'The agent failed, and does not say why.').slice(0, 10000), 'bad');
    const response = said?.response ?? said ?? textOf(result);
    const words = typeof response === 'string' ? response : typeof response?.answer === 'string' ? response.answer : JSON.stringify(response, null, 2);
    const full = String(words ?? '');
    if (this.text !== full.slice(0, MAX_TEXT)) { // what a server without progress says, or JSON that came without its line ends
      const unread = full.slice(full.startsWith(this.text) ? this.text.length : 0, MAX_TEXT);
      this.text = full.slice(0, MAX_TEXT);
      this.#place(() => (this.#words.data = this.text));
      this.#speak(unread);
    }
    this.#speak('', true);
    if (!full) this.#note('The answer is empty.', 'quiet');
    const more = Math.max(this.#size, full.length) - MAX_TEXT;
    if (more > 0) this.#note(`… ${more} more characters`, 'quiet');
    const by = said?.model === 'extractive' ? 'quoted by the agent itself, without a model; what was said before plays no part' : said?.model;
    this.#note([by, seconds(performance.now() - this.#began)].filter(Boolean).map((part) => String(part).slice(0, 300)).join(' · '), 'quiet');
    if (typeof response?.answer === 'string' && Object.keys(response).length > 1) {
      const { answer, ...rest } = response;
      this.#foot.append(folded('more of the answer', JSON.stringify(rest, null, 2)));
    }
    this.#over();
    return undefined;
  }

  // stop ends an answer that does not end well: what came stays.
  stop(why, manner) {
    this.#flush();
    this.#speak('', true);
    this.#note(why, manner);
    if (this.#talk === talk) aloud(why.slice(0, MAX_SPOKEN));
    const again = element('button', { type: 'button' }, 'Ask again');
    const { turns } = this.#talk;
    again.addEventListener('click', () => {
      if (talk?.turns === turns && !talk.running) ask(this.#prompt);
      $('say').focus();
    });
    this.#place(() => this.#foot.append(again));
    this.#over();
  }

  #note(text, manner) {
    this.#place(() => this.#foot.append(element('p', { class: manner }, text)));
  }

  #over() {
    for (const { state: shown, over } of this.#steps.values()) if (shown && !over) shown.textContent = 'not known how it ended';
    this.#node.setAttribute('aria-busy', 'false');
  }
}

// ---- what an answer is made of

// envelope is the JSON of a result of ask_agent, however it came.
function envelope(result) {
  if (result?.structuredContent) return result.structuredContent;
  try {
    const value = JSON.parse(textOf(result));
    return typeof value === 'object' ? value : undefined;
  } catch {
    return undefined;
  }
}

function textOf(result) {
  const texts = (Array.isArray(result?.content) ? result.content : []).filter((each) => each?.type === 'text').map(({ text }) => String(text));
  return texts.length ? texts.join('\n') : undefined;
}

function folded(caption, text, more = 0) {
  const left = Math.max(0, text.length - MAX_STEP) + (Number(more) || 0);
  const cut = left > 0 ? `\n… about ${left} more characters` : '';
  return element('details', {}, element('summary', {}, caption), element('pre', { tabindex: 0 }, text.slice(0, MAX_STEP) + cut));
}

// pretty breaks JSON into lines where the browser can keep its numbers as they are, and leaves other text alone. What is long is
// not parsed for its looks.
function pretty(text) {
  const all = String(text ?? '');
  if (all.length > MAX_STEP || !JSON.rawJSON) return all;
  try {
    return JSON.stringify(JSON.parse(all, (key, value, { source }) => (typeof value === 'number' ? JSON.rawJSON(source) : value)), null, 2);
  } catch {
    return all;
  }
}

function seconds(ms) {
  return `${((Number(ms) || 0) / 1000).toFixed(2)} s`;
}

// aloud is for those who hear the page.
function aloud(text) {
  const region = $('aloud');
  region.append(element('p', {}, text));
  while (region.childElementCount > 5) region.firstElementChild.remove();
}

// ---- the page

function send() {
  const prompt = $('say').value.trim();
  if (!prompt || !talk || talk.running) return;
  $('say').value = '';
  ask(prompt);
}

$('composer').addEventListener('submit', (event) => {
  event.preventDefault();
  send();
  $('say').focus();
});
$('say').addEventListener('keydown', (event) => {
  if (event.isComposing) return; // an input method has the key
  if (event.key === 'Enter' && !event.shiftKey) {
    event.preventDefault();
    send();
  } else if (event.key === 'Escape') talk?.running?.abort();
});
$('stop').addEventListener('click', () => {
  talk?.running?.abort();
  $('say').focus();
});
$('fresh').addEventListener('click', () => {
  if (talk.running) return;
  talk.history = [];
  talk.turns.replaceChildren();
  state();
  $('say').focus();
});
