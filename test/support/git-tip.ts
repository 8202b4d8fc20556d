/** The newest commit of a Git remote, by version 2 of the protocol; null where nothing is. */
export async function readTip(
  fetch: (path: string, options: RequestInit) => Promise<Response>,
  repository: string,
): Promise<string | null> {
  const headers = { 'content-type': 'application/x-git-upload-pack-request', 'git-protocol': 'version=2' }
  const answer = await fetch(`${repository}/git-upload-pack`, { method: 'POST', headers, body: '0014command=ls-refs\n0000' })
  return /[0-9a-f]{40}(?= refs\/heads\/main)/.exec(await answer.text())?.[0] ?? null
}
