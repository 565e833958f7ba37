import { isRecord, type JsonObject, jsonSize, setOwn } from '../../core/base/json.ts'
import { kindOf } from '../../core/base/kind-of.ts'
import { clip, MAX_METADATA_BYTES, MAX_NAME_LENGTH } from '../../core/base/limits.ts'
import type { AuthConfig, AuthCredential } from '../../core/content/auth.ts'
import type { Part } from '../../core/content/content.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import type { EventActions } from '../../core/event/event.ts'
import type { CredentialOptions, CredentialOutcome } from '../../services/auth/resolve-credential.ts'
import type { MemoryEntry } from '../../services/memory/service.ts'
import type { StateReader } from '../../services/session/service.ts'
import { type ControlActions, checkControl, createActions, type RequestedActions } from './actions.ts'
import { AgentInvocation } from './agent-invocation.ts'
import type { Actions, CallbackContext, Invocation, State } from './context.ts'
import { getCredential, loadCredential, saveCredential } from './credentials.ts'
import { guardState } from './guarded-state.ts'
import type { InvocationHost } from './invocation-host.ts'
import { type RunContext, requireRunContext } from './run-context.ts'
import { requireArtifacts } from './scoped-services.ts'
import { artifactKey, saveArtifact } from './session-artifacts.ts'
import { WritableState } from './state.ts'

/** The context of agent and model callbacks. Its parts are created on first use: most callbacks need none. */
export class RunCallbackContext implements CallbackContext {
  readonly #host: InvocationHost
  readonly #agentName: string
  readonly #branch: string | undefined
  /** The state it reads. Default: the state of the host. */
  readonly #baseState: StateReader | undefined
  #invocation: Invocation | undefined
  #state: WritableState | undefined
  #guardedState: State | undefined
  #actions: Actions | undefined
  #control: ControlActions | undefined
  #artifactDelta: { [filename: string]: number } | undefined

  constructor(host: InvocationHost, agentName: string, branch: string | undefined, baseState?: StateReader) {
    this.#host = host
    this.#baseState = baseState
    this.#agentName = agentName
    this.#branch = branch
  }
  /** The invocation, as the agent sees it. */
  get invocation(): Invocation {
    this.#invocation ??= new AgentInvocation(this.#host, this.#agentName, this.#branch)
    return this.#invocation
  }
  /** The value that the app passed to this run. Throws if there is none. */
  get runContext(): RunContext {
    return requireRunContext(this.#host)
  }
  /** The state, including the writes of this context. */
  get state(): State {
    this.#guardedState ??= guardState(this.writableState)
    return this.#guardedState
  }
  /** The state for the framework, without the checks of its use as a plain object. */
  get writableState(): WritableState {
    this.#state ??= new WritableState(this.#baseState ?? this.#host.state)
    return this.#state
  }
  /** The state, artifact and control changes made through this context. */
  get actions(): Actions {
    this.#actions ??= this.viewActions()
    return this.#actions
  }
  /** Creates the value of `actions`. `requested` returns the requests of a tool call; callbacks have none. */
  viewActions(requested?: () => RequestedActions): Actions {
    const context = this
    return createActions({
      get state() {
        return context.writableState
      },
      get artifactDelta() {
        return context.#artifactDelta
      },
      get control() {
        return context.#control
      },
      get requested() {
        return requested?.() ?? {}
      },
      isCall: requested !== undefined,
      recordArtifact: (filename, version) => context.#recordArtifact(filename, version),
      setControl: (field, value) => context.setControl(field, value),
    })
  }
  /** Sets a control action. Throws if the value is invalid. */
  setControl(field: keyof ControlActions, value: unknown): void {
    const checked = checkControl(field, value)
    const { [field]: _, ...others } = this.#control ?? {}
    const control = checked === undefined ? others : { ...others, [field]: checked }
    this.#control = Object.keys(control).length ? control : undefined
  }
  /** Saves a new version of an artifact and returns its version number. */
  async saveArtifact(
    filename: string,
    artifact: Part,
    options?: { customMetadata?: JsonObject | undefined },
  ): Promise<number> {
    const service = requireArtifacts(this.#host)
    checkArtifact(filename, artifact, options?.customMetadata)
    const version = await saveArtifact(this.#host, service, filename, { artifact, ...options })
    this.#recordArtifact(filename, version)
    return version
  }
  #recordArtifact(filename: string, version: number | undefined): void {
    this.#artifactDelta ??= {}
    if (version !== undefined) {
      setOwn(this.#artifactDelta, filename, version)
      return
    }
    delete this.#artifactDelta[filename]
    if (Object.keys(this.#artifactDelta).length === 0) this.#artifactDelta = undefined
  }
  /** Loads an artifact, by default its latest version. */
  async loadArtifact(filename: string, version?: number): Promise<Part | undefined> {
    return await requireArtifacts(this.#host).loadArtifact({ ...artifactKey(this.#host, filename), version })
  }
  /** Lists the names of the artifacts. */
  async listArtifacts(): Promise<string[]> {
    const { appName, userId, sessionId } = this.#host
    return await requireArtifacts(this.#host).listArtifactKeys({ appName, userId, sessionId })
  }
  /** Searches the memory of the user. */
  async searchMemory(query: string): Promise<readonly MemoryEntry[]> {
    const { appName, userId, memoryService } = this.#host
    if (!memoryService) {
      throw new ToolwrightError(
        'INVALID_CONFIG',
        'Memory cannot be searched: the Runner has no memoryService. Pass one, such as new InMemoryMemoryService().',
      )
    }
    return (await memoryService.searchMemory({ appName, userId, query })).memories
  }
  /** Loads a credential of the user as it was saved. */
  loadCredential(key: string): Promise<AuthCredential | undefined> {
    return loadCredential(this.#host, key)
  }
  /** Saves a credential of the user. */
  saveCredential(key: string, credential: AuthCredential): Promise<void> {
    return saveCredential(this.#host, key, credential)
  }
  /** Does the user have a credential under this key? */
  async hasCredential(key: string): Promise<boolean> {
    return (await loadCredential(this.#host, key)) !== undefined
  }
  /** Returns a credential that the API accepts, or `needs-auth`. */
  async getCredential(key: string, authConfig: AuthConfig, options?: CredentialOptions): Promise<CredentialOutcome> {
    return await getCredential(this.#host, key, authConfig, options)
  }
  /** Adds the writes of another context. */
  addActions({ stateDelta, artifactDelta, ...actions }: EventActions): void {
    if (stateDelta) this.writableState.add(stateDelta)
    for (const name of Object.keys(artifactDelta ?? {})) this.#recordArtifact(name, artifactDelta?.[name] ?? 0)
    if (Object.keys(actions).length) this.#control = { ...this.#control, ...actions }
  }
  /** Returns the writes for the next event and clears them. Undefined if there are none. */
  take(): EventActions | undefined {
    const stateDelta = this.#state?.takeDelta()
    const control = this.#control
    const artifactDelta = this.#artifactDelta
    if (!stateDelta && !control && !artifactDelta) return undefined
    this.#control = undefined
    this.#artifactDelta = undefined
    const actions: EventActions = { ...control }
    if (stateDelta) actions.stateDelta = stateDelta
    if (artifactDelta) actions.artifactDelta = artifactDelta
    return actions
  }
}

/** Limits the name, which is recorded in an event, and the metadata. */
function checkArtifact(filename: string, artifact: unknown, customMetadata: JsonObject | undefined): void {
  if (typeof filename !== 'string')
    throw new ToolwrightError('INVALID_REQUEST', `An artifact name must be a string, got ${kindOf(filename)}.`)
  if (!isRecord(artifact)) {
    const problem = `Artifact "${clip(filename, MAX_NAME_LENGTH)}" must be a part such as { text } or { inlineData }`
    throw new ToolwrightError('INVALID_REQUEST', `${problem}, got ${kindOf(artifact)}.`)
  }
  if (filename.length > MAX_NAME_LENGTH) {
    const problem = `An artifact name has at most ${MAX_NAME_LENGTH} characters, got ${filename.length}`
    throw new ToolwrightError('TOO_LARGE', `${problem}. Use a shorter name.`)
  }
  if (customMetadata && jsonSize(customMetadata, MAX_METADATA_BYTES) > MAX_METADATA_BYTES) {
    const problem = `The customMetadata of artifact "${filename}" has more than ${MAX_METADATA_BYTES} bytes`
    throw new ToolwrightError('TOO_LARGE', `${problem}. Save it in the artifact instead.`)
  }
}
