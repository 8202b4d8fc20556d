/** Something a prompt refers to. `source` is what an assistant finds by itself, such as the web. */
export interface ContextReference {
  readonly kind: 'file' | 'image' | 'link' | 'folder' | 'source'
  /** Without the sign before it. */
  readonly label: string
  /** Of links alone: an http or https address. */
  readonly url?: string
}

/** A tool of a server. */
interface ToolReference {
  readonly server: string
  readonly tool: string
}

/** References and tools that are shown. */
const MAX_SHOWN = 40
const IMAGE = /\.(?:png|jpe?g|gif|webp|avif|svg|bmp|heic)$/i

/** References with commas between them: `@src/app.ts`, `#sketch.png`, `https://example.org`, `docs/`, `@web`. */
export function parseContext(text: string): { shown: ContextReference[]; more: number } {
  const parts = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => !/^[@#]?$/.test(part))
  return { shown: parts.slice(0, MAX_SHOWN).map(toReference), more: Math.max(0, parts.length - MAX_SHOWN) }
}

function toReference(part: string): ContextReference {
  if (/^https?:\/\//i.test(part)) {
    const url = URL.parse(part)
    if (url) return { kind: 'link', label: url.host + (url.pathname === '/' ? '' : url.pathname), url: url.href }
  }
  if (part.startsWith('#')) return { kind: 'image', label: part.slice(1) }
  const label = part.startsWith('@') ? part.slice(1) : part
  if (label.endsWith('/')) return { kind: 'folder', label }
  if (IMAGE.test(label)) return { kind: 'image', label }
  return { kind: part.startsWith('@') && !/[./]/.test(label) ? 'source' : 'file', label }
}

/** Tools, one a line, as `server:tool`; what is none is left out, and counted by its line (from 1). */
export function parseTools(text: string): { shown: ToolReference[]; more: number; badLines: number[] } {
  const tools: ToolReference[] = []
  const badLines: number[] = []
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    const [server = '', ...rest] = line.split(':').map((part) => part.trim())
    const tool = rest.join(':')
    if (server === '' || tool === '') badLines.push(index + 1)
    else tools.push({ server, tool })
  }
  return { shown: tools.slice(0, MAX_SHOWN), more: Math.max(0, tools.length - MAX_SHOWN), badLines }
}
