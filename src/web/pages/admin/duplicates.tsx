import { listNearDuplicates } from '../../../operations/admin/near-duplicates.ts'
import { formatsOf } from '../../formats.ts'
import type { PageRequest } from '../../request.ts'
import { AdminPage } from './admin-page.tsx'

const COLLECTIONS = ['prompts', 'skills'] as const

/** Groups of public items that are nearly the same, for administrators. */
export async function showDuplicates(request: PageRequest) {
  const { words } = request.site
  const found = []
  for (const collection of COLLECTIONS) found.push({ collection, ...(await request.call(listNearDuplicates, { collection })) })
  const { number } = formatsOf(words.language)
  return (
    <AdminPage request={request} at="/admin/duplicates">
      {found.map(({ collection, groups, compared, total }) => (
        <section>
          <h2>{words[collection]}</h2>
          <p class="quiet">
            {words.duplicates.lead} {compared < total ? words.duplicates.compared(number(compared), number(total)) : null}
          </p>
          {groups.length === 0 ? <p>{words.duplicates.none}</p> : null}
          {groups.map((items) => (
            <ul>
              {items.map(({ title, author, url }) => (
                <li>
                  <a href={new URL(url).pathname}>{title}</a> <span class="quiet">{author}</span>
                </li>
              ))}
            </ul>
          ))}
        </section>
      ))}
    </AdminPage>
  )
}
