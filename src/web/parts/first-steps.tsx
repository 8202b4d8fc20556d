import type { FC } from 'hono/jsx'
import type { showFirstSteps } from '../../operations/account/account.ts'
import type { Output } from '../../operations/core/procedure.ts'
import type { Site } from '../site.ts'
import { ActionButton } from './field.tsx'

/** The first steps of a new member, until all are done or the list is hidden. */
export const FirstSteps: FC<{ site: Site; steps: Output<typeof showFirstSteps> }> = ({ site: { words, hasMcp, reader }, steps }) => {
  const { firstPage } = words
  const all = [
    { text: firstPage.steps.account, to: null, isDone: true },
    { text: firstPage.steps.key, to: '/settings/access', isDone: steps.hasKey || steps.hasUsedKey },
    { text: firstPage.steps.client, to: hasMcp ? '/connect?access=key' : '/settings/access', isDone: steps.hasUsedKey },
    { text: firstPage.steps.item, to: '/new', isDone: steps.hasItem },
    ...(reader?.isAdmin ? [{ text: firstPage.steps.invite, to: '/admin/invites', isDone: steps.hasCompany }] : []),
  ]
  if (steps.isHidden || all.every(({ isDone }) => isDone)) return null
  return (
    <section class="steps" aria-labelledby="first-steps">
      <h2 id="first-steps">{firstPage.firstSteps}</h2>
      <ol>
        {all.map(({ text, to, isDone }) => (
          <li class={isDone ? 'done' : undefined}>
            {to === null || isDone ? text : <a href={to}>{text}</a>}
            {isDone ? <span class="visually-hidden"> ({firstPage.stepDone})</span> : null}
          </li>
        ))}
      </ol>
      <ActionButton class="link" action="/settings" does="hide-steps" text={firstPage.hideSteps} />
    </section>
  )
}
