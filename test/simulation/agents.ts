// Creates the agents and tools of a plan. Each process creates its own.
import {
  type Agent,
  agentTool,
  type CodeExecutor,
  cached,
  concurrency,
  exitLoop,
  getUserChoice,
  type JsonObject,
  LlmAgent,
  LoopAgent,
  ParallelAgent,
  retry,
  SequentialAgent,
  type Tool,
  type ToolContext,
  timeout,
  tool,
} from 'toolwright'
import type { Outside } from './outside.ts'
import { type AgentSpec, needsApproval, type Plan, type ScriptedCall, type ToolSpec } from './plan.ts'
import { type Asked, filledArgs, scriptModel } from './script-model.ts'

/** What agents and tool bodies need from their process. */
export interface Surroundings extends Asked {
  readonly process: string
  readonly outside: Outside
  turn(says: string): Promise<void>
  sleep(ms: number): Promise<void>
  /** An injected bug: tools lack the `cancel` of the plan. */
  readonly forgetsCancel: boolean
}

export function makeAgent(plan: Plan, around: Surroundings): Agent {
  const tools = new Map<string, Tool>(plan.tools.map((spec) => [spec.name, makeTool(spec, around)]))
  tools.set('exit_loop', exitLoop())
  tools.set('get_user_choice', getUserChoice())
  return makeOne(plan.root, tools, around)
}

function makeOne(spec: AgentSpec, tools: ReadonlyMap<string, Tool>, around: Surroundings): Agent {
  const make = (one: AgentSpec): Agent => makeOne(one, tools, around)
  const { name } = spec
  switch (spec.type) {
    case 'sequential':
      return new SequentialAgent({ name, subAgents: spec.children.map(make) })
    case 'parallel':
      return new ParallelAgent({ name, subAgents: spec.children.map(make) })
    case 'loop':
      return new LoopAgent({ name, subAgents: spec.children.map(make), maxIterations: spec.rounds })
    default:
      return new LlmAgent({
        name,
        model: scriptModel(spec, around),
        tools: [
          ...spec.tools.map((one) => tools.get(one) as Tool),
          ...spec.agentTools.map((one) => withPolicies(agentTool(make(one)))),
        ],
        subAgents: spec.subAgents.map(make),
        outputKey: spec.outputKey,
        codeExecutor: spec.runsCode ? codeExecutor(around) : undefined,
        toolExecution: { parallel: spec.parallel },
        maxIterations: spec.maxIterations,
      })
  }
}

/**
 * Adds policies that depend on the name of the tool, so that every process and every run of a seed creates the same
 * tool.
 */
function withPolicies(helper: Tool): Tool {
  switch (Number(/\d+/.exec(helper.name)?.[0] ?? 0) % 3) {
    case 1:
      return retry(timeout(helper, 1_200), { attempts: 2, delayMs: 0 })
    case 2:
      return concurrency(cached(helper, { scope: 'invocation' }), 1)
    default:
      return helper
  }
}

// one object for all tools, so that the schema is compiled once
const parameters: JsonObject = {
  type: 'object',
  properties: { n: { type: 'number' }, note: { type: 'string' } },
  required: ['n'],
}

const nameSchema = { type: 'string' } as const

function makeTool(spec: ToolSpec, around: Surroundings): Tool {
  const { name, effect, gate, editable, sequential, timeoutMs, expiresInMs } = spec
  return tool({
    name,
    description: `Does ${name}`,
    parameters,
    effect,
    sequential,
    timeoutMs,
    expiresInMs,
    allowEditedArgs: editable,
    isLongRunning: gate === 'longRunning',
    requiresConfirmation: gate === 'flag' ? true : predicateOf(spec),
    reconcile: ({ args, context }) => {
      const status = around.outside.hasHappened(context) ? 'done' : 'not-done'
      around.outside.write('reconciled', around.process, spec, context, args as JsonObject, { found: status })
      return status === 'done' ? { status, result: { ok: name, reconciled: true } } : { status }
    },
    run: (args, context) => body(spec, around, args as JsonObject, context),
    ...(spec.cancel && !around.forgetsCancel && { cancel: cancelOf(spec, around) }),
  })
}

function cancelOf(spec: ToolSpec, { outside, process, turn }: Surroundings): NonNullable<Tool['cancel']> {
  return async ({ handle, args, context }) => {
    outside.write('cancelled', process, spec, context, args as JsonObject, { handle })
    if (spec.cancel === 'hang') return await new Promise(() => {})
    await turn(`${spec.name} cancels`)
    if (spec.cancel === 'throw') throw new Error(`${spec.name} cannot be cancelled.`)
  }
}

function predicateOf(spec: ToolSpec): ((args: unknown) => boolean | Promise<boolean>) | undefined {
  if (spec.gate === 'predicate') return (args) => needsApproval(spec, args as JsonObject)
  if (spec.gate !== 'broken') return undefined
  return (args) => {
    if ((args as JsonObject).n === 0) throw new Error('The predicate is broken.')
    return undefined as unknown as boolean // invalid on purpose
  }
}

async function body(
  spec: ToolSpec,
  { process, outside, turn, sleep, limits }: Surroundings,
  args: JsonObject,
  context: ToolContext,
): Promise<unknown> {
  const { name, gate, does } = spec
  const write = (step: 'began' | 'effect' | 'ended' | 'stopped', writes?: JsonObject): void =>
    outside.write(step, process, spec, context, args, {
      ...(writes && { writes }),
      ...(context.toolConfirmation && { confirmed: context.toolConfirmation.confirmed }),
    })
  write('began')
  if (gate === 'longRunning') context.signal.addEventListener('abort', () => write('stopped'), { once: true })
  for (let n = 0; n < spec.before; n++) await turn(`${name} works`)
  if (gate === 'body' && !context.toolConfirmation?.confirmed) {
    context.requestConfirmation({ hint: `Really ${name}?` })
    return undefined
  }
  if (gate === 'input') {
    const given = context.requestInput<string>({ key: 'name', message: 'Your name?', schema: nameSchema })
    if (given === undefined) return undefined
  }
  if (does === 'hang') return await new Promise(() => {})
  if (does === 'dawdle') await sleep(1_500)
  const writes: JsonObject = {}
  for (const key of spec.writes) writes[key] = `${name} of ${context.functionCallId}`
  for (const key of spec.writes) context.state.set(key, writes[key])
  if (spec.effect !== 'none') write('effect')
  if (does === 'throw') throw new Error(`${name} broke.`)
  for (let n = 0; n < spec.after; n++) await turn(`${name} works on`)
  write('ended', writes)
  if (gate === 'longRunning') return { ticket: context.functionCallId }
  const { resultFill } = spec
  return { ok: name, n: args.n, ...(resultFill && { text: 'x'.repeat(resultFill * limits.resultBytes) }) }
}

/** Runs "code" that consists of a list of calls. */
function codeExecutor({ turn, limits }: Surroundings): CodeExecutor {
  return {
    languages: ['js'],
    callsTools: true,
    async execute({ code, callTool }) {
      const { calls, atOnce } = JSON.parse(code) as { calls: ScriptedCall[]; atOnce: boolean }
      const make = async (call: ScriptedCall): Promise<string> => {
        await turn('code works')
        if (!callTool) return 'no tools'
        return await callTool(call.name, filledArgs(call, limits) as JsonObject).then(
          () => 'ok',
          (error: unknown) => String(error),
        )
      }
      const said: string[] = []
      if (atOnce) said.push(...(await Promise.all(calls.map(make))))
      else for (const call of calls) said.push(await make(call))
      return { outcome: 'OK', output: said.join('\n') }
    },
  }
}
