// Names of Object.prototype members (constructor, __proto__, toString, ...) as names of tools, state keys and sessions.
import { approve, type Event, type ToolContext, tool } from 'toolwright'
import { describe, expect, test } from 'vitest'
import { finalResponses, requestFor, sendMessage, startProcess, storedEvents, stores, where } from './approvals-kit.ts'

const names = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf']
const poisoned = (): { [key: string]: unknown } =>
  JSON.parse('{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}},"amount":5}')
const isClean = (): boolean => (({}) as { admin?: boolean }).admin === undefined

describe.each(stores)('the runner with sessions %s', (_, newStore) => {
  test.each(names)(
    'requests a confirmation for a tool named %s and runs it with the approved arguments [DG-15]',
    async (name) => {
      const store = newStore()
      const seen: unknown[] = []
      const odd = tool({
        name,
        description: 'Odd',
        parameters: { type: 'object' },
        requiresConfirmation: true,
        run: (args: unknown, context: ToolContext) => {
          seen.push(args)
          context.state.set(name, 'mine')
          context.state.set(`user:${name}`, poisoned())
          return poisoned()
        },
      })
      const steps = [{ calls: [{ id: 'c1', name, args: poisoned() }] }]
      const { pending } = await sendMessage(startProcess(store, { tools: [odd], steps }).runner)
      expect(seen).toEqual([])
      expect(Object.keys(requestFor(pending).args)).toEqual(['__proto__', 'constructor', 'amount'])

      const { runner, model } = startProcess(store, { tools: [odd], steps: ['done', 'yes'] })
      expect((await sendMessage(runner, [approve(requestFor(pending))])).text).toBe('done')
      expect(Object.keys(seen[0] as object)).toEqual(['__proto__', 'constructor', 'amount'])
      expect((seen[0] as { admin?: boolean }).admin).toBeUndefined()

      await sendMessage(runner, 'and now?') // the next run reads from the store
      const session = await store.getSession({ appName: 'app', ...where })
      expect(Object.keys(session?.state ?? {}).toSorted()).toEqual([name, `user:${name}`].toSorted())
      expect(Object.keys(finalResponses(await storedEvents(store)).c1 ?? {})).toEqual([
        '__proto__',
        'constructor',
        'amount',
      ])
      expect(model.requests[1]?.contents[2]?.parts[0]?.functionResponse?.response).toEqual(poisoned())
      expect(isClean()).toBe(true)
    },
  )

  test.each(names)('finds no tool, state or session named %s [DG-15]', async (name) => {
    const store = newStore()
    const seen: unknown[] = []
    const look = tool({
      name: 'look',
      description: 'Look',
      effect: 'none',
      run: (_args, context) => {
        seen.push(context.state.get(name), context.state.has(name))
      },
    })
    const steps = [
      {
        calls: [
          { id: 'c1', name },
          { id: 'c2', name: 'look' },
        ],
      },
      'done',
    ]
    const { runner } = startProcess(store, { tools: [look], steps })
    const { events, text } = await sendMessage(runner)
    expect(finalResponses(events).c1).toMatchObject({ errorCode: 'NOT_FOUND' })
    expect(seen).toEqual([undefined, false])
    expect(await runner.pending({ userId: name })).toEqual([])
    expect(await store.getSession({ appName: name, userId: name, sessionId: name })).toBeUndefined()
    expect(text).toBe('done')
  })

  test('imports and reads events with prototype names as keys as plain data [DG-15]', async () => {
    const store = newStore()
    const common = { invocationId: 'constructor', timestamp: 1 }
    const content = { role: 'user' as const, parts: [{ text: 'hi', partMetadata: poisoned() }] }
    const reply = { role: 'model' as const, parts: [{ text: 'hello' }] }
    const events: Event[] = [
      { ...common, id: '__proto__', author: 'user', content, actions: { stateDelta: poisoned() } },
      { ...common, id: 'toString', author: 'agent', nodeInfo: { path: 'agent' }, content: reply, actions: {} },
    ]
    await store.createSession({ appName: 'app', ...where, events })
    const { runner } = startProcess(store, { steps: ['hello again'] })
    expect((await sendMessage(runner)).text).toBe('hello again')
    const session = await store.getSession({ appName: 'app', ...where })
    expect(Object.keys(session?.state ?? {}).toSorted()).toEqual(['__proto__', 'amount', 'constructor'])
    const imported = events.map(({ nodeInfo: _, ...event }) => ({ ...event, imported: true })) // only runs write scope paths
    expect(JSON.stringify(session?.events.slice(0, 2))).toBe(JSON.stringify(imported))
    expect(isClean()).toBe(true)
  })
})
