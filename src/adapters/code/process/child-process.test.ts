import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { startProcess } from './child-process.ts'
import { runProgram } from './run-program.ts'

const folder = mkdtempSync(join(tmpdir(), 'toolwright-process-'))
afterAll(() => rmSync(folder, { recursive: true }))

function collectOutput(...descriptors: number[]) {
  const output = new Map<number, string>()
  const outputHandlers = new Map(
    descriptors.map((at) => [
      at,
      (chunk: Uint8Array) => void output.set(at, (output.get(at) ?? '') + Buffer.from(chunk)),
    ]),
  )
  return { output, outputHandlers }
}

test('startProcess() connects stdin, stdout, stderr and further descriptors of a process', async () => {
  const { output, outputHandlers } = collectOutput(1, 2, 4)
  const running = await startProcess({
    command: ['sh', '-c', 'cat; cat <&3; read line <&5; echo "$line" >&4; echo bad >&2; exit 7'],
    env: {},
    input: Buffer.from('in '),
    descriptorInputs: new Map([[3, Buffer.from('more')]]),
    writableDescriptors: [5],
    outputHandlers,
  })
  running.write(5, 'said\n')
  expect(await running.ended).toEqual({ code: 7 })
  expect(Object.fromEntries(output)).toEqual({ 1: 'in more', 2: 'bad\n', 4: 'said\n' })
})

test('startProcess() ignores input that a process does not read before it exits', async () => {
  const running = await startProcess({
    command: ['true'],
    env: {},
    input: Buffer.alloc(1_000_000),
    outputHandlers: new Map(),
  })
  expect(await running.ended).toEqual({ code: 0 })
})

test('startProcess() reports no exit code for a process that was stopped', async () => {
  const running = await startProcess({ command: ['sleep', '60'], env: {}, outputHandlers: new Map() })
  running.stop()
  expect(await running.ended).toEqual({ code: undefined })
  running.stop()
})

test('startProcess() rejects with INTERNAL when a program cannot be started', async () => {
  const broken = join(folder, 'broken')
  writeFileSync(broken, '#!/no/such/interpreter\n')
  chmodSync(broken, 0o755)
  for (const command of [['/no/such/program'], [folder], [broken], ['true', 'x'.repeat(3_000_000)]]) {
    const starting = startProcess({ command, env: {}, outputHandlers: new Map() })
    await expect(starting).rejects.toMatchObject({
      code: 'INTERNAL',
      message: expect.stringContaining('could not be started'),
    })
  }
})

test('runProgram() keeps the first 100 000 bytes that a program prints', async () => {
  const { out, err } = await runProgram(['sh', '-c', 'head -c 5000000 /dev/zero; head -c 5000000 /dev/zero >&2'], {})
  expect([out.length, err.length]).toEqual([100_000, 100_000])
})

test('runProgram() returns the exit code and the output of a program', async () => {
  expect(await runProgram(['sh', '-c', 'echo out; echo err >&2; sleep 60 & exit 3'], {})).toEqual({
    code: 3,
    out: 'out\n',
    err: 'err\n',
  })
})
