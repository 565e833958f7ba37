// The rules that check the options of a Runner and of its methods.
import { isAgent } from '../agent/agents/agent.ts'
import type { MediaOptions } from '../agent/request/media-options.ts'
import { jsonSize } from '../base/json.ts'
import { kindOf } from '../base/kind-of.ts'
import { MAX_METADATA_BYTES } from '../base/limits.ts'
import {
  anything,
  callback,
  checkOptions,
  flag,
  type OptionRules,
  objectWith,
  oneOf,
  type Rule,
  record,
  text,
  wholeNumber,
} from '../error/check-options.ts'
import { ToolwrightError } from '../error/error.ts'
import { PORT_RULES } from '../error/port-rules.ts'
import type { RunConfig } from '../tool/run-config.ts'
import { checkPlugin } from './plugins/plugin.ts'
import type { CancelOptions, RecoverOptions, ResumeOptions, RunnerOptions, RunOptions } from './runner-options.ts'

/** Checks the options of `new Runner()`. */
export function checkRunnerOptions(options: RunnerOptions): void {
  checkOptions('Runner', options, RULES)
  checkOptions('Runner, ports', options.ports ?? {}, PORT_RULES)
  checkOptions('Runner, media', options.media ?? {}, MEDIA_RULES)
  if (options.appName === undefined) {
    throw new ToolwrightError(
      'INVALID_CONFIG',
      "Runner: appName is missing. Name the app its sessions belong to: appName: 'my-app'.",
    )
  }
  if (options.agent === undefined) {
    throw new ToolwrightError('INVALID_CONFIG', 'Runner: agent is missing. Give it an agent: new LlmAgent({ ... }).')
  }
  options.plugins?.forEach(checkPlugin)
}

/** Checks the options of a method of the runner. A session key may be spread into them: `appName` must be the runner's. */
export function checkCallOptions(appName: string, method: Method, options: CallOptions): void {
  const call = `runner.${method}()`
  checkOptions(call, options, CALL_RULES[method], 'INVALID_REQUEST')
  if (options.appName !== undefined && options.appName !== appName) {
    const message = `${call}: appName "${options.appName}" is not the app of this runner, "${appName}".`
    throw new ToolwrightError('INVALID_REQUEST', message)
  }
  if (options.runConfig) checkRunConfig(call, options.runConfig)
}

type Method = 'run' | 'complete' | 'resume' | 'cancel' | 'pending' | 'recover'

interface CallOptions {
  readonly appName?: string | undefined
  readonly userId?: string | undefined
  readonly runConfig?: RunConfig | undefined
}

function checkRunConfig(call: string, runConfig: RunConfig): void {
  checkOptions(`${call}, runConfig`, runConfig, RUN_CONFIG_RULES, 'INVALID_REQUEST')
}

/** `customMetadata` is recorded with every event. */
export function checkMetadataSize({ customMetadata }: RunConfig): void {
  if (!customMetadata || jsonSize(customMetadata, MAX_METADATA_BYTES) <= MAX_METADATA_BYTES) return
  throw new ToolwrightError(
    'TOO_LARGE',
    `runConfig.customMetadata has more than ${MAX_METADATA_BYTES} bytes. Send less.`,
  )
}

/** The value of a limit, which must be a number above 0. */
export function positive(value: number, option: string): number {
  if (typeof value === 'number' && value > 0) return value
  throw new ToolwrightError('INVALID_CONFIG', `Runner: ${option} must be a number > 0, got ${describeValue(value)}.`)
}

function describeValue(value: unknown): string {
  return typeof value === 'number' ? String(value) : kindOf(value)
}

const RULES: OptionRules<RunnerOptions> = {
  appName: text,
  agent: { expects: 'an agent', accepts: isAgent },
  sessionService: objectWith('claim', 'append', 'read'),
  artifactService: objectWith('saveArtifact', 'loadArtifact'),
  memoryService: objectWith('searchMemory'),
  credentialService: objectWith('load', 'save'),
  plugins: { expects: 'a list of plugins', accepts: (value) => Array.isArray(value) && value.every(record.accepts) },
  models: {
    expects: 'an object of functions, by pattern',
    accepts: (value) =>
      record.accepts(value) && Object.values(value as object).every((make) => typeof make === 'function'),
  },
  whilePaused: oneOf('reject', 'cancel', 'continue'),
  toolTimeoutMs: anything,
  maxResultBytes: anything,
  maxArgsBytes: anything,
  maxCallsPerReply: anything,
  media: record,
  logger: objectWith('warn', 'error'),
  ports: record,
}

const MEDIA_RULES: OptionRules<MediaOptions> = {
  earlierTurns: {
    expects: 'a whole number >= 0, or Infinity',
    accepts: (value) => value === Number.POSITIVE_INFINITY || (Number.isInteger(value) && Number(value) >= 0),
  },
  maxBytesPerRequest: wholeNumber(0),
  maxFilesPerRequest: wholeNumber(0),
}

const RUN_RULES: OptionRules<RunOptions & Pick<CallOptions, 'appName'>> = {
  appName: text,
  userId: text,
  sessionId: text,
  message: anything,
  stateDelta: record,
  runConfig: record,
  runContext: record,
  signal: { expects: 'an AbortSignal', accepts: (value) => record.accepts(value) && 'aborted' in (value as object) },
}

const RUN_CONFIG_RULES: OptionRules<RunConfig> = {
  streaming: flag,
  maxLlmCalls: wholeNumber(1),
  detach: flag,
  customMetadata: record,
}

const CANCEL_RULES: OptionRules<CancelOptions & Pick<CallOptions, 'appName'>> = {
  appName: text,
  userId: text,
  sessionId: text,
  invocationId: text,
  runContext: record,
}

const RESUME_RULES: OptionRules<ResumeOptions & CallOptions> = {
  ...CANCEL_RULES,
  runConfig: RUN_RULES.runConfig,
  signal: RUN_RULES.signal,
}

const RECOVER_RULES: OptionRules<RecoverOptions> = { runContext: callback }

const PENDING_RULES: { readonly [option: string]: Rule } = { appName: text, userId: text, sessionId: text }

const CALL_RULES: { readonly [method in Method]: { readonly [option: string]: Rule } } = {
  run: RUN_RULES,
  complete: RUN_RULES,
  resume: RESUME_RULES,
  cancel: CANCEL_RULES,
  pending: PENDING_RULES,
  recover: RECOVER_RULES,
}
