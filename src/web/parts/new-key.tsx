import type { FC } from 'hono/jsx'
import { z } from 'zod'
import { DEFAULT_SCOPES, SCOPES } from '../../domain/people/actor.ts'
import { createKey } from '../../operations/account/keys.ts'
import type { ClientId } from '../client-configs.ts'
import type { Action } from '../request.ts'
import type { Site } from '../site.ts'
import { ClientTabs } from './client-tabs.tsx'
import { chosenReach } from './permissions.tsx'
import { Sample, ShownOnce } from './sample.tsx'

/** The data for the page after a form that creates a key. */
export const newKey = z.object({ id: z.string(), key: z.string(), name: z.string() })
export type NewKey = z.infer<typeof newKey>

/** Creates the key that a form describes. */
export async function makeKey({ call, form }: Pick<Parameters<Action>[0], 'call' | 'form'>): Promise<NewKey> {
  const days = form.text('expiresInDays')
  const { key, record } = await call(createKey, {
    name: form.text('name'),
    scopes: form.allChoices('scopes', SCOPES),
    expiresInDays: days === '' ? undefined : Number(days),
    ...chosenReach(form),
  })
  return { id: record.id, key, name: record.name }
}

/** The fields of a form with one button that creates a key with the default scopes. */
export const FirstKeyFields: FC<{ words: Site['words'] }> = ({ words }) => (
  <>
    <input type="hidden" name="name" value={words.firstKeyName} />
    {DEFAULT_SCOPES.map((scope) => (
      <input type="hidden" name="scopes" value={scope} />
    ))}
  </>
)

/** A new key, shown once, with the configuration of each client. */
export const NewKeySection: FC<{ site: Site; made: NewKey; chosen: ClientId }> = ({ site, made: { id, key, name }, chosen }) => {
  const { words, baseUrl, hasMcp } = site
  return (
    <ShownOnce words={words} title={words.keyCreated(name)} lead={words.keyOnce} texts={[key]}>
      <p class="quiet" role="status" data-first-call={id} data-received={words.firstCallReceived} hidden>
        {words.firstCallAwaited}
      </p>
      {hasMcp ? (
        <>
          <h3>{words.useWithKey}</h3>
          <ClientTabs site={site} apiKey={key} chosen={chosen} />
        </>
      ) : null}
      <h3>{words.tryKey}</h3>
      <Sample words={words} text={`curl '${baseUrl}/api/prompts?perPage=3' -H 'X-API-Key: ${key}'`} />
    </ShownOnce>
  )
}
