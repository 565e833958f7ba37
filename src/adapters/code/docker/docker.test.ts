import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { file, findWorkingIsolations, run, textsByName } from '../executor.test-kit.ts'
import { processesWithArgument, uniqueArgument } from '../process/find-processes.test-kit.ts'
import { isRoot } from '../process/machine.ts'
import { type DockerOptions, docker } from './docker.ts'

const IMAGE = 'python:3.13-slim'
const isolations = await findWorkingIsolations()

/** The tests that hold for every container engine. */
function describeEngine(createExecutor: (options?: Partial<DockerOptions>) => ReturnType<typeof docker>): void {
  test('runs code with input and output files', async () => {
    const code = 'cat in.txt; echo bad >&2; echo new > out.txt; exit 3'
    const result = await run(createExecutor(), code, { files: [file('in.txt', 'given\n')] })
    expect(result).toMatchObject({ outcome: 'FAILED', output: 'given\n--- stderr ---\nbad\n[exit code 3]' })
    expect(textsByName(result)).toEqual({ 'out.txt': 'new\n' })
  })

  test('returns printed text that resembles an internal mark unchanged', async () => {
    expect(await run(createExecutor(), 'printf toolwright-; printf x')).toEqual({
      outcome: 'OK',
      output: 'toolwright-x',
    })
  })

  test('kills code and its children at the deadline', async () => {
    const argument = uniqueArgument()
    const result = await run(
      createExecutor({ timeoutMs: 1500 }),
      `echo before; setsid sleep ${argument} & sleep ${argument}`,
    )
    expect(result).toEqual({ outcome: 'DEADLINE_EXCEEDED', output: 'before\n[stopped after 1500 ms]' })
    expect(processesWithArgument(argument)).toEqual([])
  })

  test('kills the code when the request is aborted', async () => {
    const argument = uniqueArgument()
    const stop = new AbortController()
    const running = run(createExecutor(), `sleep ${argument}`, { signal: stop.signal })
    await vi.waitFor(() => expect(processesWithArgument(argument)).not.toEqual([]), { timeout: 20_000 })
    stop.abort(new Error('gone'))
    await expect(running).rejects.toThrow('gone')
    expect(processesWithArgument(argument)).toEqual([])
  })
}

// A script that accepts the arguments of `docker run` and runs the command in its own namespaces.
describe.skipIf(!isolations.includes('unshare'))('docker() with a substitute for the engine', () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-docker-'))
  const program = join(folder, 'docker')
  const log = join(folder, 'log')
  const userNamespace = isRoot ? '' : '--user --map-root-user '
  beforeAll(() => {
    writeFileSync(
      program,
      `#!/bin/sh
case $1 in
  rm)
    echo "$*" >> ${log}
    kill -KILL $(cat ${folder}/$3) 2> /dev/null
    exit 0
    ;;
esac
name=
while [ "$1" != sh ]; do [ "$1" != --name ] || name=$2; shift; done
[ "$2" != silent ] || exit 125
[ "$2" != missing ] || { echo 'Unable to find image' >&2; exit 125; }
shift 2
echo $$ > ${folder}/$name
exec unshare ${userNamespace}--pid --fork --kill-child=KILL --mount sh -c 'mount -t tmpfs none /tmp; mount -t proc none /proc; cd /tmp; exec sh "$@"' sh "$@"
`,
    )
    chmodSync(program, 0o755)
  })
  afterAll(() => rmSync(folder, { recursive: true }))
  const createExecutor = (options: Partial<DockerOptions> = {}) =>
    docker({ image: IMAGE, languages: { sh: ['sh', '{file}'] }, program, ...options })
  describeEngine(createExecutor)

  test('removes a stopped container by its name', async () => {
    await run(createExecutor({ timeoutMs: 300 }), 'sleep 30')
    expect(readFileSync(log, 'utf8').trim().split('\n').at(-1)).toMatch(/^rm --force toolwright-[a-z2-7]{26}$/)
  })

  test('stops code that sends endless files', async () => {
    const code = `mark=$(tr '\\0' '\\n' < /proc/1/cmdline | grep '^toolwright-' | head -n 1); printf %s "$mark"; cat /dev/zero`
    const { outcome, output } = await run(createExecutor({ diskBytes: 1_000_000 }), code)
    expect({ outcome, output }).toEqual({
      outcome: 'FAILED',
      output: '[stopped: the files of the code are larger than 1000000 bytes]',
    })
  })

  test('rejects with the message of the engine when it cannot start a container', async () => {
    await expect(run(createExecutor({ image: 'missing' }), '')).rejects.toThrow(
      'The container could not be started: --- stderr ---\nUnable to find image',
    )
  })

  test('rejects with the exit code of an engine that fails silently', async () => {
    await expect(run(createExecutor({ image: 'silent' }), '')).rejects.toThrow(
      `The container could not be started: ${program} ended with exit code 125 and printed nothing. Try: ${program} run --rm silent true`,
    )
  })
})

const info = spawnSync('docker', ['info'], { encoding: 'utf8' })
const image = info.status === 0 ? spawnSync('docker', ['image', 'inspect', IMAGE]).status : 1
if (info.status !== 0)
  console.warn(
    `NOT TESTED: no Docker engine here. ${(info.stderr || info.error?.message || '').trim().split('\n').at(-1)}`,
  )
else if (image !== 0) console.warn(`NOT TESTED: Docker is here, but not its image. Run: docker pull ${IMAGE}`)

describe.skipIf(info.status !== 0 || image !== 0)('docker() with Docker', () => {
  describeEngine((options = {}) => docker({ image: IMAGE, languages: { sh: ['sh', '{file}'] }, ...options }))

  test('runs code as an unprivileged user without a network', async () => {
    const python = docker({ image: IMAGE, languages: ['python'] })
    const code = `import os, socket
print(os.getuid(), os.access("/etc/passwd", os.W_OK))
try:
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(("8.8.8.8", 53)) # sends nothing
    print("ESCAPED")
except OSError:
    print("refused")`
    expect((await run(python, code)).output).toBe('65534 False\nrefused')
  })
})

describe('the options of docker()', () => {
  test('are rejected when a value is invalid', async () => {
    const wrong = (options: object) => () =>
      docker({ image: IMAGE, languages: ['python'], ...options } as DockerOptions)
    expect(wrong({ image: '--privileged' })).toThrow('image "--privileged" is not an image name')
    expect(wrong({ image: '' })).toThrow('is not an image name')
    expect(wrong({ cpus: 0 })).toThrow('cpus must be a number above 0')
    expect(wrong({ memoryBytes: -1 })).toThrow('memoryBytes must be')
    expect(wrong({ languages: [] })).toThrow('languages is empty')
    await expect(run(wrong({ program: 'no-such-engine' })(), '')).rejects.toThrow('"no-such-engine" was not found')
  })
})

test('docker() rejects code in an unknown language without starting the engine', async () => {
  const executor = docker({ image: IMAGE, languages: ['python'], program: 'no-such-engine' })
  expect((await run(executor, '', { language: 'ruby' })).output).toBe(
    'Cannot run "ruby" code. Supported languages: python.',
  )
})

test('docker() offers code no tools and does not mention tools in its instruction', () => {
  const { callsTools, instruction } = docker({ image: IMAGE, languages: ['python'] })
  expect(callsTools).toBeUndefined()
  expect(instruction).not.toContain('tools')
})
