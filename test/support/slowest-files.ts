import type { Reporter, TestModule } from 'vitest/node'

const COUNT = 10

/** Prints the slowest files of a run, with their seconds. */
export default class SlowestFiles implements Reporter {
  onTestRunEnd(files: readonly TestModule[]): void {
    const slowest = files
      .map((file) => ({ file, ms: file.diagnostic().duration + file.diagnostic().collectDuration }))
      .toSorted((a, b) => b.ms - a.ms)
      .slice(0, COUNT)
    process.stdout.write('\nSlowest files, in seconds:\n')
    for (const { file, ms } of slowest) {
      process.stdout.write(`${(ms / 1000).toFixed(1).padStart(7)}  ${file.project.name}  ${file.relativeModuleId}\n`)
    }
  }
}
