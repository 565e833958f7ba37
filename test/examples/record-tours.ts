// Records the tours of the examples again, after an intended change of what they do. Without names: all of them.
//   npx node --conditions=toolwright:source --import toolwright/infer/register test/examples/record-tours.ts [example]
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { approve, InMemoryArtifactService, InMemoryCredentialService, InMemorySessionService, Runner } from 'toolwright'
import { recordCase, saveCase } from 'toolwright/eval'
import { startApi } from '../../examples/openapi/server.ts'
import { loadTour, recordingOf, type Tour, tours } from './recorded-tours.ts'

const folder = mkdtempSync(join(tmpdir(), 'toolwright-tours-'))
process.env.APPROVALS_DB = join(folder, 'approvals.db')
const api = await startApi(8642) // the address is part of what an approver reads
const bank = createServer((_, response) => response.end('{"paid":true}')).listen(0, '127.0.0.1')
await once(bank, 'listening')
process.env.BANK_URL = `http://127.0.0.1:${(bank.address() as AddressInfo).port}`

const wanted = process.argv.slice(2)
for (const tour of tours) if (wanted.length === 0 || wanted.includes(tour.example)) await record(tour)
bank.close()
api.stop()
rmSync(folder, { recursive: true })
process.exit()

async function record(tour: Tour): Promise<void> {
  const { answer } = tour
  const { target, messages } = await loadTour(tour)
  const agent = target instanceof Runner ? target.agent : target
  const key = { appName: 'tour', userId: 'ada', sessionId: 's1' }
  const sessionService = new InMemorySessionService()
  const artifactService = new InMemoryArtifactService()
  const credentialService = new InMemoryCredentialService()
  const options = target instanceof Runner ? target.options : {}
  const runner = new Runner({ ...options, appName: 'tour', agent, sessionService, artifactService, credentialService })
  await tour.before?.(runner)
  for (const message of messages) {
    let { pending } = await runner.complete({ userId: 'ada', sessionId: 's1', message })
    for (let [request] = pending; request; [request] = pending) {
      const answered = answer?.(request) ?? approve(request)
      pending = (await runner.complete({ userId: 'ada', sessionId: 's1', message: [answered] })).pending
    }
  }
  const { entries } = (await sessionService.readLog(key)) ?? { entries: [] }
  const session = await sessionService.getSession(key)
  const made = await recordCase({ key, entries, state: { ...session?.state } }, { target, id: 'tour' })
  if (!made.turns?.some(({ calls }) => calls?.length)) throw new Error(`The tour of ${tour.example} made no call.`)
  const file = recordingOf(tour)
  writeFileSync(file, saveCase(made, { text: undefined, name: file, setId: tour.example }))
  await runner.close()
  console.log(file)
}
