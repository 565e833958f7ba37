import { afterEach, describe, expect, test } from 'vitest'
import { ToolwrightError } from '../../../core/error/error.ts'
import { type LiveClientMessage, LiveConnectionError } from '../../../engine/model/live-model.ts'
import { createLink, type LinkTest, openLink, settle } from './link.test-kit.ts'

const hello: LiveClientMessage = { type: 'text', text: 'hello' }
const audio = (byte: number): LiveClientMessage => ({
  type: 'audio',
  data: new Uint8Array([byte]),
  mimeType: 'audio/pcm',
})
const refused = (recover: 'resume' | 'fresh' | 'nothing' = 'resume', code?: number): LiveConnectionError =>
  new LiveConnectionError(`refused ${code ?? ''}`.trim(), { recover, code })

const links: LinkTest[] = []
afterEach(() => {
  for (const { link } of links.splice(0)) link.close()
})
const open = async (...options: Parameters<typeof openLink>): Promise<LinkTest> => {
  const opened = await openLink(...options)
  links.push(opened)
  return opened
}

describe('the first connection', () => {
  test('introduces the session and sends what was said meanwhile', async () => {
    const { link, connections, log, session } = createLink()
    session.introduction = [hello]
    const opening = link.open(undefined)
    void link.send(audio(1))
    await opening
    expect(log).toEqual(['connect', 'introduce new'])
    expect(connections[0]?.sent).toEqual([hello, audio(1)])
  })

  test('fails fast, without a second attempt', async () => {
    const { link, log, outcomes, clock } = createLink()
    outcomes.push(refused())
    await expect(link.open(undefined)).rejects.toThrow('refused')
    expect([log, clock.timers]).toEqual([['connect'], []])
  })

  test('is not made if the signal is aborted before', async () => {
    const { link, log } = createLink()
    await expect(link.open(AbortSignal.abort(new Error('no')))).rejects.toThrow('no')
    expect(log).toEqual([])
  })

  test('ends with the reason of the signal, and a connection that is made later is closed', async () => {
    const { link, connections, outcomes } = createLink()
    const late = Promise.withResolvers<void>()
    outcomes.push(late.promise)
    const controller = new AbortController()
    const opening = link.open(controller.signal)
    await settle()
    controller.abort(new Error('changed my mind'))
    await expect(opening).rejects.toThrow('changed my mind')
    late.resolve()
    await settle()
    expect(connections.map(({ isClosed }) => isClosed)).toEqual([true])
  })

  test('is closed again if the link is closed while the session introduces itself', async () => {
    const { link, connections, session } = createLink()
    session.beforeIntroduction = new Promise(() => {})
    const opening = link.open(undefined)
    await settle()
    link.close()
    await expect(opening).rejects.toThrow('closed')
    expect(connections[0]?.isClosed).toBe(true)
  })
})

describe('a lost connection', () => {
  test('is made again at once, with the newest handle', async () => {
    const link = await open()
    await link.current.emit({ type: 'resumption', handle: 'h1' }, { type: 'resumption', handle: 'h2' })
    await link.current.lose()
    expect(link.log).toEqual(['lost', 'reconnecting 1', 'connect h2', 'introduce resumed', 'resumed'])
    expect(link.setups).toBe(2)
  })

  test('keeps the handle while the conversation cannot be resumed for a moment', async () => {
    const link = await open()
    await link.current.emit({ type: 'resumption', handle: 'h1' }, { type: 'resumption', handle: undefined })
    await link.current.lose()
    expect(link.log).toContain('connect h1')
  })

  test('is made anew if the session does not accept the handle, or can no longer use it', async () => {
    const link = await open()
    link.session.acceptsHandle = false
    await link.current.emit({ type: 'resumption', handle: 'h1' })
    await link.current.lose()
    expect(link.log).toContain('introduce new')
    link.session.acceptsHandle = true
    await link.current.emit({ type: 'resumption', handle: 'h2' })
    link.session.canResume = false
    link.log.length = 0
    await link.current.lose()
    await link.clock.advance(250)
    expect(link.log).toContain('introduce new')
  })

  test('never resumes a conversation that was given up for a new one', async () => {
    const link = await open()
    await link.current.emit({ type: 'resumption', handle: 'old' })
    link.session.canResume = false
    await link.current.lose()
    link.session.canResume = true
    link.log.length = 0
    await link.current.lose()
    await link.clock.advance(1_000)
    expect(link.log).toContain('connect')
  })

  test('starts a new conversation if the handle is refused', async () => {
    const link = await open()
    await link.current.emit({ type: 'resumption', handle: 'h1' })
    link.outcomes.push(refused('fresh', 1007))
    await link.current.lose()
    await link.clock.advance(250)
    expect(link.log.filter((line) => line.startsWith('connect'))).toEqual(['connect h1', 'connect'])
  })

  test('sends media that came meanwhile, and leaves messages of the conversation to the session', async () => {
    const link = await open()
    const made = Promise.withResolvers<void>()
    link.outcomes.push(made.promise)
    await link.current.lose()
    void link.link.send(audio(1))
    link.link.tell(hello)
    made.resolve()
    await settle()
    expect(link.current.sent).toEqual([audio(1)])
  })

  test('keeps a message that finds the connection closed before the loss is noticed', async () => {
    const link = await open()
    const [first] = link.connections
    if (first) first.sendError = refused('nothing')
    void link.link.send(audio(1))
    await first?.lose()
    expect(link.current.sent).toEqual([audio(1)])
  })

  test('waits longer before each attempt, and ends with the last error when the attempts are used up', async () => {
    const link = await open({ attempts: 3, delayMs: 100, maxDelayMs: 150 })
    link.outcomes.push(refused(), refused(), refused('resume', 1011))
    await link.current.lose()
    expect(link.clock.timers).toEqual([100])
    await link.clock.advance(100)
    expect(link.clock.timers).toEqual([150])
    await link.clock.advance(150)
    expect(link.log.at(-1)).toBe('failed: refused 1011')
    await link.clock.advance(60_000)
    expect(link.log.filter((line) => line.startsWith('connect'))).toHaveLength(3)
    expect(link.clock.timers).toEqual([])
  })

  test('is not made again if nothing helps', async () => {
    const link = await open()
    await link.current.lose('nothing', 1008)
    expect(link.log).toEqual(['lost', 'failed: lost with 1008'])
  })

  test('is not made again with 0 attempts', async () => {
    const link = await open({ attempts: 0 })
    await link.current.lose()
    expect(link.log).toEqual(['lost', 'failed: lost with 1006'])
  })

  test('ends the session if each new connection is lost before the model has ended a turn', async () => {
    const link = await open({ attempts: 2, delayMs: 0 })
    for (let at = 0; at < 3; at++) {
      await link.current.emit({ type: 'text', text: 'I' })
      await link.current.lose()
    }
    expect(link.log.at(-1)).toBe('failed: lost with 1006')
  })

  test('starts to count again after a whole turn, and after a connection that lasted', async () => {
    const link = await open({ attempts: 1 })
    for (let at = 0; at < 3; at++) {
      await link.current.emit({ type: 'turnComplete' })
      await link.current.lose()
      await link.clock.advance(250)
    }
    for (let at = 0; at < 3; at++) {
      await link.clock.advance(30_000)
      await link.current.lose()
    }
    expect(link.log.filter((line) => line.startsWith('reconnecting'))).toEqual(Array(6).fill('reconnecting 1'))
  })

  test('is not made again without a pause if the provider ends every connection after one turn', async () => {
    const link = await open()
    for (let at = 0; at < 3; at++) {
      await link.current.emit({ type: 'turnComplete' })
      await link.current.lose()
    }
    expect([link.connections.length, link.clock.timers]).toEqual([2, [250]])
  })

  test('counts a connection that is lost while the session introduces itself as one failed attempt', async () => {
    const link = await open()
    link.session.introduction = [hello]
    let isFirst = true
    link.session.beforeIntroduction = {
      // biome-ignore lint/suspicious/noThenProperty: runs right before the introduction
      then: (resolve: () => void) => {
        if (isFirst) link.current.sendError = refused('nothing')
        isFirst = false
        resolve()
      },
    } as Promise<void>
    await link.current.lose()
    expect(link.log.at(-1)).toBe('reconnecting 2')
    await link.clock.advance(250)
    expect(link.log.at(-1)).toBe('resumed')
    expect(link.connections.map(({ isClosed }) => isClosed)).toEqual([true, true, false])
    expect(link.current.sent).toEqual([hello])
  })

  test('is not made again after close(), neither at once nor later', async () => {
    const link = await open()
    link.outcomes.push(refused())
    await link.current.lose()
    expect(link.clock.timers).toEqual([250])
    link.link.close()
    expect(link.clock.timers).toEqual([])
    await link.clock.advance(10_000)
    expect(link.log.filter((line) => line.startsWith('connect'))).toHaveLength(1)
    expect(link.log).not.toContain('resumed')
  })

  test('is closed at once if it is made after close()', async () => {
    const link = await open()
    const made = Promise.withResolvers<void>()
    link.outcomes.push(made.promise)
    await link.current.lose()
    link.link.close()
    made.resolve()
    await settle()
    expect(link.connections.map(({ isClosed }) => isClosed)).toEqual([true, true])
    expect(link.log.at(-1)).toBe('connect')
  })

  test('is paused like the one before', async () => {
    const link = await open()
    link.link.setPaused(true)
    expect(link.current.isPaused).toBe(true)
    await link.current.lose()
    expect(link.current.isPaused).toBe(true)
    link.link.setPaused(false)
    expect(link.current.isPaused).toBe(false)
  })

  test('tells the model again that the user is speaking', async () => {
    const link = await open()
    const start: LiveClientMessage = { type: 'activity', state: 'start' }
    void link.link.send(start)
    await link.current.lose()
    void link.link.send({ type: 'activity', state: 'end' })
    expect(link.current.sent).toEqual([start, { type: 'activity', state: 'end' }])
    await link.current.lose()
    await link.clock.advance(250)
    expect(link.current.sent).toEqual([])
  })
})

describe('before the provider closes the connection', () => {
  test('an idle session moves to a new one before the old one is closed', async () => {
    const link = await open()
    const made = Promise.withResolvers<void>()
    link.outcomes.push(made.promise)
    await link.current.emit({ type: 'resumption', handle: 'h1' }, { type: 'goAway', timeLeftMs: 5_000 })
    const old = link.current
    expect(old.isClosed).toBe(false)
    made.resolve()
    await settle()
    expect(old.isClosed).toBe(true)
    expect(link.log).toEqual(['message goAway', 'reconnecting 1', 'connect h1', 'lost', 'introduce resumed', 'resumed'])
    expect(link.clock.timers).toEqual([])
  })

  test('a busy session is waited for', async () => {
    const link = await open()
    link.session.isIdle = false
    await link.current.emit({ type: 'goAway', timeLeftMs: 10_000 })
    expect([link.log, link.clock.timers]).toEqual([['message goAway'], [7_000]])
    await link.becomeIdle()
    expect([link.log.at(-1), link.clock.timers]).toEqual(['resumed', []])
  })

  test('a session that stays busy moves before the end, whatever else it announces', async () => {
    const link = await open()
    link.session.isIdle = false
    await link.current.emit({ type: 'goAway', timeLeftMs: 2_000 }, { type: 'goAway', timeLeftMs: 1 })
    await link.clock.advance(999)
    expect(link.connections).toHaveLength(1)
    await link.clock.advance(1)
    expect(link.connections).toHaveLength(2)
  })

  test('a session that closes meanwhile leaves no timer behind', async () => {
    const link = await open()
    link.session.isIdle = false
    await link.current.emit({ type: 'goAway', timeLeftMs: 1e15 })
    expect(link.clock.timers).toEqual([600_000])
    link.link.close()
    expect(link.clock.timers).toEqual([])
    await link.becomeIdle()
    expect(link.log).toEqual(['message goAway'])
  })

  test('what is sent during the move reaches the new connection only', async () => {
    const link = await open()
    const made = Promise.withResolvers<void>()
    link.outcomes.push(made.promise)
    const old = link.current
    await old.emit({ type: 'goAway', timeLeftMs: 5_000 })
    void link.link.send(audio(1))
    made.resolve()
    await settle()
    expect([old.sent, link.current.sent]).toEqual([[], [audio(1)]])
  })

  test('a handle that arrives during the move is not used: the new connection has resumed from the one before', async () => {
    const link = await open()
    const made = Promise.withResolvers<void>()
    link.outcomes.push(made.promise)
    const old = link.current
    await old.emit({ type: 'resumption', handle: 'h1' }, { type: 'goAway', timeLeftMs: 5_000 })
    await old.emit({ type: 'resumption', handle: 'h2' })
    expect(link.session.handles).toBe(1) // the session must not count anything as covered by it
    made.resolve()
    await settle()
    link.log.length = 0
    await link.current.lose()
    await link.clock.advance(250)
    expect(link.log).toContain('connect h1')
  })

  test('messages of the old connection count until the new one is there', async () => {
    const link = await open()
    const made = Promise.withResolvers<void>()
    link.outcomes.push(made.promise)
    const old = link.current
    await old.emit({ type: 'goAway', timeLeftMs: 5_000 })
    await old.emit({ type: 'text', text: 'still here' })
    made.resolve()
    await settle()
    await old.emit({ type: 'text', text: 'too late' })
    expect(link.log.filter((line) => line === 'message text')).toHaveLength(1)
  })

  test('an old connection that is lost during the move is replaced by the same attempt', async () => {
    const link = await open()
    const made = Promise.withResolvers<void>()
    link.outcomes.push(made.promise)
    await link.current.emit({ type: 'goAway', timeLeftMs: 5_000 })
    await link.connections[0]?.lose()
    made.resolve()
    await settle()
    expect(link.log).toEqual(['message goAway', 'reconnecting 1', 'connect', 'lost', 'introduce new', 'resumed'])
  })

  test('a failed move is repeated like any lost connection', async () => {
    const link = await open()
    link.outcomes.push(refused())
    await link.current.emit({ type: 'goAway', timeLeftMs: 5_000 })
    expect(link.log.slice(1)).toEqual(['reconnecting 1', 'connect', 'lost', 'reconnecting 2'])
    await link.clock.advance(250)
    expect(link.log.at(-1)).toBe('resumed')
    expect(link.connections.map(({ isClosed }) => isClosed)).toEqual([true, false])
  })

  test('a provider that sends every connection away is followed ever more slowly, and not forever', async () => {
    const link = await open({ attempts: 3, delayMs: 100 })
    for (let at = 0; at < 5; at++) {
      await link.current.emit({ type: 'goAway', timeLeftMs: 0 })
      await link.clock.advance(1_000)
    }
    expect(link.connections).toHaveLength(4)
    await link.current.lose()
    expect(link.log.at(-1)).toBe('failed: lost with 1006')
  })
})

describe('renew()', () => {
  test('connects with a new setup and the newest handle', async () => {
    const link = await open()
    await link.current.emit({ type: 'resumption', handle: 'h1' })
    await link.link.renew()
    expect(link.current.options).toMatchObject({ instruction: 'setup 2', resumeHandle: 'h1' })
    expect(link.connections.map(({ isClosed }) => isClosed)).toEqual([true, false])
  })

  test('waits for an attempt that is under way, and renews its setup', async () => {
    const link = await open()
    const made = Promise.withResolvers<void>()
    link.outcomes.push(made.promise)
    await link.current.lose()
    await link.link.renew()
    expect(link.log.filter((line) => line.startsWith('connect'))).toHaveLength(1)
    made.resolve()
    await settle()
    expect(link.connections.map(({ isClosed }) => isClosed)).toEqual([true, true, false])
    expect(link.current.options.instruction).toBe('setup 3')
  })

  test('does nothing after close()', async () => {
    const link = await open()
    link.link.close()
    await link.link.renew()
    expect(link.log).toEqual([])
  })
})

describe('sending', () => {
  test('throws what the model cannot take to the sender, and does not repeat it', async () => {
    const link = await open()
    link.current.sendError = new ToolwrightError('INVALID_REQUEST', 'no such audio')
    expect(() => link.link.send(audio(1))).toThrow('no such audio')
    await link.current.lose()
    expect(link.current.sent).toEqual([])
  })

  test('keeps an update of the setup only for a connection that was set up before it', async () => {
    const link = await open()
    const made = Promise.withResolvers<void>()
    link.outcomes.push(refused(), made.promise)
    await link.current.lose()
    const update = (instruction: string): LiveClientMessage => ({ type: 'update', instruction })
    void link.link.send(update('read by the next attempt'))
    await link.clock.advance(250)
    void link.link.send(update('not read'))
    made.resolve()
    await settle()
    expect(link.current.sent).toEqual([update('not read')])
  })

  test('does nothing after close()', async () => {
    const link = await open()
    link.link.close()
    expect(link.link.send(audio(1))).toBeUndefined()
    link.link.tell(hello)
    expect(link.current.sent).toEqual([])
  })
})
