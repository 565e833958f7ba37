// Replays the recorded tours: what the code of today does differently is found. `record-tours.ts` records them again.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { CaseResult } from 'toolwright/eval'
import { expect, onTestFinished, test } from 'vitest'
import { node, withoutKeys } from './child.ts'
import { tours } from './recorded-tours.ts'

test('recorded tours of the examples replay without a difference, a process or a connection', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'toolwright-tours-'))
  onTestFinished(() => rmSync(cwd, { recursive: true }))
  const env = { ...withoutKeys(), APPROVALS_DB: join(cwd, 'approvals.db') }
  const args = ['--import', resolve('src/apps/infer/register.ts'), resolve('test/examples/replay-tours.ts')]
  const { out, errors } = await node(args, { cwd, env })
  expect(errors).toContain('Model: rules')
  const { cases, attempts }: { cases: readonly CaseResult[]; attempts: readonly string[] } = JSON.parse(out)
  const found = cases.map(({ set, trials }) => ({ set, checks: trials[0]?.checks, notes: trials[0]?.notes }))
  expect(found).toEqual(
    tours.map(({ example: set }) => ({
      set,
      checks: expect.arrayContaining([{ name: 'replay', status: 'PASSED' }]),
      notes: [],
    })),
  )
  expect(cases.filter(({ status }) => status !== 'PASSED')).toEqual([])
  expect(attempts).toEqual([])
})
