// Local MCP servers end with the process that started them, however that process ends.
import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { isRunning } from '../mcp/is-running.ts'
import { waitUntil } from './kit.ts'

const PROGRAM = fileURLToPath(new URL('../mcp/dies-by-signal.ts', import.meta.url))

/** Starts a host with a server that ignores the end of its input and SIGTERM. Resolves when the server has answered. */
async function startHost(...args: string[]): Promise<{ host: ChildProcess; server: number }> {
  const flags = ['--conditions=toolwright:source', '--no-warnings=ExperimentalWarning']
  // a group of its own: a signal to all of it must not reach the tests
  const host = spawn(process.execPath, [...flags, PROGRAM, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  const lines = createInterface({ input: host.stdout as NodeJS.ReadableStream })
  const server = await new Promise<number>((resolve) => lines.once('line', (line) => resolve(Number(line))))
  return { host, server }
}

/** The watchers whose parent is this process. */
function watchersOf(host: number | undefined): number[] {
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name)
    if (!pid || !isRunning(pid)) return []
    try {
      const isChild = readFileSync(`/proc/${pid}/status`, 'utf8').includes(`PPid:\t${host}\n`)
      return isChild && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('toolwright-mcp-watcher') ? pid : []
    } catch {
      return [] // it has ended
    }
  })
}

describe.skipIf(process.platform !== 'linux')('a local server that ignores the end of its input', () => {
  test.each<[string, (host: ChildProcess) => void]>([
    ['SIGKILL', (host) => host.kill('SIGKILL')],
    ['SIGTERM', (host) => host.kill('SIGTERM')],
    ['a signal to its whole group', ({ pid = 0 }) => process.kill(-pid, 'SIGKILL')],
  ])(
    'is killed when its host dies by %s, and so is the watcher',
    async (_, kill) => {
      const { host, server } = await startHost()
      const watchers = watchersOf(host.pid)
      expect(isRunning(server)).toBe(true)
      expect(watchers).toHaveLength(1)
      kill(host)
      await waitUntil(() => !isRunning(server))
      await waitUntil(() => !watchers.some(isRunning))
    },
    30_000,
  )

  test('is killed by closing the runner, and no watcher is left', async () => {
    const { host, server } = await startHost('close')
    await new Promise((done) => host.once('exit', done))
    expect(host.exitCode).toBe(0)
    expect(isRunning(server)).toBe(false)
    expect(watchersOf(host.pid)).toEqual([])
  }, 30_000)
})
