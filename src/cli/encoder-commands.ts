import type { Command } from 'commander'
import { AppError } from '../errors.ts'
import { EXISTING, type WithApp } from './people-commands.ts'
import { print } from './print.ts'

const ENCODER_OFF = 'The encoder is off. Set ENCODER=on to use it.'

/** `encoder`. */
export function addEncoderCommands(program: Command, withApp: WithApp): void {
  const encoder = program.command('encoder').description('Inspect the built-in encoder used by search')
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
