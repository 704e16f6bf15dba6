// Servers that answer exactly what a test says, and the client under test.
import { createServer } from 'node:http';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** load downloads the client from CLIENT_URL, which the Go test serves, and imports it. */
export async function load() {
  const response = await fetch(process.env.CLIENT_URL);
  if (!response.ok) throw new Error(`${process.env.CLIENT_URL}: HTTP ${response.status}`);
  const folder = await mkdtemp(join(tmpdir(), 'mcphud-client-'));
  try {
    const file = join(folder, 'MCPBrowserClient.mjs');
    await writeFile(file, await response.text());
    return await import(pathToFileURL(file));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/**
 * serve starts a server whose answers to POST are made by handle(message, {request, response, headers}): an object is sent
 * as the result, undefined is what handle wrote itself. It keeps what it was asked in .seen.
 */
export async function serve(t, handle) {
  const seen = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    const message = body ? JSON.parse(body) : undefined;
    seen.push({ http: request.method, url: request.url, headers: request.headers, message, at: performance.now() });
    const result = await handle(message, { request, response, headers: request.headers });
    if (result === undefined) return;
    if (message?.id === undefined) return response.writeHead(202).end();
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { baseUrl: `http://127.0.0.1:${server.address().port}`, seen, methods: () => seen.map(({ http, message }) => message?.method ?? http) };
}

/** refuse answers with a JSON-RPC error. */
export function refuse(response, status, id, code, message, data) {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, data } }));
}

export const discovered = { supportedVersions: ['2026-07-28'], capabilities: {}, _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'scripted', version: '1' } } };
export const initialized = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'scripted', version: '1' } };

/** modern answers server/discover and leaves the rest to handle. */
export const modern = (handle) => (message, http) => (message?.method === 'server/discover' ? discovered : handle(message, http));

/** legacy answers initialize, with a session, and leaves the rest to handle. */
export function legacy(handle) {
  let sessions = 0;
  return (message, http) => {
    switch (message?.method) {
      case 'server/discover':
        return void refuse(http.response, 400, message.id, -32600, 'no such thing');
      case 'initialize':
        http.response.setHeader('Mcp-Session-Id', `session-${++sessions}`);
        return initialized;
      case 'notifications/initialized':
        return {};
    }
    return handle(message, http);
  };
}
