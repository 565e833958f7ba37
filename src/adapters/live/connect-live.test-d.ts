import type { PendingRequest, ReadonlyState, State } from 'toolwright'
import { scriptedLive } from 'toolwright/testing'
import { expectTypeOf, test } from 'vitest'
import type { LivePhase } from '../../engine/flow/phases/live-phase.ts'
import { stateKey } from '../../engine/flow/state/state-key.ts'
import type { Watcher } from '../../engine/flow/state/watcher.ts'
import { connectLive } from './connect-live.ts'
import type { LiveSession } from './session/live-session.ts'

const model = scriptedLive([])

test('connectLive() infers the parameters of all hooks', () => {
  void connectLive({
    model,
    initialPhase: 'pay',
    phases: [
      {
        name: 'pay',
        instruction: (state) => {
          expectTypeOf(state).toEqualTypeOf<ReadonlyState>()
          return `Balance: ${state.get('balance', 0)}`
        },
        guard: (state) => state.get('blocked') !== true,
        transitions: [{ to: 'end', when: (state) => state.get('n', 0) > 1 }],
        onEnter: ({ state, session, from }) => {
          expectTypeOf(state).toEqualTypeOf<State>()
          expectTypeOf(session).toEqualTypeOf<LiveSession>()
          expectTypeOf(from).toEqualTypeOf<string | undefined>()
        },
        onExit: ({ session, to }) => {
          expectTypeOf(session).toEqualTypeOf<LiveSession>()
          expectTypeOf(to).toEqualTypeOf<string>()
        },
      },
    ],
    computed: [{ key: 'rich', from: ['balance'], compute: (state) => state.get('balance', 0) > 5 }],
    watchers: [
      {
        key: 'balance',
        on: (before, after) => {
          expectTypeOf(before).toEqualTypeOf<unknown>()
          return before !== after
        },
        run: ({ after, session }) => {
          expectTypeOf(after).toEqualTypeOf<unknown>()
          expectTypeOf(session).toEqualTypeOf<LiveSession>()
        },
      },
    ],
    patterns: [
      {
        name: 'often',
        rate: { of: 'interrupted', count: 3, perMs: 1_000 },
        run: ({ session }) => expectTypeOf(session).toEqualTypeOf<LiveSession>(),
      },
    ],
    onToolCall: ({ calls, state }) => {
      expectTypeOf(state).toEqualTypeOf<State>()
      return calls.map(({ id, name }) => {
        expectTypeOf(id).toEqualTypeOf<string>()
        return { id, name, response: {} }
      })
    },
    beforeToolResponse: ({ responses }) => responses.filter(({ name }) => name !== 'secret'),
    confirmationProvider: (request, { signal }) => {
      expectTypeOf(request).toEqualTypeOf<PendingRequest>()
      expectTypeOf(signal).toEqualTypeOf<AbortSignal>()
      return { confirmed: true, payload: 'Ada' }
    },
  })
})

test('a confirmationProvider may leave the answer to session.answer()', () => {
  void connectLive({ model, confirmationProvider: () => new Promise(() => {}) })
})

test('phases and watchers may be declared before the session', () => {
  const phases: LivePhase[] = [{ name: 'a', instruction: 'A', onEnter: ({ session }) => session.send('Hello') }]
  const watchers: Watcher<LiveSession>[] = [{ key: 'a', on: () => true, run: ({ session }) => session.enterPhase('a') }]
  void connectLive({ model, phases, watchers, initialPhase: 'a' })
})

test('options may be undefined, and wrong ones are compile errors', () => {
  void connectLive({ model, userId: undefined, phases: undefined, background: undefined, reconnect: undefined })
  const phase: LivePhase = { name: 'a', instruction: 'A', guard: undefined, onEnter: undefined, onExit: undefined }
  void connectLive({ model, phases: [phase], initialPhase: 'a' })
  const observed: string[] = []
  void connectLive({
    model,
    onToolCall: ({ calls }) => {
      for (const { name } of calls) observed.push(name)
    },
  })
  // @ts-expect-error a model is required
  void connectLive({ tools: [] })
  // @ts-expect-error no such option
  void connectLive({ model, systemInstruction: 'x' })
  // @ts-expect-error no such scheduling
  void connectLive({ model, background: { search: { scheduling: 'NOW' } } })
  // @ts-expect-error a pattern is one of sustained, rate and turns
  void connectLive({ model, patterns: [{ name: 'p', run: () => {} }] })
})

test('events are told apart by their type', async () => {
  const session = await connectLive({ model })
  for await (const event of session) {
    if (event.type === 'audio') expectTypeOf(event.data).toEqualTypeOf<Uint8Array>()
    if (event.type === 'request') expectTypeOf(event.request).toEqualTypeOf<PendingRequest>()
    if (event.type === 'error') expectTypeOf(event.errorCode).toEqualTypeOf<string>()
  }
  expectTypeOf(session.phase).toEqualTypeOf<string | undefined>()
  expectTypeOf(stateKey<number>('balance').get(session.state)).toEqualTypeOf<number | undefined>()
  await session.send({ audio: new Uint8Array(640), mimeType: undefined })
  // @ts-expect-error text is sent as a string
  await session.send({ text: 'Hello' })
})
