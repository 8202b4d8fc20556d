import type { FC } from 'hono/jsx'
import { confirmBlocks, dismissCheckChanges, listCheckChanges, listLevels } from '../../../operations/check/waivers.ts'
import type { Output } from '../../../operations/core/procedure.ts'
import { CheckLevels, saveLevels } from '../../parts/check-rules.tsx'
import { ConfirmedAction } from '../../parts/confirm.tsx'
import { Entry, List } from '../../parts/entries.tsx'
import { ActionButton } from '../../parts/field.tsx'
import { SectionPage } from '../../parts/sections-page.tsx'
import { actBy, doing, type PageRequest, readListPage } from '../../request.ts'
import type { Words } from '../../site.ts'

const PATH = '/admin/check'

type Change = Output<typeof listCheckChanges>['changes'][number]

/** Items whose verdict changed, and the levels of all rules. */
export async function showAdminCheck(request: PageRequest) {
  const { site, call } = request
  const { words } = site
  const found = await readListPage(request, (page) => call(listCheckChanges, { page }))
  if ('to' in found) return found
  const due = found.changes.filter(({ isDue }) => isDue)
  return (
    <SectionPage request={request} at={PATH}>
      <section>
        <h2>{words.findings.changes}</h2>
        <p class="quiet">{words.findings.changesLead}</p>
        <List
          request={request}
          path={PATH}
          found={found}
          of={found.changes}
          none={words.findings.noChanges}
          row={(change) => <Row words={words} change={change} />}
        />
        {found.total === 0 ? null : (
          <div class="controls">
            {due.length < 2 ? null : (
              <ConfirmedAction
                does="block"
                values={{ items: due.map(nameItem).join(' ') }}
                label={words.findings.blockAll(due.length)}
                means={words.findings.blockMeans}
              />
            )}
            <ActionButton does="dismiss">{words.findings.dismiss}</ActionButton>
            <p class="quiet">{words.findings.dismissHint}</p>
          </div>
        )}
      </section>
      <section>
        <h2>{words.findings.levels}</h2>
        <p class="quiet">
          {words.findings.levelsLead} <a href="/rules">{words.findings.rules}</a>
        </p>
        <CheckLevels words={words} levels={await call(listLevels, {})} />
      </section>
    </SectionPage>
  )
}

const nameItem = ({ item }: Change) => `${item.kind}s/${item.id}`

const Row: FC<{ words: Words; change: Change }> = ({ words, change }) => {
  const { item, found, before, isDue } = change
  const list = (rules: readonly string[]) => rules.join(', ') || words.findings.nothing
  return (
    <Entry
      title={
        <a href={`/${nameItem(change)}/check`} dir="auto">
          {item.title}
        </a>
      }
      note={item.author}
      state={isDue ? words.findings.due : null}
      facts={[words.findings.now(list(found)), before.length === 0 ? null : words.findings.before(list(before))]}
    >
      {isDue ? (
        <ConfirmedAction
          does="block"
          values={{ items: nameItem(change) }}
          label={words.findings.levelNames.block}
          name={words.findings.blockOf(item.title)}
          means={words.findings.blockMeans}
        />
      ) : null}
    </Entry>
  )
}

/** The items that a button names. */
function readItems(text: string) {
  return text.split(' ').map((name) => {
    const [collection, id = ''] = name.split('/')
    return { collection: collection === 'skills' ? ('skills' as const) : ('prompts' as const), id }
  })
}

/** Blocks what is served, clears the list, or sets levels. */
export const changeAdminCheck = actBy({
  block: doing(confirmBlocks, ({ form }) => ({ items: readItems(form.text('items')) }), 'blocked'),
  dismiss: doing(dismissCheckChanges, () => ({}), 'dismissed'),
  levels: saveLevels(() => ({})),
})
