// For tests only: a clock that is moved by hand, a model whose connections are controlled by the test, and a link with both.
import { type Ports, systemPorts } from '../../../core/base/ports.ts'
import {
  type LiveClientMessage,
  type LiveConnection,
  LiveConnectionError,
  type LiveConnectOptions,
  type LiveModel,
  type LiveServerMessage,
} from '../../../engine/model/live-model.ts'
import type { LinkNews, LinkOptions, ReconnectOptions } from './link-options.ts'
import { LiveLink } from './live-link.ts'

/** A clock whose timers fire when the test moves it. */
export class ManualClock {
  #now = 0
  readonly #timers = new Map<() => void, number>()
  readonly ports: Ports = {
    ...systemPorts,
    now: () => this.#now,
    monotonicNow: () => this.#now,
    random: () => 1,
    setTimer: (callback, ms) => {
      const fire = (): void => callback()
      this.#timers.set(fire, this.#now + ms)
      return () => this.#timers.delete(fire)
    },
  }

  /** The milliseconds until each timer. */
  get timers(): number[] {
    return [...this.#timers.values()].map((at) => at - this.#now).sort((a, b) => a - b)
  }

  /** Moves the clock and lets everything that follows happen. */
  async advance(ms: number): Promise<void> {
    this.#now += ms
    for (const [fire, at] of [...this.#timers]) {
      if (at > this.#now) continue
      this.#timers.delete(fire)
      fire()
    }
    await settle()
  }
}

/** Lets everything happen that waits for no timer. */
export async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}

/** A connection whose messages the test sends. */
export class FakeConnection implements LiveConnection {
  readonly sent: LiveClientMessage[] = []
  readonly options: LiveConnectOptions
  isClosed = false
  isPaused = false
  /** What `send()` throws. */
  sendError: unknown
  #received: LiveServerMessage[] = []
  #lost: { readonly error: unknown } | undefined
  #wake: () => void = () => {}

  constructor(options: LiveConnectOptions) {
    this.options = options
  }

  send(message: LiveClientMessage): undefined {
    if (this.sendError !== undefined) throw this.sendError
    if (this.isClosed) throw new LiveConnectionError('closed', { recover: 'nothing' })
    this.sent.push(message)
  }
  pause(): void {
    this.isPaused = true
  }
  resume(): void {
    this.isPaused = false
  }
  close(): void {
    this.isClosed = true
    this.#wake()
  }

  /** Sends messages of the model and lets the link read them. */
  async emit(...messages: LiveServerMessage[]): Promise<void> {
    this.#received.push(...messages)
    this.#wake()
    await settle()
  }
  /** Loses the connection. */
  async lose(recover: LiveConnectionError['recover'] = 'resume', code = 1006): Promise<void> {
    this.#lost = { error: new LiveConnectionError(`lost with ${code}`, { recover, code }) }
    this.#wake()
    await settle()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<LiveServerMessage> {
    for (;;) {
      if (this.isClosed) return
      const message = this.#received.shift()
      if (message) yield message
      else if (this.#lost) throw this.#lost.error
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
    }
  }
}

/** How an attempt to connect ends: at once, with an error, or when the test says. */
export type Outcome = 'ok' | Error | Promise<void>

/** A link and everything that happened to it. */
export interface LinkTest {
  readonly link: LiveLink
  readonly clock: ManualClock
  /** All connections so far. */
  readonly connections: readonly FakeConnection[]
  /** The newest connection. */
  readonly current: FakeConnection
  /** What the link told the session, in order. */
  readonly log: string[]
  /** How the next attempts end. Default: `ok`. */
  readonly outcomes: Outcome[]
  /** What the session answers. */
  readonly session: {
    canResume: boolean
    acceptsHandle: boolean
    /** How many handles it was asked about. */
    handles: number
    isIdle: boolean
    introduction: readonly LiveClientMessage[]
    /** The session is about to introduce itself. */
    beforeIntroduction: Promise<void>
  }
  readonly setups: number
  /** Makes the session idle. */
  becomeIdle(): Promise<void>
}

/** A link that is not open yet. */
export function createLink(reconnect: ReconnectOptions = {}): LinkTest {
  const clock = new ManualClock()
  const connections: FakeConnection[] = []
  const log: string[] = []
  const outcomes: Outcome[] = []
  const idle: (() => void)[] = []
  let setups = 0
  const session: LinkTest['session'] = {
    canResume: true,
    acceptsHandle: true,
    handles: 0,
    isIdle: true,
    introduction: [],
    beforeIntroduction: Promise.resolve(),
  }
  const model: LiveModel = {
    name: 'fake',
    connect: async (options) => {
      log.push(options.resumeHandle === undefined ? 'connect' : `connect ${options.resumeHandle}`)
      const outcome = outcomes.shift() ?? 'ok'
      if (outcome instanceof Error) throw outcome
      await outcome
      const connection = new FakeConnection(options)
      connections.push(connection)
      return connection
    },
  }
  const options: LinkOptions = {
    model,
    ports: clock.ports,
    reconnect,
    setup: async () => ({ instruction: `setup ${++setups}`, tools: [] }),
    onHandle: () => {
      session.handles++
      return session.acceptsHandle
    },
    canResume: () => session.canResume,
    introduce: async (isResumed, send) => {
      await session.beforeIntroduction
      log.push(isResumed ? 'introduce resumed' : 'introduce new')
      send(session.introduction)
    },
    whenIdle: () => (session.isIdle ? Promise.resolve() : new Promise((resolve) => idle.push(resolve))),
    on: (news) => void log.push(lineOf(news)),
  }
  return {
    link: new LiveLink(options),
    clock,
    connections,
    log,
    outcomes,
    session,
    get current() {
      return connections.at(-1) as FakeConnection
    },
    get setups() {
      return setups
    },
    async becomeIdle() {
      for (const resolve of idle.splice(0)) resolve()
      await settle()
    },
  }
}

/** A link with its first connection, and an empty log. */
export async function openLink(reconnect: ReconnectOptions = {}): Promise<LinkTest> {
  const test = createLink(reconnect)
  await test.link.open(undefined)
  test.log.length = 0
  return test
}

function lineOf(news: LinkNews): string {
  switch (news.type) {
    case 'message':
      return `message ${news.message.type}`
    case 'reconnecting':
      return `reconnecting ${news.attempt}`
    case 'failed':
      return `failed: ${news.error.message}`
    default:
      return news.type
  }
}
