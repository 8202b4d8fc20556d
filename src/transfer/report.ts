/** The counts of an import, and its remarks about entries. */
export interface ImportReport {
  read: number
  created: number
  updated: number
  unchanged: number
  /** Left as they are: edited here since their import, or in the trash. */
  kept: number
  refused: number
  /** Sentences about single entries, each naming its row or folder. At most {@link MAX_REMARKS}. */
  remarks: string[]
  /** Remarks beyond those. */
  moreRemarks: number
}

const MAX_REMARKS = 200

export function emptyReport(): ImportReport {
  return { read: 0, created: 0, updated: 0, unchanged: 0, kept: 0, refused: 0, remarks: [], moreRemarks: 0 }
}

/** Notes one sentence. */
export function addRemark(report: ImportReport, remark: string): void {
  if (report.remarks.length < MAX_REMARKS) report.remarks.push(remark)
  else report.moreRemarks++
}

/** One report of several. */
export function mergeReports(reports: readonly ImportReport[]): ImportReport {
  const all = emptyReport()
  for (const report of reports) {
    for (const name of ['read', 'created', 'updated', 'unchanged', 'kept', 'refused', 'moreRemarks'] as const) all[name] += report[name]
    for (const remark of report.remarks) addRemark(all, remark)
  }
  return all
}
