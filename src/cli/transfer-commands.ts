import { setPriority } from 'node:os'
import { type Command, Option } from 'commander'
import type { App } from '../app.ts'
import { VISIBILITIES, type Visibility } from '../domain/items/visibility.ts'
import type { WholeLibrary } from '../domain/service/transfer.ts'
import { AppError } from '../errors.ts'
import { importChecks } from '../operations/prompts/compose.ts'
import { readAgentFolder } from '../transfer/agent-folder.ts'
import { createPeople, type People } from '../transfer/export-lists.ts'
import { type ImportReport, importEntries, importPrompts, importSkills } from '../transfer/import-entries.ts'
import { exportLibrary, importLibrary, isWholeLibrary } from '../transfer/library-folder.ts'
import { collectCreated, describeNearDuplicates, type ImportOptions } from '../transfer/prepare-prompt.ts'
import { findPromptFormat, PROMPT_FORMATS, type PromptFormat, type PromptSource, readPromptFile } from '../transfer/prompt-file.ts'
import { findSkillFolders } from '../transfer/skill-folder.ts'
import type { SyncReport } from '../transfer/sync/scan-folder.ts'
import { syncFolder } from '../transfer/sync/sync-folder.ts'
import { EXISTING, requireAccount, suggest, type WithApp } from './operator.ts'
import { plural, print, printError, STDIN_MARK, showTables, startProgress } from './terminal.ts'

/** Of 0 to 19: about a third of the processor where others want it too. It holds the write lock meanwhile, so it must not starve. */
const IMPORT_NICE = 5

interface ImportFlags {
  readonly user?: string
  readonly visibility?: Visibility
  readonly public?: true
}

/** The options of an import that say who sees what it makes. @param what items */
function addVisibility(command: Command, what: string): Command {
  const whom = `who can see ${what} (default: the user's setting, initially private)`
  return command
    .addOption(new Option('--visibility <visibility>', whom).choices(VISIBILITIES))
    .addOption(new Option('--public', 'the same as --visibility public').conflicts('visibility'))
}

function toOptions(app: App, flags: ImportFlags): ImportOptions {
  return { owner: flags.user, visibility: flags.public ? 'public' : flags.visibility, checks: importChecks(app) }
}

function printReport(
  report: ImportReport,
  madeOwners: readonly string[],
  madeCategories: readonly string[] = [],
  madeTeams: readonly string[] = [],
): void {
  for (const name of madeOwners) print(`Created user "${name}" (owner of the imported items).\n`)
  for (const name of madeTeams) print(`Created team "${name}", without members.\n`)
  for (const slug of madeCategories) print(`Created category "${slug}".\n`)
  for (const remark of report.remarks) printError(`${remark}\n`)
  if (report.moreRemarks > 0) printError(`… and ${report.moreRemarks} more remarks.\n`)
  const { read, created, updated, unchanged, kept, refused } = report
  print(`${read} read: ${created} created, ${updated} updated, ${unchanged} unchanged, ${kept} kept, ${refused} refused.\n`)
  if (refused > 0) process.exitCode = 1
}

/** Runs an import, prints its report, and then which items nearly repeat others. */
async function runImport(
  app: App,
  run: (onCreated: ReturnType<typeof collectCreated>['add']) => Promise<Parameters<typeof printReport>>,
): Promise<void> {
  const created = collectCreated()
  printReport(...(await run(created.add)))
  const remark = await describeNearDuplicates(app.store, created)
  if (remark !== null) printError(`${remark}\n`)
}

/** An existing file, or standard input. @throws AppError `invalid_input` */
async function findSource(file: string, format: PromptFormat | undefined): Promise<string | PromptSource> {
  if (file === STDIN_MARK) {
    if (format === undefined) throw new AppError('invalid_input', `Standard input needs --format: ${PROMPT_FORMATS.join(', ')}.`)
    return { name: 'standard input', format, bytes: process.stdin }
  }
  if (format !== undefined) throw new AppError('invalid_input', '--format works with standard input only; files use their extension.')
  await findPromptFormat(file)
  return file
}

async function countEntries(source: string | PromptSource): Promise<number> {
  let count = 0
  if (typeof source === 'string') for await (const _ of readPromptFile(source)) count++
  return count
}

/** The contents of a whole library, as the end of a sentence. */
function describeWhole({ counts, digest }: WholeLibrary): string {
  const count = (table: string) => counts[table] ?? 0
  const held = `${plural(count('item'), 'item')} with ${plural(count('version'), 'version')} and ${plural(count('vote'), 'vote')}`
  const others = [plural(count('user'), 'user'), plural(count('category'), 'category', 'categories')]
  return `${[held, ...others].join(', ')}.\nDigest: ${digest}\n`
}

async function importWhole(app: App, path: string): Promise<void> {
  const shown = showTables()
  const whole = await app.store.transfer.importWhole(path, process.stderr.isTTY ? shown.advance : undefined).finally(shown.stop)
  if (!whole.isNew) {
    print(`Nothing changed: the library already has this content, ${describeWhole(whole)}`)
    return
  }
  print(`Imported ${describeWhole(whole)}`)
  printError(`No user can sign in yet. Invite them by name, an administrator first, ${suggest('users invite NAME --admin')}\n`)
}

/** `import` and `export`. */
export function addTransferCommands(program: Command, withApp: WithApp): void {
  const imports = program
    .command('import')
    .description('Import prompts and skills; repeating an import changes nothing')
    // A service beside it keeps answering as fast.
    .hook('preAction', () => setPriority(IMPORT_NICE))
  const addImport = (name: string, what: string, description: string) => {
    const command = imports.command(name).description(description)
    return addVisibility(command.requiredOption('--user <name>', 'owner of the imported items; created if missing'), what)
  }
  /** @param count of the entries, where a bar is shown */
  const importFor = (
    flags: ImportFlags,
    what: string,
    count: () => Promise<number>,
    run: (store: App['store'], options: ImportOptions, people: People) => Promise<ImportReport>,
  ) =>
    withApp(async (app) => {
      const bar = startProgress(process.stderr.isTTY ? await count() : 0, `Importing ${what}`)
      const people = createPeople()
      await runImport(app, async (onCreated) => {
        const report = await run(app.store, { ...toOptions(app, flags), onProgress: bar.advanceTo, onCreated }, people)
        bar.stop(`Imported ${what}`)
        return [report, people.madeOwners]
      })
    })
  addImport(
    'prompts <file>',
    'items without a visibility',
    'Import a CSV, JSON or JSONL file, or standard input (-). Columns: act, prompt, for_devs, type, contributor; or title, content, description, type, category, tags, author, visibility.',
  )
    .addOption(new Option('--format <format>', 'format of standard input (-)').choices(PROMPT_FORMATS))
    .action(async (file: string, flags: ImportFlags & { format?: PromptFormat }) => {
      const source = await findSource(file, flags.format)
      const count = () => countEntries(source)
      await importFor(flags, 'prompts', count, (store, options, people) => importPrompts(store, source, options, people))
    })
  addImport('skills <folder>', 'the skills', 'Import every subfolder that has a SKILL.md').action((folder: string, flags: ImportFlags) => {
    const count = async () => (await findSkillFolders(folder)).length
    return importFor(flags, 'skills', count, (store, options, people) => importSkills(store, folder, options, null, people))
  })
  addImport(
    'folder <folder>',
    'the items',
    'Import what agents and editors keep in a project: .prompt.md and .prompt.yml files, .prompt, .prompty, promptfooconfig.yaml, commands, agents, skills and rules in folders such as .claude and .cursor, plugins, and AGENTS.md',
  )
    .option('--whole', 'make one prompt of an AGENTS.md (default: one for each second-level heading)')
    .action((folder: string, flags: ImportFlags & { whole?: true }) =>
      importFor(
        flags,
        'items',
        async () => 0,
        (store, options, people) => {
          const entries = readAgentFolder(folder, flags.whole === true)
          return importEntries(store, entries, { ...options, leavesOutUnknownCategories: true }, people)
        },
      ),
    )
  const library = imports
    .command('library <path>')
    .description(
      'Import a folder written by export, keeping owners, authors, slugs and times. A file from export --full, or a backup, fills an empty library, all or nothing; logins and keys are not imported.',
    )
    .option('--user <name>', 'owner of all items, instead of the exported owners')
  addVisibility(library, 'items without a visibility')
    .option('--without-history', 'import only the items of a folder from export --full of 0.2.0, into any library')
    .action(async (path: string, flags: ImportFlags & { withoutHistory?: true }) => {
      const isWhole = flags.withoutHistory !== true && (await isWholeLibrary(path))
      if (isWhole && (flags.user !== undefined || flags.public || flags.visibility)) {
        throw new AppError(
          'invalid_input',
          'A whole library keeps its owners and visibility: --user, --visibility and --public do not apply.',
        )
      }
      await withApp(async (app) => {
        if (isWhole) return await importWhole(app, path)
        await runImport(app, async (onCreated) => {
          const { report, madeOwners, madeCategories, madeTeams } = await importLibrary(app.store, path, {
            ...toOptions(app, flags),
            onCreated,
          })
          return [report, madeOwners, madeCategories, madeTeams]
        })
      })
    })
  program
    .command('export <target>')
    .description(
      'Export a snapshot of the library to a new folder: prompts.jsonl, skills.json, categories.json, teams.json and a folder per skill. With --full, to a new SQLite file. Never includes passwords, keys or email addresses.',
    )
    .option('--user <name>', 'only items of this user')
    .option('--full', 'write one file that also has versions, votes, the trash, users, teams and collections, to move the library')
    .action((target: string, options: { user?: string; full?: true }) =>
      withApp(async (app) => {
        if (options.full) {
          if (options.user !== undefined)
            throw new AppError('invalid_input', '--full exports all users and cannot be combined with --user.')
          print(`Wrote ${target}: ${describeWhole(await app.store.transfer.exportWhole(target))}`)
          return
        }
        const owner = options.user === undefined ? null : await requireAccount(app, options.user)
        const { prompts, skills } = await exportLibrary(app.store.transfer, target, owner?.id ?? null)
        print(`Wrote ${plural(prompts, 'prompt')} and ${plural(skills, 'skill')} to ${target}.\n`)
      }, EXISTING),
    )
}

interface SyncFlags {
  readonly user: string
  readonly dryRun?: true
  readonly delete?: true
}

function printSync(report: SyncReport, isDryRun: boolean): void {
  for (const change of report.changes) print(`${change}\n`)
  for (const remark of report.remarks) printError(`${remark}\n`)
  const { created, updated, written, conflicts, deleted, left, refused } = report
  const counts = `Library: ${created} created, ${updated} updated. Folder: ${written} written.`
  const rest = `${plural(conflicts, 'conflict')}, ${deleted} deleted, ${left} left, ${refused} refused.`
  print(`${isDryRun ? 'Dry run, nothing changed. ' : ''}${counts} ${rest}\n`)
}

/** `sync`. */
export function addSyncCommand(program: Command, withApp: WithApp): void {
  program
    .command('sync <folder>')
    .description('Sync the prompts and skills of a user with a folder, in both directions. Where both sides changed, both are kept.')
    .requiredOption('--user <name>', 'whose items are synced')
    .option('--delete', 'carry deletions over, to the trash in the library (default: report them)')
    .option('--dry-run', 'say what would be done, and change nothing')
    .action((folder: string, flags: SyncFlags) =>
      withApp(async (app) => {
        const user = await requireAccount(app, flags.user)
        const isDryRun = flags.dryRun === true
        const report = await syncFolder(app.store, user, folder, {
          deletes: flags.delete === true,
          isDryRun,
          now: app.clock(),
          checks: importChecks(app),
        })
        printSync(report, isDryRun)
        if (report.refused > 0) process.exitCode = 1
      }, EXISTING),
    )
}
