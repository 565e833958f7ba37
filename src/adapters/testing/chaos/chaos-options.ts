import type { JsonObject } from '../../../core/base/json.ts'
import { callback, checkOptions, type OptionRules, record, wholeNumber } from '../../../core/error/check-options.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { RunContext } from '../../../engine/context/run-context.ts'
import { backgroundOf } from '../../../engine/policy/background.ts'
import { requireTool } from '../../../engine/policy/check-policy.ts'
import type { Tool } from '../../../engine/tool/tool.ts'
import type { ArtifactService } from '../../../services/artifact/service.ts'
import type { CredentialService } from '../../../services/credential/service.ts'
import type { MemoryService } from '../../../services/memory/service.ts'

/** Options of `chaos()`. */
export interface ChaosOptions {
  /**
   * Returns what has happened outside so far: a list that grows with each effect, a count, or any JSON. An effect is a change of it. May
   * be async.
   */
  readonly outside: () => unknown
  /** Decides the stories, the ids and with them the idempotency keys. Default 1. */
  readonly seed?: number | undefined
  /** The arguments of every call. Default: none. */
  readonly args?: JsonObject | undefined
  /** Called before each story, to begin with a new outside. Default: stories go on with what is there. */
  readonly reset?: (() => unknown) | undefined
  /**
   * Lets the work end that the tool has started outside, and waits for it. Called at the end of each story. Needed for a tool with
   * `cancel`: work that was cancelled must change nothing then. Default: nothing goes on outside.
   */
  readonly finish?: (() => unknown) | undefined
  /** How many stories are played. Default 50. */
  readonly stories?: number | undefined
  /** The state of the session. Default: empty. */
  readonly state?: JsonObject | undefined
  /** The caller's values, as in `runner.run({ runContext })`. */
  readonly runContext?: RunContext | undefined
  /** Stores the files that the tool saves. Default: none. */
  readonly artifactService?: ArtifactService | undefined
  /** Stores credentials. Default: in memory. */
  readonly credentialService?: CredentialService | undefined
  /** The memory that the tool searches. Default: none. */
  readonly memoryService?: MemoryService | undefined
}

const RULES: OptionRules<ChaosOptions> = {
  outside: callback,
  seed: wholeNumber(0),
  args: record,
  reset: callback,
  finish: callback,
  stories: wholeNumber(1),
  state: record,
  runContext: record,
  artifactService: record,
  credentialService: record,
  memoryService: record,
}

/** Throws INVALID_CONFIG if `chaos()` cannot judge the tool. */
export function checkChaos(tool: Tool, options: ChaosOptions): void {
  requireTool('chaos', tool)
  checkOptions('chaos()', options, RULES)
  if (options.outside === undefined) throw cannotJudge(tool, 'outside is required. Return what has happened outside.')
  if (backgroundOf(tool)) throw cannotJudge(tool, 'it runs in the background. Pass the tool that background() got.')
  if (isCancellable(tool) && !options.finish)
    throw cannotJudge(tool, 'it has cancel, so finish is required. Let the work end that the tool has started outside.')
}

/** Whether the tool has work that a user can cancel. */
export function isCancellable({ isLongRunning, cancel }: Tool): boolean {
  return isLongRunning === true && cancel !== undefined
}

/** Why `chaos()` cannot judge a tool. */
export function cannotJudge({ name }: Tool, problem: string): ToolwrightError {
  return new ToolwrightError('INVALID_CONFIG', `chaos() of tool "${name}": ${problem}`)
}
