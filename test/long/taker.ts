// Asks for many addresses at once, each on a connection of its own, and reports what came. A process of its own, so that its work is not taken
// for slowness of the service.
import { hash } from 'node:crypto'
import { request } from 'node:http'
import { z } from 'zod'

const orderSchema = z.object({ host: z.string(), port: z.number(), from: z.string(), paths: z.array(z.string()) })
export type TakeOrder = z.infer<typeof orderSchema>

/** One answer: its status, and the SHA-256 of its body in hex. */
export interface Taken {
  readonly status: number
  readonly sha256: string
}

function take({ host, port, from: localAddress }: TakeOrder, path: string): Promise<Taken> {
  return new Promise((resolve, reject) => {
    const sent = request({ host, port, localAddress, path, agent: false }, (answer) => {
      const pieces: Buffer[] = []
      answer.on('data', (piece) => pieces.push(piece))
      answer.on('error', reject)
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, sha256: hash('sha256', Buffer.concat(pieces)) }))
    })
    sent.on('error', reject)
    sent.end()
  })
}

process.once('disconnect', () => process.exit(0))
process.once('message', async (message) => {
  const order = orderSchema.parse(message)
  const taken = await Promise.all(order.paths.map((path) => take(order, path)))
  process.send?.(taken, () => process.disconnect())
})
