/** How callers give their API key, by the way they came: the end of the sentence that says one is missing. */
export const KEY_HINTS = {
  rest: 'send one in the X-API-Key header.',
  mcp: 'send one in the PROMPTS_API_KEY or X-API-Key header.',
  /** Many proxies drop headers with an underscore in their name. */
  mcpBehindProxy:
    'send one in the X-API-Key header. A PROMPTS_API_KEY header may not have passed the proxy in between, as its name has underscores (nginx needs "underscores_in_headers on").',
  stdio: 'set PROMPTS_API_KEY in the environment of this MCP server.',
  cli: 'name a user with --user, or set PROMPTS_API_KEY in the environment.',
  remote: 'set PROMPTS_API_KEY in the environment.',
} as const
