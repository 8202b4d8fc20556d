import { countLibrary } from '../../../operations/admin/administration.ts'
import { listHeld } from '../../../operations/items/marks.ts'
import { showLibraryUsage } from '../../../operations/usage.ts'
import { formatsOf } from '../../formats.ts'
import { Section } from '../../parts/controls.tsx'
import { PageLinks } from '../../parts/page-links.tsx'
import { ItemRows } from '../../parts/rows.tsx'
import { SectionPage } from '../../parts/sections-page.tsx'
import { CHART_STYLES, LibraryCharts } from '../../parts/usage-charts.tsx'
import { type PageRequest, readListPage } from '../../request.ts'
import { textOf } from '../../text-of.ts'

/** Counts, charts of the last days, and the items administrators have unlisted. */
export async function showAdmin(request: PageRequest) {
  const { site, call } = request
  const { words } = site
  const readHeld = readListPage(request, (page) => call(listHeld, { page, perPage: 50 }))
  const [numbers, usage, held] = await Promise.all([call(countLibrary, {}), call(showLibraryUsage, {}), readHeld])
  if ('to' in held) return held
  return (
    <SectionPage request={request} at="/admin" styles={CHART_STYLES}>
      <dl class="counts">
        {Object.entries(numbers).map(([name, count]) => (
          <div>
            <dt>{textOf(words.counts, name)}</dt>
            <dd>{formatsOf(words.language).number(count)}</dd>
          </div>
        ))}
      </dl>
      <LibraryCharts site={site} usage={usage} />
      {held.total === 0 ? null : (
        <Section title={words.held} lead={words.heldLead}>
          <ItemRows site={site} {...held} />
          <PageLinks site={site} page={held.page} pages={held.totalPages} toUrl={(page) => `/admin?page=${page}`} />
        </Section>
      )}
    </SectionPage>
  )
}
