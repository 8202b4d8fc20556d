import type { Actor } from '../../src/domain/people/actor.ts'
import type { TestApp } from './test-app.ts'

export type Kind = 'prompt' | 'skill'

/** An item of a visibility table. */
export interface MarkedItem<State extends string = string> {
  readonly kind: Kind
  readonly state: State
  readonly id: string
  readonly slug: string
  /** A word that stands in every field of this item and nowhere else. */
  readonly marker: string
}

let count = 0

/** Saves an item whose every field has a word of its own. A state that is no visibility begins as public. */
export async function saveMarked<State extends string>(
  test: TestApp,
  actor: Actor,
  kind: Kind,
  state: State,
  more: object = {},
): Promise<MarkedItem<State>> {
  const marker = `Zq${kind}${state}${++count}`
  const visibility = state === 'deleted' || state === 'held' ? 'public' : state
  const skillMd = `---\nname: ${marker.toLowerCase()}\ndescription: ${marker}\n---\n${marker}`
  const files = [
    { filename: 'SKILL.md', content: skillMd },
    { filename: 'a.txt', content: marker },
  ]
  const common = { title: `Title ${marker}`, description: marker, tags: [marker], category: 'coding', visibility, note: marker, ...more }
  const saved = await test.call(actor, `save_${kind}`, { ...(kind === 'prompt' ? { content: `Text ${marker}` } : { files }), ...common })
  const { id, slug } = Object(saved[kind])
  await test.call(actor, 'set_label', { collection: `${kind}s`, id, label: 'production', reason: marker })
  return { kind, state, id, slug, marker }
}

/** A text with `{ref}`, `{kind}`, `{word}`, `{name}` and `{tag}` as they are for an item that is named by `ref`. */
export function fillAddress(text: string, { kind, marker }: MarkedItem, ref: string): string {
  const values: Record<string, string> = { ref, kind, word: marker, name: ref.toLowerCase(), tag: marker.toLowerCase() }
  return text.replaceAll(/\{(ref|kind|word|name|tag)\}/g, (_, name: string) => values[name] ?? '')
}
