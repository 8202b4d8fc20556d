import { DEFAULT_VISIBILITIES } from '../../../domain/items/visibility.ts'
import { writeCookie } from '../../../domain/sign-in/cookies.ts'
import { hideFirstSteps, showAccount, updateAccount } from '../../../operations/account/account.ts'
import { languageCookie } from '../../language.ts'
import { Section } from '../../parts/controls.tsx'
import { authorPath } from '../../parts/facts.tsx'
import { Form } from '../../parts/form.tsx'
import { SectionPage } from '../../parts/sections-page.tsx'
import { actBy, doing, done, type PageRequest } from '../../request.ts'
import type { Site } from '../../site.ts'
import { LANGUAGES } from '../../strings/languages.ts'
import { LANGUAGE_OPTIONS } from './language.tsx'

const PATH = '/settings'
const THEMES = ['system', 'light', 'dark'] as const
const YEAR_SECONDS = 365 * 24 * 3600

/** Profile, privacy of new items, and the look of the pages. */
export async function showSettings(request: PageRequest) {
  const { site, call } = request
  const { words } = site
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
