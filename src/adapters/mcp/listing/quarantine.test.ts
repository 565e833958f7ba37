import { expect, test } from 'vitest'
import { InMemorySessionService } from '../../../services/session/in-memory.ts'
import { judge, pin } from './quarantine.ts'
import type { ServerTool } from './server-tool.ts'

const toolsOf = (...pairs: string[]): ServerTool[] =>
  pairs.map((pair) => {
    const [name = '', hash = ''] = pair.split(' ')
    return { name, hash } as ServerTool
  })
const storeOf = () => ({ appName: 'app', sessionService: new InMemorySessionService() })

test('trusts the first definitions, and unchanged ones later', async () => {
  const store = storeOf()
  expect([...(await judge(store, 'p', toolsOf('a 1', 'b 1'))).trusted]).toEqual(['a', 'b'])
  const verdict = await judge(store, 'p', toolsOf('b 1', 'a 1'))
  expect(verdict).toMatchObject({ problems: [] })
  expect(verdict.trusted.size).toBe(2)
})

test('quarantines a changed definition until it is trusted, also one that changes back and forth', async () => {
  const store = storeOf()
  await judge(store, 'p', toolsOf('a 1'))
  const changed = await judge(store, 'p', toolsOf('a 2'))
  expect(changed.trusted.size).toBe(0)
  expect(changed.problems[0]).toContain('Tool "a" is quarantined: its definition has changed.')
  expect((await judge(store, 'p', toolsOf('a 1'))).trusted.has('a')).toBe(true)
  await pin(store, 'p', 'a', '2')
  expect((await judge(store, 'p', toolsOf('a 2'))).trusted.has('a')).toBe(true)
  expect((await judge(store, 'p', toolsOf('a 1'))).trusted.has('a')).toBe(false)
})

test('trusts a tool that is added, but not one that takes the place of another', async () => {
  const store = storeOf()
  await judge(store, 'p', toolsOf('a 1'))
  expect((await judge(store, 'p', toolsOf('a 1', 'b 1'))).trusted.has('b')).toBe(true)
  const renamed = await judge(store, 'p', toolsOf('a 1', 'c 1'))
  expect(renamed.trusted.has('c')).toBe(false)
  expect(renamed.problems[0]).toContain('tool "b" has disappeared')
})

test('a tool that was removed and added again must be the same', async () => {
  const store = storeOf()
  await judge(store, 'p', toolsOf('a 1', 'b 1'))
  await judge(store, 'p', toolsOf('b 1'))
  expect((await judge(store, 'p', toolsOf('a 2', 'b 1'))).trusted.has('a')).toBe(false)
  expect((await judge(store, 'p', toolsOf('a 1', 'b 1'))).trusted.has('a')).toBe(true)
})

test('apps and toolsets have pins of their own', async () => {
  const store = storeOf()
  await judge(store, 'p', toolsOf('a 1'))
  expect((await judge(store, 'q', toolsOf('a 2'))).trusted.has('a')).toBe(true)
  expect((await judge({ ...store, appName: 'other' }, 'p', toolsOf('a 3'))).trusted.has('a')).toBe(true)
})

test.each(['{}', '[["a"]', '[["a",1]]', '[[]', '"x"', ''])('damaged pins (%s) quarantine everything', async (text) => {
  const store = storeOf()
  await store.sessionService.pins.set(store, 'p', text, { expected: null })
  const verdict = await judge(store, 'p', toolsOf('a 1'))
  expect(verdict.trusted.size).toBe(0)
  expect(verdict.problems[0]).toContain('their pins cannot be read or written')
})

test('a tool called __proto__ is pinned like others', async () => {
  const store = storeOf()
  await judge(store, 'p', toolsOf('__proto__ 1'))
  expect((await judge(store, 'p', toolsOf('__proto__ 2'))).trusted.size).toBe(0)
})

test('two processes that pin at the same time lose nothing', async () => {
  const store = storeOf()
  await judge(store, 'p', toolsOf('a 1', 'b 1'))
  await Promise.all([pin(store, 'p', 'a', '2'), pin(store, 'p', 'b', '2')])
  expect((await judge(store, 'p', toolsOf('a 2', 'b 2'))).trusted.size).toBe(2)
})

test('quarantines everything when other processes keep changing the pins', async () => {
  const store = storeOf()
  store.sessionService.pins.set = async () => false
  expect((await judge(store, 'p', toolsOf('a 1'))).problems[0]).toContain('other processes kept changing the pins')
})
