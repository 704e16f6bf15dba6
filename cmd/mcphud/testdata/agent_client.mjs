// A client as agents have it, word for word as it was designed: one POST, without a handshake, a session or Accept.

class MCPError extends Error {
  constructor(code, message, data) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/**
 * MCP Client for agent-to-agent communication
 */
export class AgentMcpClient {
  constructor(options = {}) {
    this.routerHost = options.routerHost || process.env.ROUTER_HOST || 'localhost';
    this.routerPort = options.routerPort || process.env.ROUTER_PORT || 8088;
    this.authToken = options.authToken || process.env.AGENT_TOKEN;
  }

  /**
   * Get MCP endpoint URL for an agent
   */
  getAgentUrl(agentName) {
    return `http://${this.routerHost}:${this.routerPort}/mcps/${agentName}/mcp`;
  }

  /**
   * Send MCP request to another agent
   */
  async request(agentName, method, params) {
    const url = this.getAgentUrl(agentName);
    const request = {
      jsonrpc: '2.0',
      id: crypto.randomUUID(),
      method,
      params
    };

    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'Authorization': `Bearer ${this.authToken}`
      },
      body: JSON.stringify(request)
    });

    const data = await response.json();

    if (data.error) {
      throw new MCPError(data.error.code, data.error.message, data.error.data);
    }

    return data.result;
  }

  /**
   * List tools available on an agent
   */
  async listTools(agentName) {
    const result = await this.request(agentName, 'tools/list', {});
    return result.tools;
  }

  /**
   * Call a tool on another agent
   */
  async callTool(agentName, toolName, args) {
    const result = await this.request(agentName, 'tools/call', {
      name: toolName,
      arguments: args
    });
    return result;
  }

  /**
   * List resources available on an agent
   */
  async listResources(agentName) {
    const result = await this.request(agentName, 'resources/list', {});
    return result.resources;
  }

  /**
   * Read a resource from another agent
   */
  async readResource(agentName, uri) {
    const result = await this.request(agentName, 'resources/read', { uri });
    return result.contents[0]?.text;
  }
}
