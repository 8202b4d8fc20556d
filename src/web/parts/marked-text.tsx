import type { FC } from 'hono/jsx'
import type { parseVariables } from '../../library/variables.ts'

/** A prompt's text with its blanks marked. */
export const MarkedText: FC<{ segments: ReturnType<typeof parseVariables>['segments'] }> = ({ segments }) => (
  <>{segments.map((segment) => (segment.kind === 'text' ? segment.raw : <mark>{segment.raw}</mark>))}</>
)
