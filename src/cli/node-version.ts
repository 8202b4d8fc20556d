/** Oldest Node that runs the program: `engines` of package.json. */
const MIN_NODE_MAJOR = 24

/**
 * What to tell somebody whose Node is too old, or null. Must itself run on old versions.
 * @param packagedNode the Node that `npm ci` installs
 */
export function oldNodeFault(version: string, packagedNode: string): string | null {
  if (Number.parseInt(version, 10) >= MIN_NODE_MAJOR) return null
  return `Commonplace needs Node ${MIN_NODE_MAJOR} or newer; this is Node ${version}. Start it with ${packagedNode}, which npm ci installs.`
}
