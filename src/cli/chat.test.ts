import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { LlmAgent } from '../agent/llm-agent.ts'
import { Runner } from '../runner/runner.ts'
import { type ScriptedModel, type Step, scriptedModel } from '../testing/scripted-model.ts'
import { tool } from '../tool/define.ts'
import type { Tool } from '../tool/tool.ts'
import { type ChatOptions, chat } from './chat.ts'
import { interruptsOf } from './interrupts.ts'

interface Setting {
  readonly runner: Runner
  readonly model: ScriptedModel
  readonly options: ChatOptions
  readonly output: PassThrough
  pressCtrlC(): void
}

function setUp(steps: readonly Step[], tools: readonly Tool[] = []): Setting {
  const model = scriptedModel(steps)
  const agent = new LlmAgent({ name: 'root', model, tools })
  const runner = new Runner({ appName: 'test', agent, logger: { warn: () => {}, error: () => {} } })
  const signals = new EventEmitter()
  const interrupts = interruptsOf(signals, { leave: () => {} })
  const output = new PassThrough({ encoding: 'utf8' })
  const pressCtrlC = (): void => void signals.emit('SIGINT')
  return { runner, model, options: { output, colour: false, interrupts }, output, pressCtrlC }
}

test('each message is a turn of one session, and blank lines are none', async () => {
  const { runner, model, options, output } = setUp(['Hello.', 'Bye.'])
  expect(await chat(runner, ['hi', '  ', 'bye'], options)).toEqual({ turns: 2, failed: 0 })
  expect(output.read()).toBe('Hello.\nBye.\n')
  expect(model.requests[1]?.contents.map(({ parts }) => parts[0]?.text)).toEqual(['hi', 'Hello.', 'bye'])
})

test('messages nobody saw being typed are shown, made harmless', async () => {
  const { runner, options, output } = setUp(['Hello.', 'Bye.'])
  await chat(runner, ['hi\x1b[2J', 'bye'], { ...options, echo: true })
  expect(output.read()).toBe('> hi\\x1b[2J\nHello.\n\n> bye\nBye.\n')
})

test('text is written while the model still speaks', async () => {
  const { runner, options, output } = setUp([{ deltas: ['It is ', 'cold.'] }])
  const written: string[] = []
  output.on('data', (chunk) => written.push(chunk))
  await chat(runner, ['hi'], options)
  expect(written.filter(Boolean)).toEqual(['It is ', 'cold.', '\n'])
})

test('a turn that fails is counted and the chat goes on', async () => {
  const { runner, options, output } = setUp([{ error: 'no network' }, 'Better.'])
  expect(await chat(runner, ['hi', 'again'], options)).toEqual({ turns: 2, failed: 1 })
  expect(output.read()).toBe('! MODEL_ERROR: no network\nBetter.\n')
})

test('a run that cannot begin is one line with its code', async () => {
  const { runner, options, output } = setUp([])
  await runner.close()
  expect(await chat(runner, ['hi'], options)).toEqual({ turns: 1, failed: 1 })
  expect(output.read()).toBe('! INVALID_REQUEST: The runner is closed.\n')
})

test('Ctrl-C cancels the turn, the tool sees it, and the next turn works', async () => {
  let aborted = false
  const wait = tool({
    name: 'wait',
    description: 'Waits until cancelled',
    run: (_, context) =>
      new Promise((_resolve, reject) => {
        context.signal.addEventListener('abort', () => {
          aborted = true
          reject(context.signal.reason)
        })
        setting.pressCtrlC()
      }),
  })
  const setting = setUp([{ calls: [{ name: 'wait' }] }, 'Still here.'], [wait])
  expect(await chat(setting.runner, ['wait', 'hello?'], setting.options)).toEqual({ turns: 2, failed: 1 })
  expect(aborted).toBe(true)
  expect(setting.output.read()).toMatch(/-> wait \{\}\n.*UNKNOWN_OUTCOME.*\n! CANCELLED: .*\nStill here\.\n$/)
})

test('a pause says what is waited for and is no failure', async () => {
  const print = tool({ name: 'print', description: 'Prints', isLongRunning: true, run: () => ({ ticket: 7 }) })
  const { runner, options, output } = setUp([{ calls: [{ name: 'print' }] }], [print])
  expect(await chat(runner, ['print it'], options)).toEqual({ turns: 1, failed: 0 })
  expect(output.read()).toContain('Waiting for the result of print {}\n')
})
