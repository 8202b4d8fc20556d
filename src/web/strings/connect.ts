import type { ClientId } from '../client-configs.ts'

/** The page that connects a client. */
export const CONNECT_WORDS = {
  title: 'Connect a client',
  lead: 'Search, read and save this library from the client you work with.',
  access: 'What the client reads',
  accesses: { public: 'Public items, no key', 'sign-in': 'Yours too, signed in', key: 'Yours too, with a key' },
  client: 'Client',
  configOf: (client: string) => `Configuration of ${client}`,
  inFiles: (files: number): string => (files === 1 ? 'In' : 'In one of'),
  inShell: 'In a terminal:',
  signInIn: { shell: 'Then sign in, in a terminal:', client: 'Then sign in, in the client:' },
  opensBrowser: 'The client opens a page in your browser, where you choose what it may do.',
  cannotSignIn: (client: string) => `We do not know whether ${client} can sign in. Use a key.`,
  placeholder: (key: string) => `The configuration has ${key} where your key belongs.`,
  signIn: 'Sign in to create a key',
  more: 'Other clients, stdio and what a client sees',
  notes: {
    'vs-code': 'VS Code asks for the key and keeps it out of the file.',
    'claude-desktop': 'Use https unless the server is on your own machine.',
  } satisfies Partial<Record<ClientId, string>>,
}
