import { MAX_VARIABLE_NAME } from '../library/variables.ts'

/** `{{name}}`, with choices or a type after `:` or `|`. */
const DOUBLE_BRACES = /\{\{([^{}|:\n]{1,200})(?:([|:])([^{}\n]{0,1000}))?\}\}/g
const TYPED_DEFAULT = /(?:^|:)default="([^"{}]*)"/
/** What a type of Open WebUI begins with. */
const TYPE = /^\s*(?:text|textarea|select|number|checkbox|date|datetime-local|color|email|month|range|tel|time|url|map)\b/

/** A name as variables here are called; null when nothing of it fits. */
export function toVariableName(name: string): string | null {
  const fitting = name
    .normalize('NFC')
    .replaceAll(/[^\p{L}\p{M}\p{Nd}_\-'/ ]+/gu, '_')
    .replace(/^[^\p{L}_]+/u, '')
    .trim()
  return fitting === '' ? null : [...fitting].slice(0, MAX_VARIABLE_NAME).join('').trim()
}

/** A text with `{{name}}` as one with `${name}`. Of `{{name:one|two}}` the first choice is the default. */
export function toVariables(text: string): string {
  return text.replaceAll(DOUBLE_BRACES, (raw, name: string, mark: string | undefined, more: string | undefined) => {
    const variable = toVariableName(name)
    if (variable === null) return raw
    const usual =
      more === undefined
        ? undefined
        : TYPE.test(more)
          ? TYPED_DEFAULT.exec(more)?.[1]
          : mark === ':'
            ? more.split('|')[0]?.trim()
            : undefined
    return usual ? `\${${variable}:${usual}}` : `\${${variable}}`
  })
}
