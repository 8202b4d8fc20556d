import { type FreeNames, keepFreeVariables } from './blanks.ts'
import { findFacets } from './find-facets.ts'
import type { MediaPart } from './heading-words.ts'
import { IMAGE } from './image-kinds.ts'
import type { MediaKind, Medium } from './media-kind.ts'
import type { ReadPrompt } from './read-prompt.ts'
import { orderLike, type Structure } from './read-structure.ts'
import { findPhrase, readWords } from './read-words.ts'
import { SOUND } from './sound-kinds.ts'
import { VIDEO } from './video-kinds.ts'

/** How much of a prompt's words is read to choose its kind. */
const MAX_FOCUS_CHARACTERS = 500

/** The tables of each medium. */
export const MEDIA: Readonly<Record<'image' | 'video' | 'sound', Medium>> = { image: IMAGE, video: VIDEO, sound: SOUND }

/**
 * What a prompt for an image, a video or a sound leaves open, as one line for each part, ordered like the inspirations.
 * In another language a line is added that keeps spoken and written words in it.
 * @param focus the text the kind is chosen by. An object is read without its keys: they would push words past the limit, and the
 * second pass would choose another kind than the first.
 */
export function planMedia(
  medium: Medium,
  prompt: ReadPrompt,
  names: FreeNames,
  structure: Structure,
  focus: string,
): ReadonlyMap<MediaPart | 'language', string> {
  const facets = findFacets(prompt.text, medium.cues)
  const kind = chooseMediaKind(medium, focus)
  const lines = new Map<MediaPart | 'language', string>()
  for (const part of orderLike(medium.parts, structure.order)) {
    const line = kind.lines[part]
    if (line !== undefined && !facets.has(part)) lines.set(part, keepFreeVariables(line, names))
  }
  if (prompt.isOtherLanguage && !facets.has('keepsLanguage'))
    lines.set('language', 'words to be seen or heard are in the language of this prompt')
  return lines
}

/** The kind whose cue stands first in the prompt, a form before a subject: what is named first is what the picture is of. */
export function chooseMediaKind(medium: Medium, text: string): MediaKind {
  const words = readWords(text).slice(0, MAX_FOCUS_CHARACTERS)
  const forms = medium.kinds.filter((kind) => kind.isForm)
  return findFirst(forms, words) ?? findFirst(medium.kinds, words) ?? medium.kinds.at(-1) ?? { id: 'none', cues: [], lines: {} }
}

function findFirst(kinds: readonly MediaKind[], words: string): MediaKind | undefined {
  let best: MediaKind | undefined
  let bestAt = Number.POSITIVE_INFINITY
  for (const kind of kinds) {
    for (const cue of kind.cues) {
      const at = findPhrase(words, cue)
      if (at !== -1 && at < bestAt) {
        best = kind
        bestAt = at
      }
    }
  }
  return best
}
