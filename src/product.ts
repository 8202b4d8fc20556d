import about from '../package.json' with { type: 'json' }

/** The name and version of the service. */
export interface Product {
  readonly title: string
  readonly name: string
  readonly version: string
}

/** The version stands in package.json alone. */
export function readProduct(): Product {
  return { title: 'Commonplace', name: about.name, version: about.version }
}
