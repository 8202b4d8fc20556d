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
  /** Empty when the server alone was named. */
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

/** Tools, one a line, as `server:tool`. */
export function parseTools(text: string): { shown: ToolReference[]; more: number } {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const shown = lines.slice(0, MAX_SHOWN).map((line) => {
    const at = line.indexOf(':')
    return at === -1 ? { server: line, tool: '' } : { server: line.slice(0, at).trim(), tool: line.slice(at + 1).trim() }
  })
  return { shown, more: Math.max(0, lines.length - MAX_SHOWN) }
}
