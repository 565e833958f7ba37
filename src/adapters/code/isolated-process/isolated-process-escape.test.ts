import { type ChildProcess, spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findWorkingIsolations, hasBash, hasPython, run } from '../executor.test-kit.ts'
import { findProgram } from '../process/machine.ts'
import { unisolatedLocalProcess } from '../unisolated-process/unisolated-local-process.ts'
import { type AttackTarget, escapeAttempts, systemCallAttempts } from './escape-attempts.test-kit.ts'
import { isolatedProcess } from './isolated-process.ts'

const isolations = await findWorkingIsolations()
const languages = ['bash', 'python', 'javascript'] as const
const runnable = escapeAttempts.filter(({ language }) =>
  language === 'python' ? hasPython : language === 'javascript' || hasBash,
)
const CANARY = 'the secret of the machine'

const folder = mkdtempSync(join(tmpdir(), 'toolwright-canary-'))
const target: { -readonly [K in keyof AttackTarget]: AttackTarget[K] } = {
  folder,
  file: join(folder, 'canary-5d1f'),
  project: process.cwd(),
  port: 0,
  udpPort: 0,
  socket: join(folder, 'socket'),
  abstractSocket: `toolwright-canary-${process.pid}`,
  pid: 0,
}
const servers: Server[] = []
const udp = createSocket('udp4')
let victim: ChildProcess

beforeAll(async () => {
  chmodSync(folder, 0o777)
  writeFileSync(target.file, CANARY)
  chmodSync(target.file, 0o666)
  process.env.TOOLWRIGHT_CANARY = 'canary'
  target.port = await listen(0)
  await listen(target.socket)
  chmodSync(target.socket, 0o777)
  await listen(`\0${target.abstractSocket}`)
  udp.on('message', (_, from) => udp.send(CANARY, from.port, from.address))
  target.udpPort = await new Promise((resolve) => udp.bind(0, '127.0.0.1', () => resolve(udp.address().port)))
  victim = spawn('sleep', ['600'], { stdio: 'ignore' })
  target.pid = victim.pid ?? 0
})

afterAll(() => {
  // the attempts changed nothing on the machine
  expect(readFileSync(target.file, 'utf8')).toBe(CANARY)
  expect(readdirSync(folder).sort()).toEqual(['canary-5d1f', 'socket'])
  expect([victim.exitCode, victim.signalCode]).toEqual([null, null])
  delete process.env.TOOLWRIGHT_CANARY
  victim.kill()
  udp.close()
  for (const server of servers) server.close()
  rmSync(folder, { recursive: true })
})

function listen(at: number | string): Promise<number> {
  const server = createServer((socket) => socket.on('error', () => {}).end(CANARY))
  servers.push(server)
  return new Promise((resolve, reject) => {
    server.on('error', reject)
    const ready = () => {
      const address = server.address()
      resolve(typeof address === 'object' && address ? address.port : 0)
    }
    if (typeof at === 'number') server.listen(at, '127.0.0.1', ready)
    else server.listen(at, ready)
  })
}

describe('unisolatedLocalProcess(), for comparison', () => {
  const executor = unisolatedLocalProcess({ iAcceptHostAccess: true, languages, logger: { warn: () => {} } })
  const proven = runnable.filter(({ worksUnisolated }) => worksUnisolated)

  test.concurrent.each(proven)('lets code $name', async ({ language, code }) => {
    const { output } = await run(executor, code(target), { language })
    expect(output).toContain('ESCAPED')
  })
})

const canFilter = (isolation: string): boolean => isolation === 'bubblewrap' || findProgram('perl', '') !== undefined
for (const isolation of isolations.filter((name) => !canFilter(name))) {
  console.warn(`NOT TESTED: the system call filter of ${isolation}, which needs Perl.`)
}

describe.each(isolations)('isolatedProcess() with %s', (isolation) => {
  const executor = isolatedProcess({ languages, isolation })

  test('runs harmless code', async () => {
    expect(await run(executor, 'console.log(6 * 7)', { language: 'js' })).toEqual({ outcome: 'OK', output: '42' })
  })

  test.concurrent.each([...runnable, ...(hasPython && canFilter(isolation) ? systemCallAttempts : [])])(
    'stops code that tries to $name',
    async ({ language, code }) => {
      const { output, files } = await run(executor, code(target), { language })
      expect(output).not.toContain('ESCAPED')
      expect(output).not.toContain(CANARY)
      expect(output).toMatch(/^tried$/m)
      expect(JSON.stringify(files ?? [])).not.toContain(Buffer.from(CANARY).toString('base64').slice(0, 20))
    },
  )
})
