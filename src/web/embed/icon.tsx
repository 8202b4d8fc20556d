import type { FC } from 'hono/jsx'

/** Inline 16x16 icons: an embed loads nothing from third parties. */
const PATHS = {
  file: 'M4 2h5l3 3v9H4zM9 2v3h3',
  image: 'M2.5 3h11v10h-11zM3 11l3-3 2.5 2.5L11 8l2.5 2.500M5.5 6h.01',
  link: 'M7 9.500a3 3 0 0 0 4.3.200l2-2a3 3 0 0 0-4.3-4.200l-.8.8M9 6.500a3 3 0 0 0-4.3-.200l-2 2a3 3 0 0 0 4.3 4.200l.8-.8',
  folder: 'M2 4h4l1.5 2H14v7H2z',
  source: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM2 8h12M8 2c2 1.7 2.6 3.7 2.6 6s-.6 4.3-2.6 6c-2-1.7-2.6-3.7-2.6-6S6 3.7 8 2z',
  send: 'M8 13V3M3.5 7.5 8 3l4.5 4.5',
} as const

/** A decorative icon next to its label. */
export const Icon: FC<{ name: keyof typeof PATHS }> = ({ name }) => (
  <svg viewBox="0 0 16 16" aria-hidden="true">
    <path d={PATHS[name]} />
  </svg>
)
