// An MCP server that wants a login, and in front of it oidc-provider as its authorization server: dynamic registration, PKCE, resource
// indicators, JWT access tokens, refresh with rotation, revocation, and DPoP. Both listen on free ports of 127.0.0.1; one line of
// JSON on stdout says where.
//
//   node login.mjs [--dpop] [--nonce]
//
// Tool whoami needs the scope notes:read, and says what the token does; tool write needs notes:write, which is asked for when it is
// called. GET /expire ends all access tokens that were used so far, GET /revoked says how many grants were revoked, and GET /programs has
// two clients that get tokens for themselves. --dpop takes only tokens that are bound to a key, --nonce wants nonces in the proofs.
import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';

import { McpServer, createMcpHandler } from '@modelcontextprotocol/server';
import { EmbeddedJWK, calculateJwkThumbprint, createLocalJWKSet, jwtVerify } from 'jose';
import Provider, { errors } from 'oidc-provider';

const { values: options } = parseArgs({
  options: { dpop: { type: 'boolean' }, nonce: { type: 'boolean' } },
});

const listening = async (server) => {
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return `http://127.0.0.1:${server.address().port}`;
};
const issuerServer = createServer();
const server = createServer();
const issuer = await listening(issuerServer);
const base = await listening(server);
const resource = `${base}/mcp`;

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const jwk = { ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'ES256', kid: 'one' };
const program = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const programs = { redirect_uris: [], response_types: [], grant_types: ['client_credentials'] };
const secret = { client_id: 'n a:+', client_secret: 's%: +u&=' }; // which have to be encoded
const provider = new Provider(issuer, {
  clients: [
    { ...programs, client_id: 'nightly', token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [{ ...program.publicKey.export({ format: 'jwk' }), use: 'sig', alg: 'ES256' }] } },
    { ...programs, ...secret, token_endpoint_auth_method: 'client_secret_basic' },
  ],
  jwks: { keys: [jwk] },
  cookies: { keys: [randomBytes(16).toString('hex')] },
  clientDefaults: { id_token_signed_response_alg: 'ES256' },
  pkce: { required: () => true },
  features: {
    clientCredentials: { enabled: true },
    registration: { enabled: true },
    revocation: { enabled: true },
    dPoP: { enabled: true, nonceSecret: randomBytes(32), requireNonce: () => Boolean(options.nonce) },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (_ctx, indicator) => {
        if (indicator !== resource) throw new errors.InvalidTarget();
        return {
          scope: 'notes:read notes:write', audience: resource, accessTokenTTL: 3600, accessTokenFormat: 'jwt', jwt: { sign: { alg: 'ES256' } },
        };
      },
    },
  },
});
issuerServer.on('request', provider.callback());
let revoked = 0;
provider.on('grant.revoked', () => revoked++);

const { d: _, ...publicJwk } = jwk;
const keys = createLocalJWKSet({ keys: [publicJwk] });
const nonce = randomBytes(8).toString('hex');
const proofs = new Set();
const used = new Set();
const ended = new Set();

// claims verifies the token of a request, or throws what is wrong with it.
async function claims(req) {
  const [scheme, token] = (req.headers.authorization ?? '').split(' ');
  const { payload } = await jwtVerify(token, keys, { issuer, audience: resource, typ: 'at+jwt' });
  const bound = payload.cnf?.jkt;
  if (options.dpop && !bound) throw new Error('the token is not bound to a key');
  if (scheme.toLowerCase() !== (bound ? 'dpop' : 'bearer')) throw new Error(`${scheme} is not how this token is sent`);
  if (bound) {
    const { payload: proof, protectedHeader } = await jwtVerify(req.headers.dpop, EmbeddedJWK, { typ: 'dpop+jwt', algorithms: ['ES256'], maxTokenAge: 60, clockTolerance: 60 });
    if (options.nonce && proof.nonce !== nonce) throw Object.assign(new Error('a nonce is needed'), { code: 'use_dpop_nonce' });
    const hash = createHash('sha256').update(token).digest('base64url');
    const jkt = await calculateJwkThumbprint(protectedHeader.jwk);
    if (proof.htm !== req.method || proof.htu !== resource || proof.ath !== hash || jkt !== bound) throw new Error('the proof is for something else');
    if (proofs.has(proof.jti)) throw new Error('the proof was seen before');
    proofs.add(proof.jti);
  }
  if (ended.has(payload.jti)) throw new Error('the token has ended');
  used.add(payload.jti);
  return { ...payload, scheme };
}

function refuse(res, status, params) {
  const all = { ...params, resource_metadata: `${base}/.well-known/oauth-protected-resource/mcp` };
  const scheme = options.dpop ? 'DPoP' : 'Bearer';
  if (options.dpop) all.algs = 'ES256';
  const challenge = Object.entries(all).map(([name, value]) => `${name}="${value}"`).join(', ');
  res.writeHead(status, { 'WWW-Authenticate': `${scheme} ${challenge}`, ...(options.nonce && { 'DPoP-Nonce': nonce }) }).end();
}

const text = (s) => ({ content: [{ type: 'text', text: s }] });
const handler = createMcpHandler(({ authInfo }) => {
  const mcp = new McpServer({ name: 'login', version: '1.0.0' }, { capabilities: { tools: {} } });
  const { sub, scope, jti, scheme } = authInfo.extra;
  mcp.registerTool('whoami', { description: 'Says what the token says' }, async () => text(JSON.stringify({ sub, scope, jti, scheme })));
  mcp.registerTool('write', { description: 'Needs more rights' }, async () => text(`written with ${scope}`));
  return mcp;
});

async function serve(req, res) {
  if (req.url === '/expire') {
    used.forEach((jti) => ended.add(jti));
    return res.end();
  }
  if (req.url === '/programs') {
    const key = { client_id: 'nightly', private_key: program.privateKey.export({ type: 'pkcs8', format: 'pem' }) };
    return res.end(JSON.stringify([key, secret]));
  }
  if (req.url === '/revoked') return res.end(String(revoked));
  if (req.url === '/.well-known/oauth-protected-resource/mcp') {
    res.setHeader('Content-Type', 'application/json');
    const metadata = { resource, authorization_servers: [issuer], scopes_supported: ['notes:read', 'notes:write'], bearer_methods_supported: ['header'] };
    if (options.dpop) Object.assign(metadata, { dpop_bound_access_tokens_required: true, dpop_signing_alg_values_supported: ['ES256'] });
    return res.end(JSON.stringify(metadata));
  }
  if (req.url !== '/mcp') return res.writeHead(404).end();
  if (!req.headers.authorization) return refuse(res, 401, { scope: 'notes:read' });
  let token;
  try {
    token = await claims(req);
  } catch (e) {
    return refuse(res, 401, { error: e.code === 'use_dpop_nonce' ? e.code : 'invalid_token', error_description: e.message.replaceAll('"', "'"), scope: 'notes:read' });
  }
  const body = Buffer.concat(await Array.fromAsync(req));
  const wanted = req.headers['content-type']?.startsWith('application/json') && JSON.parse(body).params?.name === 'write' ? 'notes:write' : 'notes:read';
  const scopes = (token.scope ?? '').split(' ');
  if (!scopes.includes(wanted)) return refuse(res, 403, { error: 'insufficient_scope', scope: wanted });
  const request = new Request(resource, { method: req.method, headers: req.headers, ...(body.length && { body }) });
  const answer = await handler.fetch(request, { authInfo: { token: '-', clientId: token.client_id, scopes, extra: token } });
  res.writeHead(answer.status, Object.fromEntries(answer.headers));
  for await (const chunk of answer.body ?? []) res.write(chunk);
  res.end();
}
server.on('request', (req, res) => serve(req, res).catch((e) => {
  console.error(e);
  res.destroy();
}));

console.log(JSON.stringify({ url: resource, issuer }));
