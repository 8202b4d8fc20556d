/** The counts of an import, and its remarks about entries. */
export interface ImportReport {
  read: number
  created: number
  updated: number
  unchanged: number
  /** Left as they are: edited here since their import, or in the trash. */
  kept: number
  refused: number
  /** Sentences about single entries, each naming its row or file: first why entries were refused, then at most {@link MAX_REMARKS} others. */
  remarks: string[]
  /** How many of the remarks say why an entry was refused. */
  reasons: number
  /** Remarks beyond those. */
  moreRemarks: number
}

const MAX_REMARKS = 200
/** So many reasons are never cut by other remarks; a file that is no file of prompts may have a million. */
const MAX_REASONS = 10_000

export function emptyReport(): ImportReport {
  return { read: 0, created: 0, updated: 0, unchanged: 0, kept: 0, refused: 0, remarks: [], reasons: 0, moreRemarks: 0 }
}

/** Notes one sentence. */
export function addRemark(report: ImportReport, remark: string): void {
  if (report.remarks.length - report.reasons < MAX_REMARKS) report.remarks.push(remark)
  else report.moreRemarks++
}

/** Notes why an entry was refused. */
export function addReason(report: ImportReport, reason: string): void {
  if (report.reasons < MAX_REASONS) report.remarks.splice(report.reasons++, 0, reason)
  else report.moreRemarks++
}

/** One report of several. */
export function mergeReports(reports: readonly ImportReport[]): ImportReport {
  const all = emptyReport()
  for (const report of reports) {
    for (const name of ['read', 'created', 'updated', 'unchanged', 'kept', 'refused', 'moreRemarks'] as const) all[name] += report[name]
    for (const [index, remark] of report.remarks.entries()) (index < report.reasons ? addReason : addRemark)(all, remark)
  }
  return all
}
