import { readFileSync, statSync } from 'node:fs'
import { z } from 'zod'
import about from '../../package.json' with { type: 'json' }
import { AppError } from '../errors.ts'
import { databaseUrl } from './setting-values.ts'
import { listSettings, SETTINGS } from './settings.ts'

const schema = z.object(SETTINGS)

/** The address of a library, as a command was given it. @throws AppError `invalid_input` */
export function parseDatabaseUrl(option: string, text: string): string {
  const parsed = databaseUrl.safeParse(text)
  if (!parsed.success) throw new AppError('invalid_input', `${option} ${parsed.error.issues[0]?.message}.`)
  return parsed.data
}

/** The settings as the program uses them. */
export type Config = Readonly<z.infer<typeof schema>>

type Environment = Readonly<Record<string, string | undefined>>

/** Largest file a secret is read from. */
const MAX_SECRET_BYTES = 64 * 1024

/**
 * Reads a secret from its variable, or from the file `NAME_FILE` names, without the newline at its end.
 * No sentence has the path in it: it may be the secret itself, given in the wrong variable.
 * @throws AppError `invalid_input`
 */
function readSecret(name: string, environment: Environment): string | undefined {
  const text = environment[name]?.trim()
  const fileSetting = `${name}_FILE`
  const path = environment[fileSetting]?.trim()
  if (!path) return text
  const refuse = (what: string, cause?: unknown): never => {
    throw new AppError('invalid_input', `${fileSetting} ${what}.`, { cause })
  }
  if (text) throw new AppError('invalid_input', `${name} and ${fileSetting} are both set. Set only one.`)
  let content = ''
  try {
    const stats = statSync(path)
    // A pipe can be read once, and settings are read more often.
    if (!stats.isFile() || stats.size > MAX_SECRET_BYTES) refuse('must name a regular file of at most 64 KiB')
    content = readFileSync(path, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    if (error instanceof AppError) throw error
    const code = error instanceof Error && 'code' in error ? ` (${error.code})` : ''
    refuse(`must name a readable file${code}`, error)
  }
  if (content.trim() === '') refuse('names an empty file')
  if (/[\r\n]/.test(content)) refuse('names a file with more than one line')
  return content
}

/**
 * Reads the settings from an environment.
 * @throws AppError `invalid_input` with a sentence for each setting that is out of range, naming it
 */
export function loadConfig(environment: Environment = process.env): Config {
  /** By name, in the order of the settings. */
  const faults = new Map(listSettings().map(({ name }) => [name, '']))
  const texts: Record<string, string> = {}
  for (const { name, isSecret } of listSettings()) {
    try {
      const text = isSecret ? readSecret(name, environment) : environment[name]?.trim()
      if (text) texts[name] = text
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      faults.set(name, error.message)
    }
  }
  const parsed = schema.safeParse(texts)
  for (const { path, message } of parsed.error?.issues.toReversed() ?? []) {
    // The value stays unsaid: an address may hold a password.
    faults.set(String(path[0]), `${String(path[0])} ${message}.`)
  }
  if (!parsed.success || [...faults.values()].some((fault) => fault !== '')) {
    throw new AppError('invalid_input', [...faults.values()].filter((fault) => fault !== '').join(' '))
  }
  const config = Object.freeze(parsed.data)
  if (config.SMTP_URL !== null && config.MAIL_FROM === null) {
    throw new AppError('invalid_input', 'SMTP_URL also needs MAIL_FROM, the sender address.')
  }
  if (config.LIBRARY_ACCESS === 'members' && config.ALLOW_SIGNUP) {
    throw new AppError('invalid_input', 'LIBRARY_ACCESS=members cannot be combined with ALLOW_SIGNUP: anyone could become a member.')
  }
  if (config.PUBLIC_ITEMS && config.LIBRARY_ACCESS !== 'members') {
    throw new AppError(
      'invalid_input',
      'PUBLIC_ITEMS=on needs LIBRARY_ACCESS=members: an open library shows everybody its public items anyway.',
    )
  }
  if ((config.EMBEDDINGS_URL === null) !== (config.EMBEDDINGS_MODEL === null)) {
    const [set, missing] = config.EMBEDDINGS_URL === null ? ['EMBEDDINGS_MODEL', 'EMBEDDINGS_URL'] : ['EMBEDDINGS_URL', 'EMBEDDINGS_MODEL']
    throw new AppError('invalid_input', `${set} also needs ${missing}. Set both or neither.`)
  }
  return config
}

/** Whether the library is where it is without a setting. @throws AppError as `loadConfig` */
export function isDefaultDatabase(environment: Environment = process.env): boolean {
  return loadConfig(environment).DATABASE_URL === loadConfig({}).DATABASE_URL
}

/** The settings in force as they were written, for people; of a secret, only whether it is set. */
export function describeSettings(
  environment: Environment = process.env,
): { name: string; isSecret: boolean; isDefault: boolean; value: string | null }[] {
  return listSettings().map(({ name, fallback, shownDefault, isSecret }) => {
    const text = environment[name]?.trim() || (isSecret ? environment[`${name}_FILE`]?.trim() : '')
    const byDefault = shownDefault ?? (fallback === null ? null : String(fallback))
    return { name, isSecret, isDefault: !text, value: isSecret ? null : text || byDefault }
  })
}

/** The key a command-line program was given in its environment (PROMPTS_API_KEY or PROMPTS_API_KEY_FILE), or null. @throws AppError `invalid_input` */
export function keyFromEnvironment(environment: Environment = process.env): string | null {
  return readSecret('PROMPTS_API_KEY', environment) || null
}

/** The command that started this program, where a launcher did that: `bin/commonplace` of the tarball, or the single executable. Null elsewhere. */
export function launcherFromEnvironment(environment: Environment = process.env): string | null {
  return environment['COMMONPLACE_LAUNCHER'] || null
}

/** The script of a package that npm is running in this process, or null. */
export function npmScriptFromEnvironment(packageName: string, environment: Environment = process.env): string | null {
  return (environment['npm_package_name'] === packageName && environment['npm_lifecycle_event']) || null
}

/** Settings of earlier versions that have no effect any more, and what to do about each. */
const REMOVED: Readonly<Record<string, string>> = {
  DATABASE_READ_URL: 'All reads go to the server of DATABASE_URL.',
}

/** A sentence for each setting of an environment that has no effect any more. */
export function listRemovedSettings(environment: Readonly<Record<string, string | undefined>> = process.env): string[] {
  return Object.entries(REMOVED).flatMap(([name, instead]) =>
    environment[name] || environment[`${name}_FILE`] ? [`${name} was removed and has no effect. ${instead}`] : [],
  )
}

/** The name and version of the service. */
export interface Product {
  readonly title: string
  readonly name: string
  readonly version: string
}

/** The version stands in package.json alone. */
export function readProduct(): Product {
  return { title: 'Commonplace', name: about.name, version: about.version }
}
