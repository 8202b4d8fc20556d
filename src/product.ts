import about from '../package.json' with { type: 'json' }

/** What the service is called and which version it is: the version stands in package.json alone. */
export function readProduct(): { title: string; name: string; version: string } {
  return { title: 'Commonplace', name: about.name, version: about.version }
}
