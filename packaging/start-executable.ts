// What runs first in the single executable. It unpacks the program and hands over to it: to the program it is a Node that has it as its script.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { getAsset, getRawAsset } from 'node:sea'
import type { PackedRuntime } from './pack-runtime.ts'
import { cacheFolder, unpackRuntime } from './unpack-runtime.ts'

/** As `unavailable` in src/cli/start-process.ts. */
const UNAVAILABLE = 69

function unpack(): string | null {
  const cache = cacheFolder(process.env)
  try {
    const list = JSON.parse(getAsset('runtime.json', 'utf8')) as Pick<PackedRuntime, 'name' | 'files'>
    return unpackRuntime({ ...list, readArchive: () => new Uint8Array(getRawAsset('runtime.br')) }, cache)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    process.stderr.write(
      `Commonplace cannot unpack itself into ${cache}: ${reason}. Set COMMONPLACE_CACHE to a folder that this user alone can write to.\n`,
    )
    return null
  }
}

const runtime = unpack()
if (runtime === null) process.exitCode = UNAVAILABLE
else {
  const program = join(runtime, 'dist', 'cli', 'main.js')
  const [, , ...args] = process.argv
  // The program starts itself as `process.execPath`, then its script, then the command.
  if (args[0] === program) args.shift()
  else process.env['COMMONPLACE_LAUNCHER'] = process.argv0
  process.argv = [process.execPath, program, ...args]
  createRequire(program)(program)
}
