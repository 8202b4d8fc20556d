import { type Arranged, arrangeProse, MAX_ARRANGED } from './arrange-prose.ts'
import type { FreeNames } from './blanks.ts'
import type { Draft, DraftSection } from './draft.ts'
import { TEXT_PARTS, type TextPart } from './heading-words.ts'
import { type Additions, planText } from './plan-text.ts'
import { type HeadingStyle, writeHeading } from './read-heading.ts'
import type { ReadPrompt, Section } from './read-prompt.ts'
import { orderLike, type Structure, titleOf } from './read-structure.ts'
import { isKey } from './write-members.ts'

const OUR_STYLE: HeadingStyle = { kind: 'hash', level: 2 }

/**
 * A prompt for text with what it lacks. A divided prompt keeps its form; short prose is sorted into parts; all else stays whole as the task.
 * @param mayArrange whether sentences and sections may be told apart; false keeps the prompt in one piece
 */
export function draftText(prompt: ReadPrompt, names: FreeNames, structure: Structure, mayArrange: boolean): Draft {
  const hasInput = prompt.blocks.some((block) => block.kind === 'quote') || names.taken.size > 0 || hasQuotation(prompt.text)
  if (prompt.isSectioned) {
    const additions = planText({ prompt, lead: leadOf(prompt), names, structure }, hasInput)
    return draftSectioned(prompt, additions, structure, mayArrange)
  }
  const isProse = mayArrange && !prompt.isOtherLanguage && prompt.text.length <= MAX_ARRANGED
  const sorted = isProse ? arrangeProse(prompt.blocks) : null
  const arranged: Arranged = sorted ?? new Map([['task', prompt.text]])
  const lead = sorted ? `${arranged.get('role') ?? ''}\n${arranged.get('task') ?? ''}`.trim() : prompt.text
  const additions = planText({ prompt, lead, names, structure }, hasInput || arranged.has('inputs') || /: +\S/.test(lead))
  return draftParts(arranged, additions, structure, prompt.isOtherLanguage)
}

/** Whether something stands in quotation marks. One class between them: linear time. */
function hasQuotation(text: string): boolean {
  return /"[^"]{2,}"|“[^”]{2,}”|«[^»]{2,}»|「[^」]{2,}」/.test(text)
}

/** What a divided prompt says first: enough to tell its kind of task. */
function leadOf(prompt: ReadPrompt): string {
  const lead = prompt.sections.filter((section) => section.title === '' || section.part === 'role' || section.part === 'task')
  return (lead.length > 0 ? lead : prompt.sections.slice(0, 1)).map((section) => section.text).join('\n')
}

function draftParts(arranged: Arranged, additions: Additions, structure: Structure, isOtherLanguage: boolean): Draft {
  const sections: DraftSection[] = []
  for (const part of orderLike(TEXT_PARTS, structure.order)) {
    const own = arranged.get(part)
    const added = additions.get(part)
    const text = [own, added].filter((piece) => piece !== undefined).join(own && !own.startsWith('- ') ? '\n\n' : '\n')
    if (text !== '') sections.push({ part, title: titleOf(part, structure), text, isOwn: false })
  }
  const hasRoleHeading = structure.parts.has('role')
  // Whole prose that opens with a role of its own needs no heading above it.
  const isBareTask = arranged.size === 1 && !additions.has('role') && !isOtherLanguage
  const pieces = sections.map((section, index) => {
    const isBare = (section.part === 'role' && !hasRoleHeading) || (index === 0 && isBareTask)
    return isBare ? section.text : `${writeHeading(section.title, OUR_STYLE)}\n${section.text}`
  })
  return { text: pieces.join('\n\n'), sections }
}

function draftSectioned(prompt: ReadPrompt, additions: Additions, structure: Structure, mayArrange: boolean): Draft {
  const added: DraftSection[] = TEXT_PARTS.flatMap((part) => {
    const text = additions.get(part)
    return text === undefined ? [] : [{ part, title: titleOf(part, structure), text, isOwn: false }]
  })
  const role = added.filter((section) => section.part === 'role')
  const rest = added.filter((section) => section.part !== 'role')
  const text = [
    ...role.map((section) => section.text),
    prompt.text,
    ...rest.map((section) => `${writeHeading(section.title, prompt.style)}\n${section.text}`),
  ].join('\n\n')
  const own =
    mayArrange && canBeMembers(prompt.sections)
      ? ownSections(prompt)
      : [{ part: 'task' as const, title: '', text: prompt.text, isOwn: false }]
  return { text, sections: [...role, ...own, ...rest] }
}

/** Most sections an object is made of. */
const MAX_SECTIONS = 40
/** Sections without a usable title or without text that an object may have, whatever their share. */
const FEW = 3

/** Whether the sections of a prompt make an object worth reading: most of them have a short title and a text. */
export function canBeMembers(sections: readonly Section[]): boolean {
  const poor = sections.filter((section) => section.title !== '' && (section.text === '' || !isKey(section.title)))
  return sections.length <= MAX_SECTIONS && (poor.length <= FEW || poor.length * 3 <= sections.length)
}

/** The sections of a divided prompt as it has them; what stands before the first heading is told apart like prose. */
function ownSections(prompt: ReadPrompt): DraftSection[] {
  return prompt.sections.flatMap((section): DraftSection[] => {
    if (section.title !== '') return [{ ...section, isOwn: true }]
    const firstHeading = prompt.blocks.findIndex((block) => block.kind === 'heading')
    const isProse = !prompt.isOtherLanguage && section.text.length <= MAX_ARRANGED
    const sorted = isProse ? arrangeProse(prompt.blocks.slice(0, firstHeading)) : null
    const arranged: Arranged = sorted ?? new Map<TextPart, string>([['task', section.text]])
    return [...arranged].map(([part, text]) => ({ part, title: '', text, isOwn: false }))
  })
}
