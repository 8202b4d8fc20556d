import type { FileView } from '../file-view.ts'
import type { Match } from '../rule.ts'

/** Commands between a source and the program that it is piped into. */
const MAX_BETWEEN = 4
/** A program that runs what it reads, and not one whose options make it read data. */
const INTERPRETER =
  /^\s{0,20}(?:(?:sudo|env|command|nohup|xargs|exec|busybox)\s+(?:-\S{1,20}\s+){0,3}){0,2}(?:[^\s|"'`]{0,100}\/)?["']?(?:(?:bash|sh|zsh|dash|ksh|fish|ash|php|pwsh|powershell|iex|Invoke-Expression|tclsh|source|eval|\$\{?(?:SHELL|BASH)\}?)["']?(?=[\s;&)"'`]|$)|(?:python[\d.]{0,5}|perl|ruby|node|deno|bun)(?=[\s;&)"'`]|$)(?!\s+-{1,2}(?:c|e|m|n|p|pe|ne|lane|eval|print)\b)(?!\s+(?!-(?:\s|$)|run\s+-)[\w./]))/i

/**
 * Pipelines in which what a source gives is run: `source` matches the command at their beginning. Takes each line apart at its bars, so that
 * its cost grows with its length alone.
 */
export function* findPiped(file: FileView, source: RegExp): Generator<Match & { readonly text: string }> {
  for (const { at, text: line } of file.linesFor(source)) {
    let offset = 0
    let began: { readonly at: number; readonly step: number } | null = null
    for (const [step, command] of line.split('|').entries()) {
      if (began && step - began.step <= MAX_BETWEEN && INTERPRETER.test(command)) {
        const text = line.slice(began.at, offset + Math.min(command.length, 40))
        yield { ...file.toPlace(at + began.at, text.length), text }
        began = null
      }
      const found = source.exec(command)
      // A command in backquotes ends with them; the next cell of a table is another.
      const isClosed = found !== null && (command.slice(found.index).split('`').length - 1) % 2 === 1
      if (found && !isClosed) began = { at: offset + found.index, step }
      offset += command.length + 1
    }
  }
}
