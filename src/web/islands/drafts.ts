import { readStored } from './shared.ts'

/** A form that was written and not saved, as this browser keeps it. */
export interface Draft {
  readonly values: Readonly<Record<string, string>>
  /** Whether it was submitted. If the form then opens without an error, it was saved. */
  readonly isSent: boolean
}

/** Begins the keys of the reader's drafts; the name of a form follows. Others may sign in on this browser. */
export const OWN_DRAFTS = `draft:${document.body.dataset['reader']}:`

/** The draft under a key; null for what is none. */
export function readDraft(key: string): Draft | null {
  try {
    const draft: unknown = JSON.parse(readStored(key) ?? 'null')
    if (typeof draft !== 'object' || draft === null || !('values' in draft) || !('isSent' in draft)) return null
    const { values, isSent } = draft
    if (typeof values !== 'object' || values === null || typeof isSent !== 'boolean') return null
    return { values: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)])), isSent }
  } catch {
    return null
  }
}
