import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { ask, start } from './child-process.ts'

const folder = mkdtempSync(join(tmpdir(), 'toolwright-process-'))
afterAll(() => rmSync(folder, { recursive: true }))

function hearing(...descriptors: number[]) {
  const heard = new Map<number, string>()
  const listen = new Map(
    descriptors.map((at) => [
      at,
      (chunk: Uint8Array) => void heard.set(at, (heard.get(at) ?? '') + Buffer.from(chunk)),
    ]),
  )
  return { heard, listen }
}

test('a process reads what it is given and writes where it is heard', async () => {
  const { heard, listen } = hearing(1, 2, 4)
  const running = await start({
    command: ['sh', '-c', 'cat; cat <&3; read line <&5; echo "$line" >&4; echo bad >&2; exit 7'],
    env: {},
    input: Buffer.from('in '),
    give: new Map([[3, Buffer.from('more')]]),
    speak: [5],
    listen,
  })
  running.write(5, 'said\n')
  expect(await running.ended).toEqual({ code: 7 })
  expect(Object.fromEntries(heard)).toEqual({ 1: 'in more', 2: 'bad\n', 4: 'said\n' })
})

test('it may end before it has read what it is given', async () => {
  const running = await start({ command: ['true'], env: {}, input: Buffer.alloc(1_000_000), listen: new Map() })
  expect(await running.ended).toEqual({ code: 0 })
})

test('one that is stopped has no code', async () => {
  const running = await start({ command: ['sleep', '60'], env: {}, listen: new Map() })
  running.stop()
  expect(await running.ended).toEqual({ code: undefined })
  running.stop()
})

test('one that cannot be started is trouble of ours', async () => {
  const broken = join(folder, 'broken')
  writeFileSync(broken, '#!/no/such/interpreter\n')
  chmodSync(broken, 0o755)
  for (const command of [['/no/such/program'], [folder], [broken], ['true', 'x'.repeat(3_000_000)]]) {
    const starting = start({ command, env: {}, listen: new Map() })
    await expect(starting).rejects.toMatchObject({
      code: 'INTERNAL',
      message: expect.stringContaining('could not be started'),
    })
  }
})

test('of what a program of ours prints without end, the beginning is kept', async () => {
  const { out, err } = await ask(['sh', '-c', 'head -c 5000000 /dev/zero; head -c 5000000 /dev/zero >&2'], {})
  expect([out.length, err.length]).toEqual([100_000, 100_000])
})

test('a program of ours is asked for what it prints', async () => {
  expect(await ask(['sh', '-c', 'echo out; echo err >&2; sleep 60 & exit 3'], {})).toEqual({
    code: 3,
    out: 'out\n',
    err: 'err\n',
  })
})
