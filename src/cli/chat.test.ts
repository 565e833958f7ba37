import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import { beforeEach, describe, expect, test } from 'vitest'
import { LlmAgent } from '../agent/agents/llm-agent.ts'
import { confirm } from '../policy/confirm.ts'
import { Runner } from '../runner/runner.ts'
import type { RunnerOptions } from '../runner/runner-options.ts'
import { InMemorySessionService } from '../session/in-memory.ts'
import { type ScriptedModel, type Step, scriptedModel } from '../testing/scripted-model.ts'
import { tool } from '../tool/define.ts'
import type { Tool } from '../tool/tool.ts'
import { getUserChoice } from '../tools/get-user-choice.ts'
import { type ChatOptions, type Chatted, chat as chatWith } from './chat.ts'
import { interruptsOf } from './interrupts.ts'
import { type Heard, knownLines, type Lines } from './lines.ts'
import { Screen } from './screen.ts'

interface Setting {
  readonly runner: Runner
  readonly model: ScriptedModel
  readonly options: ChatOptions
  readonly output: PassThrough
  pressCtrlC(): void
}

function setUp(steps: readonly Step[], tools: readonly Tool[] = [], more: Partial<RunnerOptions> = {}): Setting {
  const model = scriptedModel(steps)
  const agent = new LlmAgent({ name: 'root', model, tools })
  const runner = new Runner({ appName: 'test', agent, logger: { warn: () => {}, error: () => {} }, ...more })
  const signals = new EventEmitter()
  const interrupts = interruptsOf(signals, { leave: () => {} })
  const output = new PassThrough({ encoding: 'utf8' })
  const pressCtrlC = (): void => void signals.emit('SIGINT')
  const options: ChatOptions = {
    screen: new Screen({ output, env: {} }),
    interrupts,
    userId: 'user',
    answers: knownLines([]),
    howToGoOn: (sessionId) => `Go on with ${sessionId}.`,
  }
  return { runner, model, options, output, pressCtrlC }
}

function chat(runner: Runner, messages: readonly string[], options: ChatOptions): Promise<Chatted> {
  return chatWith(runner, knownLines(messages), options)
}

test('each message is a turn of one session, and blank lines are none', async () => {
  const { runner, model, options, output } = setUp(['Hello.', 'Bye.'])
  expect(await chat(runner, ['hi', '  ', 'bye'], options)).toMatchObject({ turns: 2, failed: 0 })
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
  expect(await chat(runner, ['hi', 'again'], options)).toMatchObject({ turns: 2, failed: 1 })
  expect(output.read()).toBe('! MODEL_ERROR: no network\nBetter.\n')
})

test('a run that cannot begin is one line with its code', async () => {
  const { runner, options, output } = setUp([])
  await runner.close()
  expect(await chat(runner, ['hi'], options)).toMatchObject({ turns: 1, failed: 1 })
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
  expect(await chat(setting.runner, ['wait', 'hello?'], setting.options)).toMatchObject({ turns: 2, failed: 1 })
  expect(aborted).toBe(true)
  expect(setting.output.read()).toMatch(/^✗ wait.*\n.*UNKNOWN_OUTCOME.*\n! CANCELLED: .*\nStill here\.\n$/)
})

test('a session that somebody else holds is said to be in use, and what that may mean', async () => {
  const sessionService = new InMemorySessionService()
  const key = { appName: 'test', userId: 'user', sessionId: 's1' }
  await sessionService.createSession(key)
  await sessionService.claim(key)
  const { runner, options, output } = setUp([], [], { sessionService })
  expect(await chat(runner, [], { ...options, sessionId: 's1' })).toMatchObject({ turns: 0, failed: 1 })
  expect(output.read()).toBe(
    '! SESSION_BUSY: Session "s1" is in use.\nAnother process has it, or died with it less than 15 seconds ago: try again in a moment.\n',
  )
})

test('what was interrupted in an earlier process goes on before anything is asked or said', async () => {
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

  test('is asked about and run on a yes', async () => {
    const { runner, options, output } = setUp([{ calls: [call(5)] }, 'Refunded.'], [refund])
    const done = await chat(runner, ['refund 5'], { ...options, answers: knownLines(['y']) })
    expect(done).toEqual({ turns: 2, failed: 0, isLeftOpen: false })
    expect(refunded).toEqual([{ amount: 5 }])
    expect(output.read()).toBe(
      '? refund needs your approval\n  │ Refund it?\n    amount: 5\n✓ refund\n  done: true\nRefunded.\n',
    )
  })

  test('is asked about again until the answer is yes or no', async () => {
    const { runner, options, output } = setUp([{ calls: [call(5)] }, 'Refunded.'], [refund])
    await chat(runner, ['refund 5'], { ...options, answers: knownLines(['maybe', '', 'ok', 'yes']) })
    expect(refunded).toEqual([{ amount: 5 }])
    expect(String(output.read()).match(/Type yes or no/g)).toHaveLength(3)
  })

  test('can be edited where the tool allows it, and runs with what was shown last', async () => {
    const { runner, options, output } = setUp(
      [{ calls: [call(5)] }, 'Refunded.'],
      [{ ...refund, allowEditedArgs: true }],
    )
    await chat(runner, ['refund 5'], {
      ...options,
      answers: knownLines(['edit', '{"amount":"x"}', '{"amount":4}', 'y']),
    })
    expect(refunded).toEqual([{ amount: 4 }])
    expect(output.read()).toMatch(/does not fit[\s\S]*with the edited arguments\n {4}amount: 4\n✓ refund\n/)
  })

  test('is not run on a no, and the model is told why', async () => {
    const { runner, model, options } = setUp([{ calls: [call(5)] }, 'Not refunded.'], [refund])
    await chat(runner, ['refund 5'], { ...options, answers: knownLines(['no, only 4']) })
    expect(refunded).toEqual([])
    expect(model.requests[1]?.contents.at(-1)?.parts[0]?.functionResponse?.response).toMatchObject({
      error: 'tool call was rejected by the user: only 4',
    })
  })

  test('beside others: each is asked about, all are sent in one message, the model is asked once', async () => {
    const steps = [{ calls: [call(1), call(2), call(3)] }, 'One was not.']
    const { runner, model, options, output } = setUp(steps, [refund])
    const done = await chat(runner, ['refund all'], { ...options, answers: knownLines(['y', 'n', 'YES']) })
    expect(done).toEqual({ turns: 2, failed: 0, isLeftOpen: false })
    expect(refunded).toEqual([{ amount: 1 }, { amount: 3 }])
    expect(model.requests).toHaveLength(2)
    expect(output.read()).toMatch(/amount: 1\n[\s\S]*amount: 2\n[\s\S]*amount: 3\n/)
  })

  test('stays open when nobody answers, and it is said how to go on', async () => {
    const { runner, options, output } = setUp([{ calls: [call(1), call(2)] }], [refund])
    const done = await chat(runner, ['refund both'], { ...options, answers: knownLines(['y']) })
    expect(done).toEqual({ turns: 1, failed: 0, isLeftOpen: true })
    expect(refunded).toEqual([])
    const pending = await runner.pending()
    expect(pending).toHaveLength(2)
    expect(output.read()).toMatch(
      new RegExp(
        `Still open: approval of refund {"amount":1}\nStill open: approval of refund {"amount":2}\nGo on with ${pending[0]?.sessionId}.\n$`,
      ),
    )
  })

  test('is asked about first when the session is opened again', async () => {
    const { runner, options, output } = setUp([{ calls: [call(5)] }, 'Refunded.', 'Hello.'], [refund])
    await chat(runner, ['refund 5'], { ...options, sessionId: 's1' })
    output.read()
    const done = await chat(runner, ['hi'], { ...options, sessionId: 's1', answers: knownLines(['yes']) })
    expect(done).toEqual({ turns: 2, failed: 0, isLeftOpen: false })
    expect(refunded).toEqual([{ amount: 5 }])
    expect(output.read()).toMatch(/^\? refund needs your approval\n[\s\S]*Refunded\.\nHello\.\n$/)
  })

  test('is cancelled by Ctrl-C at the question, and the chat goes on', async () => {
    const { runner, options, output } = setUp([{ calls: [call(5)] }, 'Hello.'], [refund])
    const done = await chat(runner, ['refund 5', 'hi'], { ...options, answers: hearing({ type: 'interrupt' }) })
    expect(done).toEqual({ turns: 2, failed: 1, isLeftOpen: false })
    expect(refunded).toEqual([])
    expect(await runner.pending()).toEqual([])
    expect(output.read()).toMatch(/! CANCELLED: The run was cancelled\.\nHello\.\n$/)
  })

  test('that was asked about for too long is denied, and the run goes on', async () => {
    let time = Date.now()
    const setting = setUp([{ calls: [call(5)] }, 'Too late.'], [refund], { ports: { now: () => time } })
    const answers: Lines = {
      read: async () => {
        time += 25 * 60 * 60 * 1000
        return { type: 'line', text: 'y' }
      },
      close: () => {},
    }
    const done = await chat(setting.runner, ['refund 5'], { ...setting.options, answers })
    expect(done).toMatchObject({ failed: 1, isLeftOpen: false })
    expect(refunded).toEqual([])
    expect(setting.output.read()).toMatch(/! EXPIRED: .*\n[\s\S]*Too late\.\n$/)
  })
})

test('a body that asks is answered, and asked again about what does not fit', async () => {
  const book = tool({
    name: 'book',
    description: 'Books',
    run: (_, context) => {
      const seats = context.requestInput({ key: 'seats', message: 'How many seats?', schema: { type: 'integer' } })
      return seats === undefined ? undefined : { seats }
    },
  })
  const { runner, model, options, output } = setUp([{ calls: [{ name: 'book' }] }, 'Booked.'], [book])
  await chat(runner, ['book'], { ...options, answers: knownLines(['many', '3']) })
  expect(model.requests[1]?.contents.at(-1)?.parts[0]?.functionResponse?.response).toEqual({ seats: 3 })
  expect(output.read()).toMatch(/\? book asks: How many seats\?\nThat does not fit: .*integer.*\n/)
})

test('a choice is made by its number', async () => {
  const args = { prompt: 'Which drink?', options: ['tea', 'coffee'] }
  const { runner, model, options } = setUp([{ calls: [{ name: 'get_user_choice', args }] }, 'Ok.'], [getUserChoice()])
  await chat(runner, ['a drink'], { ...options, answers: knownLines(['3', '2']) })
  expect(model.requests[1]?.contents.at(-1)?.parts[0]?.functionResponse?.response).toEqual({ result: 'coffee' })
})

test('work that takes long is spoken of once, and one can go on talking', async () => {
  const print = tool({ name: 'print', description: 'Prints', isLongRunning: true, run: () => ({ ticket: 7 }) })
  const { runner, options, output } = setUp([{ calls: [{ name: 'print' }] }, 'Hello.'], [print])
  expect(await chat(runner, ['print it', 'hi'], options)).toEqual({ turns: 2, failed: 0, isLeftOpen: false })
  expect(String(output.read()).match(/Waiting for the result of print \{\}/g)).toHaveLength(1)
})

describe('in a terminal where a person types', () => {
  const ESCAPE = '\x1b'
  const STATUS = new RegExp(`\\r[^\\r\\n]*${ESCAPE}\\[K`, 'g')

  function setUpTyped(steps: readonly Step[], tools: readonly Tool[] = [], columns = 60) {
    const setting = setUp(steps, tools)
    const output = Object.assign(setting.output, { isTTY: true, columns })
    const screen = new Screen({ output, env: { NO_COLOR: '1' } })
    const read = (): string => String(setting.output.read() ?? '').replaceAll(STATUS, '')
    return { ...setting, read, options: { ...setting.options, screen, hasCommands: true } }
  }
  const response = { usageMetadata: { promptTokenCount: 1200, candidatesTokenCount: 34 } }

  test('a header comes first, and tokens and time after each answer', async () => {
    const { runner, options, read } = setUpTyped([{ text: 'Hello.', response }])
    await chat(runner, ['hi'], options)
    expect(read()).toMatch(
      /^agent {4}root\nmodel {4}scripted\ntools {4}none\nsession {2}new, in memory\n.*Ctrl\+D leaves\n\nHello\.\n1,200 tokens in, 34 out, \d+\.\ds\n\n$/,
    )
  })

  test('a session that is kept is named when the person leaves', async () => {
    const { runner, options, read } = setUpTyped(['Hello.'])
    await chat(runner, ['hi'], { ...options, sessionId: 's1', isKept: true })
    expect(read()).toMatch(/\nGo on with s1\.\n$/)
    const other = setUpTyped(['Hello.'])
    await chat(other.runner, ['hi'], { ...other.options, sessionId: 's1' })
    expect(other.read()).not.toContain('Go on with')
  })

  test('the tokens of a turn that was asked about are counted as one', async () => {
    const args = { prompt: 'Which drink?', options: ['tea'] }
    const steps = [
      { calls: [{ name: 'get_user_choice', args }], response },
      { text: 'Tea.', response },
    ]
    const { runner, options, read } = setUpTyped(steps, [getUserChoice()])
    await chat(runner, ['a drink'], { ...options, answers: knownLines(['1']) })
    expect(read().match(/tokens.*/g)).toEqual([expect.stringMatching(/^tokens in, 68 out/)])
  })

  test('commands are no messages; a path and //word are', async () => {
    const { runner, model, options, read } = setUpTyped(['A path.', 'A word.'])
    await chat(runner, ['/tools', '/hlep', '/etc/hosts', '//new', '/exit', 'never'], options)
    expect(model.requests.map(({ contents }) => contents.at(-1)?.parts[0]?.text)).toEqual(['/etc/hosts', '/new'])
    expect(read()).toMatch(/root\n {2}no tools\n[\s\S]*Did you mean \/help\?/)
  })

  test('/state shows the state of the session, and /new starts another one', async () => {
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
      /state is empty\.[\s\S]*mood: "good\\u001b\[2J"[\s\S]*ends here\. Your next[\s\S]*state is empty\.[\s\S]*Hello/,
    )
    expect(model.requests[2]?.contents).toHaveLength(1)
  })

  test('a long result is cut to one line, and /more shows all of it', async () => {
    const list = tool({ name: 'list', description: 'Lists', run: () => ({ items: Array(50).fill('item\x1b[2J') }) })
    const { runner, options, read } = setUpTyped([{ calls: [{ name: 'list' }] }, 'Listed.'], [list])
    await chat(runner, ['/more', 'list'], options)
    const cut = read()
    expect(cut).toMatch(/cut nothing[\s\S]*✓ list\n {2}items: \["item.{10,}… \(\/more shows all\)\n/)
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

  test('a question that is longer than a row cannot start a row like one of ours', async () => {
    const pay = tool({ name: 'pay', description: 'Pays', requiresConfirmation: true, run: () => ({}) })
    const note = `${' '.repeat(60)}? pay needs your approval`
    const { runner, options, read } = setUpTyped([{ calls: [{ name: 'pay', args: { note } }] }], [pay])
    await chat(runner, ['pay'], options)
    const rows = read().split('\n')
    expect(rows.filter((row) => row.startsWith('?'))).toHaveLength(1)
    expect(rows.every((row) => row.length < 60 || row.startsWith('Still open'))).toBe(true)
  })
})

/** Somebody who does this once and is then gone. */
function hearing(...heard: Heard[]): Lines {
  return { read: async () => heard.shift() ?? { type: 'end' }, close: () => {} }
}
