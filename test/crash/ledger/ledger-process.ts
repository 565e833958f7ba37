// The outside world, in a process of its own that outlives the victims. A line is on the disk before it is answered.
import { fsyncSync, openSync, writeSync } from 'node:fs'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'
import type { LedgerLine, LedgerReply } from './ledger-line.ts'

const [socket = '', file = ''] = process.argv.slice(2)
const ledger = openSync(file, 'a')
const applied = new Set<string>()

const server = createServer((connection) => {
  const lines = createInterface({ input: connection })
  for (const source of [connection, lines]) source.on('error', () => {}) // the victim was killed
  lines.on('line', (text) => {
    writeSync(ledger, `${text}\n`)
    fsyncSync(ledger)
    connection.write(`${JSON.stringify(replyTo(JSON.parse(text) as LedgerLine))}\n`)
  })
})
process.once('disconnect', () => process.exit())
server.listen(socket, () => process.send?.('ready'))

function replyTo(line: LedgerLine): LedgerReply {
  const key = 'key' in line ? line.key : ''
  const isNew = !applied.has(key)
  if (line.type === 'effect') applied.add(key)
  return { isNew }
}
