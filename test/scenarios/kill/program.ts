// A process that sends a message, approves what is pending or goes on, shows the world every event it is shown, and is killed.
import { flushCompileCache } from 'node:module'
import { approve, Runner } from 'toolwright'
import { sqlite } from 'toolwright/sqlite'
import { desk, type Story } from './desk.ts'
import { reachAt } from './outside.ts'

/** What the process is told to do. */
export interface Order {
  readonly file: string
  readonly url: string
  readonly story: Story
  readonly what: 'send' | 'approve' | 'resume'
  /** How far its store's clock is ahead. */
  readonly aheadMs: number
}

export const where = { userId: 'ada', sessionId: 's1' }

if (import.meta.main) {
  flushCompileCache() // it will not end by itself
  const { file, url, story, what, aheadMs } = JSON.parse(process.argv[2] ?? '') as Order
  const reach = reachAt(url)
  const services = sqlite(file, { now: () => Date.now() + aheadMs })
  const runner = new Runner({ appName: 'app', agent: desk(reach, story), ...services })
  const answers = (await runner.pending(where)).map((request) => approve(request))
  const run =
    what === 'resume' ? runner.resume(where) : runner.run({ ...where, message: what === 'send' ? 'go' : answers })
  for await (const event of run) {
    const kind = event.actions.requestedToolConfirmations ? 'question' : event.content?.role
    await reach({ point: `shown ${kind}`, shown: { sessionId: where.sessionId, id: event.id } })
  }
  await reach({ point: 'over' })
}
