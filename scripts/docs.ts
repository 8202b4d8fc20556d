// Writes the reference pages and .env.example from the code; with --check, fails when one on disk says something else.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { KEY_HEADERS } from '../src/auth/credentials.ts'
import { createProgram } from '../src/cli/program.ts'
import { EXIT_CODES, EXIT_STATUSES } from '../src/cli/start-process.ts'
import { listSettings } from '../src/config/settings.ts'
import { ERROR_CODES, type ErrorCode } from '../src/errors.ts'
import { HTTP_STATUS } from '../src/http/answers.ts'
import { createOpenApi } from '../src/http/openapi.ts'
import { describeTools } from '../src/mcp/tools.ts'
import type { Operation } from '../src/operations/core/define-operation.ts'
import { describeInputs } from '../src/operations/core/describe-inputs.ts'
import { OPERATIONS } from '../src/operations/index.ts'
import { readApi } from '../src/web/api-reference.ts'
import { ENGLISH } from '../src/web/strings/index.ts'

const root = fileURLToPath(new URL('../', import.meta.url))
/** Marks what the service shows only with MCP; invisible elsewhere. See `chooseParts` in src/web/documents.ts. */
const MCP_LINE = '<!-- mcp line -->'
const NOTICE = 'Made by `npm run docs` from the code; edit the code instead.'

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ')
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  return [`| ${header.join(' | ')} |`, `|${' --- |'.repeat(header.length)}`, ...rows.map((row) => `| ${row.map(cell).join(' | ')} |`)].join(
    '\n',
  )
}

function keyOf({ scope }: Operation): string {
  return scope === null ? 'optional' : scope === 'any' ? 'any' : `\`${scope}\``
}

function listInputs(operation: Operation): string {
  const lines = describeInputs(operation).map(({ name, kind, choices, isRequired, description, bounds }) => {
    const values = choices?.map((choice) => `\`${choice}\``).join(', ') ?? (bounds === '' && kind !== 'text' ? kind : '')
    return `- \`${name}\`${isRequired ? ' (required)' : ''}: ${[description, values, bounds].filter((text) => text !== '').join('; ')}`
  })
  return lines.length === 0 ? 'No inputs.' : lines.join('\n')
}

function toolsPage(): string {
  const parts = describeTools(OPERATIONS).map(({ name, description, annotations }) => {
    const operation = OPERATIONS.find((candidate) => candidate.name === name)
    if (!operation) throw new Error(`no operation behind ${name}`)
    const hints = [
      annotations?.readOnlyHint ? 'reads only' : 'writes',
      ...(annotations?.destructiveHint ? ['may destroy'] : []),
      ...(annotations?.idempotentHint ? ['repeating changes nothing'] : []),
      ...(annotations?.openWorldHint ? ['may ask others than this service'] : []),
    ]
    return `## ${name}\n\n${description}\n\nKey: ${keyOf(operation)}. Hints: ${hints.join(', ')}.\n\n${listInputs(operation)}`
  })
  return `# MCP tools\n\nServed at \`POST /api/mcp\` and over stdio. *Key* names the scope that the key needs; where a key is optional, one includes your private items. A tool that fails answers \`{"error": "<sentence>", "code": "<code>"}\` with \`isError\`; the codes are in [errors](errors.md). When a filter is unknown, a second text beside the answer lists the valid values.\n\n${parts.join('\n\n')}\n`
}

/** The main clause of a summary; the API reference and `--help` have all of it. */
function mainClause(summary: string): string {
  return summary.replaceAll(/ \([^)]*\)/g, '').split(/[.;:](?: |$)/)[0] ?? ''
}

function routesPage(): string {
  const { groups } = readApi(createOpenApi(OPERATIONS, { version: '', baseUrl: '', hasMcp: true }), '')
  const parts = groups.map(({ name, routes }) => {
    const rows = routes.map((route) => {
      const operation = OPERATIONS.find((candidate) => candidate.name === route.name)
      const key = operation ? keyOf(operation) : route.access === 'none' ? '' : 'optional'
      return [`\`${route.method} ${route.path}\``, key, mainClause(route.description) || route.title]
    })
    return `## ${ENGLISH.api.groups[name]}\n\n${table(['Route', 'Key', 'What it does'], rows)}`
  })
  return `# REST routes

Your service describes the inputs and answers of each route, with an example for \`curl\`: for people at \`/docs/api\` and its groups, such as \`/docs/api/prompts\`, for programs at \`/api/openapi.json\`. [Health checks](../self-hosting.md#health) and [metrics](../self-hosting.md#metrics) have addresses of their own.

- Send a key in ${KEY_HEADERS.map((name) => `\`${name}\``).join(', ')} (the last as \`Bearer cpb_…\`). *Key* names the scope that it needs; where a key is optional, one includes your private items.
- GET and DELETE take inputs from the path and the query, other methods from the path and a JSON body. Separate lists in a query with commas. Filters take slugs or names in any case; if one is unknown, \`hints\` in the answer lists the valid values.
- With \`Accept: text/event-stream\`, \`POST /api/improve-prompt\` [streams](../improve.md#streaming) its text.
- Routes of files answer plain text or bytes as an attachment: for saving, never for showing. [Embeds](../embeds.md) describes what its routes show.

${parts.join('\n\n')}
`
}

function settingsPage(): string {
  const rows = listSettings().map(({ name, doc, fallback, shownDefault, isSecret }) => [
    isSecret ? `\`${name}\`, \`${name}_FILE\`` : `\`${name}\``,
    `\`${shownDefault ?? String(fallback)}\``,
    /mcp/i.test(name + doc) ? `${doc} ${MCP_LINE}` : doc,
  ])
  return `# Settings

Environment variables, read once at the start. An empty one counts as unset; one out of range stops the start with a sentence naming it.

${table(['Setting', 'Default', 'Meaning'], rows)}

Where the table has \`NAME_FILE\`, it is the path of a file whose one line is the value, as Docker, Kubernetes and systemd hand out secrets. Set one of the two. A file that cannot be read or is empty stops the start.

\`PROMPTS_API_KEY\` is no setting of the service: programs on the command line take their key from it, or from the file \`PROMPTS_API_KEY_FILE\` names.
`
}

/** Every setting as a line to uncomment, for Docker Compose and systemd. */
function environmentExample(): string {
  const parts = listSettings().map(({ name, doc, fallback, shownDefault, isSecret }) => {
    const value = shownDefault === undefined ? String(fallback) : ''
    return `# ${doc}\n${[`# ${name}=${value}`, ...(isSecret ? [`# ${name}_FILE=`] : [])].join('\n')}\n`
  })
  return `# Copy this file to .env and take the # from what you set. compose.yaml and packaging/commonplace.service read it.
# Put a value with $ or # in it into single quotes: Compose takes $ for a variable.
# With compose.yaml, PORT is the port on this machine, and HOST has no effect.

${parts.join('\n')}`
}

function errorsPage(): string {
  const codes = Object.keys(ERROR_CODES) as ErrorCode[]
  const rows = codes.map((code) => [`\`${code}\``, String(HTTP_STATUS[code]), String(EXIT_CODES[code]), ERROR_CODES[code]])
  return `# Errors

One closed list for every surface. REST answers \`{"error": "<code>", "message": "<sentence>", "details"?: [{"path", "message"}], "requestId"}\`; the request id is in the \`X-Request-Id\` header too.

${table(['Code', 'HTTP status', 'Exit status', 'When'], rows)}

\`GET /api/oembed\` answers a format other than JSON with \`invalid_input\` and status 501, as oEmbed asks.
`
}

/** Options that many commands have, which the page explains once. */
const COMMON_OPTIONS = new Set(['--user', '--url'])

function commandLine(command: Command, path: string): string {
  const isOperation = OPERATIONS.some(({ surfaces }) => surfaces.cli?.command === path)
  const { mandatory = [], optional = [] } = Object.groupBy(command.options, ({ mandatory }) => (mandatory ? 'mandatory' : 'optional'))
  const words = [path, command.usage().replace(/^\[options\] ?/, ''), ...mandatory.map(({ flags }) => flags)].filter((word) => word !== '')
  const options = optional
    .filter(({ long }) => long !== '--json' && !(isOperation && COMMON_OPTIONS.has(long ?? '')))
    .map(({ flags, long }) => `\`${isOperation ? long : flags}\``)
  const about = isOperation ? mainClause(command.description()) : command.description().split(/\.(?: [A-Z]|$)/)[0]
  const line = `- \`${words.join(' ')}\`: ${about}.${options.length > 0 ? ` Options: ${options.join(', ')}` : ''}`
  return /mcp/i.test(line) ? `${line} ${MCP_LINE}` : line
}

function cliPage(): string {
  const childrenOf = (command: Command) => command.commands.filter((child) => child.name() !== 'help' && child.description() !== '')
  const walk = (command: Command, path: string): string[] =>
    command.commands.length > 0
      ? childrenOf(command).flatMap((child) => walk(child, `${path} ${child.name()}`))
      : [commandLine(command, path)]
  const groups = Object.groupBy(childrenOf(createProgram()), (command) => command.helpGroup())
  const parts = Object.entries(groups).map(([heading, commands = []]) => {
    const lines = commands.flatMap((command) => walk(command, command.name()))
    return `## ${heading.replace(/:$/, '')}\n\n${lines.join('\n')}`
  })
  return `# Command line

\`npm run -s commonplace -- COMMAND\` builds when the sources changed, then runs it. The [settings](settings.md) say which library it works on. Every command brings the library up to date first. \`COMMAND --help\` describes its options and their values.

Commands that do what a [route](routes.md) does take these options:

| Option | Meaning |
| --- | --- |
| \`--user <name>\` | act as this user on the local library. Default: the owner of \`PROMPTS_API_KEY\`, or anonymous |
| \`--url <address>\` | use another Commonplace server, with \`PROMPTS_API_KEY\` |

Write \`@FILE\` to read a text from a file, and \`-\` to read it from standard input. Commands that print a list or a report take \`--json\`.

${parts.join('\n\n')}

## Exit statuses

${table(['Status', 'Meaning'], Object.entries(EXIT_STATUSES))}

Which error ends with which status is in [errors](errors.md).
`
}

const asPage = (make: () => string) => () => `<!-- ${NOTICE} -->\n\n${make()}`

/** What is written, by its path in the repository. */
const FILES: Record<string, () => string> = {
  'docs/reference/tools.md': asPage(toolsPage),
  'docs/reference/routes.md': asPage(routesPage),
  'docs/reference/settings.md': asPage(settingsPage),
  'docs/reference/errors.md': asPage(errorsPage),
  'docs/reference/cli.md': asPage(cliPage),
  '.env.example': () => `# ${NOTICE}\n\n${environmentExample()}`,
}

const isCheck = process.argv.includes('--check')
mkdirSync(join(root, 'docs/reference'), { recursive: true })
const stale: string[] = []
for (const [name, make] of Object.entries(FILES)) {
  const text = make()
  const path = join(root, name)
  if (!isCheck) writeFileSync(path, text)
  else if (readPage(path) !== text) stale.push(name)
}

function readPage(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

if (stale.length > 0) {
  process.stderr.write(`Out of date: ${stale.join(', ')}. Run npm run docs.\n`)
  process.exit(1)
}
process.stdout.write(`${Object.keys(FILES).length} files made from the code ${isCheck ? 'are up to date' : 'written'}\n`)
