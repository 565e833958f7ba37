import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import { beforeEach, describe, expect, test } from 'vitest'
import { type ScriptedModel, type ScriptedStep, scriptedModel } from '../../../adapters/testing/scripted-model.ts'
import { getUserChoice } from '../../../adapters/tools/get-user-choice.ts'
import { LlmAgent } from '../../../engine/agent/agents/llm-agent.ts'
import { background } from '../../../engine/policy/background.ts'
import { confirm } from '../../../engine/policy/confirm.ts'
import { Runner } from '../../../engine/runner/runner.ts'
import type { RunnerOptions } from '../../../engine/runner/runner-options.ts'
import { tool } from '../../../engine/tool/define-tool.ts'
import type { Tool } from '../../../engine/tool/tool.ts'
import { InMemorySessionService } from '../../../services/session/in-memory.ts'
import { createInterrupts } from '../input/interrupts.ts'
import { fixedLines, type LineResult, type LineSource } from '../input/line-source.ts'
import { Screen } from '../screen/screen.ts'
import { type ChatOptions, type ChatResult, chat as chatWith } from './chat.ts'

interface Setting {
  readonly runner: Runner
  readonly model: ScriptedModel
  readonly options: ChatOptions
  readonly output: PassThrough
  pressCtrlC(): void
}

function setUp(
  steps: readonly ScriptedStep[],
  tools: readonly Tool[] = [],
  more: Partial<RunnerOptions> = {},
): Setting {
  const model = scriptedModel(steps)
  const agent = new LlmAgent({ name: 'root', model, tools })
  const runner = new Runner({ appName: 'test', agent, logger: { warn: () => {}, error: () => {} }, ...more })
  const signals = new EventEmitter()
  const interrupts = createInterrupts(signals, { onUnhandled: () => {} })
  const output = new PassThrough({ encoding: 'utf8' })
  const pressCtrlC = (): void => void signals.emit('SIGINT')
  const options: ChatOptions = {
    screen: new Screen({ output, env: {} }),
    interrupts,
    userId: 'user',
    answers: fixedLines([]),
    continueHint: (sessionId) => `Continue with ${sessionId}.`,
  }
  return { runner, model, options, output, pressCtrlC }
}

function chat(runner: Runner, messages: readonly string[], options: ChatOptions): Promise<ChatResult> {
  return chatWith(runner, fixedLines(messages), options)
}

test('chat runs one turn per message in one session and skips blank lines', async () => {
  const { runner, model, options, output } = setUp(['Hello.', 'Bye.'])
  expect(await chat(runner, ['hi', '  ', 'bye'], options)).toMatchObject({ turns: 2, failed: 0 })
  expect(output.read()).toBe('Hello.\nBye.\n')
  expect(model.requests[1]?.contents.map(({ parts }) => parts[0]?.text)).toEqual(['hi', 'Hello.', 'bye'])
})

test('chat cancels a background call with Ctrl+C, and takes the next message', async () => {
  const started = Promise.withResolvers<void>()
  const search = tool({
    name: 'search',
    description: 'Never ends',
    effect: 'none',
    run: (_, { signal }) => {
      started.resolve()
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    },
  })
  const { runner, options, output, pressCtrlC } = setUp(
    [{ calls: [{ name: 'search' }] }, 'Hello.'],
    [background(search)],
  )
  const done = chat(runner, ['search', 'hi'], options)
  await started.promise
  setImmediate(pressCtrlC) // the run has paused by then
  expect(await done).toMatchObject({ hasOpenRequests: false })
  expect(output.read()).toMatch(/CANCELLED[\s\S]*Hello\.\n$/)
})

test('chat with showsMessages prints each user message and escapes its control characters', async () => {
  const { runner, options, output } = setUp(['Hello.', 'Bye.'])
  await chat(runner, ['hi\x1b[2J', 'bye'], { ...options, showsMessages: true })
  expect(output.read()).toBe('> hi\\x1b[2J\nHello.\n\n> bye\nBye.\n')
})

test('chat writes text while the model is still streaming', async () => {
  const { runner, options, output } = setUp([{ deltas: ['It is ', 'cold.'] }])
  const written: string[] = []
  output.on('data', (chunk) => written.push(chunk))
  await chat(runner, ['hi'], options)
  expect(written.filter(Boolean)).toEqual(['It is ', 'cold.', '\n'])
})

test('chat counts a failed turn and continues', async () => {
  const { runner, options, output } = setUp([{ error: 'no network' }, 'Better.'])
  expect(await chat(runner, ['hi', 'again'], options)).toMatchObject({ turns: 2, failed: 1 })
  expect(output.read()).toBe('! MODEL_ERROR: no network\nBetter.\n')
})

test('chat shows a run that cannot start as one line with its error code', async () => {
  const { runner, options, output } = setUp([])
  await runner.close()
  expect(await chat(runner, ['hi'], options)).toMatchObject({ turns: 1, failed: 1 })
  expect(output.read()).toBe('! INVALID_REQUEST: The runner is closed. Create a new Runner.\n')
})

test('Ctrl+C cancels the turn and aborts its tool, and the next turn works', async () => {
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
  expect(await chat(setting.runner, ['wait', 'hello?'], setting.options)).toMatchObject({ turns: 2, failed: 1 })
  expect(aborted).toBe(true)
  expect(setting.output.read()).toMatch(/^✗ wait.*\n.*UNKNOWN_OUTCOME.*\n! CANCELLED: .*\nStill here\.\n$/)
})

test('chat explains that another process uses the session', async () => {
  const sessionService = new InMemorySessionService()
  const key = { appName: 'test', userId: 'user', sessionId: 's1' }
  await sessionService.createSession(key)
  await sessionService.claim(key)
  const { runner, options, output } = setUp([], [], { sessionService })
  expect(await chat(runner, [], { ...options, sessionId: 's1' })).toMatchObject({ turns: 0, failed: 1 })
  expect(output.read()).toBe(
    '! SESSION_BUSY: Session "s1" is in use: another run holds its lease. Try again when that run has ended, or, if its process died, when the lease has expired.\nAnother process uses the session, or crashed less than 15 seconds ago. Try again in a moment.\n',
  )
})

test('chat resumes interrupted work before it sends the first message', async () => {
  class DyingStore extends InMemorySessionService {
    isDying = true
    override async append(
      ...[lease, seq, entries, options]: Parameters<InMemorySessionService['append']>
    ): Promise<number> {
      if (this.isDying && entries.some(({ event }) => event?.content?.role === 'tool'))
        throw new Error('The disk is gone.')
      return await super.append(lease, seq, entries, options)
    }
  }
  const sessionService = new DyingStore()
  const look = tool({ name: 'look', description: 'Looks', effect: 'none', run: () => ({ seen: true }) })
  const { runner, options, output } = setUp([{ calls: [{ name: 'look' }] }, 'Seen.', 'Hello.'], [look], {
    sessionService,
  })
  expect(await chat(runner, ['look'], { ...options, sessionId: 's1' })).toMatchObject({ failed: 1 })
  expect(output.read()).toMatch(/! .*The disk is gone\.\n$/)
  sessionService.isDying = false
  expect(await chat(runner, ['hi'], { ...options, sessionId: 's1' })).toMatchObject({ turns: 1, failed: 0 })
  expect(output.read()).toBe('✓ look\n  seen: true\nSeen.\nHello.\n')
})

describe('a call that needs approval', () => {
  const refunded: unknown[] = []
  const refund = confirm(
    tool({
      name: 'refund',
      description: 'Refunds',
      parameters: { type: 'object', properties: { amount: { type: 'number' } } },
      run: (args) => {
        refunded.push(args)
        return { done: true }
      },
    }),
    'Refund it?',
  )
  const call = (amount: number) => ({ name: 'refund', args: { amount } })
  beforeEach(() => void refunded.splice(0))

  test('is shown to the user and runs after yes', async () => {
    const { runner, options, output } = setUp([{ calls: [call(5)] }, 'Refunded.'], [refund])
    const done = await chat(runner, ['refund 5'], { ...options, answers: fixedLines(['y']) })
    expect(done).toEqual({ turns: 2, failed: 0, hasOpenRequests: false })
    expect(refunded).toEqual([{ amount: 5 }])
    expect(output.read()).toBe(
      '? refund needs your approval\n  │ Refund it?\n    amount: 5\n✓ refund\n  done: true\nRefunded.\n',
    )
  })

  test('is asked again until the answer is yes or no', async () => {
    const { runner, options, output } = setUp([{ calls: [call(5)] }, 'Refunded.'], [refund])
    await chat(runner, ['refund 5'], { ...options, answers: fixedLines(['maybe', '', 'ok', 'yes']) })
    expect(refunded).toEqual([{ amount: 5 }])
    expect(String(output.read()).match(/Type yes or no/g)).toHaveLength(3)
  })

  test('runs with the edited arguments when the tool allows edits', async () => {
    const { runner, options, output } = setUp(
      [{ calls: [call(5)] }, 'Refunded.'],
      [{ ...refund, allowEditedArgs: true }],
    )
    await chat(runner, ['refund 5'], {
      ...options,
      answers: fixedLines(['edit', '{"amount":"x"}', '{"amount":4}', 'y']),
    })
    expect(refunded).toEqual([{ amount: 4 }])
    expect(output.read()).toMatch(
      /Invalid arguments[\s\S]*with the edited arguments\n {2}Before the edit:\n {4}amount: 5\n {2}Now:\n {2}│ Refund it\?\n {4}amount: 4\n✓ refund\n/,
    )
  })

  test('does not run after no, and the model gets the reason', async () => {
    const { runner, model, options } = setUp([{ calls: [call(5)] }, 'Not refunded.'], [refund])
    await chat(runner, ['refund 5'], { ...options, answers: fixedLines(['no, only 4']) })
    expect(refunded).toEqual([])
    expect(model.requests[1]?.contents.at(-1)?.parts[0]?.functionResponse?.response).toMatchObject({
      error: 'tool call was rejected by the user: only 4',
    })
  })

  test('is asked one by one in a batch, with all answers sent in one message', async () => {
    const steps = [{ calls: [call(1), call(2), call(3)] }, 'One was not.']
    const { runner, model, options, output } = setUp(steps, [refund])
    const done = await chat(runner, ['refund all'], { ...options, answers: fixedLines(['y', 'n', 'YES']) })
    expect(done).toEqual({ turns: 2, failed: 0, hasOpenRequests: false })
    expect(refunded).toEqual([{ amount: 1 }, { amount: 3 }])
    expect(model.requests).toHaveLength(2)
    expect(output.read()).toMatch(/amount: 1\n[\s\S]*amount: 2\n[\s\S]*amount: 3\n/)
  })

  test('stays pending when the answers end, and the chat shows how to continue', async () => {
    const { runner, options, output } = setUp([{ calls: [call(1), call(2)] }], [refund])
    const done = await chat(runner, ['refund both'], { ...options, answers: fixedLines(['y']) })
    expect(done).toEqual({ turns: 1, failed: 0, hasOpenRequests: true })
    expect(refunded).toEqual([])
    const pending = await runner.pending()
    expect(pending).toHaveLength(2)
    expect(output.read()).toMatch(
      new RegExp(
        `Still open: approval of refund {"amount":1}\nStill open: approval of refund {"amount":2}\nContinue with ${pending[0]?.sessionId}.\n$`,
      ),
    )
  })

  test('is asked first when the session is continued', async () => {
    const { runner, options, output } = setUp([{ calls: [call(5)] }, 'Refunded.', 'Hello.'], [refund])
    await chat(runner, ['refund 5'], { ...options, sessionId: 's1' })
    output.read()
    const done = await chat(runner, ['hi'], { ...options, sessionId: 's1', answers: fixedLines(['yes']) })
    expect(done).toEqual({ turns: 2, failed: 0, hasOpenRequests: false })
    expect(refunded).toEqual([{ amount: 5 }])
    expect(output.read()).toMatch(/^\? refund needs your approval\n[\s\S]*Refunded\.\nHello\.\n$/)
  })

  test('is cancelled by Ctrl+C at its prompt, and the chat continues', async () => {
    const { runner, options, output } = setUp([{ calls: [call(5)] }, 'Hello.'], [refund])
    const done = await chat(runner, ['refund 5', 'hi'], { ...options, answers: lineResults({ type: 'interrupt' }) })
    expect(done).toEqual({ turns: 2, failed: 1, hasOpenRequests: false })
    expect(refunded).toEqual([])
    expect(await runner.pending()).toEqual([])
    expect(output.read()).toMatch(/! CANCELLED: The run was cancelled\.\nHello\.\n$/)
  })

  test('is denied when its approval arrives too late, and the run continues', async () => {
    let time = Date.now()
    const setting = setUp([{ calls: [call(5)] }, 'Too late.'], [refund], { ports: { now: () => time } })
    const answers: LineSource = {
      read: async () => {
        time += 25 * 60 * 60 * 1000
        return { type: 'line', text: 'y' }
      },
      close: () => {},
    }
    const done = await chat(setting.runner, ['refund 5'], { ...setting.options, answers })
    expect(done).toMatchObject({ failed: 1, hasOpenRequests: false })
    expect(refunded).toEqual([])
    expect(setting.output.read()).toMatch(/! EXPIRED: .*\n[\s\S]*Too late\.\n$/)
  })
})

test('chat asks for tool input again until the answer matches the schema', async () => {
  const book = tool({
    name: 'book',
    description: 'Books',
    run: (_, context) => {
      const seats = context.requestInput({ key: 'seats', message: 'How many seats?', schema: { type: 'integer' } })
      return seats === undefined ? undefined : { seats }
    },
  })
  const { runner, model, options, output } = setUp([{ calls: [{ name: 'book' }] }, 'Booked.'], [book])
  await chat(runner, ['book'], { ...options, answers: fixedLines(['many', '3']) })
  expect(model.requests[1]?.contents.at(-1)?.parts[0]?.functionResponse?.response).toEqual({ seats: 3 })
  expect(output.read()).toMatch(/\? book asks: How many seats\?\nInvalid answer: .*integer.*\n/)
})

test('chat accepts the number of an option as a choice', async () => {
  const args = { prompt: 'Which drink?', options: ['tea', 'coffee'] }
  const { runner, model, options } = setUp([{ calls: [{ name: 'get_user_choice', args }] }, 'Ok.'], [getUserChoice()])
  await chat(runner, ['a drink'], { ...options, answers: fixedLines(['3', '2']) })
  expect(model.requests[1]?.contents.at(-1)?.parts[0]?.functionResponse?.response).toEqual({ result: 'coffee' })
})

test('chat announces a long-running call once and accepts further messages', async () => {
  const print = tool({ name: 'print', description: 'Prints', isLongRunning: true, run: () => ({ ticket: 7 }) })
  const { runner, options, output } = setUp([{ calls: [{ name: 'print' }] }, 'Hello.'], [print])
  expect(await chat(runner, ['print it', 'hi'], options)).toEqual({ turns: 2, failed: 0, hasOpenRequests: true })
  expect(String(output.read()).match(/Waiting for result of print \{\}/g)).toHaveLength(1)
})

describe('chat in a terminal', () => {
  const ESCAPE = '\x1b'
  const STATUS = new RegExp(`\\r[^\\r\\n]*${ESCAPE}\\[K`, 'g')

  function setUpTyped(steps: readonly ScriptedStep[], tools: readonly Tool[] = [], columns = 60) {
    const setting = setUp(steps, tools)
    const output = Object.assign(setting.output, { isTTY: true, columns })
    const screen = new Screen({ output, env: { NO_COLOR: '1' } })
    const read = (): string => String(setting.output.read() ?? '').replaceAll(STATUS, '')
    return { ...setting, read, options: { ...setting.options, screen, hasCommands: true } }
  }
  const response = { usageMetadata: { promptTokenCount: 1200, candidatesTokenCount: 34 } }

  test('starts with a header and shows tokens and time after each turn', async () => {
    const { runner, options, read } = setUpTyped([{ text: 'Hello.', response }])
    await chat(runner, ['hi'], options)
    expect(read()).toMatch(
      /^agent {4}root\nmodel {4}scripted\ntools {4}none\nsession {2}new, in memory\n.*Ctrl\+D exits\n\nHello\.\n1,200 tokens in, 34 out, \d+\.\ds\n\n$/,
    )
  })

  test('shows at its end how to continue a stored session', async () => {
    const { runner, options, read } = setUpTyped(['Hello.'])
    await chat(runner, ['hi'], { ...options, sessionId: 's1', isPersistent: true })
    expect(read()).toMatch(/\nContinue with s1\.\n$/)
    const other = setUpTyped(['Hello.'])
    await chat(other.runner, ['hi'], { ...other.options, sessionId: 's1' })
    expect(other.read()).not.toContain('Continue with')
  })

  test('shows one token total for a turn with a pending request', async () => {
    const args = { prompt: 'Which drink?', options: ['tea'] }
    const steps = [
      { calls: [{ name: 'get_user_choice', args }], response },
      { text: 'Tea.', response },
    ]
    const { runner, options, read } = setUpTyped(steps, [getUserChoice()])
    await chat(runner, ['a drink'], { ...options, answers: fixedLines(['1']) })
    expect(read().match(/tokens.*/g)).toEqual([expect.stringMatching(/^tokens in, 68 out/)])
  })

  test('does not send /commands to the model, but sends a path and //word', async () => {
    const { runner, model, options, read } = setUpTyped(['A path.', 'A word.'])
    await chat(runner, ['/tools', '/hlep', '/etc/hosts', '//new', '/exit', 'never'], options)
    expect(model.requests.map(({ contents }) => contents.at(-1)?.parts[0]?.text)).toEqual(['/etc/hosts', '/new'])
    expect(read()).toMatch(/root\n {2}no tools\n[\s\S]*Did you mean \/help\?/)
  })

  test('shows the session state for /state and starts a session for /new', async () => {
    const note = tool({
      name: 'note',
      description: 'Notes',
      run: (_, { state }) => {
        state.set('mood', 'good\x1b[2J')
        return {}
      },
    })
    const { runner, model, options, read } = setUpTyped([{ calls: [{ name: 'note' }] }, 'Noted.', 'Hello.'], [note])
    await chat(runner, ['/state', 'note it', '/state', '/new', '/state', 'hi'], options)
    expect(read()).toMatch(
      /state is empty\.[\s\S]*mood: "good\\u001b\[2J"[\s\S]*is closed\. Your next[\s\S]*state is empty\.[\s\S]*Hello/,
    )
    expect(model.requests[2]?.contents).toHaveLength(1)
  })

  test('truncates a long result to one line and shows all of it for /more', async () => {
    const list = tool({ name: 'list', description: 'Lists', run: () => ({ items: Array(50).fill('item\x1b[2J') }) })
    const { runner, options, read } = setUpTyped([{ calls: [{ name: 'list' }] }, 'Listed.'], [list])
    await chat(runner, ['/more', 'list'], options)
    const cut = read()
    expect(cut).toMatch(/truncated nothing[\s\S]*✓ list\n {2}items: \["item.{10,}… \(\/more shows all\)\n/)
    for (const row of cut.split('\n')) expect(row.length).toBeLessThanOrEqual(60)
    const {
      runner: other,
      options: again,
      read: readAgain,
    } = setUpTyped([{ calls: [{ name: 'list' }] }, 'Listed.'], [list])
    await chat(other, ['list', '/more'], again)
    const whole = readAgain()
    expect(whole.match(/^ {4}"item\\u001b\[2J",?$/gm)).toHaveLength(50)
  })

  test('indents wrapped arguments so that they cannot imitate a prompt', async () => {
    const pay = tool({ name: 'pay', description: 'Pays', requiresConfirmation: true, run: () => ({}) })
    const note = `${' '.repeat(60)}? pay needs your approval`
    const { runner, options, read } = setUpTyped([{ calls: [{ name: 'pay', args: { note } }] }], [pay])
    await chat(runner, ['pay'], options)
    const rows = read().split('\n')
    expect(rows.filter((row) => row.startsWith('?'))).toHaveLength(1)
    expect(rows.every((row) => row.length < 60 || row.startsWith('Still open'))).toBe(true)
  })
})

/** Returns the given results, then the end. */
function lineResults(...results: LineResult[]): LineSource {
  return { read: async () => results.shift() ?? { type: 'end' }, close: () => {} }
}
