import { closestNames } from '../../../core/base/closest-names.ts'
import { canonicalJson } from '../../../core/base/json.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { Agent } from '../../../engine/agent/agents/agent.ts'
import { joinParagraphs } from '../../../engine/agent/agents/agent-plan.ts'
import { LlmAgent } from '../../../engine/agent/agents/llm-agent.ts'
import { validatePhases } from '../../../engine/flow/phases/validate-phases.ts'
import type { ConfigTool } from '../../../engine/model/llm-request-config.ts'
import type { LiveLink } from '../link/live-link.ts'
import { declareTools } from './declare-tools.ts'
import type { SessionParts } from './session-parts.ts'

/** The instruction and the tools that the model has now, and what it must be told when they change. */
export class ModelSetup {
  readonly #parts: SessionParts
  readonly #link: () => Pick<LiveLink, 'send' | 'renew'>
  /** What the model was told last. */
  #told: { readonly instruction: string; readonly tools: string; readonly serverTools: string } | undefined
  #toolNames: readonly string[] = []
  /** Settles when the model has been told what has changed. Undefined if there is nothing to tell. */
  refreshing: Promise<void> | undefined
  /** Can the instruction or the tools change without a new agent or phase? */
  changes: 'never' | 'with state' = 'never'

  /** `link`: the connection, once there is one. */
  constructor(parts: SessionParts, link: () => Pick<LiveLink, 'send' | 'renew'>) {
    this.#parts = parts
    this.#link = link
  }

  /** Can the model be told other tools while the session is live? */
  get canUpdate(): boolean {
    return this.#parts.options.model.capabilities?.updates === true
  }

  /** Instruction and tools for a new connection. */
  async read(): Promise<{ instruction: string | undefined; tools: readonly ConfigTool[] }> {
    const { instruction, tools } = await this.#current()
    this.#told = told(instruction, tools)
    return { instruction: instruction || undefined, tools }
  }

  async #current(): Promise<{ instruction: string; tools: ConfigTool[] }> {
    const { options, live, flow, background } = this.#parts
    const { instruction, tools, table } = await live.plan.setup()
    this.#toolNames = [...table.tools.keys()]
    this.changes = flow.phase !== undefined || !live.plan.isConstant ? 'with state' : 'never'
    const nonBlocking = options.model.capabilities?.nonBlocking === true
    // a model whose tools cannot change gets all functions, and calls that the phase does not allow are refused
    const allowed = this.canUpdate ? flow.allowedTools() : undefined
    return {
      instruction: joinParagraphs([instruction, options.instruction, await flow.instruction()]),
      tools: declareTools(tools, { table, allowed, background, nonBlocking }),
    }
  }

  /** Throws INVALID_CONFIG if a phase or `background` names a tool that no agent of the session has. */
  validate(): void {
    const { options, live } = this.#parts
    const { phases, initialPhase } = options
    validatePhases(phases, initialPhase, this.#toolNames)
    const known = [...new Set([...this.#toolNames, ...toolNamesBelow(live.data.tree.root)])]
    for (const name of this.#parts.background.keys()) {
      if (known.includes(name)) continue
      const [meant] = closestNames(name, known)
      const advice = meant === undefined ? `Known tools: ${known.join(', ')}.` : `Did you mean "${meant}"?`
      throw new ToolwrightError(
        'INVALID_CONFIG',
        `connectLive(): background: the session has no tool "${name}". ${advice}`,
      )
    }
  }

  /** Tells the model what has changed, after `before`. Does nothing if it knows it. */
  refresh(before?: () => Promise<void>): Promise<void> {
    const refreshing = Promise.resolve(this.refreshing)
      .then(before)
      .then(() => this.#refresh())
      .catch(this.#onFailed)
      .finally(() => {
        if (this.refreshing === refreshing) this.refreshing = undefined
      })
    this.refreshing = refreshing
    return refreshing
  }

  async #refresh(): Promise<void> {
    const link = this.#link()
    const { instruction, tools } = await this.#current()
    const before = this.#told
    this.#told = told(instruction, tools)
    const isNewInstruction = instruction !== before?.instruction
    const areNewTools = this.#told.tools !== before?.tools
    if (this.canUpdate) {
      if (!isNewInstruction && !areNewTools) return
      void link.send({ type: 'update', ...(isNewInstruction && { instruction }), ...(areNewTools && { tools }) })
    } else if (this.#told.serverTools !== before?.serverTools) void link.renew()
    else if (isNewInstruction) {
      const text = `[New instruction for this conversation. Follow it from now on.]\n${instruction}`
      void link.send({ type: 'content', contents: [{ role: 'user', parts: [{ text }] }], turnComplete: false })
    }
  }

  /** A callback that stops the agent ends the session. Of other failures the next connection knows nothing: it reads all again. */
  readonly #onFailed = (error: unknown): void => {
    if (error instanceof ToolwrightError) this.#parts.onEnd({ errorCode: 'AGENT_ERROR', error })
  }

  /** Another agent speaks. Calls the callbacks of the change first. */
  changeAgent(): void {
    const { plan } = this.#parts.live
    const enter = plan.hasChange ? () => plan.enter() : undefined
    if (this.canUpdate) void this.refresh(enter)
    else if (!enter) void this.#link().renew()
    else enter().then(() => this.#link().renew(), this.#onFailed)
  }
}

function told(instruction: string, tools: readonly ConfigTool[]) {
  const serverTools = tools.filter((entry) => !entry.functionDeclarations)
  return { instruction, tools: canonicalJson(tools), serverTools: canonicalJson(serverTools) }
}

/** The fixed tools of an agent and of the agents it may transfer to. */
function toolNamesBelow(agent: Agent): string[] {
  const own = agent instanceof LlmAgent ? [...agent.table.tools.keys()] : []
  return [...own, ...(agent.subAgents ?? []).flatMap(toolNamesBelow)]
}
