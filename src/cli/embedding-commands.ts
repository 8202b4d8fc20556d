import type { Command } from 'commander'
import type { App } from '../app.ts'
import { AppError } from '../errors.ts'
import { EXISTING, type WithApp } from './people-commands.ts'
import { print, printError } from './print.ts'
import { startProgress } from './show-progress.ts'

/** @throws AppError `invalid_input` when no provider is set */
function requireEmbeddings(app: App): NonNullable<App['embeddings']> {
  if (app.embeddings) return app.embeddings
  throw new AppError('invalid_input', 'No embeddings provider is configured. Set EMBEDDINGS_URL and EMBEDDINGS_MODEL.')
}

/** `embeddings`. */
export function addEmbeddingCommands(program: Command, withApp: WithApp): void {
  const embeddings = program.command('embeddings').description('Manage provider embeddings used by search')
  embeddings
    .command('status')
    .description('Show how many public items have an embedding and how many are pending')
    .option('--json', 'print {model, total, embedded, pending} as JSON')
    .action((options: { json?: true }) =>
      withApp(async (app) => {
        const { model } = requireEmbeddings(app)
        const counts = await app.store.embeddings.countEmbeddings(model)
        const { total, embedded, pending } = counts
        print(
          options.json
            ? `${JSON.stringify({ model, total, embedded, pending })}\n`
            : `${model}: ${embedded} of ${total} public items embedded, ${pending} pending.\n`,
        )
      }, EXISTING),
    )
  embeddings
    .command('rebuild')
    .description(
      'Delete all embeddings and embed every public item again. If interrupted, finished items are kept: continue with --resume, or let the service continue.',
    )
    .option('--resume', 'keep existing embeddings; only embed items without one')
    .action((options: { resume?: true }) =>
      withApp(async (app) => {
        const { model, embedAll } = requireEmbeddings(app)
        if (!options.resume) await app.store.embeddings.forgetEmbeddings(null)
        const { pending } = await app.store.embeddings.countEmbeddings(model)
        const bar = startProgress(pending, `Embedding with ${model}`)
        let saved = 0
        let refused = 0
        try {
          await embedAll({
            onSaved(count) {
              saved += count
              bar.advanceTo(saved)
            },
            onRefused(id) {
              refused++
              printError(`The model rejected the text of item ${id}; the item has no embedding.\n`)
            },
          })
        } finally {
          bar.stop(`Embedded ${saved} of ${pending} items`)
        }
        print(`${saved} items embedded with ${model}, ${refused} rejected.\n`)
        if (refused > 0) process.exitCode = 1
      }, EXISTING),
    )
}
