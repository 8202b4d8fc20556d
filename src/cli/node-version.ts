/** Oldest Node that runs the program: `engines` of package.json. */
const MIN_NODE_MAJOR = 24

/**
 * The error for an outdated Node, or null. Must run on old versions itself.
 * @param packagedNode the Node that `npm ci` installed; null where it did not run
 */
export function oldNodeFault(version: string, packagedNode: string | null): string | null {
  if (Number.parseInt(version, 10) >= MIN_NODE_MAJOR) return null
  const advice = packagedNode === null ? 'Start it with a newer version.' : `Start it with ${packagedNode} (installed by npm ci).`
  return `Commonplace needs Node ${MIN_NODE_MAJOR} or newer; this is Node ${version}. ${advice}`
}
