import type { Command } from 'commander'
import { migrateData } from '../app.ts'
import { loadConfig, parseDatabaseUrl } from '../config/load-config.ts'
import { AppError } from '../errors.ts'
import { print, printError, printJson } from './print.ts'
import { startProgress } from './show-progress.ts'
import { formatTable } from './table.ts'

type Report = Awaited<ReturnType<typeof migrateData>>
type Progress = Parameters<Parameters<typeof migrateData>[2]>[0]

/** Digits of a digest that the table shows; `--json` has all. */
const SHOWN_DIGITS = 16

/** Progress per table: a bar on a terminal, otherwise a line per finished table. Writes to stderr only. */
function showTables(): { advance(progress: Progress): void; stop(): void } {
  let bar = startProgress(0, '')
  let shown = ''
  const stop = () => bar.stop(shown)
  return {
    advance({ table, rows, ofRows }) {
      if (!process.stderr.isTTY) {
        if (rows >= ofRows && table !== shown) printError(`${table}: ${rows} rows\n`)
        if (rows >= ofRows) shown = table
        return
      }
      if (table !== shown) {
        stop()
        shown = table
        bar = startProgress(ofRows, `Copying ${table}`)
      }
      bar.advanceTo(rows)
    },
    stop,
  }
}

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
      'Copy a library into an empty database of either engine, then compare the two. If interrupted, run it again to resume. Stop the service first: the source must not change meanwhile. Both are migrated to the current schema.',
    )
    .requiredOption('--from <address>', 'source: sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE')
    .option('--to <address>', 'empty target database (default: DATABASE_URL)')
    .option('--json', 'print {resumed, tables: [{name, from: {rows, sha256}, to}], fault} as JSON')
    .action(async (options: { from: string; to?: string; json?: true }) => {
      const from = parseDatabaseUrl('--from', options.from)
      const to = options.to === undefined ? loadConfig().DATABASE_URL : parseDatabaseUrl('--to', options.to)
      const shown = showTables()
      const report = await migrateData(from, to, shown.advance).finally(shown.stop)
      const { wasResumed: resumed, tables, fault } = report
      if (options.json) printJson({ resumed, tables, fault })
      else print(toTable(report))
      if (fault !== null) throw new AppError('conflict', fault)
      if (!options.json) print(`${resumed ? 'Resumed. ' : ''}The copy matches the source.\n`)
    })
}
