// What a server made of Node alone costs: it reads a body, parses it as JSON, and answers 1 KB. Everything else is measured against it.
// It prints its port, and ends with its standard input.
import { createServer } from 'node:http'

const answer = JSON.stringify({ jsonrpc: '2.0', id: 1, result: { text: 'x'.repeat(1024 - 48) } })

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const body: unknown = chunks.length === 0 ? null : JSON.parse(Buffer.concat(chunks).toString('utf8'))
    if (body === null) response.writeHead(400).end()
    else response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': answer.length }).end(answer)
  })
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (typeof address === 'object' && address) process.stdout.write(`${address.port}\n`)
})
process.stdin.on('end', () => process.exit(0)).resume()
