import { isRecord, type JsonObject, jsonSize, setOwn } from '../base/json.ts'
import { keepShape } from '../base/keep-shape.ts'
import { kindOf } from '../base/kind-of.ts'
import { clip, MAX_METADATA_BYTES, MAX_NAME_LENGTH } from '../base/limits.ts'
import type { Part } from '../content/content.ts'
import { ToolwrightError } from '../error/error.ts'
import type { EventActions } from '../event/event.ts'
import type { MemoryEntry } from '../memory/service.ts'
import type { StateReader } from '../session/service.ts'
import type { CallbackContext, Invocation } from './context.ts'
import type { InvocationHost } from './host.ts'
import { AgentInvocation, artifactKey, requireArtifacts } from './invocation.ts'
import { type RunContext, requireRunContext } from './run-context.ts'
import { plainDelta, WritableState } from './state.ts'

/** What callbacks get; parts are made when first used, because most callbacks use none. */
export class RunCallbackContext implements CallbackContext {
  readonly #host: InvocationHost
  readonly #agentName: string
  readonly #branch: string | undefined
  readonly #under: StateReader | undefined
  #invocation: Invocation | undefined
  #state: WritableState | undefined
  #actions: EventActions | undefined
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
  get actions(): EventActions {
    this.#actions ??= {}
    return this.#actions
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
  #announce(filename: string, version: number): void {
    this.#artifactDelta ??= {}
    setOwn(this.#artifactDelta, filename, version)
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
  add({ stateDelta, artifactDelta, ...actions }: EventActions): void {
    for (const key of Object.keys(stateDelta ?? {})) this.state.set(key, stateDelta?.[key])
    for (const name of Object.keys(artifactDelta ?? {})) this.#announce(name, artifactDelta?.[name] ?? 0)
    Object.assign(this.actions, actions)
  }
  /** Hands over what was written, once: it rides on the next event. Undefined when nothing was. */
  take(): EventActions | undefined {
    const stateDelta = this.#state?.take()
    const actions = this.#actions
    const artifactDelta = this.#artifactDelta
    if (!stateDelta && !actions && !artifactDelta) return undefined
    this.#actions = undefined
    this.#artifactDelta = undefined
    const taken: EventActions = { ...actions }
    if (taken.stateDelta) taken.stateDelta = plainDelta(taken.stateDelta) // written by hand
    if (stateDelta) taken.stateDelta = { ...taken.stateDelta, ...stateDelta }
    if (artifactDelta) taken.artifactDelta = { ...taken.artifactDelta, ...artifactDelta }
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

keepShape(() => new RunCallbackContext({} as InvocationHost, '', undefined))
