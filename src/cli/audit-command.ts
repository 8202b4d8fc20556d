import type { Command } from 'commander'
import type { App } from '../app.ts'
import { ANONYMOUS } from '../domain/people/actor.ts'
import { AUDIT_ACTIONS, isAuditAction } from '../domain/service/audit.ts'
import { AppError } from '../errors.ts'
import { sinceInput, toAuditRecord } from '../operations/admin/audit.ts'
import { EXISTING, type WithApp } from './operator.ts'
import { printJson } from './print.ts'
import { printList } from './print-list.ts'

/** Events read at once. */
const PAGE = 500

interface AuditFlags {
  readonly since?: string
  readonly user?: string
  readonly action?: string
  readonly json?: true
}

/** The events that the flags ask for. @throws AppError `invalid_input`, `not_found` */
async function readQuery(store: App['store'], { since, user: username, action }: AuditFlags) {
  if (!sinceInput.optional().safeParse(since).success)
    throw new AppError('invalid_input', `--since must be a day like 2026-01-31 or a time like 2026-01-31T12:00:00Z.`)
  if (action !== undefined && !isAuditAction(action))
    throw new AppError('invalid_input', `--action must be one of: ${Object.keys(AUDIT_ACTIONS).join(', ')}.`)
  const user = username === undefined ? undefined : await store.people.findUser(username)
  if (user === null) throw new AppError('not_found', `User "${username?.slice(0, 80)}" not found.`)
  return { since, action, aboutId: user?.id }
}

/** `audit`: the log with every id, for people with access to the library. */
export function addAuditCommand(program: Command, withApp: WithApp): void {
  program
    .command('audit')
    .description(
      'Print the audit log, newest first: a table on a terminal, one JSON object per line with every id in a pipe. Usernames and categories are current. Titles are shown for public items only.',
    )
    .option('--since <time>', 'only events since this day or time (UTC)')
    .option('--user <name>', 'only events by or about this user')
    .option('--action <name>', 'only this action, such as role_changed')
    .option('--json', 'print JSON lines even on a terminal')
    .action((flags: AuditFlags) =>
      withApp(async ({ store }) => {
        const query = await readQuery(store, flags)
        for (let before: number | undefined; ; ) {
          const events = await store.audit.listEvents(ANONYMOUS, { ...query, before, limit: PAGE })
          const records = events.map((event) => toAuditRecord(event, () => false))
          if (!process.stdout.isTTY || flags.json) for (const record of records) printJson(record)
          else if (before === undefined || records.length > 0) printList('audit', { events: records }, flags)
          before = events.at(-1)?.order
          if (events.length < PAGE) return
        }
      }, EXISTING),
    )
}
