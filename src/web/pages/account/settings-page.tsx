import type { Child, FC } from 'hono/jsx'
import { SectionsPage } from '../../parts/sections-page.tsx'
import type { LeadsOn, PageRequest } from '../../request.ts'

interface SettingsPageProps {
  readonly request: PageRequest
  readonly at: string
  /** The names of its forms. */
  readonly forms?: readonly string[]
  readonly styles?: readonly string[]
  readonly scripts?: readonly string[]
  readonly children?: Child
}

/** The frame of every settings page. */
export const SettingsPage: FC<SettingsPageProps> = ({ request, ...page }) => {
  const { words, reader } = request.site
  const sections = { ...words.settingsSections, ...(reader?.isAdmin ? { '/admin': words.administration } : {}) }
  return <SectionsPage request={request} of={words.settings} sections={sections} {...page} />
}

/** The address of a page that is part of another one now. */
export function leadTo(path: string) {
  return async ({ query }: PageRequest): Promise<LeadsOn> => ({ to: query.size === 0 ? path : `${path}?${query}`, isPermanent: true })
}
