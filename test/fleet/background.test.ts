// Background calls on real workers: Restate, Postgres, and processes that are killed.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import type { BackgroundReport, SessionReport } from './background-program.ts'
import { canLeaveNetwork, withoutNetwork } from './namespace.ts'

const program = fileURLToPath(new URL('./background-program.ts', import.meta.url))

describe.skipIf(!canLeaveNetwork())('background calls of a fleet (needs network namespaces)', () => {
  let report: BackgroundReport

  beforeAll(async () => {
    const line = withoutNetwork([process.execPath, '--conditions=toolwright:source', program])
    const { stdout } = await promisify(execFile)(...line)
    report = JSON.parse(stdout)
  }, 300_000)

  const of = (name: string): SessionReport => report.sessions[name] as SessionReport
  const pids = (name: string): number[] => of(name).deeds.flatMap(({ what, pid }) => (what === 'began' ? [pid] : []))

  test('the body runs in another process than the session, whose consumer sees its progress', () => {
    const { results, seen, text } = of('elsewhere')
    const [body = 0] = of('elsewhere').deeds.flatMap(({ tool, pid }) => (tool === 'none' ? [pid] : []))
    expect(body).not.toBe(report.pid)
    expect(new Set(seen)).toEqual(new Set([body]))
    expect(results).toEqual([{ status: 'completed', tool: 'none', result: { by: body } }])
    expect(text).toBe('done')
  })

  test.each(['none', 'idempotent'])('a body runs again with the same key after kill -9 of its worker: %s', (effect) => {
    const { deeds, results, crashes } = of(effect)
    expect(new Set(pids(effect)).size).toBe(2)
    expect(new Set(deeds.map(({ key }) => key)).size).toBe(1)
    expect(results).toEqual([{ status: 'completed', tool: effect, result: { by: pids(effect)[1] } }])
    expect(crashes).toEqual([0, 1])
  })

  test('another worker reconciles a call after kill -9 of its worker', () => {
    expect(pids('reconcilable')).toHaveLength(1)
    expect(of('reconcilable').results).toEqual([{ status: 'completed', tool: 'reconcilable', result: { found: true } }])
  })

  test('the outcome of a body that runs at most once is unknown after kill -9 of its worker', () => {
    expect(pids('atMostOnce')).toHaveLength(1)
    expect(of('atMostOnce').results).toMatchObject([{ status: 'unknown_outcome', errorCode: 'UNKNOWN_OUTCOME' }])
    expect(of('atMostOnce').text).toBe('done')
  })

  test('an agent tool marked as background continues on another worker after kill -9', () => {
    expect(new Set(pids('clerk')).size).toBe(2)
    expect(of('clerk').results).toEqual([{ text: 'done' }])
    expect(of('clerk').crashes).toEqual([])
  })

  test('a worker that is drained hands a body over', () => {
    expect(new Set(pids('drain')).size).toBe(2)
    expect(of('drain').results).toEqual([{ status: 'completed', tool: 'idempotent', result: { by: pids('drain')[1] } }])
    expect(of('drain').crashes).toEqual([0, 0])
  })

  test.each(['cancel', 'delete'])('a body on another worker is aborted: %s', (name) => {
    expect(of(name).deeds.map(({ what }) => what)).toEqual(['began', 'aborted'])
    expect(pids(name)).not.toContain(report.pid)
  })

  test('a worker tells Restate about a call that its own process could not tell about', () => {
    expect(pids('told later')).toHaveLength(1)
    expect(of('told later').results).toMatchObject([{ status: 'completed', tool: 'none' }])
    expect(of('told later').text).toBe('done')
  })
})
