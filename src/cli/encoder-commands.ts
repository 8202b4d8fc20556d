import { Argument, type Command } from 'commander'
import { AppError } from '../errors.ts'
import { EXISTING, type WithApp } from './people-commands.ts'
import { print, printJson } from './print.ts'

const ENCODER_OFF = 'The encoder is off. Set ENCODER=on to use it.'

/** `encoder`. */
export function addEncoderCommands(program: Command, withApp: WithApp): void {
  const encoder = program.command('encoder').description('Inspect the built-in encoder used by search')
  encoder
    .command('duplicates')
    .description('List groups of public items that are nearly the same in meaning; the newest 2,000 of each kind are compared')
    .addArgument(new Argument('<collection>', 'prompts or skills').choices(['prompts', 'skills']))
    .option('--json', 'print {groups, compared, total} as JSON')
    .action((collection: string, options: { json?: true }) =>
      withApp(async ({ itemEncoding, store }) => {
        if (!itemEncoding) throw new AppError('invalid_input', ENCODER_OFF)
        const { clusters, compared, total } = await store.items.findNearClusters(collection === 'prompts' ? 'prompt' : 'skill')
        if (options.json) {
          const groups = clusters.map((items) => items.map(({ id, title, author }) => ({ id, title, author })))
          printJson({ groups, compared, total })
          return
        }
        for (const items of clusters) print(`${items.map(({ id, title, author }) => `${id}  ${title} (${author})`).join('\n')}\n\n`)
        print(`Groups: ${clusters.length}. Compared: ${compared} of ${total} public ${collection} with a vector.\n`)
      }, EXISTING),
    )
  encoder
    .command('status')
    .description('Show how many items, private ones included, have a vector of the encoder and how many are pending')
    .option('--json', 'print {model, total, embedded, pending} as JSON')
    .action((options: { json?: true }) =>
      withApp(async ({ itemEncoding }) => {
        if (!itemEncoding) throw new AppError('invalid_input', ENCODER_OFF)
        const { model } = itemEncoding
        const { total, embedded, pending } = await itemEncoding.countItems()
        print(
          options.json
            ? `${JSON.stringify({ model, total, embedded, pending })}\n`
            : `${model}: ${embedded} of ${total} items embedded, ${pending} pending.\n`,
        )
      }, EXISTING),
    )
}
