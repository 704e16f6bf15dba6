// A server of the TypeScript SDK with one tool, ask, that needs a message and the roots first, and then a name. It speaks
// 2026-07-28 and the revisions before it, over stdin and stdout.
import { McpServer, inputRequired } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const text = (s) => ({ content: [{ type: 'text', text: s }] });

serveStdio(() => {
  const server = new McpServer({ name: 'questions', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.registerTool('ask', { description: 'Asks for all that can be asked for' }, async (ctx) => {
    const { inputResponses: given = {}, requestState } = ctx.mcpReq;
    const state = typeof requestState === 'function' ? requestState() : requestState;
    if (given.name) return text(`${state}; ${given.name.action} ${given.name.content?.name}`);
    if (given.message && given.roots) {
      const requestedSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
      const message = [given.message.content].flat()[0].text;
      return inputRequired({
        requestState: `${message}; ${given.roots.roots.map((r) => r.uri)}`,
        inputRequests: { name: inputRequired.elicit({ message: 'Who?', requestedSchema }) },
      });
    }
    return inputRequired({
      inputRequests: {
        message: inputRequired.createMessage({ messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }], maxTokens: 10 }),
        roots: inputRequired.listRoots(),
      },
    });
  });
  return server;
});
