import type { FC } from 'hono/jsx'
import { z } from 'zod'
import type { PageRequest } from '../request.ts'
import type { Site } from '../site.ts'
import { ActionButton } from './field.tsx'

const restored = z.object({ restored: z.number().int(), before: z.number().int(), lostCategory: z.string().nullable() })

/** A restored version, and the one that was the newest before it. */
export type Restored = z.infer<typeof restored>

/** The version that the form before restored; null for none. */
export function takeRestored({ query, takeFlash }: PageRequest): Restored | null {
  return query.get('done') === 'version-restored' ? takeFlash(restored) : null
}

/** Says what could not be restored, and takes a restore back, unless there is a newer version by then. */
export const UndoRestore: FC<{ site: Site; path: string; undone: Restored }> = ({ site: { words }, path, undone }) => (
  <>
    {undone.lostCategory === null ? null : `${words.reading.lostCategory(undone.lostCategory)} `}
    <ActionButton
      action={`${path}/versions/${undone.before}`}
      does="restore"
      class="link"
      values={{ baseVersion: String(undone.restored) }}
      text={words.undo}
    />
  </>
)
