import type { JsonObject } from '../../../core/base/json.ts'
import { loadLater } from '../../../core/base/load-later.ts'
import type { CallState } from '../../../core/event/invocation-state.ts'
import { childPath } from '../../../core/event/scope.ts'
import { type BatchRules, TEXT_RULES } from '../../dispatch/batch-rules.ts'
import { dispatch } from '../../dispatch/dispatch.ts'
import type { Batch, ScopedCall, StoppableCalls } from '../../dispatch/host.ts'
import type { CallResult } from '../../dispatch/outcome.ts'
import { emitProgress } from '../../dispatch/progress.ts'
import type { ToolEntry, ToolTable } from '../../dispatch/resolve.ts'
import type { ObservedRun, Operation } from '../../observe/operation.ts'
import type { CodeExecutor } from '../../tool/code-executor.ts'
import type { Agent } from '../agents/agent.ts'
import type { AgentPlan } from '../agents/agent-plan.ts'
import { type AgentToolSettings, agentToolSettings } from '../agents/agent-tool.ts'
import type { Hooks } from '../agents/callbacks.ts'
import { escalationProblem } from '../agents/escalation-problem.ts'
import type { CodeArgs } from '../code/run-code.ts'
import { checkFinalResult } from './check-answer.ts'
import type { AgentTurn, RunHost, ScopeFrame } from './run-host.ts'

const agentTools = loadLater(() => import('../agents/run-agent-tool.ts'))
const codeRuns = loadLater(() => import('../code/run-code.ts'))

type RunScope = (run: RunHost, agent: Agent, frame: ScopeFrame) => Promise<'done' | 'wait'>

/** The tool calls of one reply of an LlmAgent, for dispatch. */
export class CallBatch implements Batch {
  readonly host: RunHost
  readonly scope: ScopeFrame
  readonly operation: Operation | undefined
  readonly agentName: string
  readonly table: ToolTable
  readonly code: ToolEntry | undefined
  readonly hooks: Hooks
  readonly calls: readonly CallState[]
  rules: BatchRules = TEXT_RULES
  bodyOf: ObservedRun | undefined = undefined
  stoppable: StoppableCalls | undefined = undefined
  readonly #plan: AgentPlan
  readonly #runScope: RunScope
  /** Calls of agent tools whose agent has failed. */
  #failed: Set<CallState> | undefined

  constructor({ run, plan, frame }: AgentTurn, table: ToolTable, calls: readonly CallState[], runScope: RunScope) {
    this.host = run
    this.scope = frame
    this.operation = frame.operation
    this.agentName = plan.agent.name
    this.table = table
    this.code = plan.code
    this.hooks = plan.hooks
    this.calls = calls
    this.#plan = plan
    this.#runScope = runScope
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
  escalationProblem(tool: ToolEntry['tool']): string | undefined {
    const problem = escalationProblem(tool, this.scope)
    if (problem === undefined) return undefined
    this.host.services.logger.warn(
      `Agent "${this.agentName}" called ${tool.name}, but runs in no loop. Put it below a LoopAgent, or remove exitLoop() from its tools.`,
    )
    return problem
  }
  runInScope(scoped: ScopedCall): Promise<unknown> {
    if (scoped.entry.kind === 'code') return this.#runCode(scoped)
    return this.#runAgent(scoped, agentToolSettings(scoped.entry.tool) as AgentToolSettings) // the cast holds: the kind is `agent`
  }
  async #runAgent(scoped: ScopedCall, settings: AgentToolSettings): Promise<unknown> {
    const { call } = scoped
    const { host: run, scope: frame } = this
    const isRetry = this.#failed?.has(call) ?? false
    try {
      const { runAgentTool } = await agentTools()
      return await runAgentTool({
        run,
        plan: this.#plan,
        frame,
        settings,
        isRetry,
        runScope: this.#runScope,
        ...scoped,
      })
    } catch (error) {
      this.#failed ??= new Set()
      this.#failed.add(call)
      throw error
    }
  }
  async #runCode({ call, args, context }: ScopedCall): Promise<unknown> {
    const { host: run, scope: frame, table } = this
    const plan = this.#plan
    const { agent } = plan
    const executor = agent.options.codeExecutor as CodeExecutor // the cast holds: an agent with a code entry has an executor
    const dispatchInside = (calls: readonly CallState[], inner: ScopeFrame): Promise<void> =>
      dispatch(new CallBatch({ run, plan, frame: inner }, table, calls, this.#runScope))
    const { runCode } = await codeRuns()
    return await runCode({
      run,
      executor,
      agentName: agent.name,
      frame,
      table,
      call,
      args: args as CodeArgs,
      context,
      dispatch: dispatchInside,
    })
  }
  checkFinal(result: CallResult): CallResult | Promise<CallResult> {
    const { output } = this.#plan.agent
    const calls = this.host.fold.scopes.get(this.scope.path)?.calls.length ?? 0
    return output ? checkFinalResult(this.#plan.agent, output, result, calls > 1) : result
  }
  hasStarted(call: CallState): boolean {
    return this.host.fold.hasStarted(this.#scopeOf(call).path)
  }
  groundingOf(call: CallState): JsonObject | undefined {
    const { settings, path } = this.#scopeOf(call)
    return settings.propagateGroundingMetadata ? this.host.fold.lastReplyIn(path)?.groundingMetadata : undefined
  }
  /** The scope of an agent tool's call, which has the kind `agent`. */
  #scopeOf(call: CallState): { settings: AgentToolSettings; path: string } {
    const settings = agentToolSettings(this.table.tools.get(call.name)) as AgentToolSettings
    return { settings, path: childPath(this.scope.path, settings.agent.name, call.id) }
  }
  readonly onProgress = (functionCallId: string, toolName: string, value: unknown): void => {
    emitProgress(this, functionCallId, toolName, value)
  }
}
