import { ToolwrightError } from '../../../core/error/error.ts'
import { addedTools } from '../../agent/agents/added-tools.ts'
import { type AgentPlan, hasOwnTransferTool } from '../../agent/agents/agent-plan.ts'
import { LlmAgent } from '../../agent/agents/llm-agent.ts'
import { isMissingModel } from '../../agent/agents/missing-model.ts'
import { afterAgent, beforeAgent } from '../../agent/loop/agent-callbacks.ts'
import { activeAgent } from '../../agent/loop/next.ts'
import type { AgentTurn, ScopeFrame } from '../../agent/loop/run-host.ts'
import { currentTools } from '../../agent/loop/run-scope.ts'
import { requestWith } from '../../agent/request/build-request.ts'
import { fitServerTools } from '../../agent/request/server-tools.ts'
import { ConsentNeeded } from '../../agent/request/toolset-credentials.ts'
import { RunCallbackContext } from '../../context/callback-context.ts'
import type { ToolTable } from '../../dispatch/resolve.ts'
import type { LiveModel } from '../../model/live-model.ts'
import type { ConfigTool } from '../../model/llm-request-config.ts'
import type { Model } from '../../model/model.ts'
import type { RunData } from '../run/run-data.ts'
import { blocked, checkSetup } from './live-callbacks.ts'

/** The models of a live session. */
export interface LivePlanOptions {
  /** The live model. */
  readonly model: LiveModel
  /** The model of agent tools without their own. Default: the model of the agent that calls them. */
  readonly textModel: Model | undefined
}

/** What a connection to the live model is set up with. */
export interface LiveSetup {
  /** The system instruction of the agent that speaks, without that of a phase. */
  readonly instruction: string | undefined
  /** Declarations and server tools. */
  readonly tools: readonly ConfigTool[]
  /** The tools that the model may call. */
  readonly table: ToolTable
}

/** The tools and the instruction of the agent that speaks, for a live model. */
export class LivePlan {
  readonly #run: RunData
  readonly #options: LivePlanOptions
  readonly #plans: Map<LlmAgent, AgentPlan> = new Map()
  /** Tools as last listed, by agent. */
  readonly #listed: Map<LlmAgent, ToolTable> = new Map()
  /** The latest result of `turn()`. */
  #turn: AgentTurn | undefined
  #liveAsText: Model | undefined
  /** The latest result of `agent()`, and the name that the log had for it. */
  #latest: { readonly name: string | undefined; readonly agent: LlmAgent } | undefined
  /** The agent whose `beforeAgent` was called last. */
  #speaking: LlmAgent | undefined
  /** The scope of the session: that of the root agent. */
  readonly frame: ScopeFrame

  constructor(run: RunData, options: LivePlanOptions) {
    this.#run = run
    this.#options = options
    this.frame = { path: run.tree.root.name, tree: run.tree, operation: run.operation }
  }

  /** The live model. */
  get model(): LiveModel {
    return this.#options.model
  }

  /** The agent that speaks: the root agent, or the target of the latest transfer. A workflow agent cannot: it has no model. */
  agent(): LlmAgent {
    const { tree, fold, progress } = this.#run
    const scope = fold.scopes.get(this.frame.path)
    const name = scope?.active ?? scope?.speakers[0]?.name // another one speaks only if this changes
    if (this.#latest && this.#latest.name === name) return this.#latest.agent
    const { agent } = activeAgent(tree.root, { fold, tree, progress }, this.frame.path)
    if (agent instanceof LlmAgent) {
      this.#latest = { name, agent }
      return agent
    }
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `Agent "${agent.name}" cannot speak in a live session: it is not an LlmAgent. Use an LlmAgent, and pass workflow agents as tools with agentTool().`,
    )
  }

  /** Does the agent that speaks, or the one before it, have callbacks for the change? */
  get hasChange(): boolean {
    const { tree } = this.#run
    const before = this.#speaking && tree.hooks(this.#speaking).afterAgent
    return Boolean(before?.length || tree.hooks(this.agent()).beforeAgent.length)
  }

  /** The agent begins to speak: `afterAgent` of the one before, then `beforeAgent`. Throws if a callback answers instead of it. */
  async enter(): Promise<void> {
    const agent = this.agent()
    if (agent === this.#speaking) return
    await this.leave()
    this.#speaking = agent
    const { tree } = this.#run
    if (tree.hooks(agent).beforeAgent.length && (await beforeAgent(this.#run, agent, this.frame)))
      throw blocked('beforeAgent', agent.name, 'returned content')
  }

  /** The agent no longer speaks. Content of `afterAgent` is recorded, not spoken. */
  async leave(): Promise<void> {
    const agent = this.#speaking
    this.#speaking = undefined
    if (agent && this.#run.tree.hooks(agent).afterAgent.length) await afterAgent(this.#run, agent, this.frame)
  }

  /**
   * The agent that speaks, or the agent with this name, for dispatch: an approved call of an agent runs with the tools of that agent,
   * also after a transfer. Agent tools without a model use `textModel`.
   */
  turn(agentName?: string): AgentTurn {
    const latest = this.#turn?.plan.agent
    const isLatest = agentName !== undefined && agentName === latest?.name
    const named = agentName === undefined || isLatest ? latest : this.#run.tree.find(agentName)
    const agent = agentName !== undefined && named instanceof LlmAgent ? named : this.agent()
    const plan = this.#planOf(agent)
    const table = this.#listed.get(agent) ?? plan.table
    if (this.#turn?.plan.agent !== agent || this.#turn.plan.table !== table) {
      const model = this.#textModelOf(agent)
      this.#turn = { run: this.#run, frame: this.frame, plan: { ...plan, table, model } }
    }
    return this.#turn
  }

  /** Can the instruction and the tools of the agent not change while it speaks? */
  get isConstant(): boolean {
    const agent = this.agent()
    const { constantInstruction, table, hooks } = this.#planOf(agent)
    const { processors, changeable } = table
    if (hooks.beforeModel.length > 0) return false
    return constantInstruction !== undefined && agent.dynamicTools.length + processors.length + changeable.length === 0
  }

  /**
   * Lists the tools of the agent and builds its instruction. A toolset that needs a credential of the user is left out until the
   * request that this records is answered.
   */
  async setup(): Promise<LiveSetup> {
    const agent = this.agent()
    const turn: AgentTurn = { run: this.#run, frame: this.frame, plan: this.#planOf(agent) }
    const table = await this.#list(turn)
    this.#listed.set(agent, table)
    this.#run.progress.tables ??= new Map()
    this.#run.progress.tables.set(agent, table)
    const context = new RunCallbackContext(this.#run, agent.name, undefined)
    const { beforeModel } = turn.plan.hooks
    // the conversation is on the connection; only callbacks read it
    const { history } = agent.options
    const contents = beforeModel.length ? this.#run.view.history(agent.name, turn.frame, { history }) : []
    const request = await requestWith(contents, { ...turn, context }, table)
    if (beforeModel.length) await checkSetup({ ...turn, context }, request)
    const { config } = request
    const actions = context.take()
    if (actions) {
      const { recorder } = this.#run
      await recorder.commit([{ event: recorder.draft(agent.name, turn.frame, undefined, actions) }])
    }
    return { instruction: config.systemInstruction, tools: config.tools ?? [], table }
  }

  async #list(turn: AgentTurn): Promise<ToolTable> {
    try {
      return await currentTools(turn)
    } catch (error) {
      if (!(error instanceof ConsentNeeded)) throw error
      await this.#run.recorder.commit(error.entries)
      return turn.plan.table
    }
  }

  /** The plan of an agent whose model is the live model. It has no output schema: speech has no shape. */
  #planOf(agent: LlmAgent): AgentPlan {
    let plan = this.#plans.get(agent)
    if (!plan) {
      const { tree } = this.#run
      const inText = tree.plan(agent)
      const model = asModel(this.#options.model)
      const transferTo = hasOwnTransferTool(agent) ? [] : inText.reachable
      const added = addedTools({ transferTo, output: undefined, mode: undefined })
      const table = fitServerTools(agent.tableWith(added, inText.reachable), model, agent.name)
      tree.prepareTools(table, this.#textModelOf(agent))
      plan = { ...inText, model, table, output: undefined }
      this.#plans.set(agent, plan)
    }
    return plan
  }

  /** The model of agent tools without their own: `textModel`, or the model that the calling agent has in text runs. */
  #textModelOf(agent: LlmAgent): Model {
    const { textModel, model } = this.#options
    const inText = textModel ?? this.#run.tree.plan(agent).model
    if (!isMissingModel(inText)) return inText
    this.#liveAsText ??= asModel(model) // one object: trees of agent tools are kept by model
    return this.#liveAsText
  }
}

/** A live model as the planner sees models: it has a name and capabilities, but cannot generate. */
export function asModel({ name, capabilities }: LiveModel): Model {
  return {
    name,
    ...(capabilities && { capabilities }),
    // biome-ignore lint/correctness/useYield: it always throws
    async *generate() {
      throw new Error(
        `Model "${name}" is a live model and cannot answer text requests. Give the agent a model, or pass textModel to connectLive().`,
      )
    },
  }
}
