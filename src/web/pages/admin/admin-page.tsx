import type { Child, FC } from 'hono/jsx'
import { SectionsPage } from '../../parts/sections-page.tsx'
import type { PageRequest } from '../../request.ts'

/** The frame of every administration page. */
export const AdminPage: FC<{ request: PageRequest; at: string; styles?: readonly string[]; children?: Child }> = ({
  request,
  at,
  styles = [],
  children,
}) => {
  const { words } = request.site
  return (
    <SectionsPage request={request} of={words.administration} sections={words.adminSections} at={at} styles={['admin.css', ...styles]}>
      {children}
    </SectionsPage>
  )
}

/** A link that is shown this once. */
export const SecretLink: FC<{ words: PageRequest['site']['words']; text: string; link: string }> = ({ words, text, link }) => (
  <section class="new-key" role="status" data-prompt>
    <p>{text}</p>
    <pre data-text tabindex={0}>
      {link}
    </pre>
    <button class="button first" type="button" data-copy={words.copied} hidden>
      {words.copy}
    </button>
  </section>
)
