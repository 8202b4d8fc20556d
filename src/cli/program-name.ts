import { basename, isAbsolute, relative } from 'node:path'
import { isDefaultDatabase, launcherFromEnvironment, npmScriptFromEnvironment } from '../config/load-config.ts'
import { readProduct } from '../product.ts'

/** How a process was started. */
interface Start {
  /** The name of Node as it was typed. */
  readonly node: string
  /** Absolute path of the program. */
  readonly program: string
  readonly folder: string
  /** The script of this package that npm runs, if it does. */
  readonly npmScript: string | null
  /** The command that was typed, where something else started Node. */
  readonly launcher: string | null
}

/** Scripts of package.json that run the command line. */
const NPM_SCRIPTS = new Set(['start', 'commonplace'])

/** The words before a command, so that it runs as this process was started. */
export function nameProgram({ node, program, folder, npmScript, launcher }: Start): string {
  if (launcher !== null) return quote(launcher)
  if (npmScript !== null && NPM_SCRIPTS.has(npmScript)) return 'npm run -s commonplace --'
  if (basename(program) === 'commonplace') return 'commonplace'
  const near = relative(folder, program)
  return [node, near.startsWith('..') || isAbsolute(near) ? program : near].map(quote).join(' ')
}

/** A word as a shell takes it. */
function quote(word: string): string {
  return /^[\w./:@+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

/** How this process was started. */
export function programName(): string {
  const [, program = ''] = process.argv
  return nameProgram({
    node: process.argv0,
    program,
    folder: process.cwd(),
    npmScript: npmScriptFromEnvironment(readProduct().name),
    launcher: launcherFromEnvironment(),
  })
}

/** Whether commands need DATABASE_URL to find the library that this process uses. */
export function needsDatabaseUrl(): boolean {
  return !isDefaultDatabase()
}

/** A command to type next, as the end of a sentence: `with: commonplace keys list`. */
export function suggest(command: string): string {
  return `${needsDatabaseUrl() ? 'with the same DATABASE_URL' : 'with'}: ${programName()} ${command}`
}
