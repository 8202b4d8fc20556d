import type { Command } from 'commander'
import type { App } from '../app.ts'
import { AppError } from '../errors.ts'
import { EXISTING, type WithApp } from './operator.ts'
import { print, printError, printJson } from './print.ts'
import { startProgress } from './show-progress.ts'

type ItemEncoding = NonNullable<App['itemEncoding']>

/** @throws AppError `invalid_input` when there is none */
function requireEncoder({ itemEncoding }: App): ItemEncoding {
  if (itemEncoding) return itemEncoding
  throw new AppError('invalid_input', 'The encoder is off. Set ENCODER=on to use it.')
}

/** @throws AppError `invalid_input` when no provider is set */
function requireProvider(app: App): ItemEncoding {
  if (app.provider) return requireEncoder(app)
  throw new AppError('invalid_input', 'No embeddings provider is configured. Set EMBEDDINGS_URL and EMBEDDINGS_MODEL.')
}

async function printStatus({ model, countItems }: ItemEncoding, items: string, isJson = false): Promise<void> {
  const { total, embedded, pending } = await countItems()
  if (isJson) printJson({ model, total, embedded, pending })
  else print(`${model}: ${embedded} of ${total} ${items} embedded, ${pending} pending.\n`)
}

async function encodeEverything({ model, countItems, encodeAll }: ItemEncoding): Promise<void> {
  const { pending } = await countItems()
  const bar = startProgress(pending, `Embedding with ${model}`)
  let saved = 0
  let refused = 0
  try {
    await encodeAll({
      onSaved(count) {
        saved += count
        bar.advanceTo(saved)
      },
      onFailed(id) {
        refused++
        printError(`The model rejected the text of item ${id}; the item has no embedding.\n`)
      },
    })
  } finally {
    bar.stop(`Embedded ${saved} of ${pending} items`)
  }
  print(`${saved} items embedded with ${model}, ${refused} rejected.\n`)
  if (refused > 0) process.exitCode = 1
}

/** `encoder` and `embeddings`. */
export function addEncoderCommands(program: Command, withApp: WithApp): void {
  const json = ['--json', 'print {model, total, embedded, pending} as JSON'] as const
  const embeddings = program.command('embeddings').description('Manage provider embeddings used by search')
  embeddings
    .command('status')
    .description('Show how many public items have an embedding and how many are pending')
    .option(...json)
    .action((options: { json?: true }) => withApp((app) => printStatus(requireProvider(app), 'public items', options.json), EXISTING))
  embeddings
    .command('rebuild')
    .description(
      'Delete all embeddings and embed every public item again. If interrupted, finished items are kept: continue with --resume, or let the service continue.',
    )
    .option('--resume', 'keep existing embeddings; only embed items without one')
    .action((options: { resume?: true }) =>
      withApp(async (app) => {
        const encoding = requireProvider(app)
        if (!options.resume) await app.store.itemVectors.forgetOtherVectors(null)
        await encodeEverything(encoding)
      }, EXISTING),
    )
  const encoder = program.command('encoder').description('Inspect the encoder used by search')
  encoder
    .command('status')
    .description('Show how many items, private ones included, have a vector of the encoder and how many are pending')
    .option(...json)
    .action((options: { json?: true }) => withApp((app) => printStatus(requireEncoder(app), 'items', options.json), EXISTING))
}
