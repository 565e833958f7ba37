// A worker as a process of its own, with tools that end it, stall it, or let it die at a chosen moment.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { LlmAgent, Runner, type SessionService, tool } from 'toolwright'
import { postgres } from 'toolwright/postgres'
import { restate, startRestateWorker } from 'toolwright/restate'
import type { NewEntry } from 'toolwright/store'

/** What a worker is started with, as its only argument in JSON. */
export interface DrillOptions {
  readonly appName: string
  readonly postgresUrl: string
  readonly schema: string
  readonly ingress: string
  readonly admin: string
  /** Where Restate reaches the workers. */
  readonly url: string
  readonly secret: string
  /** Where tools write down what they do, and where deaths are counted. */
  readonly folder: string
  readonly maxCrashes: number
  readonly leaseMs: number
  /** Whether its agent file fails to load. */
  readonly isBroken: boolean
}

/** Where a worker may die. A session whose id starts with one of them, and ends with a number, dies there that often. */
export const moments = ['before the intent', 'after the intent', 'after the effect', 'before the response'] as const

type Moment = (typeof moments)[number]

const options = JSON.parse(process.argv[2] ?? '') as DrillOptions
const { appName, ingress, admin, url, secret, folder, maxCrashes, leaseMs, isBroken } = options

/** Writes a line that survives the process. */
function note(line: string): void {
  appendFileSync(join(folder, 'notes'), `${line}\n`)
}

function die(): never {
  process.kill(process.pid, 'SIGKILL')
  for (;;); // the signal comes at once; nothing else runs
}

/** Dies here if the session is to. Once it has died elsewhere, it dies before each attempt to record the response. */
function reach(moment: Moment, sessionId: string): void {
  const [where, times] = sessionId.split(' x ')
  const isHere = where === moment || (moment === 'before the response' && where !== 'before the intent')
  if (times === undefined || !isHere) return
  const file = join(folder, `deaths of ${sessionId}`)
  const deaths = existsSync(file) ? readFileSync(file).length : 0
  if (deaths >= Number(times)) return
  appendFileSync(file, '.')
  die()
}

/** A store whose appends bring the process to its moments. */
function withMoments(service: SessionService): SessionService {
  return new Proxy(service, {
    get(target, member) {
      const method: unknown = Reflect.get(target, member)
      if (typeof method !== 'function') return method
      if (member !== 'append') return method.bind(target)
      return async (...args: Parameters<SessionService['append']>) => {
        const [{ key }, , entries] = args
        if (entries.some(isIntent)) reach('before the intent', key.sessionId)
        if (entries.some(isResponse)) reach('before the response', key.sessionId)
        const seq = await target.append(...args)
        if (entries.some(isIntent)) reach('after the intent', key.sessionId)
        return seq
      }
    },
  })
}

function isIntent({ record }: NewEntry): boolean {
  return record?.type === 'intent'
}

function isResponse({ event }: NewEntry): boolean {
  return event?.author !== 'user' && Boolean(event?.content?.parts.some(({ functionResponse }) => functionResponse))
}

const tools = [
  tool({
    name: 'pay',
    description: 'Pays, once',
    requiresConfirmation: true,
    run: (_, { invocation }) => {
      note(`pay ${invocation.session.id}`)
      reach('after the effect', invocation.session.id)
      return { paid: true }
    },
  }),
  tool({
    name: 'crash',
    description: 'Ends the process until it is mended',
    effect: 'idempotent',
    run: (_, { invocation }) => {
      note(`crash ${invocation.session.id}`)
      if (!existsSync(join(folder, 'mended'))) die()
      return { ok: true }
    },
  }),
  tool({
    name: 'stall',
    description: 'Waits to be stopped',
    run: async (_, { invocation }) => {
      note(`stall ${invocation.session.id}`)
      process.send?.({ stalled: true })
      await setTimeout(500)
      note(`awake ${invocation.session.id}`)
      return { ok: true }
    },
  }),
]

/** Calls the tool that the message names, then says "done". */
const model: LlmAgent['model'] = {
  name: 'drill',
  async *generate({ contents }) {
    const last = contents.at(-1)
    const name = last?.role === 'user' ? last.parts[0]?.text : undefined
    const parts = name === undefined ? [{ text: 'done' }] : [{ functionCall: { name, args: {} } }]
    yield { content: { role: 'model', parts } }
  },
}

const services = postgres(options.postgresUrl, { schema: options.schema, leaseMs })
const logger = { warn: () => {}, error: (message: string) => note(`error ${message}`) }
const agent = new LlmAgent({ name: isBroken ? '' : 'desk', model, tools })
const runner = new Runner({
  appName,
  agent,
  logger,
  engine: restate({ ingress, secret }),
  ...services,
  sessionService: withMoments(services.sessionService),
})
const worker = await startRestateWorker({ runners: [runner], ingress, admin, url, secret, port: 0, maxCrashes, logger })
process.once('disconnect', () => process.exit())
process.send?.({ port: worker.port })
