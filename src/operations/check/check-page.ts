import { z } from 'zod'
import { WHOLE_RULES } from '../../check/rules/whole.ts'
import type { MarkedFinding } from '../../domain/check/policy.ts'
import { versionNumber } from '../../domain/items/fields.ts'
import { hasRight } from '../../domain/people/teams.ts'
import { itemTarget, requireItem } from '../core/inputs.ts'
import { defineProcedure, type Needs } from '../core/procedure.ts'
import { itemUrl } from '../core/records.ts'
import { readFindings, toFindingRecord } from './check-item.ts'
import { mayWaive, weightOf } from './waivers.ts'

const isOfItem = ({ rule }: MarkedFinding) => rule !== WHOLE_RULES.repeats.id

/** The findings of an item as its page shows them: of the newest version that the reader sees, or of another. */
export const showCheckPage = defineProcedure({
  scope: null,
  input: z.object({ ...itemTarget, version: versionNumber.optional() }),
  async run(context: Needs<'items' | 'checks', 'baseUrl' | 'maintainersAccept'>, { version: asked, ...target }) {
    const { store, baseUrl } = context
    const item = await requireItem(context, target)
    const { role, version, findings, blocking } = await readFindings(context, item, asked)
    const isOwn = hasRight(role, 'see')
    const mayEdit = mayWaive(context, item, role, 'low')
    const isNewest = version === (item.blockedVersion ?? item.version)
    const waivers = mayEdit ? await store.checks.listWaivers(item.id) : []
    // Administrators decide about what is blocked without reading it.
    const hidden =
      !isOwn && mayEdit && item.blockedVersion !== null ? (await store.checks.judgeItem(item.id, item.blockedVersion)).blocking : []
    return {
      title: item.title,
      url: itemUrl(baseUrl, item.kind, item),
      visibility: item.visibility,
      version,
      servedVersion: item.version,
      findings: findings.filter(isOfItem).map((finding) => ({
        ...toFindingRecord(finding),
        mayAccept: isNewest && !finding.waived && mayWaive(context, item, role, weightOf(finding, blocking)),
      })),
      /** Skills of nearly the same name, which depend on the reader: the counts leave them out. */
      repeated: findings.filter((finding) => !isOfItem(finding)).map(toFindingRecord),
      blockedBy: [...new Set(blocking.map(({ rule }) => rule))],
      hidden: hidden.map(({ rule, severity, file, line }) => ({ rule, severity, file, line })),
      waivers,
    }
  },
})
