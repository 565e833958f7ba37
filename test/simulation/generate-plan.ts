// Generates the plan of a seed: sessions, agents, tools and scripts.
import type { Effect, JsonObject } from 'toolwright'
import type { AgentSpec, FaultRates, Gate, Limits, LlmSpec, Plan, Reply, ScriptedCall, ToolSpec } from './plan.ts'
import type { Random } from './random.ts'
import { turnText } from './script-model.ts'

/** The number of turns with their own script. */
const TURNS = 3

export function generatePlan(seed: number, random: Random): Plan {
  const theme = random.chance(0.25) ? random.pick(['guesses', 'clock'] as const) : undefined
  const tools = Array.from({ length: random.between(2, 6) }, (_, at) => toolSpec(random, at, theme))
  const make = new Agents(random, tools, theme === 'guesses')
  const root = make.any('root', 3)
  const sessions = [{ userId: 'ada', sessionId: 's1' }]
  if (random.chance(0.4)) sessions.push({ userId: random.chance(0.5) ? 'ada' : 'bob', sessionId: 's2' })
  const plan: Omit<Plan, 'copies'> = {
    seed,
    root,
    tools,
    sessions,
    actions: random.between(1, 7) + (theme ? 4 : 0),
    restless: random.int(4),
    eagerness: random.pick(theme ? [0, 0.05, 0.1] : [0, 0, 0.02, 0.05, 0.2]),
    faultRates:
      theme === 'clock' && random.chance(0.7)
        ? { ...generateFaultRates(random), aim: 'denial' }
        : generateFaultRates(random),
    whilePaused: random.pick([undefined, undefined, 'reject', 'cancel', 'continue']),
    theme,
    limits: limits(random),
    tampering: random.chance(0.15) ? random.pick(['in place', 'later', 'returned']) : undefined,
  }
  // decided last, so that the other plans stay what they were before there were copies
  if (!random.chance(0.3)) return { ...plan, copies: false }
  const aim = random.chance(0.6) ? random.pick(COPY_AIMS) : plan.faultRates.aim
  return { ...plan, actions: plan.actions + 3, faultRates: { ...plan.faultRates, aim }, copies: true }
}

/** Steps of a fork at which processes die. `copy`: any append to the copy. */
const COPY_AIMS = ['createCopy', 'copy', 'copy', 'copy', 'claimUnfinishedCopies']

function limits(random: Random): Limits {
  return {
    argsBytes: 2_000,
    callsPerReply: random.chance(0.3) ? 3 : undefined,
    resultBytes: 4_000,
    llmCalls: random.chance(0.3) ? random.between(2, 8) : undefined,
  }
}

function generateFaultRates(random: Random): FaultRates {
  const fine = random.chance(0.15)
  const some = (most: number): number => (fine || random.chance(0.4) ? 0 : random.next() * most)
  return {
    kill: some(0.06),
    aim: fine || random.chance(0.4) ? undefined : random.pick(AIMS),
    stall: some(0.03),
    storage: some(0.02),
    lostAck: some(0.02),
    duplicate: some(0.05),
    late: some(0.03),
    slowness: random.pick([1, 20, 200, 2_000]),
  }
}

const AIMS = [
  ...['message', 'call', 'intent', 'response', 'question', 'answer', 'handle', 'reply', 'opening', 'denial'],
  ...['error CANCELLED', 'error CANCELLED', 'handle', 'claim', 'release', 'renew', 'post', 'step'],
]

function toolSpec(random: Random, at: number, theme: Plan['theme']): ToolSpec {
  const effect: Effect = random.pick(['none', 'idempotent', 'reconcilable', 'atMostOnce', 'atMostOnce'])
  const gate: Gate = random.weighted([
    [6, 'open'],
    [3, 'flag'],
    [2, 'predicate'],
    [1, 'broken'],
    [2, 'body'],
    [2, 'input'],
    [3, 'longRunning'],
  ])
  return {
    name: `t${at}_${gate}_${effect}`,
    effect,
    gate,
    before: random.int(3),
    after: random.int(3),
    does: random.weighted([
      [12, 'answer'],
      [1, 'throw'],
      [0.5, 'hang'],
      [1, 'dawdle'],
    ]),
    // a shared key, a key of the tool, a key of the user
    writes: ['shared', `own${at}`, 'user:shared'].filter(() => random.chance(0.4)),
    editable: random.chance(0.3),
    sequential: random.chance(0.1),
    ...(random.chance(0.2) && { timeoutMs: 1_000 }),
    ...(random.chance(theme === 'clock' ? 0.8 : 0.2) && { expiresInMs: random.pick([5_000, 60_000, 3_600_000]) }),
    ...(gate === 'longRunning' &&
      random.chance(0.8) && { cancel: random.pick(['answer', 'answer', 'answer', 'throw', 'hang']) }),
    ...(random.chance(0.06) && { resultFill: random.pick(FILLS) }),
  }
}

/** Sizes just below and above a limit. */
const FILLS = [0.9, 1.1, 5, 40]

/** Generates agents with unique names. */
class Agents {
  readonly #random: Random
  readonly #tools: readonly ToolSpec[]
  /** Whether agents are nested deeply. */
  readonly #isDeep: boolean
  /** Whether call ids are counted, so that attackers can guess the next one. */
  readonly #countsCalls: boolean
  #count = 0
  #calls = 0

  constructor(random: Random, tools: readonly ToolSpec[], countsCalls: boolean) {
    this.#random = random
    this.#tools = tools
    this.#isDeep = random.chance(0.15)
    this.#countsCalls = countsCalls || random.chance(0.3)
  }

  any(name: string, depth: number): AgentSpec {
    const type = this.#random.weighted<AgentSpec['type']>([
      [depth === 3 ? 6 : 5, 'llm'],
      [depth > 1 ? 2 : 0, 'sequential'],
      [depth > 1 ? 2 : 0, 'parallel'],
      [depth > 1 ? 2 : 0, 'loop'],
    ])
    if (type === 'llm') return this.#llm(name, depth)
    const children = Array.from({ length: this.#random.between(type === 'loop' ? 1 : 2, 3) }, () =>
      this.any(this.#name(), depth - 1),
    )
    return { type, name, children, rounds: type === 'loop' ? this.#random.between(1, 3) : 1 }
  }

  #llm(name: string, depth: number): LlmSpec {
    const random = this.#random
    const agentTools = depth > 0 && random.chance(this.#isDeep ? 0.9 : 0.35) ? [this.any(this.#name(), depth - 1)] : []
    const subAgents = depth > 1 && random.chance(0.2) ? [this.any(this.#name(), depth - 1)] : []
    const tools = this.#tools.filter(() => random.chance(this.#isDeep ? 0.3 : 0.7)).map((spec) => spec.name)
    if (random.chance(0.15)) tools.push('get_user_choice')
    if (random.chance(0.3)) tools.push('exit_loop')
    const runsCode = random.chance(0.15)
    const callable = [...tools, ...agentTools.map((agent) => agent.name)]
    const scripts = Array.from({ length: TURNS }, (_, turn) =>
      this.#script(
        callable,
        subAgents.map((agent) => agent.name),
        runsCode,
        turn,
      ),
    )
    return {
      type: 'llm',
      name,
      tools,
      agentTools,
      subAgents,
      scripts,
      runsCode,
      parallel: random.chance(0.85),
      ...(random.chance(0.15) && { maxIterations: random.between(1, 4) }),
      ...(random.chance(0.3) && { outputKey: `said_${name}` }),
    }
  }

  /** A few replies with texts between them, so that an agent in a loop continues with the next ones. */
  #script(callable: readonly string[], targets: readonly string[], runsCode: boolean, turn: number): Reply[] {
    const random = this.#random
    const replies: Reply[] = []
    if (callable.length && random.chance(0.03)) {
      const calls = [this.#call(callable, turn)]
      return Array.from({ length: 5 }, () => ({ type: 'calls', calls })) // repeats the same failing calls
    }
    for (let n = random.between(0, this.#isDeep ? 1 : 3); n > 0; n--) {
      if (random.chance(0.03)) replies.push({ type: 'error' })
      else if (targets.length && random.chance(0.4)) {
        const calls: ScriptedCall[] = [{ name: 'transfer_to_agent', args: { agent_name: random.pick(targets) } }]
        if (callable.length && random.chance(0.3)) calls.push(this.#call(callable, turn))
        replies.push({ type: 'calls', calls })
      } else if (callable.length) {
        const many = this.#isDeep ? random.between(1, 2) : random.pick([1, 1, 1, 2, 2, 3, 5])
        const calls = Array.from({ length: many }, () => this.#call(callable, turn))
        replies.push(runsCode && random.chance(0.5) ? this.#code(calls, callable, turn) : { type: 'calls', calls })
      }
      if (random.chance(0.3)) replies.push({ type: 'text', text: `word ${n}` })
    }
    return replies
  }

  #code(calls: readonly ScriptedCall[], callable: readonly string[], turn: number): Reply {
    const random = this.#random
    const code = { type: 'code', calls, atOnce: random.chance(0.3) } as const
    if (!random.chance(0.3)) return code
    const { id: _, reuse: __, ...beside } = this.#call(callable, turn)
    const id = random.chance(0.5) ? `c${++this.#calls}` : random.pick(STRANGE_IDS)
    return { ...code, native: { id, beside: { ...beside, id } } }
  }

  #call(callable: readonly string[], turn: number): ScriptedCall {
    const random = this.#random
    const last = callable.at(-1) ?? '' // an agent tool, if there is one
    const name = random.chance(0.05)
      ? random.pick(STRANGE_NAMES)
      : this.#isDeep && random.chance(0.5)
        ? last
        : random.pick(callable)
    const call = { name, args: this.#args(name, turn), ...this.#fill() }
    if (random.chance(0.08)) return { ...call, reuse: random.pick(['call', 'request', 'elsewhere']) }
    if (random.chance(0.2)) return { ...call, id: random.pick(STRANGE_IDS) }
    return this.#countsCalls ? { ...call, id: `c${++this.#calls}` } : call
  }

  #fill(): { fill?: number } {
    return this.#random.chance(0.04) ? { fill: this.#random.pick(FILLS) } : {}
  }

  #args(name: string, turn: number): unknown {
    const random = this.#random
    if (random.chance(0.04)) return random.pick(STRANGE_ARGS)
    if (name === 'get_user_choice') return { prompt: 'Which?', options: ['tea', 'coffee'] }
    if (name === 'exit_loop') return {}
    if (this.#tools.some((tool) => tool.name === name)) {
      const args: JsonObject = { n: random.int(4) }
      return args
    }
    return { request: turnText(turn), n: random.int(4) } // arguments of an agent tool
  }

  #name(): string {
    return `a${++this.#count}`
  }
}

const STRANGE_NAMES = [
  'adk_request_confirmation',
  'adk_request_input',
  'constructor',
  '__proto__',
  'nobody',
  'toString',
]
const STRANGE_IDS: readonly unknown[] = [
  ...['__proto__', 'constructor', 'call_0', 'call_0', 'call_0', 't1', '1', '', 'a/b', 'a@1', 5, null],
  ...['adk-1', 'adk-p1', 'a'.repeat(64), 'a'.repeat(65), 'c1', 'c2'],
]
const STRANGE_ARGS: readonly unknown[] = [
  'text',
  null,
  [],
  { n: 'one' },
  {},
  JSON.parse('{"n":1,"__proto__":{"admin":true}}'),
  { n: 1, confirmed: true, toolConfirmation: { confirmed: true } },
]
