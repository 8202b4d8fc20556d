import { restoreLibrary } from '../../src/app.ts'

/** Restores FILE into ADDRESS, and kills itself when STEP is done: `node killed-restore.ts FILE ADDRESS STEP [--force]`. */
const [, , file = '', address = '', step, force] = process.argv
await restoreLibrary(file, address, {
  replacesUnreadable: force === '--force',
  onStep: (done) => {
    if (done === step) process.kill(process.pid, 'SIGKILL')
  },
})
