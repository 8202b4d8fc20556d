import { migrate } from '../../src/storage/migrations/index.ts'
import { openAt } from './engines.ts'

/** Migrates an empty database, and kills itself before the migration after NUMBER: `node killed-migration.ts URL NUMBER`. */
const [, , url = '', number] = process.argv
await migrate(openAt(url), {
  onMigration: (_, done) => {
    if (done === Number(number)) process.kill(process.pid, 'SIGKILL')
  },
})
