// Writes the reference pages and .env.example from the code; with --check, fails when one on disk says something else.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { KEY_HEADERS } from '../src/auth/authenticate.ts'
import { EXIT_CODES, EXIT_STATUSES } from '../src/cli/exit-codes.ts'
import { createProgram } from '../src/cli/program.ts'
import { listSettings } from '../src/config/settings.ts'
import { ERROR_CODES, type ErrorCode } from '../src/errors.ts'
import { HTTP_STATUS } from '../src/http/errors.ts'
import { createOpenApi } from '../src/http/openapi.ts'
import { describeTools } from '../src/mcp/tools.ts'
import type { Operation } from '../src/operations/core/define-operation.ts'
import { describeInputs } from '../src/operations/core/describe-inputs.ts'
import { OPERATIONS } from '../src/operations/index.ts'

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

function inputTable(operation: Operation): string {
  const inputs = describeInputs(operation)
  if (inputs.length === 0) return 'No inputs.'
  return table(
    ['Input', 'Kind', 'Required', 'Meaning'],
    inputs.map((input) => [
      `\`${input.name}\``,
      input.choices ? input.choices.map((choice) => `\`${choice}\``).join(', ') : input.kind,
      input.isRequired ? 'yes' : '',
      [input.description, input.bounds].filter((text) => text !== '').join('; '),
    ]),
  )
}

function scopeLine(operation: Operation): string {
  if (operation.scope === null) return 'No key needed; with one, your private items are included.'
  return operation.scope === 'any' ? 'Needs a key.' : `Needs a key with the \`${operation.scope}\` scope.`
}

function toolsPage(): string {
  const tools = describeTools(OPERATIONS)
  const parts = tools.map((tool) => {
    const operation = OPERATIONS.find((candidate) => candidate.name === tool.name)
    if (!operation) throw new Error(`no operation behind ${tool.name}`)
    const hints = [
      tool.annotations?.readOnlyHint ? 'reads only' : 'writes',
      ...(tool.annotations?.destructiveHint ? ['may destroy'] : []),
      ...(tool.annotations?.idempotentHint ? ['repeating changes nothing'] : []),
      ...(tool.annotations?.openWorldHint ? ['may ask others than this service'] : []),
    ]
    return `## ${tool.name}\n\n${tool.description}\n\n${scopeLine(operation)} Hints: ${hints.join(', ')}.\n\n${inputTable(operation)}`
  })
  return `# MCP tools\n\nServed at \`POST /api/mcp\` and over stdio. A tool that fails answers \`{"error": "<sentence>", "code": "<code>"}\` with \`isError\`; the codes are in [errors](errors.md). When a filter is unknown, a second text beside the answer lists the valid values.\n\n${parts.join('\n\n')}\n`
}

/** Whether a route is of embeds, which answer what is to be shown. */
function isOfEmbeds(route: string): boolean {
  return /embed/.test(route)
}

function routesPage(): string {
  const parts = OPERATIONS.flatMap((operation) => {
    const { rest } = operation.surfaces
    if (!rest) return []
    const stream = operation.isStreamed ? ' With `Accept: text/event-stream` the text is [streamed](../improve.md#streaming).' : ''
    return [`## ${rest.method} ${rest.path}\n\n${operation.summary}\n\n${scopeLine(operation)}${stream}\n\n${inputTable(operation)}`]
  })
  const plain = Object.entries(createOpenApi(OPERATIONS, { version: '', baseUrl: '', hasMcp: true })['paths'] ?? {}).flatMap(
    ([path, methods]) =>
      Object.entries(methods ?? {}).flatMap(([method, about]) => {
        const { operationId, summary } = Object(about)
        return OPERATIONS.some((operation) => operation.name === operationId)
          ? []
          : [[`${method.toUpperCase()} ${path}`, String(summary)] as const]
      }),
  )
  return `# REST routes

A key travels in ${KEY_HEADERS.map((name) => `\`${name}\``).join(', ')} (the last as \`Bearer cpb_…\`). Inputs named in the path stand there; the others come from the query for GET and DELETE, from a JSON body otherwise. Lists in a query are separated by commas. Filters take slugs or names in any case; when one of them is unknown, \`hints\` in the answer lists the valid values. The same, for programs, is at \`/api/openapi.json\`.

${parts.join('\n\n')}

## Routes that answer bytes

Always for saving, never for showing: plain text or octets, as an attachment.

${table(
  ['Route', 'What'],
  plain.filter(([route]) => !isOfEmbeds(route)),
)}

## Embeds

What they show and how is in [embeds](../embeds.md).

${table(
  ['Route', 'What'],
  plain.filter(([route]) => isOfEmbeds(route)),
)}

## Health

${table(
  ['Route', 'What'],
  [
    ['GET /healthz', 'The process answers'],
    [
      'GET /readyz',
      'The library can be used and search has read it; 503 with the reason otherwise. `embeddings` says how their provider does: `ok`, `degraded` or `off`; `encoder` says how the encoder, built in or a provider, comes along: `embedding`, `ready`, `fallback` or `off`',
    ],
    ['GET /metrics', 'Metrics for Prometheus, with the token of `METRICS_TOKEN`; 404 without that setting'],
  ],
)}
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

A setting that has \`NAME_FILE\` beside its name can be given in a file, as Docker, Kubernetes and systemd hand out secrets: \`NAME_FILE\` is the path of a file whose one line is the value. The newline at its end does not count. When both are set, or the file cannot be read or is empty, the start stops with a sentence naming the setting.

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

function cliPage(): string {
  const help = (command: Command): string => {
    command.configureHelp({ helpWidth: 100, showGlobalOptions: false })
    return `\`\`\`text\n${command.helpInformation().trimEnd()}\n\`\`\``
  }
  const walk = (command: Command, path: string): string[] => {
    const name = `${path} ${command.name()}`.trim()
    const section = `## ${name.replace(/^commonplace /, '')}\n\n${help(command)}`
    const own =
      command.commands.length > 0 && path === '' ? [] : [/mcp/i.test(section) ? `<!-- mcp -->\n\n${section}\n\n<!-- /mcp -->` : section]
    return [
      ...own,
      ...command
        .createHelp()
        .visibleCommands(command)
        .filter((child) => child.name() !== 'help')
        .flatMap((child) => walk(child, name)),
    ]
  }
  return `# Command line

\`npm run -s commonplace -- COMMAND\` builds when the sources changed, then runs it. The settings in [settings](settings.md) say which library it works on. Every command brings the library up to date first.

${walk(createProgram(), '').join('\n\n')}

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
