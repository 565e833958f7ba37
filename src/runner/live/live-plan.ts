import { addedTools } from '../../agent/agents/added-tools.ts'
import { type AgentPlan, hasOwnTransferTool } from '../../agent/agents/agent-plan.ts'
import { LlmAgent } from '../../agent/agents/llm-agent.ts'
import { isMissingModel } from '../../agent/agents/missing-model.ts'
import type { AgentTurn } from '../../agent/loop/run-host.ts'
import { currentTools } from '../../agent/loop/run-scope.ts'
import { requestWith } from '../../agent/request/build-request.ts'
import { fitServerTools } from '../../agent/request/server-tools.ts'
import { ConsentNeeded } from '../../agent/request/toolset-credentials.ts'
import type { ToolTable } from '../../dispatch/resolve.ts'
import { RunCallbackContext } from '../../tool/callback-context.ts'
import type { LiveModel } from '../../tool/live-model.ts'
import type { ConfigTool } from '../../tool/llm-request-config.ts'
import type { Model } from '../../tool/model.ts'
import type { RunData } from '../run/run-data.ts'
import { frameOf, speakingAgent } from './live-agent.ts'
import type { LiveCallbacks } from './live-callbacks.ts'

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

  readonly #callbacks: LiveCallbacks

  constructor(run: RunData, options: LivePlanOptions, callbacks: LiveCallbacks) {
    this.#run = run
    this.#options = options
    this.#callbacks = callbacks
  }

  /**
   * The agent that speaks, or the agent with this name, for dispatch: an approved call of an agent runs with the tools of that agent,
   * also after a transfer. Agent tools without a model use `textModel`.
   */
  turn(agentName?: string): AgentTurn {
    const named = agentName === undefined ? undefined : this.#run.tree.find(agentName)
    const agent = named instanceof LlmAgent ? named : speakingAgent(this.#run)
    const plan = this.#planOf(agent)
    const table = this.#listed.get(agent) ?? plan.table
    if (this.#turn?.plan.agent !== agent || this.#turn.plan.table !== table) {
      const model = this.#textModelOf(agent)
      this.#turn = { run: this.#run, frame: frameOf(this.#run), plan: { ...plan, table, model } }
    }
    return this.#turn
  }

  /** Can the instruction and the tools of the agent not change while it speaks? */
  get isConstant(): boolean {
    const agent = speakingAgent(this.#run)
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
    const agent = speakingAgent(this.#run)
    const turn: AgentTurn = { run: this.#run, frame: frameOf(this.#run), plan: this.#planOf(agent) }
    const table = await this.#list(turn)
    this.#listed.set(agent, table)
    this.#run.progress.tables ??= new Map()
    this.#run.progress.tables.set(agent, table)
    const context = new RunCallbackContext(this.#run, agent.name, undefined)
    const { beforeModel } = turn.plan.hooks
    // the conversation is on the connection; only callbacks read it
    const contents = beforeModel.length ? this.#run.view.history(agent.name, turn.frame) : []
    const request = await requestWith(contents, { ...turn, context }, table)
    await this.#callbacks.beforeModel({ ...turn, context }, request)
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
