// Runs examples/replicas, which starts and kills processes of its own.
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { Child, withoutKeys } from './child.ts'

const MINUTES = 60_000

/** Starts the example. The program has ended when the last of its processes has closed the output. */
function startExample(): { readonly program: Child; readonly folder: string } {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-replicas-'))
  chmodSync(folder, 0o755) // Postgres may run as another user
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const { DATABASE_URL: _, ...others } = withoutKeys()
  const program = new Child([process.execPath, '--conditions=toolwright:source', 'examples/replicas/main.ts'], {
    ...others,
    TMPDIR: folder,
  })
  return { program, folder }
}

test(
  'examples/replicas kills two servers, a worker and Postgres, and pays once',
  async () => {
    const { program, folder } = startExample()
    const { code, out, errors } = await program.ended
    const lines = out.trim().split('\n')
    // which process continues first differs
    const killed = lines.map((line) => line.match(/kill -9 ends (server \d|worker|Postgres)/)?.[1]).filter(Boolean)
    expect(killed.toSorted()).toEqual(['Postgres', 'server 1', 'server 2', 'worker'])
    expect(killed[0]).toBe('server 2')
    expect(lines.at(-2)).toBe('Server 3 completes the run: Paid: 500.')
    expect(lines.at(-1)).toMatch(/^The bank was asked ([4-9]|\d\d) times, and paid 500 EUR\.$/)
    expect({ code, errors }).toEqual({ code: 0, errors: '' })
    expect(readdirSync(folder)).toEqual([])
  },
  3 * MINUTES,
)

test(
  'examples/replicas leaves no process and no file when it is killed itself',
  async () => {
    const { program, folder } = startExample()
    await program.until('Two servers and a worker use one Postgres database.')
    program.process.kill('SIGKILL')
    expect((await program.ended).code).toBeNull()
    await vi.waitFor(() => expect(readdirSync(folder)).toEqual([]), { timeout: MINUTES }) // removed once Postgres has ended
  },
  3 * MINUTES,
)
