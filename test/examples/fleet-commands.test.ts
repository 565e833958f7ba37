// The commands of a fleet with real processes, Restate and Postgres, in a network of their own.
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { runCommandLine } from '../../src/apps/cli/terminal.test-kit.ts'
import { canLeaveNetwork, withoutNetwork } from '../fleet/namespace.ts'
import type { WorkerCommandReport } from '../fleet/worker-command-program.ts'
import { Child, withoutKeys } from './child.ts'

const MINUTES = 60_000

test.skipIf(!canLeaveNetwork())(
  'toolwright worker --restate hands over at SIGTERM, toolwright fleet sees both versions and the recovery of a killed worker (skipped where no network namespace can be made)',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'toolwright-worker-command-test-'))
    chmodSync(folder, 0o755) // Postgres may run as another user
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const line = [process.execPath, '--conditions=toolwright:source', 'test/fleet/worker-command-program.ts'] as const
    const [command, args] = withoutNetwork([...line])
    const { code, out, errors } = await new Child([command, ...args], { ...withoutKeys(), TMPDIR: folder }).ended
    expect({ code, errors }).toEqual({ code: 0, errors: '' })
    const report = JSON.parse(out) as WorkerCommandReport
    const { sideBySide, stopped, afterDeploy, afterCrash, calls, replies } = report

    expect(sideBySide.workers.map(({ label, engine, running }) => ({ label, engine, running }))).toEqual([
      { label: 'first', engine: 'restate', running: 1 },
      { label: 'second', engine: 'restate', running: 0 },
    ])
    expect(new Set(sideBySide.workers.map(({ agents }) => agents)).size).toBe(2)
    expect(sideBySide.sessions).toMatchObject({ running: 1, interrupted: 0 })

    expect(stopped).toMatchObject({ code: 0, errors: expect.not.stringContaining('Error') })
    expect(calls.handover).toEqual(['first', 'second'])
    expect(afterDeploy.workers.map(({ label }) => label)).toEqual(['second'])
    expect(afterDeploy.recoveries.count, 'a session that is handed over needs no recovery').toBe(0)

    expect(calls.crash).toEqual(['second', 'third'])
    const third = afterCrash.workers.find(({ label }) => label === 'third')
    expect(third?.crashes).toBe(1)
    expect(afterCrash.recoveries).toMatchObject({ count: 1, p99Ms: expect.any(Number) })
    expect(replies).toEqual(['Filed.', 'Filed.'])
  },
  10 * MINUTES,
)

const KEY = 'publickeyv1_w7YHemBctH5Ck2nQRQ47iBBqhNHy4FV7t2Usbye2A6f'

/** The command lines of the manifests, without the values that a deployment sets. */
function commandLines(): string[][] {
  const withValues = (words: readonly string[]): string[] => words.map((word) => word.replace(/\$[({][^)}]*[)}]/, KEY))
  const { services } = parse(readFileSync('examples/fleet/compose.yaml', 'utf8'), { merge: true })
  const manifests = parseAllDocuments(readFileSync('examples/fleet/kubernetes.yaml', 'utf8')).map((one) => one.toJS())
  const containers = manifests.flatMap(({ spec }) => spec.template?.spec.containers ?? [])
  const lines = [services.server.command, services.workers.command, ...containers.map(({ args }) => args)]
  return lines.map(withValues)
}

test('the commands in the manifests of examples/fleet are valid, and need only the secret', async () => {
  const lines = commandLines()
  expect(lines.map(([name]) => name).toSorted()).toEqual(['serve', 'serve', 'worker', 'worker'])
  for (const [name = '', file = '', ...options] of lines) {
    expect(file).toBe('desk.ts')
    // a wrong option ends with 2, before anything is loaded
    const args = [name, 'test/examples/fixtures/refund.ts', ...options, ...(name === 'serve' ? ['--memory'] : [])]
    const { code, errors } = await runCommandLine(args, { env: { TOOLWRIGHT_TOKEN: 'a'.repeat(32) } })
    expect([args, code, errors]).toEqual([args, 1, expect.stringContaining('TOOLWRIGHT_FLEET_SECRET is not set')])
  }
})
