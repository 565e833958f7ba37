// One invocation in three processes, of which the second is killed, and what a collector must have of it.
import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { OtelChild } from './otel-child.ts'

/** Where the processes work. */
export interface OtelStory {
  /** A folder for the database and the ledger. */
  readonly folder: string
  /** The collector. */
  readonly url: string
  /** A module that chooses the SDK. Default: SDK 3 of this repository. */
  readonly sdk?: string | undefined
  /** Its environment. */
  readonly env?: NodeJS.ProcessEnv | undefined
}

/** A span that a collector has received. */
export interface StorySpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly name: string
  /** The spans that it links. */
  readonly links: readonly string[]
  /** `toolwright.outcome`. */
  readonly outcome: string | undefined
}

const program = fileURLToPath(new URL('./otel-child.ts', import.meta.url))
/** The lease of the killed process has ended long before. */
const RECOVERY_MS = 60_000

/** Asks for an approval in a process, approves in a second one, which is killed in the body, and recovers in a third one. */
export async function playOtelStory({ folder, url, sdk, env }: OtelStory): Promise<void> {
  const ledger = join(folder, 'ledger')
  const running = new Set<ChildProcess>()
  const start = (part: OtelChild['part']): ChildProcess => {
    const execArgv = ['--conditions=toolwright:source', '--disable-warning=ExperimentalWarning']
    if (sdk !== undefined) execArgv.push('--import', sdk)
    const child: OtelChild = { file: join(folder, 'app.db'), ledger, url, part }
    const started = fork(program, [JSON.stringify(child)], { execArgv, env: { ...process.env, ...env } })
    running.add(started)
    return started
  }
  writeFileSync(ledger, '')
  try {
    assert.deepEqual(await once(start('ask'), 'exit'), [0, null])
    const approving = start('approve')
    await once(approving, 'message')
    const killed = once(approving, 'exit')
    approving.kill('SIGKILL')
    await killed
    const since = Date.now()
    for (;;) {
      const [code] = await once(start('recover'), 'exit')
      if (code === 0) break // once the lease of the killed process has ended
      assert(Date.now() - since < RECOVERY_MS, 'No process recovered the session.')
      await delay(500)
    }
    assert.equal(readFileSync(ledger, 'utf8'), 'approve\nrecover\n')
  } finally {
    for (const child of running) child.kill('SIGKILL')
  }
}

/** Throws unless the spans, in the order of their ends, are those of the story: one trace without orphans. */
export function checkOtelStory(spans: readonly StorySpan[]): void {
  assert.equal(new Set(spans.map(({ traceId }) => traceId)).size, 1)
  const ids = new Set(spans.map(({ spanId }) => spanId))
  assert.deepEqual(
    spans.filter(({ parentSpanId }) => parentSpanId && !ids.has(parentSpanId)),
    [],
  )
  const roots = spans.filter(({ parentSpanId }) => !parentSpanId)
  assert.deepEqual(
    roots.map(({ name }) => name),
    ['invoke_agent desk'],
  )
  assert.deepEqual(
    spans.map(({ name, outcome }) => [name, outcome]),
    [
      ['chat scripted', 'completed'],
      ['execute_tool pay', 'paused'],
      ['invoke_agent desk', 'paused'],
      ['execute_tool pay', 'completed'],
      ['chat scripted', 'completed'],
      ['invoke_agent desk', 'completed'],
    ],
  )
  const [, before, firstRun, after, , lastRun] = spans
  assert.deepEqual(after?.links, [before?.spanId])
  assert.deepEqual(lastRun?.links, [firstRun?.spanId])
}
