import type { AppError } from '../../../errors.ts'
import { Layout } from '../../layout.tsx'
import type { Site } from '../../site.ts'

/** What a reader sees instead of a page: nothing there, or what went wrong and how it can be found in the log. */
export function showProblem(site: Site, error: AppError, requestId: string) {
  const { words } = site
  const isMissing = error.code === 'not_found'
  return (
    <Layout site={site} title={isMissing ? words.notFoundTitle : words.errorTitle} isIndexed={false}>
      <h1>{isMissing ? words.notFoundTitle : words.errorTitle}</h1>
      <p class="lead">{isMissing ? words.notFound : error.message}</p>
      <p>
        <a href="/">{words.home}</a>
      </p>
      <p class="quiet">{requestId}</p>
    </Layout>
  )
}
