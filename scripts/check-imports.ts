// Fails on an import that runs the wrong way between rooms, on any circle of imports, and when it read nothing.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What each room may import besides itself and errors; `file` rooms are single files of src. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  'errors.ts': [],
  config: ['domain'],
  'exchange.ts': [],
  domain: [],
  cache: ['domain'],
  search: ['domain'],
  improve: ['domain'],
  check: ['domain', 'search'],
  evals: ['domain'],
  encoder: ['domain'],
  storage: ['domain', 'cache', 'search', 'check', 'evals'],
  ai: ['domain', 'search', 'improve'],
  auth: ['domain'],
  operations: ['domain', 'cache', 'search', 'improve', 'transfer', 'check', 'evals'],
  transfer: ['domain', 'evals'],
  mcp: ['exchange.ts', 'operations', 'cache', 'domain'],
  http: ['exchange.ts', 'operations', 'cache', 'domain', 'auth'],
  channels: ['exchange.ts', 'operations', 'http', 'cache', 'domain'],
  web: ['exchange.ts', 'operations', 'http', 'domain', 'search', 'check'],
  'app.ts': ['config', 'domain', 'search', 'improve', 'encoder', 'storage', 'ai', 'auth', 'operations'],
  server: ['app.ts', 'config', 'exchange.ts', 'domain', 'auth', 'operations', 'mcp', 'http', 'channels', 'web'],
  cli: ['app.ts', 'server', 'config', 'domain', 'improve', 'check', 'evals', 'auth', 'operations', 'mcp', 'transfer'],
}

/** Files whose types other rooms may import: those are what a factory returns. */
const INFERRED = new Set(['storage/store.ts', 'auth/logins.ts', 'auth/providers.ts', 'auth/oauth/oauth-server.ts', 'auth/sealer.ts'])

/** Packages and built-ins a room must not touch. */
const FORBIDDEN_PACKAGES: readonly { readonly room: string; readonly pattern: RegExp }[] = [
  { room: 'domain', pattern: /^(node:(?!zlib$)|pg$|kysely|hono|@hono|@modelcontextprotocol|pino|commander|ai$|@ai-sdk)/ },
  { room: 'search', pattern: /^(node:|pg$|kysely|hono|@hono|@modelcontextprotocol|pino|commander|ai$|@ai-sdk)/ },
  { room: 'check', pattern: /^(node:(?!crypto$)|pg$|kysely|hono|@hono|@modelcontextprotocol|pino|commander|ai$|@ai-sdk)/ },
  { room: 'evals', pattern: /^(node:(?!crypto$|util$)|pg$|kysely|hono|@hono|@modelcontextprotocol|pino|commander|ai$|@ai-sdk)/ },
  { room: 'improve', pattern: /^(node:|pg$|kysely|hono|@hono|@modelcontextprotocol|pino|commander|ai$|@ai-sdk)/ },
  { room: 'encoder', pattern: /^(node:sqlite|pg$|kysely|hono|@hono|@modelcontextprotocol|pino|commander|ai$|@ai-sdk)/ },
  { room: 'operations', pattern: /^(kysely|hono|@hono|@modelcontextprotocol|node:sqlite|pg$|node:fs|ai$|@ai-sdk)/ },
  { room: 'ai', pattern: /^(kysely|hono|@hono|@modelcontextprotocol|node:sqlite|pg$)/ },
  { room: 'mcp', pattern: /^(kysely|hono|@hono|node:sqlite|pg$|node:fs)/ },
  { room: 'http', pattern: /^(kysely|@modelcontextprotocol|node:sqlite|pg$)/ },
  { room: 'channels', pattern: /^(kysely|hono|@hono|node:sqlite|node:fs|pg$|@modelcontextprotocol)/ },
  { room: 'web', pattern: /^(kysely|node:sqlite|pg$|@modelcontextprotocol|ai$|@ai-sdk|better-auth|@better-auth)/ },
  { room: 'auth', pattern: /^(kysely|hono|@hono|@modelcontextprotocol|node:sqlite|pg$)/ },
]

const root = fileURLToPath(new URL('../src', import.meta.url))
const faults: string[] = []
const graph = new Map<string, string[]>()
let importCount = 0

function roomOf(file: string): string {
  return relative(root, file).split('/')[0] ?? ''
}

const files = readdirSync(root, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !entry.name.includes('.test.'))
  .map((entry) => join(entry.parentPath, entry.name))

for (const file of files) {
  const room = roomOf(file)
  const allowed = MAY_IMPORT[room]
  if (!allowed) faults.push(`${relative(root, file)}: the room "${room}" is not in the picture (scripts/check-imports.ts)`)
  const targets: string[] = []
  const source = readFileSync(file, 'utf8')
  for (const [statement, specifier = ''] of source.matchAll(
    /^\s*(?:import|export)\b[^'"\n]*?(?:\{[^}]*\}[^'"\n]*?)?['"]([^'"\n]+)['"]/gm,
  )) {
    importCount++
    if (!specifier.startsWith('.')) {
      for (const { pattern } of FORBIDDEN_PACKAGES.filter((rule) => rule.room === room && rule.pattern.test(specifier))) {
        faults.push(`${relative(root, file)}: ${room} must not import ${specifier} (${pattern.source})`)
      }
      continue
    }
    if (specifier.endsWith('.json')) continue
    const target = resolve(dirname(file), specifier)
    const targetRoom = roomOf(target)
    if (!files.includes(target)) faults.push(`${relative(root, file)}: ${specifier} is no source file`)
    // The types of these are what their factories return.
    if (statement.startsWith('import type') && INFERRED.has(relative(root, target))) continue
    if (targetRoom !== room && targetRoom !== 'errors.ts' && !allowed?.includes(targetRoom)) {
      faults.push(`${relative(root, file)}: ${room} must not import ${targetRoom}`)
    }
    targets.push(target)
  }
  graph.set(file, targets)
}

/** Depth-first search; a file met again on its own path closes a circle. */
function findCircles(): void {
  const done = new Set<string>()
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) {
      faults.push(`circle: ${[...path.slice(path.indexOf(file)), file].map((one) => relative(root, one)).join(' → ')}`)
      return
    }
    if (done.has(file)) return
    for (const target of graph.get(file) ?? []) visit(target, [...path, file])
    done.add(file)
  }
  for (const file of files) visit(file, [])
}

findCircles()
if (files.length < 20 || importCount < 50)
  faults.push(`only ${files.length} files and ${importCount} imports were read: the check itself is broken`)
for (const fault of new Set(faults)) process.stderr.write(`${fault}\n`)
if (faults.length > 0) process.exit(1)
process.stdout.write(`${files.length} files, ${importCount} imports: no wrong way, no circle\n`)
