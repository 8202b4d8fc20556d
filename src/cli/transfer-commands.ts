import { type Command, Option } from 'commander'
import type { App } from '../app.ts'
import { AppError } from '../errors.ts'
import type { History } from '../transfer/history-folder.ts'
import { type ImportOptions, importPrompts } from '../transfer/import-prompts.ts'
import { importSkills } from '../transfer/import-skills.ts'
import { exportLibrary, exportWholeLibrary, importLibrary, importWholeLibrary, isWholeExport } from '../transfer/library-folder.ts'
import { createPeople } from '../transfer/people.ts'
import { findPromptFormat, PROMPT_FORMATS, type PromptFormat, type PromptSource, readPromptFile } from '../transfer/prompt-file.ts'
import type { ImportReport } from '../transfer/report.ts'
import { findSkillFolders } from '../transfer/skill-folder.ts'
import { EXISTING, requireAccount, type WithApp } from './people-commands.ts'
import { plural } from './plural.ts'
import { suggest } from './program-name.ts'
import { STDIN_MARK } from './read-input.ts'
import { type ProgressBar, startProgress } from './show-progress.ts'

interface ImportFlags {
  readonly user?: string
  readonly public?: true
}

function toOptions(flags: ImportFlags): ImportOptions {
  return { owner: flags.user, visibility: flags.public ? 'public' : undefined }
}

function printReport(report: ImportReport, madeOwners: readonly string[], madeCategories: readonly string[] = []): void {
  for (const name of madeOwners) process.stdout.write(`Created user "${name}" (owner of the imported items).\n`)
  for (const slug of madeCategories) process.stdout.write(`Created category "${slug}".\n`)
  for (const remark of report.remarks) process.stderr.write(`${remark}\n`)
  if (report.moreRemarks > 0) process.stderr.write(`… and ${report.moreRemarks} more remarks.\n`)
  const { read, created, updated, unchanged, kept, refused } = report
  process.stdout.write(`${read} read: ${created} created, ${updated} updated, ${unchanged} unchanged, ${kept} kept, ${refused} refused.\n`)
  if (refused > 0) process.exitCode = 1
}

/** What an argument stands for: a file that is there, or standard input. @throws AppError `invalid_input` */
async function findSource(file: string, format: PromptFormat | undefined): Promise<string | PromptSource> {
  if (file === STDIN_MARK) {
    if (format === undefined) throw new AppError('invalid_input', `Standard input needs --format: ${PROMPT_FORMATS.join(', ')}.`)
    return { name: 'standard input', format, bytes: process.stdin }
  }
  if (format !== undefined) throw new AppError('invalid_input', '--format is for standard input; the ending of a file tells its format.')
  await findPromptFormat(file)
  return file
}

async function countEntries(path: string): Promise<number> {
  if (!process.stderr.isTTY) return 0
  let count = 0
  for await (const _ of readPromptFile(path)) count++
  return count
}

/** What a whole export holds, as the end of a sentence and a line. */
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
    process.stdout.write(`Nothing was changed: the library holds just this, ${describeHistory(history)}`)
    return
  }
  process.stdout.write(`Imported ${describeHistory(history)}`)
  process.stderr.write(
    `None of the users can sign in yet. Invite them under their names, an administrator first, ${suggest('users invite NAME --admin')}\n`,
  )
}

/** `import` and `export`. */
export function addTransferCommands(program: Command, withApp: WithApp): void {
  const imports = program.command('import').description('Bring prompts and skills in; repeating an import changes nothing')
  imports
    .command('prompts <file>')
    .description(
      'Import a CSV, JSON or JSONL file, or standard input (-). Columns: act, prompt, for_devs, type, contributor; or title, content, description, type, category, tags, author, visibility.',
    )
    .requiredOption('--user <name>', 'who owns what is imported; made when missing')
    .option('--public', "make public what states no visibility (default: as the user's setting, private at first)")
    .addOption(new Option('--format <format>', 'the format of standard input, which - stands for').choices(PROMPT_FORMATS))
    .action(async (file: string, flags: ImportFlags & { format?: PromptFormat }) => {
      const source = await findSource(file, flags.format)
      await withApp(async (app) => {
        const bar = startProgress(typeof source === 'string' ? await countEntries(source) : 0, 'Importing prompts')
        const people = createPeople()
        const report = await importPrompts(app.store, source, { ...toOptions(flags), onProgress: bar.advanceTo }, people)
        bar.stop('Imported prompts')
        printReport(report, people.madeOwners)
      })
    })
  imports
    .command('skills <folder>')
    .description('Import every folder below this one that has a SKILL.md')
    .requiredOption('--user <name>', 'who owns what is imported; made when missing')
    .option('--public', "make the skills public (default: as the user's setting, private at first)")
    .action((folder: string, flags: ImportFlags) =>
      withApp(async (app) => {
        const bar = startProgress(process.stderr.isTTY ? (await findSkillFolders(folder)).length : 0, 'Importing skills')
        const people = createPeople()
        const report = await importSkills(app.store, folder, { ...toOptions(flags), onProgress: bar.advanceTo }, null, people)
        bar.stop('Imported skills')
        printReport(report, people.madeOwners)
      }),
    )
  imports
    .command('library <folder>')
    .description(
      'Import a folder that export wrote: owners, authors, addresses and times as they were. One of export --full fills an empty library, all of it or nothing.',
    )
    .option('--user <name>', 'who owns it all instead of the owners written down')
    .option('--public', 'make public what states no visibility')
    .option('--without-history', 'of an export --full, import the items alone, into any library')
    .action(async (folder: string, flags: ImportFlags & { withoutHistory?: true }) => {
      const isWhole = flags.withoutHistory !== true && (await isWholeExport(folder))
      if (isWhole && (flags.user !== undefined || flags.public)) {
        throw new AppError('invalid_input', 'A whole export keeps its owners and visibility: --user and --public need --without-history.')
      }
      await withApp(async (app) => {
        if (isWhole) return await importWhole(app, folder)
        const { report, madeOwners, madeCategories } = await importLibrary(app.store, folder, toOptions(flags))
        printReport(report, madeOwners, madeCategories)
      })
    })
  program
    .command('export <folder>')
    .description(
      'Write the library into a new folder, as it is at one moment: prompts.jsonl, skills.json, categories.json and a folder for each skill. Nothing that lets somebody in is written: no password, key or e-mail address.',
    )
    .option('--user <name>', 'only what this user owns')
    .option('--full', 'write versions, votes, the trash, users and marks of administrators too, for another library')
    .action((folder: string, options: { user?: string; full?: true }) =>
      withApp(async (app) => {
        if (options.full) {
          if (options.user !== undefined) throw new AppError('invalid_input', 'A whole export has no --user: it holds everybody.')
          process.stdout.write(`Wrote ${folder}: ${describeHistory(await exportWholeLibrary(app.store.transfer, folder))}`)
          return
        }
        const owner = options.user === undefined ? null : await requireAccount(app, options.user)
        const { prompts, skills } = await exportLibrary(app.store.transfer, folder, owner?.id ?? null)
        process.stdout.write(`Wrote ${prompts} prompts and ${skills} skills to ${folder}.\n`)
      }, EXISTING),
    )
}
