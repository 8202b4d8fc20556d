export { createMCPClient, ElicitationRequestSchema } from '@ai-sdk/mcp'
