import type { App } from '../app.ts'
import type { Admission } from '../http/admission.ts'
import type { BackupFigures } from '../http/metrics/backup-metrics.ts'
import { KEPT_MS, keepFor, libraryMetrics, loadMetrics } from '../http/metrics/library-metrics.ts'
import type { Metric } from '../http/metrics/metrics.ts'
import type { Turns } from '../http/turns.ts'
import type { LoadFigures, ServiceStatus, SettingState } from '../library/service.ts'
import type { FaultLog } from './fault-log.ts'

/** What figures are read from. */
interface FigureSources {
  readonly app: Pick<App, 'store' | 'clock' | 'provider' | 'itemEncoding'>
  readonly version: string
  readonly admission: Admission
  readonly turns: Turns
  readonly faults: FaultLog
  readonly backups: BackupFigures | undefined
  readonly settings: readonly SettingState[]
}

/** Figures of the service, for metrics and the status page. */
export function createServiceFigures({ app, version, admission, turns, faults, backups, settings }: FigureSources): {
  readonly metrics: readonly Metric[]
  readStatus(): Promise<ServiceStatus>
} {
  const startedAt = new Date(app.clock()).toISOString()
  const readLibrary = keepFor(KEPT_MS, () => app.store.service.readFigures(), { isLasting: ({ search }) => search.isReady })
  const readLoad = (): LoadFigures => {
    const { running, waiting, streams } = admission.counts()
    return { running, streams, waiting: { admission: waiting, turns: turns.countWaiting() } }
  }
  return {
    metrics: [...libraryMetrics(version, readLibrary), ...loadMetrics(readLoad, faults.counts)],
    readStatus: async () => ({
      ...(await app.store.service.readFigures()),
      ...readLoad(),
      version,
      startedAt,
      backups: backups ? { lastAt: backups.lastBackup()?.toISOString() ?? null, failures: backups.failures() } : null,
      embeddings: app.provider === null ? 'off' : app.provider.fault() === null ? 'ok' : 'degraded',
      encoder: await readEncoder(app.itemEncoding),
      faults: faults.recent(),
      settings,
    }),
  }
}

async function readEncoder(itemEncoding: App['itemEncoding']): Promise<ServiceStatus['encoder']> {
  if (!itemEncoding) return null
  const { embedded, total } = await itemEncoding.countItems()
  return { state: itemEncoding.state, embedded, total }
}
