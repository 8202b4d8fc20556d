import { labelVariable } from '../domain/variables/variables.ts'
import type { READING_WORDS } from './strings/reading.ts'

/** A blank as the page of its prompt shows it. */
export interface Blank {
  readonly name: string
  /** The name as people read it. */
  readonly label: string
  /** Taken while nothing is typed; absent when the blank is required. */
  readonly preset?: string
}

/** The data of a prompt for the script of its page, beside the text. */
export interface Filling {
  readonly id: string
  readonly blanks: readonly Blank[]
  readonly words: (typeof READING_WORDS)['filling']
}

/** The blanks of a prompt, in the order of their first occurrence. */
export function toBlanks(variables: readonly { readonly name: string; readonly default?: string | undefined }[]): Blank[] {
  return variables.map((variable) => ({
    name: variable.name,
    label: labelVariable(variable.name),
    ...(variable.default === undefined ? {} : { preset: variable.default }),
  }))
}

/** A service or an application that a text can be opened in. */
export interface Service {
  readonly name: string
  /** An empty chat. */
  readonly home: string
  /** The start of an address that ends with the text; null when the service takes none. */
  readonly prefix: string | null
  /** How often the receiver decodes the text. */
  readonly decodings: 1 | 2
}

/**
 * Where a prompt can be opened. VS Code, and Cursor which is built on it, decode a query once before they take it apart
 * (microsoft/vscode#173687): without the second encoding `&`, `+` and `%` of a text are lost. VS Code's `prompt` is of microsoft/vscode#279701.
 */
export const SERVICES: readonly Service[] = [
  { name: 'ChatGPT', home: 'https://chatgpt.com/', prefix: 'https://chatgpt.com/?q=', decodings: 1 },
  { name: 'Claude', home: 'https://claude.ai/new', prefix: 'https://claude.ai/new?q=', decodings: 1 },
  { name: 'Perplexity', home: 'https://www.perplexity.ai/', prefix: 'https://www.perplexity.ai/search?q=', decodings: 1 },
  { name: 'Gemini', home: 'https://gemini.google.com/app', prefix: null, decodings: 1 },
  { name: 'Cursor', home: 'cursor://', prefix: 'cursor://anysphere.cursor-deeplink/prompt?text=', decodings: 2 },
  {
    name: 'VS Code',
    home: 'vscode://GitHub.Copilot-Chat/chat',
    prefix: 'vscode://GitHub.Copilot-Chat/chat?prompt=',
    decodings: 2,
  },
]

/** Longest address that every browser and service takes, in characters: servers often refuse a request line over 8 KiB, Cursor an address over 10,000. */
const MAX_ADDRESS = 8_000

/** Whether a service is an application on the reader's machine, which opens no tab. */
export function isApplication(service: Service): boolean {
  return !service.home.startsWith('https:')
}

/** An address that opens a text in a service; null when the text must be copied, for it is too long or the service takes none. */
export function linkText({ prefix, decodings }: Service, text: string): string | null {
  // An encoded text is never shorter, and encoding a long one takes time.
  if (prefix === null || text.length > MAX_ADDRESS) return null
  const once = encodeURIComponent(text.toWellFormed())
  const address = prefix + (decodings === 2 ? encodeURIComponent(once) : once)
  return address.length > MAX_ADDRESS ? null : address
}
