import type { EmbeddingCounts } from '../../library/ports/embeddings.ts'
import type { Metric } from './metrics.ts'

/** What the encoder's metrics are read from. */
export interface EncoderFigures {
  readonly state: 'embedding' | 'ready' | 'fallback'
  readonly counts: { readonly encoded: number; readonly failures: number; readonly failedItems: number }
  countItems(): Promise<EmbeddingCounts>
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
      help: 'Items outside the trash by state of their vector (embedded, pending)',
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
