// Prints the JSON schemas of the protocol that the installed suite checks frames against, as one object by revision:
//
//   node schemas.mjs
//
// The suite has them as object literals in its one file, and exports nothing.
import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';

const source = readFileSync(new URL('node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url), 'utf8');

// literal is the text of the object that begins at a position.
function literal(start) {
  let depth = 0;
  for (let i = start; i < source.length; i++) {
    const c = source[i];
    if (c === '`' || c === '"' || c === "'") {
      for (i++; source[i] !== c; i++) if (source[i] === '\\') i++;
    } else if (c === '{') {
      depth++;
    } else if (c === '}' && --depth === 0) {
      return source.slice(start, i + 1);
    }
  }
  throw new Error('the object does not end');
}

const found = {};
for (const { index } of source.matchAll(/\{\$schema:`https:\/\/json-schema\.org\/draft\/2020-12\/schema`,\$defs:/g)) {
  const schema = runInNewContext(`(${literal(index)})`);
  if (!schema.$defs.JSONRPCMessage) continue; // the schema of a tool
  found[schema.$defs.InitializeRequest ? '2025-11-25' : '2026-07-28'] = schema;
}
// Both were generated from a schema.ts that has number where they have integer, the one of 2025-11-25 in a form's numbers as well.
for (const schema of Object.values(found)) {
  for (const value of schema.$defs.ElicitResult.properties.content.additionalProperties.anyOf) {
    if (Array.isArray(value.type)) value.type = value.type.map((type) => (type === 'integer' ? 'number' : type));
  }
  const { properties } = schema.$defs.NumberSchema;
  for (const name of ['default', 'maximum', 'minimum']) properties[name].type = 'number';
}
console.log(JSON.stringify(found));
