// Loaded into each server before its own code: names are not found, and of addresses only loopback can be connected to. What a server
// answers is then the same on every machine, and nothing that it phones home with leaves this one.
'use strict';
const dns = require('node:dns');
const net = require('node:net');

const here = (host) => host === undefined || host === '' || host === 'localhost' || host === '::1' || /^127\./.test(host);

function notFound(name, call) {
  return Object.assign(new Error(`${call} ENOTFOUND ${name}`), { errno: -3008, code: 'ENOTFOUND', syscall: call, hostname: name });
}

const lookup = dns.lookup;
dns.lookup = (name, options, done) => {
  if (here(name) || net.isIP(name)) return lookup(name, options, done);
  process.nextTick(done ?? options, notFound(name, 'getaddrinfo'));
};
const promised = dns.promises.lookup;
dns.promises.lookup = async (name, options) => {
  if (here(name) || net.isIP(name)) return promised(name, options);
  throw notFound(name, 'getaddrinfo');
};
for (const call of ['resolve', 'resolve4', 'resolve6', 'resolveSrv', 'resolveTxt', 'resolveAny', 'resolveCname', 'resolveMx']) {
  for (const from of [dns, dns.Resolver.prototype]) {
    from[call] = (name, ...rest) => process.nextTick(rest.at(-1), notFound(name, 'query'));
  }
  for (const from of [dns.promises, dns.promises.Resolver.prototype]) {
    from[call] = async (name) => { throw notFound(name, 'query'); };
  }
}
const connect = net.Socket.prototype.connect;
net.Socket.prototype.connect = function (...args) {
  const [first, second] = Array.isArray(args[0]) ? args[0] : args; // net.connect hands over a list
  const host = typeof first === 'object' && first !== null ? first.host : typeof second === 'string' ? second : undefined;
  if (host !== undefined && net.isIP(host) && !here(host)) {
    process.nextTick(() => this.destroy(notFound(host, 'connect')));
    return this;
  }
  return connect.apply(this, args);
};
