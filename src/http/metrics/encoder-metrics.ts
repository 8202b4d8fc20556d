import type { VectorCounts } from '../../library/ports/item-vectors.ts'
import type { Metric } from './metrics.ts'

/** What the encoder's metrics are read from. */
export interface EncoderFigures {
  readonly state: 'embedding' | 'ready' | 'fallback'
  readonly counts: { readonly encoded: number; readonly failures: number; readonly failedItems: number }
  countItems(): Promise<VectorCounts>
}

/** What the metrics of a provider of embeddings are read from. */
export interface ProviderFigures {
  fault(): string | null
  readonly counts: Readonly<{ sent: number; cached: number; fellBack: number; failedQueries: number; failedItems: number }>
}

/** Metrics of the encoder and its work on items, private ones included. */
export function encoderMetrics(figures: EncoderFigures): readonly Metric[] {
  return [
    {
      name: 'commonplace_encoder_up',
      help: '1 if the encoder works or starts, 0 if search works without it',
      kind: 'gauge',
      read: () => [{ value: figures.state === 'fallback' ? 0 : 1 }],
    },
    {
      name: 'commonplace_encoder_items',
      help: 'Items that the encoder may read by state of their vector (embedded, pending)',
      kind: 'gauge',
      labels: ['state'],
      async read() {
        const { embedded, pending } = await figures.countItems()
        return [
          { labels: { state: 'embedded' }, value: embedded },
          { labels: { state: 'pending' }, value: pending },
        ]
      },
    },
    {
      name: 'commonplace_encoder_embedded_total',
      help: 'Items whose vector this process saved',
      kind: 'counter',
      read: () => [{ value: figures.counts.encoded }],
    },
    {
      name: 'commonplace_encoder_failures_total',
      help: 'Failures by cause: the library could not be used (library), the encoder made no vector of an item (item)',
      kind: 'counter',
      labels: ['cause'],
      read: () => [
        { labels: { cause: 'library' }, value: figures.counts.failures },
        { labels: { cause: 'item' }, value: figures.counts.failedItems },
      ],
    },
  ]
}

/** How the provider of embeddings does. */
export function providerMetrics(provider: ProviderFigures): readonly Metric[] {
  return [
    {
      name: 'commonplace_embeddings_up',
      help: '1 if the last call to the embeddings provider succeeded, 0 if search works without it',
      kind: 'gauge',
      read: () => [{ value: provider.fault() === null ? 1 : 0 }],
    },
    {
      name: 'commonplace_embeddings_failures_total',
      help: 'Provider failures, by input (items, queries)',
      kind: 'counter',
      labels: ['purpose'],
      read: () => [
        { labels: { purpose: 'items' }, value: provider.counts.failedItems },
        { labels: { purpose: 'queries' }, value: provider.counts.failedQueries },
      ],
    },
    {
      name: 'commonplace_embeddings_queries_total',
      help: 'Queries by source of their embedding: provider, cache or none (fallback)',
      kind: 'counter',
      labels: ['source'],
      read: () => [
        { labels: { source: 'sent' }, value: provider.counts.sent },
        { labels: { source: 'remembered' }, value: provider.counts.cached },
        { labels: { source: 'fallback' }, value: provider.counts.fellBack },
      ],
    },
  ]
}
