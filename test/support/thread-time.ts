/**
 * Processor time of this thread so far, in milliseconds. Tests that bound work measure it, as it does not grow with what else the machine
 * does.
 */
export function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
