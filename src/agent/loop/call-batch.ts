import type { JsonObject } from '../../base/json.ts'
import { keepShape } from '../../base/keep-shape.ts'
import { dispatch } from '../../dispatch/dispatch.ts'
import type { Batch } from '../../dispatch/host.ts'
import type { CallResult } from '../../dispatch/outcome.ts'
import { emitProgress } from '../../dispatch/progress.ts'
import type { ToolEntry, ToolTable } from '../../dispatch/resolve.ts'
import type { CallState } from '../../event/fold.ts'
import { childPath } from '../../event/scope.ts'
import type { CallContext } from '../../tool/call-context.ts'
import type { CodeExecutor } from '../../tool/code-executor.ts'
import type { Tool } from '../../tool/tool.ts'
import type { Agent } from '../agents/agent.ts'
import { type AgentMark, agentOf } from '../agents/agent-tool.ts'
import { runAgentTool } from '../agents/agent-tool-body.ts'
import type { Plan } from '../agents/agent-tree.ts'
import type { Hooks } from '../agents/callbacks.ts'
import { type Code, runCode } from '../code/code-body.ts'
import { checkFinalResult } from './check-answer.ts'
import type { RunHost, ScopeFrame } from './run-host.ts'

/** The calls of one reply of an LlmAgent, as dispatch takes them. */
export class CallBatch implements Batch {
  readonly host: RunHost
  readonly scope: ScopeFrame
  readonly table: ToolTable
  readonly calls: readonly CallState[]
  readonly #plan: Plan
  readonly #walk: (run: RunHost, agent: Agent, frame: ScopeFrame) => Promise<'done' | 'wait'>

  /** Calls of agent tools whose agent has failed. */
  #failed: Set<CallState> | undefined

  constructor(
    run: RunHost,
    frame: ScopeFrame,
    plan: Plan,
    table: ToolTable,
    calls: readonly CallState[],
    walk: (run: RunHost, agent: Agent, frame: ScopeFrame) => Promise<'done' | 'wait'>,
  ) {
    this.host = run
    this.scope = frame
    this.table = table
    this.calls = calls
    this.#plan = plan
    this.#walk = walk
  }
  get agentName(): string {
    return this.#plan.agent.name
  }
  get hooks(): Hooks {
    return this.#plan.hooks
  }
  get parallel(): boolean {
    return this.#plan.agent.options.toolExecution?.parallel !== false
  }
  get maxConcurrency(): number {
    return this.#plan.agent.options.toolExecution?.maxConcurrency ?? 8
  }
  transferProblem(target: string): { error: string; reachable: readonly string[] } | undefined {
    const { reachable } = this.#plan
    if (reachable.some(({ name }) => name === target)) return undefined
    return { error: `unknown agent ${target}; transfer not performed`, reachable: reachable.map(({ name }) => name) }
  }
  entryOf(call: CallState): ToolEntry | undefined {
    return call.isCode ? this.#plan.code : this.table.entries.get(call.name)
  }
  scopedBody(tool: Tool): ((call: CallState, args: unknown, context: CallContext) => Promise<unknown>) | undefined {
    if (tool === this.#plan.code?.tool) return (call, args, context) => this.#runCode(call, args as Code, context)
    const mark = agentOf(tool)
    if (!mark) return undefined
    return (call, args, context) => this.#runAgent(tool, mark, call, args, context)
  }
  async #runAgent(tool: Tool, mark: AgentMark, call: CallState, args: unknown, context: CallContext): Promise<unknown> {
    const { host: run, scope: frame } = this
    const isRetry = this.#failed?.has(call) ?? false
    try {
      return await runAgentTool({
        run,
        plan: this.#plan,
        frame,
        tool,
        mark,
        call,
        args,
        context,
        isRetry,
        runScope: this.#walk,
      })
    } catch (error) {
      this.#failed ??= new Set()
      this.#failed.add(call)
      throw error
    }
  }
  #runCode(call: CallState, args: Code, context: CallContext): Promise<unknown> {
    const { host: run, scope: frame, table } = this
    const { agent } = this.#plan
    const executor = agent.options.codeExecutor as CodeExecutor // what made the plan's `code`
    const answer = (calls: readonly CallState[], inner: ScopeFrame): Promise<void> =>
      dispatch(new CallBatch(run, inner, this.#plan, table, calls, this.#walk))
    return runCode({ run, executor, agentName: agent.name, frame, table, call, args, context, dispatch: answer })
  }
  checkFinal(result: CallResult): CallResult | Promise<CallResult> {
    const { output } = this.#plan.agent
    const beside = this.host.fold.scopes.get(this.scope.path)?.calls.length ?? 0
    return output ? checkFinalResult(this.#plan.agent, output, result, beside > 1) : result
  }
  groundingOf(call: CallState): JsonObject | undefined {
    const mark = call.isCode ? undefined : agentOf(this.table.tools.get(call.name))
    if (!mark?.propagateGroundingMetadata) return undefined
    return this.host.fold.answerIn(childPath(this.scope.path, mark.agent.name, call.id))?.groundingMetadata
  }
  hasBegun(tool: Tool, call: CallState): boolean {
    const mark = agentOf(tool)
    return mark !== undefined && this.host.fold.begun(childPath(this.scope.path, mark.agent.name, call.id))
  }
  readonly onProgress = (functionCallId: string, toolName: string, value: unknown): void => {
    emitProgress(this, functionCallId, toolName, value)
  }
}

keepShape(() => new CallBatch({} as RunHost, {} as ScopeFrame, {} as Plan, {} as ToolTable, [], async () => 'done'))
