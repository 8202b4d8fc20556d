import { AppError } from '../../errors.ts'
import { defineProcedure, type Needs } from '../core/procedure.ts'

/** What an operator wants to know at a glance. */
export const showServiceStatus = defineProcedure({
  scope: 'admin',
  async run({ readStatus }: Needs<never, 'readStatus'>) {
    if (!readStatus) throw new AppError('unavailable', 'Only a running service has a status.')
    return { ...(await readStatus()) }
  },
})
