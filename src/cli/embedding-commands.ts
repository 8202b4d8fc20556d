import type { Command } from 'commander'
import type { App } from '../app.ts'
import { AppError } from '../errors.ts'
import { EXISTING, type WithApp } from './people-commands.ts'
import { startProgress } from './show-progress.ts'

/** @throws AppError `invalid_input` when no provider is set */
function requireEmbeddings(app: App): NonNullable<App['embeddings']> {
  if (app.embeddings) return app.embeddings
  throw new AppError('invalid_input', 'No provider of embeddings is set; set EMBEDDINGS_URL and EMBEDDINGS_MODEL.')
}

/** `embeddings`. */
export function addEmbeddingCommands(program: Command, withApp: WithApp): void {
  const embeddings = program.command('embeddings').description('Vectors of a provider, which search goes by where EMBEDDINGS_URL is set')
  embeddings
    .command('status')
    .description('How many public items have a vector of the model, and how many are still to get one')
    .option('--json', 'print {model, total, embedded, pending} as JSON')
    .action((options: { json?: true }) =>
      withApp(async (app) => {
        const { model } = requireEmbeddings(app)
        const counts = await app.store.embeddings.countEmbeddings(model)
        const { total, embedded, pending } = counts
        process.stdout.write(
          options.json
            ? `${JSON.stringify({ model, total, embedded, pending })}\n`
            : `${model}: ${embedded} of ${total} public items have a vector, ${pending} are pending.\n`,
        )
      }, EXISTING),
    )
  embeddings
    .command('rebuild')
    .description(
      'Forget all vectors and embed every public item anew, here and now. What is done stays done when it is interrupted: --resume goes on, and so does the service.',
    )
    .option('--resume', 'forget nothing; embed only what has no vector yet')
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
              process.stderr.write(`The model refused the text of item ${id}; it stays without a vector.\n`)
            },
          })
        } finally {
          bar.stop(`Embedded ${saved} of ${pending} items`)
        }
        process.stdout.write(`${saved} items embedded with ${model}, ${refused} refused.\n`)
        if (refused > 0) process.exitCode = 1
      }, EXISTING),
    )
}
