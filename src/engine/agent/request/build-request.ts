import { canonicalJson, copyJson } from '../../../core/base/json.ts'
import { MEDIA_TURNS } from '../../../core/base/limits.ts'
import { showAs } from '../../../core/base/show-as.ts'
import type { Content } from '../../../core/content/content.ts'
import type { ScopePath } from '../../../core/event/scope.ts'
import { readonlyContext } from '../../context/readonly-context.ts'
import type { ToolTable } from '../../dispatch/resolve.ts'
import { isAllowed, isPhaseScope, type RunPhases } from '../../dispatch/run-phases.ts'
import type { LlmRequest } from '../../model/llm-request.ts'
import type { ConfigTool, LlmRequestConfig } from '../../model/llm-request-config.ts'
import type { Tool } from '../../tool/tool.ts'
import { joinParagraphs } from '../agents/agent-plan.ts'
import type { LlmAgent } from '../agents/llm-agent.ts'
import type { ModelTurn, RunHost } from '../loop/run-host.ts'
import { fillInstruction } from './instruction.ts'
import { applyPhase, dropServerTools } from './phase-request.ts'
import { findLoaderName, withMedia } from './request-media.ts'

/** A request to a model that tools and callbacks may change. */
export class Request implements LlmRequest {
  static {
    // a hand-written tool may hold secrets
    showAs(Request.prototype, 'LlmRequest', ({ model, contents, config, tools }) => ({
      model,
      contents,
      config,
      tools: [...tools.keys()],
    }))
  }
  model?: string
  contents: Content[]
  config: LlmRequestConfig
  readonly tools: ReadonlyMap<string, Tool>
  constructor(model: string, contents: Content[], config: LlmRequestConfig, tools: ReadonlyMap<string, Tool>) {
    this.model = model
    this.contents = contents
    this.config = config
    this.tools = tools
  }
  appendInstruction(text: string): void {
    this.config.systemInstruction = joinParagraphs([this.config.systemInstruction, text])
  }
  appendConfigTool(entry: ConfigTool): void {
    const tools = this.config.tools ?? []
    const text = canonicalJson(entry)
    if (!tools.some((one) => canonicalJson(one) === text)) this.config.tools = [...tools, entry]
  }
}

/** Builds the request of one model call: history, media, instruction, declarations, and what tools add to it. */
export function buildRequest(turn: ModelTurn, table: ToolTable): LlmRequest | Promise<LlmRequest> {
  const { run, frame } = turn
  const { phases } = run
  return phases && isPhaseScope(run.fold, frame.isolation) ? buildInPhase(turn, table, phases) : build(turn, table)
}

async function buildInPhase(turn: ModelTurn, table: ToolTable, phases: RunPhases): Promise<LlmRequest> {
  await phases.settle()
  return await applyPhase(await build(turn, table), phases)
}

function build(turn: ModelTurn, table: ToolTable): LlmRequest | Promise<LlmRequest> {
  const { run, plan, frame } = turn
  const contents = contentsFor(run.view, plan.agent, frame)
  if (!run.view.hasMedia) return requestWith(contents, turn, table)
  const { name, options } = plan.agent
  const loader = findLoaderName(table.tools)
  const earlierTurns = run.services.media.earlierTurns ?? (loader === undefined ? MEDIA_TURNS : 0)
  const from = run.view.turnStart(name, frame, options, earlierTurns)
  return withMedia(run, contents, from, loader).then((loaded) => requestWith(loaded, turn, table))
}

/** Builds a request with these contents: instruction, declarations, and what tools add to it. */
export function requestWith(contents: Content[], turn: ModelTurn, table: ToolTable): LlmRequest | Promise<LlmRequest> {
  const { plan } = turn
  const { agent, model, output } = plan
  const config: LlmRequestConfig = { ...agent.options.generateContentConfig }
  const mayChange = table.processors.length > 0 || plan.hooks.beforeModel.length > 0
  if (table.hasDeclarations) {
    const declared = table.declaredTools ?? table.declare()
    config.tools = mayChange ? declared.map(copyConfigTool) : declared
  }
  if (output === 'native' && agent.output) {
    config.responseJsonSchema = agent.output.jsonSchema
    config.responseMimeType = 'application/json'
  }
  // callbacks and tools may change the request in place: without a copy they would change the log or other requests
  const request = new Request(model.name, mayChange ? copyJson(contents) : contents, config, table.tools)
  if (!plan.constantInstruction || table.processors.length) return complete(turn, table, request)
  if (plan.constantInstruction.text) config.systemInstruction = plan.constantInstruction.text
  return request
}

function copyConfigTool(entry: ConfigTool): ConfigTool {
  if (!('functionDeclarations' in entry) || !entry.functionDeclarations) return { ...entry }
  return { ...entry, functionDeclarations: entry.functionDeclarations.map((declaration) => ({ ...declaration })) }
}

/** Adds the instruction, and lets tools change the request. */
async function complete(turn: ModelTurn, table: ToolTable, request: Request): Promise<LlmRequest> {
  const { run, plan, frame, context } = turn
  const { agent, globalInstruction, addedInstruction } = plan
  const readContext = readonlyContext(run, agent.name, frame.branch)
  const text =
    plan.constantInstruction?.text ??
    joinParagraphs([
      await fillInstruction(globalInstruction, readContext),
      await fillInstruction(agent.options.instruction, readContext),
      addedInstruction,
    ])
  if (text) request.config.systemInstruction = text
  const allowed = run.phases && isPhaseScope(run.fold, frame.isolation) ? run.phases.allowedTools() : undefined
  for (const tool of table.processors) {
    const before = isAllowed(allowed, tool.name) ? undefined : [...(request.config.tools ?? [])]
    await tool.processLlmRequest?.(request, context)
    if (before) dropServerTools(request, before)
  }
  return request
}

/** What the model of an agent sees of a log, before tools and callbacks change it. Files are references. */
export function contentsFor(
  view: RunHost['view'],
  agent: Pick<LlmAgent, 'name' | 'options'>,
  frame: ScopePath,
): Content[] {
  const contents = view.history(agent.name, frame, agent.options)
  const last = contents.at(-1)
  if (!last) contents.push({ role: 'user', parts: [{ text: 'Do what your instructions say.' }] })
  else if (last.role === 'model') contents.push({ role: 'user', parts: [{ text: 'Continue as instructed.' }] })
  return contents
}
