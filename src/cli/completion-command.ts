import { Argument, type Command, type Option } from 'commander'
import { print } from './terminal.ts'

/**
 * The script that a shell runs when it starts. Each function gives the words up to the cursor to `complete`, as they were typed: nothing of them is
 * evaluated. Where that prints nothing, the shell offers files.
 */
const SCRIPTS = {
  // read instead of mapfile: macOS has bash 3.2.
  bash: `_commonplace() {
  COMPREPLY=()
  IFS=$'\\n' read -r -d '' -a COMPREPLY < <("$1" complete bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o bashdefault -o default -F _commonplace commonplace
`,
  zsh: `#compdef commonplace
_commonplace() {
  local -a found
  found=(\${(f)"$("\${words[1]}" complete zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( $#found )); then _describe commonplace found; else _files; fi
}
if [ "$funcstack[1]" = _commonplace ]; then _commonplace "$@"; else compdef _commonplace commonplace; fi
`,
  fish: `function __commonplace_complete
    set -l words (commandline -opc)
    set -l last (commandline -ct)
    set -l found ($words[1] complete fish -- $words[2..-1] "$last" 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\\n' $found
    else
        __fish_complete_path "$last"
    end
end
complete -c commonplace -f -a '(__commonplace_complete)'
`,
} as const
type Shell = keyof typeof SCRIPTS
const SHELLS = Object.keys(SCRIPTS) as readonly Shell[]

/** A word that may come next, and what it does. */
interface Suggestion {
  readonly word: string
  readonly about: string
}

/** How each shell reads a suggestion. */
const FORMATS: Readonly<Record<Shell, (suggestion: Suggestion) => string>> = {
  bash: ({ word }) => word,
  zsh: ({ word, about }) => `${word.replaceAll(':', '\\:')}${about === '' ? '' : `:${about}`}`,
  fish: ({ word, about }) => `${word}\t${about}`,
}

const bare = (words: readonly string[]): Suggestion[] => words.map((word) => ({ word, about: '' }))

function findOption(command: Command, name: string): Option | undefined {
  return command.options.find(({ long, short }) => long === name || short === name)
}

/** The words that may take the place of the last one. None where a file or a text of one's own is expected. */
export function suggestWords(program: Command, words: readonly string[]): Suggestion[] {
  // bash gives --option=value as three words.
  const typed = words.filter((word) => word !== '=')
  const last = words.at(-1) === '=' ? '' : (typed.pop() ?? '')
  let command = program
  let place = 0
  const given = new Set<string>()
  let open: readonly string[] | null = null
  for (const word of typed) {
    const [name = ''] = word.split('=')
    const option = word.startsWith('-') ? findOption(command, name) : undefined
    const child = place === 0 ? command.commands.find((known) => known.name() === word) : undefined
    if (open) open = null
    else if (option) {
      given.add(option.attributeName())
      open = option.required && name === word ? (option.argChoices ?? []) : null
    } else if (child) command = child
    else if (!word.startsWith('-')) place++
  }
  const starting = (all: readonly Suggestion[]) => all.filter(({ word }) => word.startsWith(last))
  if (open) return starting(bare(open))
  const help = command.createHelp()
  const [, name = '', equals = ''] = /^(--[^=]+)(=?)/.exec(last) ?? []
  if (equals) return starting(bare((findOption(command, name)?.argChoices ?? []).map((choice) => `${name}=${choice}`)))
  const options = help
    .visibleOptions(command)
    .filter((known) => !given.has(known.attributeName()))
    .map((known) => ({ word: known.long ?? known.flags, about: known.description }))
  if (last.startsWith('-')) return starting(options)
  const argument = command.registeredArguments.at(place) ?? command.registeredArguments.findLast(({ variadic }) => variadic)
  if (argument) return starting(bare(argument.argChoices ?? []))
  if (command.commands.length === 0) return starting(options)
  return starting(help.visibleCommands(command).map((child) => ({ word: child.name(), about: help.subcommandDescription(child) })))
}

/** `completion`, and what its scripts call. */
export function addCompletionCommand(program: Command): void {
  const shells = () => new Argument('<shell>', 'your shell').choices(SHELLS)
  program
    .command('completion')
    .description('Print a script that completes commands, options and values in your shell. It is for the command commonplace.')
    .addArgument(shells())
    .addHelpText('after', '\nbash, zsh: eval "$(commonplace completion bash)"\nfish: commonplace completion fish | source')
    .action((shell: Shell) => print(SCRIPTS[shell]))
  program
    .command('complete', { hidden: true })
    .addArgument(shells())
    .argument('[words...]')
    .action((shell: Shell, words: string[]) => {
      for (const suggestion of suggestWords(program, words)) print(`${FORMATS[shell](suggestion).replaceAll(/\n/g, ' ')}\n`)
    })
}
