// Two servers and a worker share a Postgres database. Each of the four is killed during one refund, which is paid once.
//   npx node examples/replicas/main.ts                               starts the Postgres server of this repository
//   DATABASE_URL=postgres://... npx node examples/replicas/main.ts   uses yours, and does not kill it
import type { Event, PendingRequest } from 'toolwright'
import { openBank } from './bank.ts'
import { openDatabase } from './database.ts'
import { type Replica, startReplica } from './replica.ts'

const replicas = new Map<string, Replica>()
const allKilled = Promise.withResolvers<void>()
const database = await openDatabase()
let { killAndStart } = database
const bank = await openBank(beforeAnswer)

const [server1, server2] = await Promise.all([
  start('server 1', 'server.ts'),
  start('server 2', 'server.ts'),
  start('worker', 'worker.ts'),
])
console.log('Two servers and a worker use one Postgres database.')

const { id: sessionId } = await server1.send<{ id: string }>('POST /apps/desk/users/ada/sessions', {})
const newMessage = { role: 'user', parts: [{ text: 'Refund 500 EUR for order A-7.' }] }
await server1.send('POST /run', { appName: 'desk', userId: 'ada', sessionId, newMessage })
const [request] = await server2.send<PendingRequest[]>(`GET /apps/desk/users/ada/pending?sessionId=${sessionId}`)
console.log(`Server 1 runs until it needs an approval, and server 2 shows it: ${request?.hint}`)

const approval = `POST /apps/desk/users/ada/sessions/${sessionId}/pending/${request?.id}` as const
console.log('An approver confirms at server 2, which continues the run of server 1.')
server2.send(approval, { confirmed: true }).catch(() => {}) // killed before it answers
await allKilled.promise

console.log('No server and no worker is left. Server 3 starts, and the approver sends the same answer again.')
const server3 = await start('server 3', 'server.ts')
const events = await server3.send<Event[]>(approval, { confirmed: true })
const text = events.at(-1)?.content?.parts[0]?.text
console.log(`Server 3 completes the run: ${text}`)

const payments = [...bank.paid.values()]
console.log(`The bank was asked ${bank.requests} times, and paid ${payments.join(' EUR and ')} EUR.`)
await server3.kill()
bank.close()
await database.close()
process.exitCode = payments.length === 1 && text?.includes('500') ? 0 : 1

async function start(name: string, program: string): Promise<Replica> {
  const replica = await startReplica(name, program, { DATABASE_URL: database.url, BANK_URL: bank.url })
  replicas.set(name, replica)
  return replica
}

/** The bank has paid and has not answered yet, the worst moment. Kills the client; of server 3, kills the database instead. */
async function beforeAnswer(client: string): Promise<void> {
  if (client !== 'server 3') {
    await replicas.get(client)?.kill()
    replicas.delete(client)
    console.log(`The bank has paid. Before it answers, kill -9 ends ${client}.`)
    if (replicas.size === 0) allKilled.resolve()
  } else if (killAndStart) {
    console.log('Server 3 asks the bank. Before it answers, kill -9 ends Postgres, which starts again.')
    const restart = killAndStart
    killAndStart = undefined
    await restart()
  }
}
