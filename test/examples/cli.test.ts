// The command as a user starts it: a process of its own, real pipes, real signals.
import { readFileSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Child, node } from './child.ts'

const run = ['src/cli/index.ts', 'run']
const slow = 'test/examples/fixtures/slow.ts'
const noKey = 'Model: rules, no language model. For one set GEMINI_API_KEY, OPENAI_API_KEY or ANTHROPIC_API_KEY.\n'
const failing = 'test/examples/fixtures/failing.ts'

test('npm start without a terminal plays the tour and ends well', async () => {
  const { start } = JSON.parse(readFileSync('package.json', 'utf8')).scripts
  const [program, ...args] = start.split(' ')
  expect(program).toBe('node')
  const child = new Child([process.execPath, ...args])
  child.process.stdin?.end()
  const { code, out, errors } = await child.ended
  expect(errors).toBe(noKey)
  expect(out.replace(/\d\.\ds$/gm, '0.0s')).toBe(
    `> What is the weather in Oslo?
  -> get_weather {"city":"Oslo"}
  <- get_weather {"city":"Oslo","celsius":-3} 0.0s
It is -3 °C in Oslo.

> How warm is it in Cairo in Fahrenheit?
  -> get_weather {"city":"Cairo"}
  <- get_weather {"city":"Cairo","celsius":31} 0.0s
  -> convert {"celsius":31}
  <- convert {"fahrenheit":88} 0.0s
It is 88 °F in Cairo.

> And in Atlantis?
  -> get_weather {"city":"Atlantis"}
  <- get_weather {"error":"Nobody measures in Atlantis.","errorCode":"NOT_FOUND"} 0.0s
That did not work: Nobody measures in Atlantis.
`,
  )
  expect(code).toBe(0)
})

test('a message on the command line is one turn, and what is piped in is left alone', async () => {
  const args = [...run, 'examples/weather.ts', 'What is the weather', 'in Lima?']
  const { code, out } = await node(args, { input: 'What is the weather in Oslo?\n' })
  expect(out).toContain('It is 19 °C in Lima.\n')
  expect(out).not.toContain('Oslo')
  expect(code).toBe(0)
})

test('piped lines are the turns of one session, up to exit', async () => {
  const { code, out } = await node([...run, slow], { input: 'one\n\ntwo\nexit\nthree\n' })
  expect(out).toBe('> one\nYou said one.\n\n> two\nYou said two.\n')
  expect(code).toBe(0)
})

test('a file without a tour that is asked nothing says so', async () => {
  const { code, out, errors } = await node([...run, slow])
  expect({ code, out }).toEqual({ code: 0, out: '' })
  expect(errors).toContain('Nothing was asked')
})

test('a run that ends with an error is exit code 1 and one line', async () => {
  const { code, out, errors } = await node([...run, failing, 'hi'])
  expect({ code, out, errors }).toEqual({ code: 1, out: '! MODEL_ERROR: no network\n', errors: '' })
})

test('--verbose shows what was logged', async () => {
  const { errors } = await node([...run, '--verbose', failing, 'hi'])
  expect(errors).toMatch(/The model of agent "failing" failed: no network[\s\S]*failing\.ts/)
})

test('a process that something keeps alive ends all the same', async () => {
  const { code, out } = await node([...run, failing, 'keep running'])
  expect({ code, out }).toEqual({ code: 1, out: '! MODEL_ERROR: no network\n' })
})

test('an old Node is told which one is needed, before anything is loaded', async () => {
  const old = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } })`
  const { code, out, errors } = await node(['--import', `data:text/javascript,${old}`, 'src/cli/index.ts', '--version'])
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(errors).toBe('toolwright needs Node 22.18 or newer; this is Node 20.20.2.\n')
})

describe.skipIf(process.platform === 'win32')('Ctrl-C', () => {
  function start(...args: string[]): Child {
    const child = new Child([process.execPath, '--conditions=toolwright:source', ...run, slow, ...args])
    onTestFinished(() => void child.process.kill('SIGKILL'))
    return child
  }

  test('during a turn cancels it, aborts the tool, and the chat goes on', async () => {
    const child = start()
    child.process.stdin?.write('wait\n')
    await child.until('waiting now')
    child.process.kill('SIGINT')
    await child.until('! CANCELLED')
    expect(child.out).toContain('the tool saw its signal\n')
    child.process.stdin?.end('still there?\n')
    const { code, out } = await child.ended
    expect(out).toContain('You said still there?.\n')
    expect(code).toBe(1) // one of the turns did not end well
  })

  test('during the one turn of a message ends the process with an error', async () => {
    const child = start('wait')
    await child.until('waiting now')
    child.process.kill('SIGINT')
    const { code, out } = await child.ended
    expect(out).toContain('the tool saw its signal\n')
    expect(out).toContain('! CANCELLED: The run was cancelled.\n')
    expect(code).toBe(1)
  })

  test('between turns leaves', async () => {
    const child = start()
    child.process.stdin?.write('one\n')
    await child.until('You said one.\n')
    child.process.kill('SIGINT')
    expect(await child.ended).toMatchObject({ code: 0, out: '> one\nYou said one.\n' })
  })
})
