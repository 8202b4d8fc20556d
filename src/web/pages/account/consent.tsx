import { DEFAULT_SCOPES } from '../../../domain/people/actor.ts'
import { connectProgram, refuseProgram, showProgramRequest } from '../../../operations/account/connect-programs.ts'
import { Submit } from '../../parts/controls.tsx'
import { Fault } from '../../parts/field.tsx'
import { chosenReach, Permissions, Reach, readReaches } from '../../parts/keys.tsx'
import { LeavePage, NarrowPage } from '../../parts/narrow-page.tsx'
import type { Action, PageRequest } from '../../request.ts'

/** Asks whether a program may act for the reader. */
export async function showConsent(request: PageRequest) {
  const { site, sent, query, call } = request
  const { words, reader } = site
  const { programs } = words
  const signed = sent?.form.text('query') ?? query.toString()
  const [{ name, publishedBy, returnsTo, scopes }, reaches] = await Promise.all([
    call(showProgramRequest, { query: signed }),
    readReaches(request),
  ])
  return (
    <NarrowPage request={request} name={programs.title} title={programs.heading(name)}>
      <Fault sent={sent} fields={['scopes']} words={words} />
      <p>
        {programs.asYou(reader?.username ?? '')} {publishedBy === null ? programs.unknownMaker : programs.publishedBy(publishedBy)}
      </p>
      <p>
        <strong>{programs.returnsTo(returnsTo)}</strong> {programs.onlyIf}
      </p>
      <form method="post" class="fields">
        <input type="hidden" name="query" value={signed} />
        <Permissions sent={sent} words={words} scopes={scopes} />
        <Reach sent={sent} words={words} label={words.access} reaches={reaches} />
        <p class="ways">
          <Submit does="allow" look="button first" text={programs.allow} /> <Submit does="refuse" text={programs.refuse} />
        </p>
      </form>
    </NarrowPage>
  )
}

/** Sends the reader back to the program. */
export const submitConsent: Action = async (request) => {
  const { call, form, site } = request
  const query = form.text('query')
  const { to } =
    form.text('do') === 'allow'
      ? await call(connectProgram, { query, scopes: form.allChoices('scopes', DEFAULT_SCOPES), ...chosenReach(form) })
      : await call(refuseProgram, { query })
  const { programs, factors } = site.words
  return { html: <LeavePage request={request} title={programs.going} lead={programs.goingLead} goOn={factors.goOn} url={to} /> }
}
