import { finishSignIn, showSecondStep } from '../../../operations/account/sign-in.ts'
import { localPath } from '../../forms.ts'
import { Layout } from '../../layout.tsx'
import { Fault, Field } from '../../parts/field.tsx'
import { PasskeySignIn } from '../../parts/passkey-form.tsx'
import type { Action, PageRequest } from '../../request.ts'

/** The second step of somebody whose password was right. */
export async function showSecondStepPage({ site, query, sent, call }: PageRequest) {
  const { words } = site
  const { factors } = words
  const to = localPath(sent?.form.text('to') ?? query.get('to') ?? '/')
  const { isDue, hasCodes, hasPasskeys } = await call(showSecondStep, {})
  const again = `/sign-in?to=${encodeURIComponent(to)}`
  if (!isDue) return { to: `${again}&done=step-over` }
  return (
    <Layout site={site} title={factors.stepTitle} isIndexed={false} scripts={['passkeys.js']}>
      <div class="narrow">
        <h1>{factors.stepTitle}</h1>
        <Fault sent={sent} fields={['code']} words={words} />
        {hasCodes ? (
          <>
            <p>{factors.stepLead}</p>
            <form method="post" class="fields">
              <input type="hidden" name="to" value={to} />
              <Field sent={null} name="code" label={factors.code} autocomplete="one-time-code" maxlength={40} isRequired isFirst />
              <p>
                <button class="button first" type="submit">
                  {words.signIn}
                </button>
              </p>
            </form>
          </>
        ) : (
          <p>{factors.stepByPasskey}</p>
        )}
        {hasPasskeys ? <PasskeySignIn words={words} to={to} isAlternative={hasCodes} /> : null}
        <p class="quiet">{factors.noCode}</p>
        <p>
          <a href={again}>{factors.startAgain}</a>
        </p>
      </div>
    </Layout>
  )
}

/** Signs in with a code, and goes where the reader was going. */
export const submitSecondStep: Action = async ({ call, form }) => {
  const { cookies } = await call(finishSignIn, { code: form.text('code') })
  return { to: localPath(form.text('to')), cookies }
}
