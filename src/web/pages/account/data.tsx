import type { UsagePart } from '../../../domain/people/quota.ts'
import { hasRight } from '../../../domain/people/teams.ts'
import { deleteAccount, showAccount } from '../../../operations/account/account.ts'
import { listTeams } from '../../../operations/teams/teams.ts'
import { formatsOf } from '../../formats.ts'
import { LinkLine, Section } from '../../parts/controls.tsx'
import { Fact } from '../../parts/facts.tsx'
import { Form } from '../../parts/form.tsx'
import { SectionPage } from '../../parts/sections-page.tsx'
import { doing, type PageRequest } from '../../request.ts'

/** Taking everything along, or away. */
export async function showData(request: PageRequest) {
  const { site, call } = request
  const { words } = site
  const [me, { teams }] = await Promise.all([call(showAccount, {}), call(listTeams, {})])
  const maintained = teams.flatMap(({ name, role }) => (hasRight(role, 'transfer') ? [[name, name] as const] : []))
  const { number, shortNumber } = formatsOf(words.language)
  const count = (part: UsagePart, used: number) => (part === 'bytes' ? `${shortNumber(used / 1_000_000)} MB` : number(used))
  return (
    <SectionPage request={request} at="/settings/data" forms={['delete']}>
      <Section title={words.kept.title}>
        <p>{words.kept.lead}</p>
        <dl class="figures">
          {me.keeps.map(({ part, used, limit }) => (
            <Fact label={words.kept.parts[part]}>
              {limit === null ? count(part, used) : words.kept.of(count(part, used), count(part, limit))}
            </Fact>
          ))}
        </dl>
      </Section>
      <Section title={words.exportData}>
        <p>{words.exportLead}</p>
        <LinkLine to="/settings/data/export.zip" look="button" text={words.exportData} />
      </Section>
      <Section title={words.deleteAccount}>
        <p>{words.deleteLead}</p>
        <Form
          request={request}
          does="delete"
          of={deleteAccount}
          fields={{
            ...(maintained.length > 0 && {
              handOverTo: { label: words.teams.handOver, options: [['', words.teams.handOverNone] as const, ...maintained] },
            }),
            username: { label: words.typeToConfirm(me.username), autocomplete: 'off' },
            ...(me.hasPassword && {
              password: { label: words.password, type: 'password' as const, autocomplete: 'current-password', isRequired: true },
            }),
          }}
          submit={words.deleteForGood}
          isMain={false}
        >
          {me.hasPassword ? null : <p class="quiet">{words.signingIn.confirmFresh}</p>}
        </Form>
      </Section>
    </SectionPage>
  )
}

/** Deletes the account. */
export const submitDeleteAccount = doing(
  deleteAccount,
  ({ form }) => ({ username: form.text('username'), password: form.text('password'), handOverTo: form.text('handOverTo') }),
  'account-deleted',
  '/',
)
