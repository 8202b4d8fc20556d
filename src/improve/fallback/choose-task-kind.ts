import { dropPolite } from './classify-sentence.ts'
import { findPhrase, hasPhrase, readWords, startsWithPhrase } from './read-words.ts'
import type { TaskKind } from './task-kind.ts'
import { CODE_KINDS, LANGUAGES } from './task-kinds-code.ts'
import { GENERAL_KIND, TALK_KINDS } from './task-kinds-talk.ts'
import { THINKING_KINDS } from './task-kinds-thinking.ts'
import { WRITING_KINDS } from './task-kinds-writing.ts'

/** All kinds that can be recognised; of equals the first wins. */
export const TASK_KINDS: readonly TaskKind[] = [...WRITING_KINDS, ...CODE_KINDS, ...THINKING_KINDS, ...TALK_KINDS]

/** How much of a prompt says what kind it is: what comes later is detail. */
const MAX_FOCUS_CHARACTERS = 500
const START_SCORE = 6
const CUE_SCORE = 4
/** Characters after which a cue counts half. */
const HALF_LIFE_CHARACTERS = 60
const SCORE_OF_EACH_MORE_WORD = 1
const BEST_CUES = 3
const LEAST_SCORE = 1.5

/**
 * The kind of task a request asks for. A verb at its beginning counts most; a noun counts the more the earlier it stands
 * and the more words it has, so that "a poem about python" is a poem.
 * @param lead the role and the task as the writer wrote them
 */
export function chooseTaskKind(lead: string): TaskKind {
  const words = readWords(lead.slice(0, MAX_FOCUS_CHARACTERS))
  const asked = dropPolite(words)
  let best = GENERAL_KIND
  let bestScore = LEAST_SCORE
  for (const kind of TASK_KINDS) {
    if (kind.needs && !hasPhrase(words, kind.needs)) continue
    const score = ((startsWithPhrase(asked, kind.starts) ? START_SCORE : 0) + scoreCues(words, kind.cues)) * (kind.weight ?? 1)
    if (score > bestScore) {
      best = kind
      bestScore = score
    }
  }
  return best
}

function scoreCues(words: string, cues: readonly string[]): number {
  const scores: number[] = []
  for (const cue of cues) {
    const at = findPhrase(words, cue)
    if (at === -1) continue
    const weight = CUE_SCORE + (cue.split(' ').length - 1) * SCORE_OF_EACH_MORE_WORD
    scores.push((weight * HALF_LIFE_CHARACTERS) / (HALF_LIFE_CHARACTERS + at))
  }
  scores.sort((a, b) => b - a)
  // Each further cue counts half of the one before: many weak signs must not outweigh a strong one.
  return scores.slice(0, BEST_CUES).reduce((sum, score, index) => sum + score / 2 ** index, 0)
}

/** "You are …" for a kind of task, with the language or topic the request names. @example 'You are an experienced Python developer.' */
export function writeRole(kind: TaskKind, request: string, topic: string | null): string {
  const words = readWords(request.slice(0, MAX_FOCUS_CHARACTERS))
  const language = LANGUAGES.find(([cue]) => hasPhrase(words, [cue]))?.[1]
  const role = kind.role.replace('a {language}', language ? `an experienced ${language} developer` : 'an experienced software developer')
  return topic && kind.knows ? `You are ${role}, ${kind.knows} ${topic}.` : `You are ${role}.`
}
