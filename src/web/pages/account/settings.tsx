import { DEFAULT_VISIBILITIES } from '../../../domain/items/visibility.ts'
import { hasRight } from '../../../domain/people/teams.ts'
import type { UsagePart } from '../../../domain/people/usage.ts'
import { writeCookie } from '../../../domain/sign-in/logins.ts'
import { deleteAccount, hideFirstSteps, showAccount, updateAccount } from '../../../operations/account/account.ts'
import { listTeams } from '../../../operations/teams/teams.ts'
import { LANGUAGES, languageCookie, wordsIn } from '../../language.ts'
import { LinkLine, Section } from '../../parts/controls.tsx'
import { authorPath, Fact } from '../../parts/facts.tsx'
import { Form } from '../../parts/form.tsx'
import { SectionPage, TitledPage } from '../../parts/page-frames.tsx'
import { type Action, actBy, doing, done, type PageRequest } from '../../request.ts'
import type { Site } from '../../site.ts'
import { formatsOf } from '../../strings/formats.ts'

/** The languages of the pages, each by its own name. */
const LANGUAGE_OPTIONS: readonly (readonly [code: string, name: string])[] = LANGUAGES.map((language) => [
  language,
  wordsIn(language).languages.name,
])

/** Choosing the language of the pages. The foot of every page has the same choice as buttons. */
export async function showLanguage(request: PageRequest) {
  const { words } = request
  return (
    <TitledPage request={request} title={words.languages.language}>
      <Form
        request={request}
        of={updateAccount}
        fields={{ language: { label: words.languages.language, value: words.language, options: LANGUAGE_OPTIONS } }}
        submit={words.languages.choose}
      />
    </TitledPage>
  )
}

/** Stores the language with the account of a person who is signed in, else on their browser, and leads back to the page with the button. */
export const chooseLanguage: Action = async ({ call, form, site, path, referrer }) => {
  const language = form.choice('language', LANGUAGES)
  const to = referrer === null || referrer === path ? '/' : referrer
  if (site.reader) {
    await call(updateAccount, { language })
    return { to }
  }
  return { to, cookies: [languageCookie(language, site.baseUrl)] }
}

const PATH = '/settings'
const THEMES = ['system', 'light', 'dark'] as const
const YEAR_SECONDS = 365 * 24 * 3600

/** Profile, privacy of new items, and the look of the pages. */
export async function showSettings(request: PageRequest) {
  const { site, words, call } = request
  const me = await call(showAccount, {})
  return (
    <SectionPage request={request} at={PATH} forms={['profile', 'email', 'theme']}>
      <p class="quiet">
        {words.profileLead} <a href={authorPath(me.username)}>{words.seeProfile}</a>
      </p>
      <Form
        request={request}
        does="profile"
        of={updateAccount}
        fields={{
          displayName: { label: words.displayName, value: me.displayName, autocomplete: 'name' },
          bio: { label: words.bio, value: me.bio, rows: 3 },
          website: { label: words.website, type: 'url', value: me.website, autocomplete: 'url' },
          defaultVisibility: {
            label: words.defaultVisibility,
            value: me.defaultVisibility,
            options: DEFAULT_VISIBILITIES.map((visibility) => [visibility, words.visibilityMeans[visibility]]),
          },
        }}
        submit={words.save}
      />
      <Section title={words.email}>
        <Form
          request={request}
          does="email"
          of={updateAccount}
          fields={{
            email: { label: words.email, type: 'email', value: me.email, hint: words.emailHint, autocomplete: 'email' },
            ...(me.hasPassword && {
              password: {
                label: words.password,
                type: 'password' as const,
                hint: words.passwordForEmail,
                autocomplete: 'current-password',
              },
            }),
          }}
          submit={words.changeEmail}
          isMain={false}
        >
          {me.hasPassword ? null : <p class="quiet">{words.signingIn.confirmFresh}</p>}
        </Form>
      </Section>
      <Section title={words.appearance}>
        <Form
          request={request}
          does="theme"
          of={updateAccount}
          fields={{
            theme: { label: words.themeHere, value: site.theme ?? 'system', options: THEMES.map((one) => [one, words.themes[one]]) },
            language: {
              label: words.languages.language,
              value: me.language,
              options: [['', words.languages.asBrowser], ...LANGUAGE_OPTIONS],
            },
          }}
          submit={words.saveAppearance}
          isMain={false}
        />
      </Section>
    </SectionPage>
  )
}

/** A cookie that remembers the look, for pages alone. */
function themeCookie(theme: string, site: Site): string {
  const chosen = theme === 'light' || theme === 'dark' ? theme : ''
  return writeCookie('theme', chosen, site.baseUrl, { maxAgeSeconds: YEAR_SECONDS, sameSite: 'Lax' })
}

/** Changes the profile, the email address and the look. */
export const changeSettings = actBy({
  async theme({ call, form, site }) {
    if (form.has('language')) await call(updateAccount, { language: form.choice('language', ['', ...LANGUAGES]) })
    const ofTheme = form.has('theme') ? [themeCookie(form.text('theme'), site)] : []
    // Otherwise a language chosen earlier in this browser would override the setting.
    const ofLanguage = form.has('language') ? [languageCookie(null, site.baseUrl)] : []
    return { ...done(PATH, 'theme'), cookies: [...ofTheme, ...ofLanguage] }
  },
  async 'hide-steps'({ call }) {
    await call(hideFirstSteps, {})
    return { to: '/' }
  },
  email: doing(updateAccount, ({ form }) => ({ ...form.texts('email'), password: form.text('password') }), 'saved'),
  profile: doing(
    updateAccount,
    ({ form }) => ({
      ...form.texts('displayName', 'bio', 'website'),
      defaultVisibility: form.choice('defaultVisibility', DEFAULT_VISIBILITIES),
    }),
    'saved',
  ),
})

/** Taking everything along, or away. */
export async function showData(request: PageRequest) {
  const { words, call } = request
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
