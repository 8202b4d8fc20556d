import type { EmbeddingCounts } from '../../library/ports/embeddings.ts'
import type { Metric } from './metrics.ts'

/** Metrics of the embeddings provider. */
export interface EmbeddingFigures {
  readonly isUp: boolean
  counts(): {
    readonly items: { readonly embedded: number; readonly failures: number; readonly refused: number }
    readonly queries: { readonly sent: number; readonly cached: number; readonly fellBack: number; readonly failures: number }
  }
}

/** How the provider of embeddings does, and how far it has come. */
export function embeddingMetrics(figures: EmbeddingFigures, countItems: () => Promise<EmbeddingCounts>): readonly Metric[] {
  return [
    {
      name: 'commonplace_embeddings_up',
      help: '1 if the last call to the embeddings provider succeeded, 0 if search works without it',
      kind: 'gauge',
      read: () => [{ value: figures.isUp ? 1 : 0 }],
    },
    {
      name: 'commonplace_embeddings_items',
      help: 'Public items by embedding state (embedded, pending)',
      kind: 'gauge',
      labels: ['state'],
      async read() {
        const { embedded, pending } = await countItems()
        return [
          { labels: { state: 'embedded' }, value: embedded },
          { labels: { state: 'pending' }, value: pending },
        ]
      },
    },
    {
      name: 'commonplace_embeddings_embedded_total',
      help: 'Items embedded by this process',
      kind: 'counter',
      read: () => [{ value: figures.counts().items.embedded }],
    },
    {
      name: 'commonplace_embeddings_refused_total',
      help: 'Items whose text the provider rejected',
      kind: 'counter',
      read: () => [{ value: figures.counts().items.refused }],
    },
    {
      name: 'commonplace_embeddings_failures_total',
      help: 'Provider failures, by input (items, queries)',
      kind: 'counter',
      labels: ['purpose'],
      read() {
        const { items, queries } = figures.counts()
        return [
          { labels: { purpose: 'items' }, value: items.failures },
          { labels: { purpose: 'queries' }, value: queries.failures },
        ]
      },
    },
    {
      name: 'commonplace_embeddings_queries_total',
      help: 'Queries by source of their embedding: provider, cache or none (fallback)',
      kind: 'counter',
      labels: ['source'],
      read() {
        const { sent, cached, fellBack } = figures.counts().queries
        return [
          { labels: { source: 'sent' }, value: sent },
          { labels: { source: 'remembered' }, value: cached },
          { labels: { source: 'fallback' }, value: fellBack },
        ]
      },
    },
  ]
}
