// Runs the command like a user does: as a process with real pipes and signals.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Child, node, withoutKeys } from './child.ts'

if (process.platform === 'win32') console.warn('NOT TESTED: Ctrl-C, which Windows does not send to a process.')

const command = ['src/apps/cli/index.ts', 'run']
const run = [...command, '--memory']
const slow = 'test/examples/fixtures/slow.ts'
const refund = 'test/examples/fixtures/refund.ts'
const noKey = 'Model: rules, no language model.\nFor one set GEMINI_API_KEY, OPENAI_API_KEY or ANTHROPIC_API_KEY.\n'
const failing = 'test/examples/fixtures/failing.ts'
const throwing = 'test/examples/fixtures/throwing.ts'

test('npm start without a terminal plays the tour and exits with 0', async () => {
  const { start } = JSON.parse(readFileSync('package.json', 'utf8')).scripts
  const [program, ...args] = start.split(' ')
  expect(program).toBe('node')
  const child = new Child([process.execPath, ...args])
  child.process.stdin?.end()
  const { code, out, errors } = await child.ended
  expect(errors).toBe(noKey)
  expect(out.split('\n').filter((line) => /^[>✓✗]/.test(line.replace(/ {2}\d+\.\ds$/, '')))).toEqual([
    '> What is the weather in Oslo?',
    expect.stringMatching(/^✓ get_weather {2}city: Oslo/),
    '> How warm is it in Cairo in Fahrenheit?',
    expect.stringMatching(/^✓ get_weather {2}city: Cairo/),
    expect.stringMatching(/^✓ convert {2}celsius: 31/),
    '> And in Atlantis?',
    expect.stringMatching(/^✗ get_weather {2}city: Atlantis/),
  ])
  expect(out).toMatch(/^ {2}city: Oslo, celsius: -3\n.*-3/m)
  expect(out.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u)
  expect(code).toBe(0)
})

test('toolwright run reads .env before it loads the agent file, and keeps variables that are set', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-cli-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'agent.mjs')
  writeFileSync(
    file,
    `const said = [process.env.FROM_FILE, process.env.FROM_BOTH].join()
     export default { name: 'own', async *run() { yield { actions: {}, content: { role: 'model', parts: [{ text: said }] } } } }`,
  )
  const args = [resolve('src/apps/cli/index.ts'), 'run', file, 'hi']
  const env = { ...withoutKeys(), FROM_BOTH: 'mine' }
  writeFileSync(join(folder, '.env'), 'FROM_FILE=file\nFROM_BOTH=file\n')
  expect(await node(args, { env, cwd: folder })).toMatchObject({ code: 0, out: 'file,mine\n' })
  writeFileSync(join(folder, '.env'), 'FROM_FILE\n')
  expect(await node(args, { env, cwd: folder })).toMatchObject({
    code: 1,
    errors: expect.stringMatching(/^toolwright: Cannot parse ".*\.env": line 1 is not NAME=value\./),
  })
})

test('toolwright run sends a message of the command line as one turn and ignores piped input', async () => {
  const args = [...run, 'examples/weather.ts', 'What is the weather', 'in Lima?']
  const { code, out } = await node(args, { input: 'What is the weather in Oslo?\n' })
  expect(out).toContain('✓ get_weather  city: Lima')
  expect(out).not.toContain('Oslo')
  expect(code).toBe(0)
})

test('toolwright run sends piped lines as turns of one session until exit', async () => {
  const { code, out } = await node([...run, slow], { input: 'one\n\ntwo\nexit\nthree\n' })
  expect(out).toBe('> one\nYou said one.\n\n> two\nYou said two.\n')
  expect(code).toBe(0)
})

test('toolwright run reports that it got no message for a file without a tour', async () => {
  const { code, out, errors } = await node([...run, slow])
  expect({ code, out }).toEqual({ code: 0, out: '' })
  expect(errors).toContain('No message given')
})

test('toolwright run prints a failed run as one line and exits with 1', async () => {
  const { code, out, errors } = await node([...run, failing, 'hi'])
  expect({ code, out, errors }).toEqual({ code: 1, out: '! MODEL_ERROR: no network\n', errors: '' })
})

test('toolwright run --verbose prints log messages', async () => {
  const { errors } = await node([...run, '--verbose', failing, 'hi'])
  expect(errors).toMatch(/The model of agent "failing" failed: no network[\s\S]*failing\.ts/)
})

test('toolwright run --verbose and toolwright tool --verbose print the stack of a tool that throws', async () => {
  for (const args of [
    ['run', throwing, 'hi'],
    ['tool', throwing, 'ship'],
  ]) {
    const { out, errors } = await node(['src/apps/cli/index.ts', ...args])
    expect(out + errors).toContain('The van is full.')
    expect(out + errors).not.toContain('loadVan')
    const verbose = await node(['src/apps/cli/index.ts', ...args, '--verbose'])
    expect(verbose.errors).toMatch(
      /Tool "ship" threw in call .*: The van is full\.\nError: .*\n +at .*loadVan .*throwing\.ts/,
    )
  }
})

test('toolwright run --json ends quietly when the reader of its output is gone', async () => {
  const child = new Child([process.execPath, '--conditions=toolwright:source', ...run, refund, '--json'])
  child.process.stdin?.write('one\n')
  await child.until('You said one.')
  child.process.stdout?.destroy()
  child.process.stdin?.write('two\nthree\n') // stays open
  const { code, errors } = await child.ended
  expect([code, errors]).toEqual([0, ''])
})

test('toolwright run exits although a timer of the agent file is still running', async () => {
  const { code, out } = await node([...run, failing, 'keep running'])
  expect({ code, out }).toEqual({ code: 1, out: '! MODEL_ERROR: no network\n' })
})

describe('toolwright run, for a call that needs approval,', () => {
  function setUp() {
    const folder = mkdtempSync(join(tmpdir(), 'toolwright-cli-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const [db, ledger] = [join(folder, 'app.db'), join(folder, 'ledger')]
    const env = { ...withoutKeys(), LEDGER: ledger }
    const refunded = (): string[] => (existsSync(ledger) ? readFileSync(ledger, 'utf8').trim().split('\n') : [])
    return { db, env, refunded }
  }

  const start = (env: NodeJS.ProcessEnv): Child =>
    new Child([process.execPath, '--conditions=toolwright:source', ...run, refund], env)

  test('asks for approval and reads the answer of a program that waits for the prompt', async () => {
    const { env, refunded } = setUp()
    const child = start(env)
    child.process.stdin?.write('refund 5\n')
    await child.until('Approve? yes / no: ')
    child.process.stdin?.end('yes\nbye\n')
    const { code, out, errors } = await child.ended
    expect(errors).toBe('')
    expect(out).toBe(`> refund 5
? refund needs your approval
    note: "refund 5"
Approve? yes / no: yes
✓ refund
  refunded: true
Refunded.

> bye
You said bye.
`)
    expect(code).toBe(0)
    expect(refunded()).toEqual(['"refund 5"'])
  })

  test('does not run it for an approval that was written before the request was shown', async () => {
    const { env, refunded } = setUp()
    const { code, out } = await node([...run, refund], { env, input: 'refund 5\nyes\n' })
    expect(out).toContain('Approve? yes / no: yes\nThis line was written before the request was shown')
    expect(out).toContain('Still open: approval of refund')
    expect(code).toBe(3)
    expect(refunded()).toEqual([])
  })

  test('does not run it for an early yes while the pipe stays open, and runs it for a later one', async () => {
    const { env, refunded } = setUp()
    const child = start(env)
    child.process.stdin?.write('refund 5\nyes\n')
    await child.until('This line was written before')
    expect(refunded()).toEqual([])
    child.process.stdin?.end('yes\n')
    const { code, out } = await child.ended
    expect(out).toContain('Refunded.')
    expect(code).toBe(0)
    expect(refunded()).toEqual(['"refund 5"'])
  })

  test('does not run it for a file, nor for a program that writes yes without end', async () => {
    const { env, refunded, db } = setUp()
    const file = `${db}.txt`
    writeFileSync(file, 'refund 5\nyes\nyes\n')
    const command = `"${process.execPath}" --conditions=toolwright:source ${[...run, refund].join(' ')}`
    for (const line of [`${command} < "${file}"`, `(echo refund 5; yes) | ${command}`]) {
      const child = new Child(['sh', '-c', line], env)
      child.process.stdin?.end()
      const { out } = await child.ended
      expect(out).toContain('Still open: approval of refund')
      expect(refunded()).toEqual([])
    }
  })

  test('denies the call with an optional reason after no', async () => {
    const { env, refunded } = setUp()
    const { code, out } = await node([...run, refund], { env, input: 'refund 5\nno, never paid\n' })
    expect(out).toContain('Not refunded: tool call was rejected by the user: never paid\n')
    expect(code).toBe(0)
    expect(refunded()).toEqual([])
  })

  test('asks again after an answer other than yes or no, and leaves the request pending at the end', async () => {
    const { env, refunded } = setUp()
    const { code, out } = await node([...run, refund], { env, input: 'refund 5\nyes please\ntrue\n\n' })
    expect(out.match(/^Type yes or no\. You can add a reason after no\.$/gm)).toHaveLength(3)
    expect(out).toContain('Still open: approval of refund')
    expect(code).toBe(3)
    expect(refunded()).toEqual([])
  })

  test('accepts the answer once, in another process than the one that asked', async () => {
    const { db, env, refunded } = setUp()
    const kept = [...command, refund, '--db', db, '--user', 'ada', '--session', 's1']
    const first = await node([...kept, 'refund 5'], { env })
    expect(first.out).toMatch(
      /needs your approval\n.*\nStill open: approval of refund .*\nContinue with: npx toolwright run .*--session s1\n$/,
    )
    expect(first.code).toBe(3)
    expect(refunded()).toEqual([])

    const left = await node(kept, { env })
    expect(left.out).toMatch(/^\? refund needs .*\n.*\nApprove\? yes \/ no: \nStill open/)
    expect([left.code, refunded()]).toEqual([3, []])

    const second = await node(kept, { env, input: 'y\nbye\n' })
    expect(second.out).toMatch(
      /^\? refund needs .*\n.*\nApprove\? yes \/ no: y\n✓ refund\n.*\nRefunded\.\n\n> bye\nYou said bye\.\n$/,
    )
    expect(refunded()).toEqual(['"refund 5"'])

    const third = await node(kept, { env, input: 'y\n' })
    expect(third.out).toBe('> y\nYou said y.\n')
    expect(refunded()).toHaveLength(1)
  })

  test('does not show the pending request of another user', async () => {
    const { db, env, refunded } = setUp()
    const kept = [...command, refund, '--db', db, '--session', 's1']
    await node([...kept, '--user', 'ada', 'refund 5'], { env })
    const { out } = await node([...kept, '--user', 'eve'], { env, input: 'y\n' })
    expect(out).toBe('> y\nYou said y.\n')
    expect(refunded()).toEqual([])
  })

  test('shows all arguments with control characters escaped', async () => {
    const { out } = await node([...run, refund], { env: setUp().env, input: 'refund hostile\n' })
    const asked = out.split('\n').find((line) => line.startsWith('    note:')) ?? ''
    expect(asked).toContain('"\\u001b[2J\\u202e\\u200dline\\nline\\n')
    expect(asked.match(/line\\n/g)).toHaveLength(10_000)
    expect(asked).toMatch(/pay Eve"$/)
    expect(out.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u)
  })

  test('reports that the pending request is lost with --memory', async () => {
    const { code, out } = await node([...run, refund, 'refund 5'], { env: setUp().env })
    expect(out).toMatch(/in memory and is gone\. To save sessions, leave out --memory\.\n$/)
    expect(code).toBe(3)
  })

  test.skipIf(process.platform === 'win32')(
    'cancels the run on Ctrl-C at the question and continues the chat',
    async () => {
      const { env, refunded } = setUp()
      const child = new Child([process.execPath, '--conditions=toolwright:source', ...run, refund], env)
      onTestFinished(() => void child.process.kill('SIGKILL'))
      child.process.stdin?.write('refund 5\n')
      await child.until('Approve? yes / no: ')
      child.process.kill('SIGINT')
      await child.until('! CANCELLED')
      child.process.stdin?.end('still there?\n')
      const { code, out } = await child.ended
      expect(out).toContain('You said still there?.\n')
      expect(code).toBe(1)
      expect(refunded()).toEqual([])
    },
  )
})

test('toolwright run rejects --db for a file that exports a runner', async () => {
  const { code, errors } = await node([...command, 'test/examples/fixtures/runner.ts', '--db', 'x.db', 'hi'])
  expect(errors).toBe(
    'toolwright: --db cannot be used with "test/examples/fixtures/runner.ts": the file exports a Runner, which has its own services. Remove --db.\n',
  )
  expect(code).toBe(2)
  expect(existsSync('x.db')).toBe(false)
})

test('toolwright reports the required version on an old Node before it loads anything', async () => {
  const old = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } })`
  const { code, out, errors } = await node([
    '--import',
    `data:text/javascript,${old}`,
    'src/apps/cli/index.ts',
    '--version',
  ])
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(errors).toBe('toolwright requires Node 22.18 or newer, got Node 20.20.2. Update Node.\n')
})

describe.skipIf(process.platform === 'win32')('Ctrl-C', () => {
  function start(...args: string[]): Child {
    const child = new Child([process.execPath, '--conditions=toolwright:source', ...run, slow, ...args])
    onTestFinished(() => void child.process.kill('SIGKILL'))
    return child
  }

  test('during a turn cancels the run, aborts the tool and continues the chat', async () => {
    const child = start()
    child.process.stdin?.write('wait\n')
    await child.until('waiting now')
    child.process.kill('SIGINT')
    await child.until('! CANCELLED')
    expect(child.out).toContain('the tool saw its signal\n')
    child.process.stdin?.end('still there?\n')
    const { code, out } = await child.ended
    expect(out).toContain('You said still there?.\n')
    expect(code).toBe(1) // one of the turns failed
  })

  test('during the turn of a command line message exits with 1', async () => {
    const child = start('wait')
    await child.until('waiting now')
    child.process.kill('SIGINT')
    const { code, out } = await child.ended
    expect(out).toContain('the tool saw its signal\n')
    expect(out).toContain('! CANCELLED: The run was cancelled.\n')
    expect(code).toBe(1)
  })

  test('between turns exits with 0', async () => {
    const child = start()
    child.process.stdin?.write('one\n')
    await child.until('You said one.\n')
    child.process.kill('SIGINT')
    expect(await child.ended).toMatchObject({ code: 0, out: '> one\nYou said one.\n' })
  })
})
