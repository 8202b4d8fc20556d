import type { FC } from 'hono/jsx'
import type { parseVariables } from '../../domain/variables/variables.ts'

/** A prompt's text with its blanks marked, each with the name of its variable for the script that makes a field of it. */
export const MarkedText: FC<{ segments: ReturnType<typeof parseVariables>['segments'] }> = ({ segments }) => (
  <>{segments.map((segment) => (segment.kind === 'variable' ? <mark data-blank={segment.name}>{segment.raw}</mark> : segment.raw))}</>
)
