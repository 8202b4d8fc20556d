import type { FC } from 'hono/jsx'
import { listNewSignIns } from '../../operations/account/sign-in.ts'
import type { Output } from '../../operations/core/procedure.ts'
import type { PageRequest } from '../request.ts'
import type { Site } from '../site.ts'
import { Day } from './day.tsx'
import { ActionButton } from './field.tsx'

const SESSIONS = '/settings/security'

/** Sessions of the reader from browsers that were not known. */
export async function readNewSignIns({ call }: Pick<PageRequest, 'call'>) {
  return (await call(listNewSignIns, {})).sessions
}

/** Shows them until the reader says that they are theirs. */
export const NewSignIns: FC<{ words: Site['words']; sessions: Output<typeof listNewSignIns>['sessions'] }> = ({ words, sessions }) => {
  const { factors } = words
  return sessions.length === 0 ? null : (
    <section class="notice" aria-labelledby="new-sign-ins">
      <h2 id="new-sign-ins">{factors.newSignIn}</h2>
      <ul>
        {sessions.map(({ browser, address, createdAt }) => (
          <li>
            {factors.newSignInFrom(browser ?? words.unknownBrowser, address)}, <Day words={words} at={createdAt} />
          </li>
        ))}
      </ul>
      <p>
        {factors.notYou} <a href={SESSIONS}>{factors.notYouDo}</a>
      </p>
      <ActionButton action={SESSIONS} does="seen" text={factors.itWasMe} />
    </section>
  )
}
