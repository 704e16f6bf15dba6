// Client-side usage (not part of this module)
const response = await fetch('http://localhost:8080/agent/node-dev/mcp', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: {}
    })
});

const result = await response.json();
const sessionId = response.headers.get('mcp-session-id');

// Subsequent requests include session ID
const toolsResponse = await fetch('http://localhost:8080/agent/node-dev/mcp', {
    method: 'POST',
    headers: {
        'Content-Type': 'application/json',
        'mcp-session-id': sessionId
    },
    body: JSON.stringify({
        jsonrpc: '2.0',
        id: 2,
        method: 'tools/list'
    })
});
