// Runs a recorded conversation again: models and bodies give what they gave, everything between them is the code of today.
import { setOwn } from '../../../core/base/json.ts'
import type { Ports } from '../../../core/base/ports.ts'
import type { Part } from '../../../core/content/content.ts'
import { ToolError } from '../../../core/error/error.ts'
import type { Event, NewEntry, RequestRecord } from '../../../core/event/event.ts'
import type { PendingRequest } from '../../../core/event/pending-request.ts'
import type { Model } from '../../../engine/model/model.ts'
import type { Runner } from '../../../engine/runner/runner.ts'
import { overrideTool } from '../../../engine/tool/override-tool.ts'
import type { Middleware, Tool } from '../../../engine/tool/tool.ts'
import { EXITS_LOOP } from '../../../engine/tool/tool-marks.ts'
import type { Toolset } from '../../../engine/tool/toolset.ts'
import { wrapToolset } from '../../../engine/tool/wrap-toolset.ts'
import { refusedCode } from '../parts/refused-code.ts'
import type { Replacements } from '../parts/replace-parts.ts'
import { StepRecorder } from '../recording/digests.ts'
import { toRecordedId, withRecordedIds, withReplayedIds } from '../recording/recorded-ids.ts'
import { openRecordedLog, type RecordedLog } from '../recording/recorded-log.ts'
import { RecordedResults } from '../recording/recorded-result.ts'
import { describeTool, recordedGate, toolOfRecording } from '../recording/recorded-tool.ts'
import {
  type RecordedModel,
  type RecordedTool,
  type Recording,
  recordedModel,
  recordedToolset,
} from '../recording/recording.ts'
import { ReplayOrder } from './replay-order.ts'

/** Where a recording gets what a log does not tell. */
export interface RecordingSource {
  /** The model of an agent. */
  model(given: Model | string, agent: string): Model
}

/** One replay of a recording. */
export class Replay {
  /** What was done. */
  readonly steps: StepRecorder = new StepRecorder()
  /** The models of the agents. */
  readonly models: { [agent: string]: RecordedModel } = {}
  /** The tools of remote toolsets. */
  readonly toolsets: { [toolset: string]: readonly RecordedTool[] } = {}
  readonly #recording: Recording
  readonly #source: RecordingSource | undefined
  readonly #log: RecordedLog
  readonly #results = new RecordedResults()
  readonly #order = new ReplayOrder()
  /** How many replies each scope has had. */
  readonly #used: Map<string, number> = new Map()
  /** The clock of the recording, in milliseconds, and when it was set. */
  #clock = { at: 0, since: performance.now() }

  /** `source`: the models and remote toolsets of the agent, to record what requests depend on. Default: those of the recording. */
  constructor(recording: Recording, source?: RecordingSource) {
    this.#recording = recording
    this.#source = source
    this.#log = openRecordedLog(recording)
  }

  /** Times of a replay are those of the recording, so that requests expire as they did. */
  readonly ports: Partial<Ports> = { now: () => this.#clock.at + performance.now() - this.#clock.since }

  /** The parts that a replay replaces. */
  readonly parts: Replacements = {
    model: (given, agent) => this.#model(given, agent),
    tool: (given) => this.#tool(given),
    toolset: (given) => this.#toolset(given),
    code: (given) => refusedCode(given, () => 'A replay runs no code.'),
  }

  /** Sends what the user sent. Ends early where the replay does not wait for what was answered. */
  async drive(runner: Runner, signal: AbortSignal): Promise<void> {
    const { userId, sessionId, appName, state } = this.#recording
    await runner.sessionService.createSession({ appName, userId, sessionId, state })
    for (const event of this.#log.ofUser) {
      this.#clock = { at: Math.max(event.timestamp * 1000, this.ports.now?.() ?? 0), since: performance.now() }
      if (!(await this.#send(runner, event, signal)) || signal.aborted) return
    }
  }

  /** The log of the replay. */
  async entries(runner: Runner): Promise<readonly NewEntry[]> {
    const { userId, sessionId, appName } = this.#recording
    const page = await runner.sessionService.readLog?.({ appName, userId, sessionId })
    return withRecordedIds(page?.entries ?? [])
  }

  async #send(runner: Runner, { content, actions }: Event, signal: AbortSignal): Promise<boolean> {
    const { userId, sessionId } = this.#recording
    const stateDelta = actions.stateDelta
    if (!content) {
      if (stateDelta) await runner.updateState({ userId, sessionId, stateDelta })
      return true
    }
    const message = await this.#withRequestIds(runner, content.parts)
    if (!message) return false
    await runner.complete({ userId, sessionId, message, stateDelta, signal })
    return true
  }

  /** Answers with the ids that the requests have in the replay. Undefined if the replay has no such request. */
  async #withRequestIds(runner: Runner, parts: readonly Part[]): Promise<readonly Part[] | undefined> {
    if (!parts.some(({ functionResponse }) => functionResponse)) return parts
    const { userId, sessionId } = this.#recording
    const pending = await runner.pending({ userId, sessionId })
    const recorded = new Map(this.#log.requestRecords().map((request) => [request.id, request]))
    const answers: Part[] = []
    for (const part of parts) {
      const { functionResponse } = part
      const asked = recorded.get(functionResponse?.id ?? '')
      const found = asked
        ? pending.find((one) => isSameRequest(one, asked))
        : pending.find((one) => toRecordedId(one.id) === functionResponse?.id)
      if (!found || !functionResponse) return undefined
      answers.push({ ...part, functionResponse: { ...functionResponse, id: found.id } })
    }
    return answers
  }

  #model(given: Model | string, agent: string): Model {
    const { name, capabilities } = recordedModel(this.#recording, agent) ?? this.#describe(given, agent)
    const described = { name, ...(capabilities && { capabilities }) }
    setOwn(this.models, agent, described)
    const replay = this
    return {
      ...described,
      async *generate(request, options) {
        const scope = pathOf(options)
        replay.steps.request(scope, request)
        const at = replay.#used.get(scope) ?? 0
        replay.#used.set(scope, at + 1)
        const reply = replay.#log.replies(scope)[at]
        await replay.#order.turn(replay.#log.positionOf(reply))
        if (!reply) throw new Error(`The recording has no further reply in scope "${scope}".`)
        if (reply.errorCode === 'MODEL_ERROR' && !reply.content) throw new Error(reply.errorMessage)
        yield responseOf(reply)
      },
    }
  }

  #describe(given: Model | string, agent: string): RecordedModel {
    if (typeof given !== 'string') return given
    try {
      return this.#source?.model(given, agent) ?? { name: given }
    } catch {
      return { name: given } // a replay needs no key
    }
  }

  /** The body, its policies and its credentials are replaced. Its gates, its schema and its `toModelOutput` are those of today. */
  #tool(given: Tool): Tool {
    if (EXITS_LOOP in given) return given
    const body: Middleware = async ({ tool, context }) => {
      const id = toRecordedId(context.functionCallId)
      const recorded = this.#log.body(id)
      const ended = this.steps.body(recorded?.call.path ?? '', id, tool.name)
      try {
        if (!recorded) throw new ToolError(`The recording has no call "${id}" of ${tool.name}.`)
        await this.#order.turn(this.#log.positionOf(recorded.endedBy ?? recorded.handledBy))
        return await this.#results.next(recorded, context)
      } finally {
        ended()
      }
    }
    return overrideTool(given, {
      middleware: [body],
      authConfig: undefined,
      outputSchema: undefined,
      ...recordedGate(given, this.#log),
      ...(given.cancel && { cancel: () => undefined }),
    })
  }

  /** Remote toolsets list what they listed when the conversation was recorded. They are not asked, and need no credential. */
  #toolset(given: Toolset): Toolset {
    if (!given.isRemote) return given
    const { name } = given
    const listed = recordedToolset(this.#recording, name)
    if (listed) {
      const tools = listed.map(toolOfRecording)
      return { name, listTools: () => Promise.resolve(tools) }
    }
    if (!this.#source) return { name, listTools: () => Promise.reject(notRecorded(name)) }
    return wrapToolset(given, async (toolset, context) => {
      const tools = (await toolset.listTools(context)).flatMap((tool) => describeTool(tool) ?? [])
      setOwn(this.toolsets, name, tools)
      return tools.map(toolOfRecording)
    })
  }
}

function isSameRequest(pending: PendingRequest, asked: RequestRecord): boolean {
  const { functionCallId, kind, key } = pending
  return toRecordedId(functionCallId) === asked.callId && kind === asked.kind && key === asked.key
}

function notRecorded(toolset: string): Error {
  return new Error(`The recording has no tools of toolset "${toolset}". Record the case again.`)
}

/** The scope path of a model call. */
function pathOf(options: object): string {
  return 'path' in options && typeof options.path === 'string' ? toRecordedId(options.path) : ''
}

/** The response of a model that makes this event. */
function responseOf(event: Event): object {
  const { content, finishReason, usageMetadata, groundingMetadata, citationMetadata, customMetadata } = event
  const { fallback, modelVersion, errorCode, errorMessage, interrupted } = event
  const given = { finishReason, modelVersion, usageMetadata, groundingMetadata, citationMetadata, customMetadata }
  const all = { content: content && withReplayedIds(content), ...given, fallback, errorCode, errorMessage, interrupted }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
}
