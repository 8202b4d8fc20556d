/** What one kind of request took in a library of one size. */
export interface RequestFigures {
  readonly name: string
  /** How many different requests were asked in turn; null when none was asked twice. */
  readonly variety: number | null
  readonly byConnections: readonly {
    readonly connections: number
    readonly perSecond: number
    readonly p50Ms: number
    readonly p99Ms: number
    readonly cpuMicroseconds: number
    readonly floorCpuMicroseconds: number
    /** Processor time of a request as a multiple of the floor's. */
    readonly ratio: number
    /** Resident memory after it, in MiB. */
    readonly rss: number
    /** Of one who saves meanwhile: processor time of a save when nothing else is done, and the share of saves in what the process used. */
    readonly saves?: {
      readonly perSecond: number
      readonly cpuMicroseconds: number
      readonly share: number
      /** Caches of public answers that were asked meanwhile, with the share of look-ups that they answered. */
      readonly hits: readonly { readonly cache: string; readonly share: number }[]
    }
  }[]
}

/** What a library of one size took. */
export interface SizeFigures {
  readonly size: number
  /** From starting the process to the answer to a first search. */
  readonly startMs: number
  /** Resident memory in MiB: after the first search, after everything, and the most there was. */
  readonly rssAtStart: number
  readonly rssAfter: number
  readonly rssPeak: number
  readonly databaseMiB: number
  readonly requests: readonly RequestFigures[]
}

/** A budget, and whether it was kept. */
export interface Verdict {
  readonly text: string
  readonly value: number
  readonly limit: number
  readonly unit: string
  readonly isMet: boolean
}

/** Everything a run found. */
export interface Results {
  readonly sizes: readonly SizeFigures[]
  readonly budgets: readonly Verdict[]
}

/** The results as tables in Markdown. */
export function toTable({ sizes, budgets }: Results): string {
  const lines: string[] = []
  for (const { size, startMs, rssAtStart, rssAfter, rssPeak, databaseMiB, requests } of sizes) {
    lines.push(
      `### ${size.toLocaleString('en')} prompts`,
      '',
      `First answer ${(startMs / 1000).toFixed(2)} s after the start. Resident: ${rssAtStart.toFixed(0)} MiB then, ${rssAfter.toFixed(0)} MiB in the end, ${rssPeak.toFixed(0)} MiB at most. Database: ${databaseMiB.toFixed(1)} MiB.`,
      '',
      '| Request | connections | requests/s | p50 ms | p99 ms | CPU µs | floor µs | times the floor | RSS MiB |',
      '|---|---|---|---|---|---|---|---|---|',
    )
    for (const { name, byConnections } of requests) {
      for (const one of byConnections) {
        const cells = [
          name,
          one.connections,
          one.perSecond.toFixed(0),
          one.p50Ms.toFixed(2),
          one.p99Ms.toFixed(2),
          one.cpuMicroseconds.toFixed(0),
          one.floorCpuMicroseconds.toFixed(0),
          one.ratio.toFixed(2),
          one.rss.toFixed(0),
        ]
        lines.push(`| ${cells.join(' | ')} |`)
      }
    }
    lines.push('', ...requests.flatMap(describeSaves))
  }
  if (budgets.length > 0) lines.push('| Budget | measured | at most | met? |', '|---|---|---|---|')
  for (const { text, value, limit, unit, isMet } of budgets) {
    lines.push(`| ${text} | ${value.toFixed(value < 100 ? 2 : 0)}${unit} | ${limit}${unit} | ${isMet ? 'met' : '**not met**'} |`)
  }
  return `${lines.join('\n')}\n`
}

/** What the one who saves meanwhile took of the process. */
function describeSaves({ name, byConnections }: RequestFigures): string[] {
  return byConnections.flatMap(({ connections, saves }) =>
    saves
      ? [
          `${name}, ${connections} connections: ${saves.perSecond.toFixed(0)} saves a second; one alone takes ${saves.cpuMicroseconds.toFixed(0)} µs of processor time, all together some ${(saves.share * 100).toFixed(0)} % of what the process used. Answered from caches: ${saves.hits.map(({ cache, share }) => `${cache} ${(share * 100).toFixed(1)} %`).join(', ')}.`,
          '',
        ]
      : [],
  )
}
