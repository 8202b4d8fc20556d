export { Client } from '@modelcontextprotocol/sdk/client/index.js'
export { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
export { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
