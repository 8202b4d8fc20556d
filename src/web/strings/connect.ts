import type { ClientId } from '../client-configs.ts'

/** The page that connects a client. */
export const CONNECT_WORDS = {
  title: 'Connect a client',
  lead: 'Search, use and save prompts from your AI tools.',
  access: 'Access',
  accesses: { public: 'Public only', 'sign-in': 'Sign in', key: 'API key' },
  client: 'Client',
  configOf: (client: string) => `Configuration of ${client}`,
  inFiles: (files: number): string => (files === 1 ? 'In' : 'In one of'),
  inShell: 'In a terminal:',
  signInIn: { shell: 'Then sign in, in a terminal:', client: 'Then sign in, in the client:' },
  opensBrowser: 'The client opens a page in your browser, where you choose what it may do.',
  cannotSignIn: (client: string) => `It is not known whether ${client} can sign in. Use an API key.`,
  placeholder: (key: string) => `Replace ${key} in the configuration with your key.`,
  signIn: 'Sign in to create a key',
  more: 'Other clients, and what a client can see',
  notes: {
    'vs-code': 'VS Code asks for the key and keeps it out of the file.',
    'claude-desktop': 'Use https unless the server is on your own machine.',
  } satisfies Partial<Record<ClientId, string>>,
}
