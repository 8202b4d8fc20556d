import { finishSignIn, showSecondStep } from '../../../operations/account/sign-in.ts'
import { localPath } from '../../forms.ts'
import { LinkLine } from '../../parts/controls.tsx'
import { Fault } from '../../parts/field.tsx'
import { Form } from '../../parts/form.tsx'
import { NarrowPage } from '../../parts/narrow-page.tsx'
import { type Action, done, type PageRequest } from '../../request.ts'
import { PasskeySignIn } from './sign-in.tsx'

/** The second step of somebody whose password was right. */
export async function showSecondStepPage(request: PageRequest) {
  const { site, query, sent, call } = request
  const { words } = site
  const { factors } = words
  const to = localPath(sent?.form.text('to') ?? query.get('to') ?? '/')
  const { isDue, hasCodes, hasPasskeys } = await call(showSecondStep, {})
  const again = `/sign-in?to=${encodeURIComponent(to)}`
  if (!isDue) return done(again, 'step-over')
  return (
    <NarrowPage request={request} title={factors.stepTitle} scripts={['passkeys.js']}>
      {hasCodes ? (
        <>
          <p>{factors.stepLead}</p>
          <Form
            request={request}
            of={finishSignIn}
            fields={{ code: { label: factors.code, autocomplete: 'one-time-code', maxlength: 40, isRequired: true, isFirst: true } }}
            submit={words.signIn}
          >
            <input type="hidden" name="to" value={to} />
          </Form>
        </>
      ) : (
        <>
          <Fault sent={sent} words={words} />
          <p>{factors.stepByPasskey}</p>
        </>
      )}
      {hasPasskeys ? <PasskeySignIn words={words} to={to} isAlternative={hasCodes} /> : null}
      <p class="quiet">{factors.noCode}</p>
      <LinkLine to={again} text={factors.startAgain} />
    </NarrowPage>
  )
}

/** Signs in with a code, and goes where the reader was going. */
export const submitSecondStep: Action = async ({ call, form }) => {
  const { cookies } = await call(finishSignIn, { code: form.text('code') })
  return { to: localPath(form.text('to')), cookies }
}
