import type { Child, FC } from 'hono/jsx'
import { SectionsPage } from '../../parts/sections-page.tsx'
import type { PageRequest } from '../../request.ts'

interface AdminPageProps {
  readonly request: PageRequest
  readonly at: string
  /** The heading, where the page is of one thing of its section. */
  readonly title?: string
  /** The names of its forms. */
  readonly forms?: readonly string[]
  readonly styles?: readonly string[]
  readonly children?: Child
}

/** The frame of every administration page. */
export const AdminPage: FC<AdminPageProps> = ({ request, styles = [], ...page }) => {
  const { administration, adminSections } = request.site.words
  return <SectionsPage request={request} of={administration} sections={adminSections} styles={['admin.css', ...styles]} {...page} />
}
