import { setPriority } from 'node:os'
import { type Command, Option } from 'commander'
import type { App } from '../app.ts'
import { KEY_HINTS } from '../auth/key-hints.ts'
import { keyFromEnvironment, langfuseKeysFromEnvironment } from '../config/load-config.ts'
import { AppError } from '../errors.ts'
import { VISIBILITIES, type Visibility } from '../library/visibility.ts'
import { OPERATIONS } from '../operations/index.ts'
import { readAgentFolder } from '../transfer/agent-folder.ts'
import type { History } from '../transfer/history-folder.ts'
import { type ImportEntry, importEntries } from '../transfer/import-entries.ts'
import { importPrompts } from '../transfer/import-prompts.ts'
import { importSkills } from '../transfer/import-skills.ts'
import { readLangfuse } from '../transfer/langfuse-api.ts'
import { exportLibrary, exportWholeLibrary, importLibrary, importWholeLibrary, isWholeExport } from '../transfer/library-folder.ts'
import { collectCreated, describeNearDuplicates } from '../transfer/near-duplicates.ts'
import { createPeople } from '../transfer/people.ts'
import type { ImportOptions } from '../transfer/prepare-prompt.ts'
import { findPromptFormat, PROMPT_FORMATS, type PromptFormat, type PromptSource, readPromptFile } from '../transfer/prompt-file.ts'
import type { ImportReport } from '../transfer/report.ts'
import { findSkillFolders } from '../transfer/skill-folder.ts'
import { EXISTING, requireAccount, type WithApp } from './people-commands.ts'
import { plural } from './plural.ts'
import { print, printError } from './print.ts'
import { suggest } from './program-name.ts'
import { STDIN_MARK } from './read-input.ts'
import { readRemote } from './read-remote.ts'
import { invokeRemotely } from './remote-invoke.ts'
import { type ProgressBar, startProgress } from './show-progress.ts'

/** Of 0 to 19: about a third of the processor where others want it too. It holds the write lock meanwhile, so it must not starve. */
const IMPORT_NICE = 5

interface ImportFlags {
  readonly user?: string
  readonly visibility?: Visibility
  readonly public?: true
}

function visibilityOption(what: string): Option {
  return new Option('--visibility <visibility>', `whom ${what} are for (default: the user's setting, initially private)`).choices(
    VISIBILITIES,
  )
}

function publicOption(): Option {
  return new Option('--public', 'the same as --visibility public').conflicts('visibility')
}

function toOptions(flags: ImportFlags): ImportOptions {
  return { owner: flags.user, visibility: flags.public ? 'public' : flags.visibility }
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

async function countEntries(path: string): Promise<number> {
  if (!process.stderr.isTTY) return 0
  let count = 0
  for await (const _ of readPromptFile(path)) count++
  return count
}

/** The contents of a full export, as the end of a sentence. */
function describeHistory({ counts, digest }: History): string {
  const { items, versions, votes, inTrash, users, categories } = counts
  const parts = [plural(users, 'user'), plural(categories, 'category', 'categories')]
  const held = `${plural(items, 'item')} (${inTrash} in the trash) with ${plural(versions, 'version')} and ${plural(votes, 'vote')}`
  return `${[held, ...parts].join(', ')}.\nDigest: ${digest}\n`
}

async function importWhole(app: App, folder: string): Promise<void> {
  let bar: ProgressBar | null = null
  const history = await importWholeLibrary(app.store.transfer, folder, (done, of) => {
    bar ??= startProgress(of, 'Importing the library')
    bar.advanceTo(done)
  }).finally(() => bar?.stop('Imported the library'))
  if (!history.isNew) {
    print(`Nothing changed: the library already has this content, ${describeHistory(history)}`)
    return
  }
  print(`Imported ${describeHistory(history)}`)
  printError(`No user can sign in yet. Invite them by name, an administrator first, ${suggest('users invite NAME --admin')}\n`)
}

/** `import` and `export`. */
export function addTransferCommands(program: Command, withApp: WithApp): void {
  const imports = program
    .command('import')
    .description('Import prompts and skills; repeating an import changes nothing')
    // A service beside it keeps answering as fast.
    .hook('preAction', () => setPriority(IMPORT_NICE))
  imports
    .command('prompts <file>')
    .description(
      'Import a CSV, JSON or JSONL file, or standard input (-). Columns: act, prompt, for_devs, type, contributor; or title, content, description, type, category, tags, author, visibility.',
    )
    .requiredOption('--user <name>', 'owner of the imported items; created if missing')
    .addOption(visibilityOption('items without a visibility'))
    .addOption(publicOption())
    .addOption(new Option('--format <format>', 'format of standard input (-)').choices(PROMPT_FORMATS))
    .action(async (file: string, flags: ImportFlags & { format?: PromptFormat }) => {
      const source = await findSource(file, flags.format)
      await withApp(async (app) => {
        const bar = startProgress(typeof source === 'string' ? await countEntries(source) : 0, 'Importing prompts')
        const people = createPeople()
        await runImport(app, async (onCreated) => {
          const report = await importPrompts(app.store, source, { ...toOptions(flags), onProgress: bar.advanceTo, onCreated }, people)
          bar.stop('Imported prompts')
          return [report, people.madeOwners]
        })
      })
    })
  imports
    .command('skills <folder>')
    .description('Import every subfolder that has a SKILL.md')
    .requiredOption('--user <name>', 'owner of the imported items; created if missing')
    .addOption(visibilityOption('the skills'))
    .addOption(publicOption())
    .action((folder: string, flags: ImportFlags) =>
      withApp(async (app) => {
        const bar = startProgress(process.stderr.isTTY ? (await findSkillFolders(folder)).length : 0, 'Importing skills')
        const people = createPeople()
        await runImport(app, async (onCreated) => {
          const report = await importSkills(app.store, folder, { ...toOptions(flags), onProgress: bar.advanceTo, onCreated }, null, people)
          bar.stop('Imported skills')
          return [report, people.madeOwners]
        })
      }),
    )
  const importFrom = (flags: ImportFlags, entries: AsyncIterable<ImportEntry>) =>
    withApp(async (app) => {
      const people = createPeople()
      await runImport(app, async (onCreated) => {
        const options = { ...toOptions(flags), leavesOutUnknownCategories: true, onCreated }
        return [await importEntries(app.store, entries, options, people), people.madeOwners]
      })
    })
  imports
    .command('folder <folder>')
    .description(
      'Import what agents and editors keep in a project: .prompt.md files, commands, agents, skills and rules in folders such as .claude and .cursor, plugins, and AGENTS.md',
    )
    .requiredOption('--user <name>', 'owner of the imported items; created if missing')
    .addOption(visibilityOption('the items'))
    .addOption(publicOption())
    .option('--whole', 'make one prompt of an AGENTS.md (default: one for each second-level heading)')
    .action((folder: string, flags: ImportFlags & { whole?: true }) => importFrom(flags, readAgentFolder(folder, flags.whole === true)))
  imports
    .command('langfuse <address>')
    .description('Import all prompts of a Langfuse project over its API; reads LANGFUSE_PUBLIC_KEY and LANGFUSE_SECRET_KEY')
    .requiredOption('--user <name>', 'owner of the imported items; created if missing')
    .addOption(visibilityOption('the prompts'))
    .addOption(publicOption())
    .action((address: string, flags: ImportFlags) => importFrom(flags, readLangfuse(address, langfuseKeysFromEnvironment())))
  imports
    .command('remote <address>')
    .description('Import the prompts and skills of another Commonplace: its public ones, or what the key in PROMPTS_API_KEY finds')
    .requiredOption('--user <name>', 'owner of the imported items; created if missing')
    .addOption(visibilityOption('the items'))
    .addOption(publicOption())
    .action((address: string, flags: ImportFlags) =>
      importFrom(flags, readRemote(invokeRemotely(OPERATIONS, address, keyFromEnvironment(), KEY_HINTS.remote))),
    )
  imports
    .command('library <folder>')
    .description(
      'Import a folder written by export, keeping owners, authors, slugs and times. A folder from export --full fills an empty library, all or nothing.',
    )
    .option('--user <name>', 'owner of all items, instead of the exported owners')
    .addOption(visibilityOption('items without a visibility'))
    .addOption(publicOption())
    .option('--without-history', 'import only the items of an export --full, into any library')
    .action(async (folder: string, flags: ImportFlags & { withoutHistory?: true }) => {
      const isWhole = flags.withoutHistory !== true && (await isWholeExport(folder))
      if (isWhole && (flags.user !== undefined || flags.public || flags.visibility)) {
        throw new AppError(
          'invalid_input',
          'A full export keeps its owners and visibility; --user, --visibility and --public need --without-history.',
        )
      }
      await withApp(async (app) => {
        if (isWhole) return await importWhole(app, folder)
        await runImport(app, async (onCreated) => {
          const { report, madeOwners, madeCategories, madeTeams } = await importLibrary(app.store, folder, {
            ...toOptions(flags),
            onCreated,
          })
          return [report, madeOwners, madeCategories, madeTeams]
        })
      })
    })
  program
    .command('export <folder>')
    .description(
      'Export a snapshot of the library to a new folder: prompts.jsonl, skills.json, categories.json, teams.json and a folder per skill. Never includes passwords, keys or email addresses.',
    )
    .option('--user <name>', 'only items of this user')
    .option('--full', 'also export versions, votes, the trash, users and admin marks, to move the library')
    .action((folder: string, options: { user?: string; full?: true }) =>
      withApp(async (app) => {
        if (options.full) {
          if (options.user !== undefined)
            throw new AppError('invalid_input', '--full exports all users and cannot be combined with --user.')
          print(`Wrote ${folder}: ${describeHistory(await exportWholeLibrary(app.store.transfer, folder))}`)
          return
        }
        const owner = options.user === undefined ? null : await requireAccount(app, options.user)
        const { prompts, skills } = await exportLibrary(app.store.transfer, folder, owner?.id ?? null)
        print(`Wrote ${plural(prompts, 'prompt')} and ${plural(skills, 'skill')} to ${folder}.\n`)
      }, EXISTING),
    )
}
