// A form for a JSON Schema: fields for what is simple, JSON for the rest. Texts of the schema are text, never markup.

const MAX_FIELDS = 100; // more than that is JSON in one field
const MAX_CHOICES = 500;

let serial = 0;

/** element makes one with attributes and children; strings become text. */
export function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) node.setAttribute(key, value === true ? '' : String(value));
  }
  node.append(...children.map((child) => (child instanceof Node ? child : String(child))));
  return node;
}

/**
 * buildForm fills a node with the fields of a schema. It returns a function that reads them: the arguments, or null after
 * it has shown which field is wrong. What is left empty is not sent. Defaults are there to begin with where a
 * value is required, and everywhere with prefill.
 */
export function buildForm(node, schema, { prefill = false } = {}) {
  const properties = schema && typeof schema.properties === 'object' && schema.properties ? Object.entries(schema.properties) : [];
  const simple = properties.length <= MAX_FIELDS && !schema?.$ref && (properties.length > 0 || !open(schema));
  if (!simple) {
    const all = jsonField('Arguments', 'A JSON object.', true, '{}', (value) => (isObject(value) ? '' : 'must be a JSON object'));
    node.replaceChildren(all.node);
    return () => (all.check() ? all.value() : null);
  }
  const required = Array.isArray(schema?.required) ? schema.required : [];
  const fields = properties.map(([name, property]) => [name, fieldFor(name, property, required.includes(name), prefill)]);
  node.replaceChildren(...fields.map(([, field]) => field.node));
  return () => {
    if (!fields.every(([, field]) => field.check())) return null;
    return Object.fromEntries(fields.map(([name, field]) => [name, field.value()]).filter(([, value]) => value !== undefined));
  };
}

// open tells whether a schema without properties takes anything.
function open(schema) {
  return Boolean(schema) && ['additionalProperties', 'patternProperties', 'oneOf', 'anyOf', 'allOf'].some((key) => schema[key]);
}

function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !JSON.isRawJSON?.(value);
}

// typed is a number as its text stands, where the browser can send such; else undefined.
function typed(text) {
  return JSON.rawJSON && /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text) ? JSON.rawJSON(text) : undefined;
}

function asTyped(key, value, context) {
  return typeof value === 'number' && context && String(value) !== context.source ? (typed(context.source) ?? value) : value;
}

function number(value) {
  return JSON.isRawJSON?.(value) ? Number(value.rawJSON) : value;
}

// constraints says what a schema wants, in a few words.
function constraints(schema, types) {
  const range = (low, high, unit) => {
    if (low === undefined && high === undefined) return '';
    if (low === high) return `${low}${unit}`;
    return high === undefined ? `≥ ${low}${unit}` : low === undefined ? `≤ ${high}${unit}` : `${low}–${high}${unit}`;
  };
  const show = (value) => (value === undefined || ['number', 'string'].includes(typeof value) ? value : JSON.stringify(value));
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, minLength, maxLength, minItems, maxItems, multipleOf, pattern, format, items } = schema;
  const kind = types.map((type) => (type === 'array' && typeof items?.type === 'string' ? `array of ${items.type}` : type)).join(' or ');
  const parts = [
    kind,
    format,
    range(show(minimum), show(maximum), ''),
    exclusiveMinimum !== undefined && `> ${show(exclusiveMinimum)}`,
    exclusiveMaximum !== undefined && `< ${show(exclusiveMaximum)}`,
    multipleOf !== undefined && `multiple of ${show(multipleOf)}`,
    range(minLength, maxLength, ' characters'),
    range(minItems, maxItems, ' items'),
    pattern !== undefined && `pattern ${pattern}`,
  ];
  return parts.filter(Boolean).join(' · ').slice(0, 300);
}

function fieldFor(name, property, required, prefill) {
  const schema = isObject(property) ? property : {};
  const title = typeof schema.title === 'string' && schema.title !== name ? `${name} (${schema.title})` : name;
  const hint = typeof schema.description === 'string' ? schema.description : '';
  const types = [schema.type].flat().filter((type) => type !== 'null');
  const choices = choicesOf(schema, types);
  const begins = prefill || required;
  const initial = begins ? schema.default : undefined;
  const field = inputFor(title, hint, required, schema, types, choices, initial);
  const kind = constraints(schema, types);
  if (kind) field.node.firstChild.append(element('span', { class: 'kind' }, kind));
  if ((schema.default ?? '') !== '' && !begins) offerDefault(field, schema.default, choices);
  return field;
}

// offerDefault shows a default, which is sent only if somebody takes it.
function offerDefault({ node, input }, value, choices) {
  const index = (choices ?? (typeof value === 'boolean' ? BOOLEANS : [])).findIndex(([each]) => JSON.stringify(each) === JSON.stringify(value));
  const shown = typeof value === 'string' ? value : JSON.stringify(value);
  const text = index >= 0 ? String(index) : input.className === 'json' ? JSON.stringify(value, null, 2) : shown;
  const button = element('button', { type: 'button', class: 'default' }, `default: ${shown.slice(0, 80)}`);
  button.title = 'Not sent unless you choose it: click to fill it in';
  button.addEventListener('click', () => {
    input.value = text;
    input.dispatchEvent(new Event('input'));
    input.focus();
  });
  node.append(button);
}

const BOOLEANS = [[true, 'true'], [false, 'false']];

function inputFor(title, hint, required, schema, types, choices, initial) {
  if (choices) return choiceField(title, hint, required, choices, initial);
  if (types.length === 1 && types[0] === 'boolean') {
    return choiceField(title, hint, required, BOOLEANS, initial);
  }
  if (types.length === 1 && (types[0] === 'integer' || types[0] === 'number')) return numberField(title, hint, required, schema, types[0], initial);
  if (types.length === 1 && types[0] === 'string') return textField(title, hint, required, schema, initial);
  return jsonField(title, hint, required, initial === undefined ? '' : JSON.stringify(initial, null, 2), (value) => {
    if (types.length !== 1) return '';
    if (types[0] === 'object' && !isObject(value)) return 'must be a JSON object';
    return types[0] === 'array' && !Array.isArray(value) ? 'must be a JSON array' : '';
  });
}

// choicesOf lists [value, title] of an enum, or of a oneOf of constants.
function choicesOf(schema, types) {
  if (types.includes('array')) return null;
  if (Array.isArray(schema.enum) && schema.enum.length <= MAX_CHOICES) {
    return schema.enum.map((value, i) => [value, String(schema.enumNames?.[i] ?? (typeof value === 'string' ? value : JSON.stringify(value)))]);
  }
  if (Array.isArray(schema.oneOf) && schema.oneOf.length <= MAX_CHOICES && schema.oneOf.every((each) => isObject(each) && 'const' in each)) {
    return schema.oneOf.map((each) => [each.const, String(each.title ?? JSON.stringify(each.const))]);
  }
  return null;
}

// labelled puts an input below its name, with what is said about it.
function labelled(title, hint, required, input) {
  const id = `field-${++serial}`;
  input.id = id;
  input.required = required;
  const label = element('label', { for: id }, title);
  if (required) label.append(element('span', { class: 'required', title: 'required' }, ' *'));
  const node = element('div', { class: 'field' }, label, input);
  if (hint) {
    input.setAttribute('aria-describedby', `${id}-hint`);
    node.append(element('p', { id: `${id}-hint`, class: 'hint' }, hint));
  }
  return node;
}

// checked is a field whose text is read by parse: a value, undefined for none, or an Error that says what is wrong.
function checked(title, hint, required, input, parse) {
  const read = () => (input.value === '' ? undefined : parse(input.value));
  input.addEventListener('input', () => input.setCustomValidity(''));
  const check = () => {
    const value = read();
    input.setCustomValidity(value instanceof Error ? value.message : '');
    return input.reportValidity();
  };
  return { node: labelled(title, hint, required, input), input, check, value: read };
}

function choiceField(title, hint, required, choices, initial) {
  const options = choices.map(([value, text], i) => element('option', { value: i, selected: JSON.stringify(value) === JSON.stringify(initial) }, text));
  const input = element('select', {}, element('option', { value: '' }, required ? 'choose…' : '(not sent)'), ...options);
  return checked(title, hint, required, input, (i) => choices[i][0]);
}

function numberField(title, hint, required, schema, type, initial) {
  const input = element('input', { inputmode: type === 'integer' ? 'numeric' : 'decimal', autocomplete: 'off', value: initial === undefined ? undefined : JSON.stringify(initial) });
  return checked(title, hint, required, input, (text) => {
    const value = /^\s*-?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$/.test(text) ? Number(text) : NaN;
    const written = typed(text.trim());
    if (!Number.isFinite(value)) return new Error(`must be ${type === 'integer' ? 'an integer' : 'a number'}`);
    if (type === 'integer' && !Number.isInteger(value)) return new Error('must be an integer');
    if (!written && Number.isInteger(value) && !Number.isSafeInteger(value)) return new Error('is larger than this browser keeps exact');
    if (value < number(schema.minimum)) return new Error(`must be at least ${number(schema.minimum)}`);
    if (value > number(schema.maximum)) return new Error(`must be at most ${number(schema.maximum)}`);
    return written ?? value;
  });
}

function textField(title, hint, required, schema, initial) {
  const value = typeof initial === 'string' ? initial : '';
  const input = element('textarea', { rows: 1, spellcheck: 'false' });
  input.defaultValue = value;
  return checked(title, hint, required, input, (text) => {
    const length = [...text].length;
    if (length < schema.minLength) return new Error(`must have at least ${schema.minLength} characters`);
    if (length > schema.maxLength) return new Error(`must have at most ${schema.maxLength} characters`);
    return text;
  });
}

function jsonField(title, hint, required, text, wrong) {
  const input = element('textarea', { rows: 4, class: 'json', spellcheck: 'false', placeholder: 'JSON' });
  input.defaultValue = text;
  return checked(title, hint, required, input, (written) => {
    try {
      const value = JSON.parse(written, asTyped);
      const why = wrong(value);
      return why ? new Error(why) : value;
    } catch (error) {
      return new Error(`is not JSON: ${error.message}`);
    }
  });
}
