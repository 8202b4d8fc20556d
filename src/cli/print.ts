import { escapeControlsInJson, showControls } from '../domain/text/characters.ts'

/** Writes a message on standard output. Control characters, which names and files may hold, are shown as marks. */
export function print(text: string): void {
  process.stdout.write(showControls(text))
}

/** Writes a message on standard error, as {@link print} does. */
export function printError(text: string): void {
  process.stderr.write(showControls(text))
}

/** Writes a value as one line of JSON, with control characters as escapes. */
export function printJson(value: unknown): void {
  print(`${escapeControlsInJson(JSON.stringify(value))}\n`)
}

/** A number with its noun. @param many default: the noun with an s */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}
