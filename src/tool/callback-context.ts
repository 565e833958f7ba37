import { isRecord, type JsonObject, jsonSize, setOwn } from '../base/json.ts'
import { kindOf } from '../base/kind-of.ts'
import { clip, MAX_METADATA_BYTES, MAX_NAME_LENGTH } from '../base/limits.ts'
import { registerShape } from '../base/object-shapes.ts'
import type { Part } from '../content/content.ts'
import { ToolwrightError } from '../error/error.ts'
import type { EventActions } from '../event/event.ts'
import type { MemoryEntry } from '../memory/service.ts'
import type { StateReader } from '../session/service.ts'
import { type ControlActions, checkControl, createActions, type RequestedActions } from './actions.ts'
import { AgentInvocation, artifactKey, requireArtifacts } from './agent-invocation.ts'
import type { Actions, CallbackContext, Invocation } from './context.ts'
import type { InvocationHost } from './invocation-host.ts'
import { type RunContext, requireRunContext } from './run-context.ts'
import { WritableState } from './state.ts'

/** What callbacks get; parts are made when first used, because most callbacks use none. */
export class RunCallbackContext implements CallbackContext {
  readonly #host: InvocationHost
  readonly #agentName: string
  readonly #branch: string | undefined
  readonly #under: StateReader | undefined
  #invocation: Invocation | undefined
  #state: WritableState | undefined
  #actions: Actions | undefined
  #control: ControlActions | undefined
  #artifactDelta: { [filename: string]: number } | undefined

  constructor(host: InvocationHost, agentName: string, branch: string | undefined, under?: StateReader) {
    this.#host = host
    this.#under = under
    this.#agentName = agentName
    this.#branch = branch
  }
  get invocation(): Invocation {
    this.#invocation ??= new AgentInvocation(this.#host, this.#agentName, this.#branch)
    return this.#invocation
  }
  get runContext(): RunContext {
    return requireRunContext(this.#host)
  }
  get state(): WritableState {
    this.#state ??= new WritableState(this.#under ?? this.#host.state)
    return this.#state
  }
  get actions(): Actions {
    this.#actions ??= this.viewActions()
    return this.#actions
  }
  /** What was written so far. `requested`: what a call asks; without it, this is a callback's. */
  viewActions(requested?: () => RequestedActions): Actions {
    const writes = this
    return createActions({
      get state() {
        return writes.state
      },
      get artifactDelta() {
        return writes.#artifactDelta
      },
      get control() {
        return writes.#control
      },
      get requested() {
        return requested?.() ?? {}
      },
      isCall: requested !== undefined,
      recordArtifact: (filename, version) => writes.#announce(filename, version),
      setControl: (field, value) => writes.setControl(field, value),
    })
  }
  setControl(field: keyof ControlActions, value: unknown): void {
    const checked = checkControl(field, value)
    const { [field]: _, ...others } = this.#control ?? {}
    const control = checked === undefined ? others : { ...others, [field]: checked }
    this.#control = Object.keys(control).length ? control : undefined
  }
  async saveArtifact(
    filename: string,
    artifact: Part,
    options?: { customMetadata?: JsonObject | undefined },
  ): Promise<number> {
    const service = requireArtifacts(this.#host)
    checkArtifact(filename, artifact, options?.customMetadata)
    const version = await service.saveArtifact({ ...artifactKey(this.#host, filename), artifact, ...options })
    this.#announce(filename, version)
    return version
  }
  #announce(filename: string, version: number | undefined): void {
    this.#artifactDelta ??= {}
    if (version !== undefined) {
      setOwn(this.#artifactDelta, filename, version)
      return
    }
    delete this.#artifactDelta[filename]
    if (Object.keys(this.#artifactDelta).length === 0) this.#artifactDelta = undefined
  }
  async loadArtifact(filename: string, version?: number): Promise<Part | undefined> {
    return await requireArtifacts(this.#host).loadArtifact({ ...artifactKey(this.#host, filename), version })
  }
  async listArtifacts(): Promise<string[]> {
    const { appName, userId, sessionId } = this.#host
    return await requireArtifacts(this.#host).listArtifactKeys({ appName, userId, sessionId })
  }
  async searchMemory(query: string): Promise<readonly MemoryEntry[]> {
    const { appName, userId, memoryService } = this.#host
    if (!memoryService) {
      throw new ToolwrightError(
        'INVALID_CONFIG',
        'No memory service: give the Runner a memoryService (new InMemoryMemoryService() will do) to search memory.',
      )
    }
    return (await memoryService.searchMemory({ appName, userId, query })).memories
  }
  /** Writes what another has written. */
  addActions({ stateDelta, artifactDelta, ...actions }: EventActions): void {
    for (const key of Object.keys(stateDelta ?? {})) this.state.set(key, stateDelta?.[key])
    for (const name of Object.keys(artifactDelta ?? {})) this.#announce(name, artifactDelta?.[name] ?? 0)
    if (Object.keys(actions).length) this.#control = { ...this.#control, ...actions }
  }
  /** Hands over what was written, once: it rides on the next event. Undefined when nothing was. */
  take(): EventActions | undefined {
    const stateDelta = this.#state?.takeDelta()
    const control = this.#control
    const artifactDelta = this.#artifactDelta
    if (!stateDelta && !control && !artifactDelta) return undefined
    this.#control = undefined
    this.#artifactDelta = undefined
    const taken: EventActions = { ...control }
    if (stateDelta) taken.stateDelta = stateDelta
    if (artifactDelta) taken.artifactDelta = artifactDelta
    return taken
  }
}

/** Its name is recorded in an event, its metadata is listed with it. */
function checkArtifact(filename: string, artifact: unknown, customMetadata: JsonObject | undefined): void {
  if (typeof filename !== 'string')
    throw new ToolwrightError('INVALID_REQUEST', `An artifact name must be a string, got ${kindOf(filename)}.`)
  if (!isRecord(artifact)) {
    const problem = `Artifact "${clip(filename, MAX_NAME_LENGTH)}" must be a part such as { text } or { inlineData }`
    throw new ToolwrightError('INVALID_REQUEST', `${problem}, got ${kindOf(artifact)}.`)
  }
  if (filename.length > MAX_NAME_LENGTH) {
    const problem = `An artifact name has at most ${MAX_NAME_LENGTH} characters, this one has ${filename.length}`
    throw new ToolwrightError('TOO_LARGE', `${problem}. Choose a shorter one.`)
  }
  if (customMetadata && jsonSize(customMetadata, MAX_METADATA_BYTES) > MAX_METADATA_BYTES) {
    const problem = `The customMetadata of artifact "${filename}" has more than ${MAX_METADATA_BYTES} bytes`
    throw new ToolwrightError('TOO_LARGE', `${problem}. Put it into the artifact.`)
  }
}

registerShape(() => new RunCallbackContext({} as InvocationHost, '', undefined))
