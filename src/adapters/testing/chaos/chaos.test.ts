import { InMemoryArtifactService, retry, type Tool, ToolError, type ToolOptions, tool } from 'toolwright'
import { type ChaosFinding, type ChaosOptions, chaos } from 'toolwright/testing'
import { describe, expect, test } from 'vitest'

/** A bank whose payments are what is outside. */
class Bank {
  payments: { readonly key: string; readonly amount: number }[] = []

  pay(amount: number, key: string): { receipt: string } {
    this.payments.push({ key, amount })
    return { receipt: key }
  }

  /** Ignores a key that it has seen. */
  payOnce(amount: number, key: string): { receipt: string } {
    return this.find(key) ?? this.pay(amount, key)
  }

  find(key: string): { receipt: string } | undefined {
    return this.payments.some((payment) => payment.key === key) ? { receipt: key } : undefined
  }
}

const pays = (options: Partial<ToolOptions<undefined, undefined, unknown>> & Pick<Tool, 'effect'>): Tool =>
  tool({ name: 'pay', description: 'Pays', run: () => undefined, ...options })

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const stepsOf = ({ story }: ChaosFinding): string[] =>
  story.map(({ type, at, said }) => [type, at, said].filter((one) => one !== undefined).join(' '))

async function findingsOf(made: Tool, options: ChaosOptions): Promise<{ [problem: string]: string[] }> {
  const { findings, ok } = await chaos(made, options)
  expect(ok).toBe(findings.length === 0)
  return Object.fromEntries(findings.map((finding) => [finding.problem, stepsOf(finding)]))
}

describe('an honest tool passes', () => {
  test('effect none, which reads', async () => {
    const bank = new Bank()
    const read = pays({ effect: 'none', run: () => ({ payments: bank.payments.length }) })
    expect(await findingsOf(read, { outside: () => bank.payments })).toEqual({})
  })

  test('effect idempotent, which passes its key on', async () => {
    const bank = new Bank()
    const pay = pays({ effect: 'idempotent', run: (_, { idempotencyKey }) => bank.payOnce(5, idempotencyKey) })
    expect(await findingsOf(pay, { outside: () => bank.payments })).toEqual({})
  })

  test('effect idempotent, which sets a value', async () => {
    let status = 'open'
    const close = pays({
      effect: 'idempotent',
      run: () => {
        status = 'closed'
        return { status }
      },
    })
    const reset = (): void => {
      status = 'open'
    }
    expect(await findingsOf(close, { outside: () => ({ status }), reset })).toEqual({})
  })

  test('effect reconcilable, which looks its key up', async () => {
    const bank = new Bank()
    const pay = pays({
      effect: 'reconcilable',
      run: (_, { idempotencyKey }) => bank.pay(5, idempotencyKey),
      reconcile: ({ idempotencyKey }) => {
        const result = bank.find(idempotencyKey)
        return result ? { status: 'done', result } : { status: 'not-done' }
      },
    })
    expect(await findingsOf(pay, { outside: () => bank.payments })).toEqual({})
  })

  test('effect reconcilable, which sets a value that was set before', async () => {
    let status = 'open'
    const close = pays({
      effect: 'reconcilable',
      run: () => {
        status = 'closed'
        return { status }
      },
      reconcile: () => (status === 'closed' ? { status: 'done', result: {} } : { status: 'not-done' }),
    })
    const reset = (): void => {
      status = 'open'
    }
    expect(await findingsOf(close, { outside: () => status, reset })).toEqual({})
  })

  test('effect atMostOnce, also behind an approval', async () => {
    for (const requiresConfirmation of [false, true]) {
      const bank = new Bank()
      const run: Tool['run'] = (_, { idempotencyKey }) => bank.pay(5, idempotencyKey)
      const pay = pays({ effect: undefined, run, requiresConfirmation })
      expect(await findingsOf(pay, { outside: () => bank.payments.length })).toEqual({})
      expect(new Set(bank.payments.map(({ key }) => key)).size).toBe(bank.payments.length)
    }
  })

  test('retry() of an idempotent tool that fails at first', async () => {
    const bank = new Bank()
    const flaky = pays({
      effect: 'idempotent',
      run: async (_, { idempotencyKey }) => {
        const isNew = !bank.find(idempotencyKey)
        const paid = bank.payOnce(5, idempotencyKey)
        if (isNew) throw new ToolError('Connection lost.')
        await turn()
        return paid
      },
    })
    expect(await findingsOf(retry(flaky, { attempts: 2, delayMs: 0 }), { outside: () => bank.payments })).toEqual({})
  })

  test('long-running work that cancel stops', async () => {
    expect(await findingsOf(...jobTool())).toEqual({})
  })
})

/** Long-running work: it begins, and ends in `finish` unless it was cancelled. */
function jobTool({ stops = true, notesCancels = false } = {}): [Tool, ChaosOptions] {
  const log: string[] = []
  const jobs = new Set<string>()
  const work = tool({
    name: 'render',
    description: 'Renders',
    isLongRunning: true,
    run: (_, { idempotencyKey }) => {
      log.push(`begun ${idempotencyKey}`)
      jobs.add(idempotencyKey)
      return { job: idempotencyKey }
    },
    cancel: ({ handle }) => {
      if (notesCancels || jobs.has(String(handle.job))) log.push('cancelled')
      if (stops) jobs.delete(String(handle.job))
    },
  })
  const finish = (): void => {
    for (const job of jobs) log.push(`ended ${job}`)
    jobs.clear()
  }
  return [work, { outside: () => log, finish }]
}

describe('finds the smallest story of', () => {
  test('a tool of effect none that writes', async () => {
    const bank = new Bank()
    const sly = pays({ effect: 'none', run: (_, { idempotencyKey }) => bank.payOnce(5, idempotencyKey) })
    expect(await findingsOf(sly, { outside: () => bank.payments })).toEqual({ 'has-effect': ['call', 'body'] })
  })

  test('an idempotent tool that ignores its key', async () => {
    const bank = new Bank()
    let paid = 0
    const pay = pays({ effect: 'idempotent', run: () => bank.pay(5, `${++paid}`) })
    expect(await findingsOf(pay, { outside: () => bank.payments })).toMatchObject({
      'repeats-effect': ['call', 'body', 'kill after-body', 'recover', 'body'],
    })
  })

  test('an idempotent tool that checks first and pays later', async () => {
    const bank = new Bank()
    const pay = pays({
      effect: 'idempotent',
      run: async (_, { idempotencyKey }) => {
        const before = bank.find(idempotencyKey)
        for (let turns = 0; turns < 20; turns++) await turn()
        return before ?? bank.pay(5, idempotencyKey)
      },
    })
    expect(await findingsOf(pay, { outside: () => bank.payments, stories: 20 })).toEqual({
      'repeats-effect-at-once': ['call', 'body', 'kill in-body', 'recover', 'body'],
    })
  })

  test('an idempotent tool that fails only the third time', async () => {
    const runs = new Map<string, number>()
    const bank = new Bank()
    const pay = pays({
      effect: 'idempotent',
      run: (_, { idempotencyKey: key }) => {
        runs.set(key, (runs.get(key) ?? 0) + 1)
        return runs.get(key) === 3 ? bank.pay(5, key) : bank.payOnce(5, key)
      },
    })
    const killed = ['kill after-body', 'recover', 'body']
    expect(await findingsOf(pay, { outside: () => bank.payments })).toEqual({
      'repeats-effect': ['call', 'body', ...killed, ...killed],
    })
  })

  test('a reconcile that says "never happened" though it did', async () => {
    const bank = new Bank()
    const pay = pays({
      effect: 'reconcilable',
      run: (_, { idempotencyKey }) => bank.pay(5, idempotencyKey),
      reconcile: () => ({ status: 'not-done' }),
    })
    expect(await findingsOf(pay, { outside: () => bank.payments })).toEqual({
      'missed-effect': ['call', 'body', 'kill after-body', 'recover', 'reconcile not-done', 'body'],
    })
  })

  test('a reconcile that finds the payment of another call', async () => {
    const bank = new Bank()
    const pay = pays({
      effect: 'reconcilable',
      run: (_, { idempotencyKey }) => bank.pay(5, idempotencyKey),
      reconcile: () =>
        bank.payments.some(({ amount }) => amount === 5) ? { status: 'done', result: {} } : { status: 'not-done' },
    })
    const reset = (): void => {
      bank.payments = []
    }
    expect(await findingsOf(pay, { outside: () => bank.payments, reset })).toEqual({
      'invented-effect': ['call', 'body', 'kill after-body', 'recover', 'reconcile done', 'reconcile done'],
    })
  })

  test('a reconcile that always says "done", and one that pays', async () => {
    const bank = new Bank()
    const run: Tool['run'] = (_, { idempotencyKey }) => bank.pay(5, idempotencyKey)
    const sure = pays({ effect: 'reconcilable', run, reconcile: () => ({ status: 'done', result: {} }) })
    expect(await findingsOf(sure, { outside: () => bank.payments })).toEqual({
      'invented-effect': ['call', 'kill before-body', 'recover', 'reconcile done'],
    })
    const reconcile: Tool['reconcile'] = ({ idempotencyKey }) => {
      const result = bank.pay(1, `again ${idempotencyKey}`)
      return { status: 'done', result }
    }
    expect(
      await findingsOf(pays({ effect: 'reconcilable', run, reconcile }), { outside: () => bank.payments }),
    ).toEqual({
      'reconcile-has-effect': ['call', 'kill before-body', 'recover', 'reconcile done'],
    })
  })

  test('a cancel that does not stop', async () => {
    expect(await findingsOf(...jobTool({ stops: false }))).toMatchObject({
      'goes-on': ['call', 'body', 'cancel', 'stop', 'finish'],
    })
  })

  test('a cancel that takes effect each time', async () => {
    expect(await findingsOf(...jobTool({ notesCancels: true }))).toEqual({
      'repeats-cancel': ['call', 'body', 'cancel', 'stop', 'kill after-cancel', 'recover', 'cancel', 'stop', 'finish'],
    })
  })
})

describe('the report', () => {
  const liar = (): [Tool, ChaosOptions] => {
    const bank = new Bank()
    let paid = 0
    return [
      pays({ effect: 'idempotent', run: () => bank.pay(5, `${++paid % 2}`) }),
      { seed: 7, outside: () => bank.payments, reset: () => void bank.payments.splice(0) },
    ]
  }

  test('reads as a story', async () => {
    const { text } = await chaos(...liar())
    expect(text).toContain(
      [
        'pay: effect "idempotent" is not true. Its effect is declared as "idempotent", but the body takes effect again with the same idempotency key. Seed 7:',
        '  1. The model calls pay.',
        '  2. The body runs: + {"key":"1","amount":5}.',
        '  3. The process dies after the body has ended, before its result is stored.',
        '  4. Another process continues the run.',
        '  5. The body runs again, with the same idempotency key: + {"key":"0","amount":5}.',
      ].join('\n'),
    )
  })

  test('is the same for the same seed', async () => {
    expect(await chaos(...liar())).toEqual(await chaos(...liar()))
  })

  test('names what was checked, and how much', async () => {
    const { ok, checked, stories, text } = await chaos(...jobTool())
    expect({ ok, checked, stories }).toEqual({ ok: true, checked: ['effect', 'cancel'], stories: 50 })
    expect(text).toBe(
      'render: effect "atMostOnce" is true in 50 stories of seed 1.\nrender: cancel is true in 50 stories of seed 1.',
    )
  })
})

describe('refuses to judge', () => {
  const message = async (made: Tool, options: Partial<ChaosOptions>): Promise<string> =>
    await chaos(made, options as ChaosOptions).then(
      ({ text }) => `judged: ${text}`,
      (error: Error) => error.message,
    )
  const paid: number[] = []
  const pay = pays({ effect: 'idempotent', run: () => ({ count: paid.push(1) }) })

  test('what it cannot see', async () => {
    expect(await message(pay, { outside: () => [] })).toContain('outside() did not change in a plain call')
    expect(await message(pay, {})).toContain('outside is required')
    const [render, { outside }] = jobTool()
    expect(await message(render, { outside })).toContain('it has cancel, so finish is required')
    expect(await message(render, { outside, finish: () => {} })).toContain('ended before a user could cancel it')
  })

  test('a call that fails, and a tool that asks', async () => {
    const strict = tool({
      name: 'pay',
      description: 'Pays',
      parameters: { type: 'object', required: ['amount'] },
      run: () => ({}),
    })
    expect(await message(strict, { outside: () => paid })).toContain('a plain call failed with INVALID_ARGS')
    const asks = pays({ effect: 'none', run: (_, context) => context.requestInput({ key: 'why', message: 'Why?' }) })
    expect(await message(asks, { outside: () => paid })).toContain('it asks for input')
  })

  test('when outside() throws', async () => {
    const outside = (): never => {
      throw new Error('The ledger is gone.')
    }
    expect(await message(pay, { outside })).toBe('The ledger is gone.')
  })
})

test('a tool gets its state, its run context and its services', async () => {
  const seen: unknown[] = []
  const save = pays({
    effect: 'none',
    run: async (_, context) => {
      await context.saveArtifact('note.txt', { text: 'Hello' })
      seen.push([context.state.get('city'), context.runContext])
    },
  })
  const options = {
    state: { city: 'Oslo' },
    runContext: { tenant: 't1' },
    artifactService: new InMemoryArtifactService(),
  }
  expect((await chaos(save, { outside: () => 0, stories: 1, ...options })).ok).toBe(true)
  expect(new Set(seen.map((one) => JSON.stringify(one)))).toEqual(new Set(['["Oslo",{"tenant":"t1"}]']))
})
