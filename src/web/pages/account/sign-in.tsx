import { AppError, toAppError } from '../../../errors.ts'
import { signIn, signOut } from '../../../operations/account/sign-in.ts'
import { showSignUp } from '../../../operations/account/sign-up.ts'
import { localPath } from '../../forms.ts'
import { Layout } from '../../layout.tsx'
import { Done, Fault, Field } from '../../parts/field.tsx'
import type { Action, PageRequest } from '../../request.ts'

/** Where people prove who they are. */
export async function showSignIn({ site, query, sent, call }: PageRequest) {
  const { words } = site
  const { isOpen } = await call(showSignUp, {})
  const to = localPath(sent?.form.text('to') ?? query.get('to') ?? '/')
  return (
    <Layout site={site} title={words.signIn} isIndexed={false}>
      <div class="narrow">
        <h1>{words.signIn}</h1>
        <Done words={words} query={query} sent={sent} />
        <Fault sent={sent} fields={['name', 'password']} words={words} />
        <form method="post" class="fields">
          <input type="hidden" name="to" value={to} />
          <Field sent={sent} name="name" label={words.nameOrEmail} autocomplete="username" isRequired isFirst />
          <Field sent={sent} name="password" label={words.password} type="password" autocomplete="current-password" isRequired />
          <label class="tick">
            <input type="checkbox" name="isRemembered" value="true" checked={sent ? sent.form.has('isRemembered') : true} />{' '}
            {words.remember}
          </label>
          <p>
            <button class="button first" type="submit">
              {words.signIn}
            </button>
          </p>
        </form>
        <p>
          <a href="/forgot-password">{words.forgotPassword}</a>
        </p>
        {isOpen ? (
          <p>
            <a href={`/sign-up?to=${encodeURIComponent(to)}`}>{words.signUpInstead}</a>
          </p>
        ) : null}
      </div>
    </Layout>
  )
}

/** Signs in, and goes where the reader was going. */
export const submitSignIn: Action = async ({ site, call, form }) => {
  const input = { name: form.text('name'), password: form.text('password'), isRemembered: form.has('isRemembered') }
  const { cookies } = await call(signIn, input).catch((error: unknown) => {
    const { code } = toAppError(error)
    throw code === 'unauthenticated' ? new AppError(code, site.words.errors.wrongLogin, { cause: error }) : error
  })
  return { to: localPath(form.text('to')), cookies }
}

/** Signs out; felt at once. */
export const submitSignOut: Action = async ({ call }) => {
  const { cookies } = await call(signOut, {})
  return { to: '/?done=signed-out', cookies }
}

/** The sign-out page, reached by a link. */
export async function showSignOut({ site }: PageRequest) {
  const { words } = site
  return (
    <Layout site={site} title={words.signOut} isIndexed={false}>
      <div class="narrow">
        <h1>{words.signOut}</h1>
        <form method="post">
          <button class="button first" type="submit">
            {words.signOut}
          </button>
        </form>
      </div>
    </Layout>
  )
}
