import { MAX_TITLE } from '../../domain/items/fields.ts'
import { decodeText, encodingFault } from '../../domain/skills/skill.ts'
import { cutCharacters } from '../../domain/text/characters.ts'
import { type PromptDraft, toRemarkedDraft } from '../prompt-file.ts'
import { faultOf } from '../regular-file.ts'
import { dotprompt } from './dotprompt.ts'
import type { Format } from './file-prompt.ts'
import { promptYml } from './prompt-yml.ts'
import { promptfoo } from './promptfoo.ts'
import { prompty } from './prompty.ts'

/** Formats by the last segment of the address of their file. */
export const FORMATS = {
  'prompt.yml': promptYml,
  'prompt.prompt': dotprompt,
  'prompt.prompty': prompty,
  'promptfooconfig.yaml': promptfoo,
} as const satisfies Readonly<Record<string, Format>>

export type FormatName = keyof typeof FORMATS

/** The format of a file of another tool, by its name; undefined for none. */
export function findFormat(filename: string): FormatName | undefined {
  return (Object.keys(FORMATS) as FormatName[]).find((name) => FORMATS[name].pattern.test(filename))
}

/** An entry of a file: its draft, or why there is none. */
type FormatEntry = { readonly name: string } & ({ readonly draft: PromptDraft } | { readonly fault: string })

/** The prompts in a file of another tool. */
export function readFormat(filename: string, format: FormatName, bytes: Uint8Array): FormatEntry[] {
  const text = decodeText(bytes)
  if (text === null) return [{ name: filename, fault: encodingFault(bytes) }]
  const base = (filename.split('/').at(-1) ?? filename).replace(FORMATS[format].pattern, '').replaceAll(/[-_]+/g, ' ').trim()
  try {
    const read = FORMATS[format].read(text)
    return read.map((one, place) => {
      const name = read.length > 1 ? `${filename}, ${place + 1}` : filename
      if ('fault' in one) return { name, fault: one.fault }
      const { row, remarks } = one
      const title = cutCharacters((typeof row['title'] === 'string' ? row['title'].trim() : '') || base || 'Prompt', MAX_TITLE)
      return { name, ...toRemarkedDraft({ ...row, title }, remarks) }
    })
  } catch (error) {
    return [{ name: filename, fault: faultOf(error) }]
  }
}
