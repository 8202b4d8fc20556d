import { installTools } from '../../scripts/setup-tools.ts'

/** Installs the packages of tools/ before the suites that need them. */
export default installTools
