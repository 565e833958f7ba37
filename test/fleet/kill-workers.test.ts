import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import type { KillReport } from './kill-workers.ts'
import { canLeaveNetwork, withoutNetwork } from './namespace.ts'
import type { Scenario } from './world-program.ts'

/** `npm run torture:fleet` kills more, for longer. */
const scenario: Scenario = { type: 'kill workers', sessions: 60, kills: 12, everyMs: 1_000 }

test.skipIf(!canLeaveNetwork())(
  'sessions end once, whatever is killed: workers, Restate, Postgres (skipped where no network namespace can be made)',
  async () => {
    const program = [
      '--conditions=toolwright:source',
      '--disable-warning=ExperimentalWarning',
      'test/fleet/world-program.ts',
    ]
    const [command, args] = withoutNetwork([process.execPath, ...program, JSON.stringify(scenario)])
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    onTestFinished(() => void child.kill('SIGTERM'))
    const report = JSON.parse(await text(child.stdout)) as KillReport
    expect(report).toMatchObject({ kills: 12, unfinished: [], violations: [] })
    expect(report.effects).toBeGreaterThan(60)
    expect(report.planted).toEqual({
      'a lost entry': expect.arrayContaining([expect.stringContaining('has the sequence number')]),
      'a lost message': expect.arrayContaining([expect.stringContaining('its message is there 0 times')]),
      'an orphaned item': expect.arrayContaining([expect.stringContaining('Inbox item planted is left over')]),
      'a second body': expect.arrayContaining([expect.stringContaining('pay ran twice')]),
      'a second effect': expect.arrayContaining([expect.stringContaining('took effect')]),
    })
  },
  10 * 60_000,
)
