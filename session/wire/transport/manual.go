package transport

import _ "embed"

// NETWORK is the manual of proxies, certificates and sockets, in Markdown.
//
//go:embed NETWORK.md
var NETWORK string
