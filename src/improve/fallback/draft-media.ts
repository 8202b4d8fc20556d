import type { FreeNames } from './blanks.ts'
import type { Draft, DraftSection } from './draft.ts'
import { canBeMembers } from './draft-text.ts'
import { MEDIA, planMedia } from './plan-media.ts'
import type { ReadPrompt } from './read-prompt.ts'
import { type Structure, titleOf } from './read-structure.ts'

/**
 * A prompt for an image, a video or a sound with what it leaves open. The prompt itself stays as it is and comes first,
 * because models of this kind give the most weight to what comes first; below it stands one labelled line for each part.
 */
export function draftMedia(
  outputType: keyof typeof MEDIA,
  prompt: ReadPrompt,
  names: FreeNames,
  structure: Structure,
  mayArrange: boolean,
  focus = prompt.text,
): Draft {
  const lines = [...planMedia(MEDIA[outputType], prompt, names, structure, focus)]
  const added: DraftSection[] = lines.map(([part, text]) =>
    part === 'language'
      ? { part: null, title: 'Language', text, isOwn: false }
      : { part, title: titleOf(part, structure), text: capitalise(text), isOwn: false },
  )
  const labels = added.map((section) => `${section.title}: ${section.text}`).join('\n')
  const own: DraftSection[] =
    mayArrange && prompt.isSectioned && canBeMembers(prompt.sections)
      ? prompt.sections.map((section) => ({
          ...section,
          part: section.title === '' ? 'subject' : section.part,
          isOwn: section.title !== '',
        }))
      : [{ part: 'subject', title: '', text: prompt.text, isOwn: false }]
  return { text: [prompt.text, labels].filter((piece) => piece !== '').join('\n\n'), sections: [...own, ...added] }
}

function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
