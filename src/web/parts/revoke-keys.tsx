import type { PageRequest } from '../request.ts'
import type { Words } from '../site.ts'

/** The choice to revoke all keys along with a new password. */
export function RevokeKeys({ words, sent }: { words: Pick<Words, 'revokeKeysToo'>; sent: PageRequest['sent'] }) {
  return (
    <label class="tick">
      <input type="checkbox" name="revokeKeys" value="true" checked={sent?.form.has('revokeKeys') ?? false} /> {words.revokeKeysToo}
    </label>
  )
}
