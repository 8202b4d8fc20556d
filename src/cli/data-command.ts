import type { Command } from 'commander'
import { migrateData } from '../app.ts'
import { loadConfig, parseDatabaseUrl } from '../config/load-config.ts'
import { AppError } from '../errors.ts'
import { print, printJson } from './print.ts'
import { showTables } from './show-progress.ts'
import { formatTable } from './table.ts'

type Report = Awaited<ReturnType<typeof migrateData>>

/** Digits of a digest that the table shows; `--json` has all. */
const SHOWN_DIGITS = 16

function toTable({ tables }: Report): string {
  const rows = tables.map(({ name, from, to }) => [
    name,
    String(from.rows),
    String(to.rows),
    from.sha256.slice(0, SHOWN_DIGITS),
    to.sha256.slice(0, SHOWN_DIGITS),
    from.sha256 === to.sha256 ? 'same' : 'DIFFERENT',
  ])
  return formatTable([['table', 'rows', 'copied', 'digest', 'copy digest', ''], ...rows], null)
}

/** `migrate-data`. */
export function addDataCommand(program: Command): void {
  program
    .command('migrate-data')
    .description(
      'Copy a library into an empty database of either engine, compare the two, and keep the copy if they are the same: all of it or nothing. Stop the service first: a source that changes meanwhile is refused. Both are migrated to the current schema.',
    )
    .requiredOption('--from <address>', 'source: sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE')
    .option('--to <address>', 'empty target database (default: DATABASE_URL)')
    .option('--json', 'print {tables: [{name, from: {rows, sha256}, to}], fault} as JSON')
    .action(async (options: { from: string; to?: string; json?: true }) => {
      const from = parseDatabaseUrl('--from', options.from)
      const to = options.to === undefined ? loadConfig().DATABASE_URL : parseDatabaseUrl('--to', options.to)
      const shown = showTables()
      const report = await migrateData(from, to, shown.advance).finally(shown.stop)
      const { tables, fault } = report
      if (options.json) printJson({ tables, fault })
      else print(toTable(report))
      if (fault !== null) throw new AppError('conflict', fault)
      if (!options.json) print('The copy matches the source.\n')
    })
}
