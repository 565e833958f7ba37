// The rules that check the options of a Runner.

import { kindOf } from '../../core/base/kind-of.ts'
import {
  anything,
  callback,
  checkOptions,
  type OptionRules,
  objectWith,
  oneOf,
  record,
  text,
  wholeNumber,
} from '../../core/error/check-options.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import { PORT_RULES } from '../../core/error/port-rules.ts'
import type { SessionService } from '../../services/session/service.ts'
import { isAgent } from '../agent/agents/agent.ts'
import type { MediaOptions } from '../agent/request/media-options.ts'
import { aiSdkHint, isModel } from '../model/model.ts'
import { OBSERVERS } from '../observe/observer-rules.ts'
import { checkPlugin } from './plugins/plugin.ts'
import type { RunLimits, RunnerLimits } from './run/limit-options.ts'
import type { RunnerOptions } from './runner-options.ts'

/** Checks the options of `new Runner()`. */
export function checkRunnerOptions(options: RunnerOptions): void {
  checkOptions('Runner', options, RULES)
  checkOptions('Runner, ports', options.ports ?? {}, PORT_RULES)
  checkOptions('Runner, media', options.media ?? {}, MEDIA_RULES)
  if (options.limits) checkLimits(options.limits, options.sessionService)
  if (options.appName === undefined) {
    throw new ToolwrightError(
      'INVALID_CONFIG',
      "Runner: appName is missing. Name the app its sessions belong to: appName: 'my-app'.",
    )
  }
  if (options.agent === undefined) {
    throw new ToolwrightError('INVALID_CONFIG', 'Runner: agent is missing. Pass agent: new LlmAgent({ ... }).')
  }
  options.plugins?.forEach(checkPlugin)
}

function checkLimits(limits: RunnerLimits, sessionService: SessionService | undefined): void {
  checkOptions('Runner, limits', limits, LIMITS_RULES)
  checkOptions('Runner, limits.runs', limits.runs ?? {}, SCOPE_RULES)
  checkOptions('Runner, limits.waiting', limits.waiting ?? {}, SCOPE_RULES)
  if (!limits.waiting || !sessionService || sessionService.withInbox) return
  throw new ToolwrightError(
    'INVALID_CONFIG',
    'Runner: limits.waiting needs a session service that finds what waits (withInbox). Use postgres() or sqlite().',
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
  credentialService: objectWith('load', 'save', 'delete'),
  scheduleService: objectWith('saveSchedule', 'dueSchedules'),
  limitService: objectWith('take', 'renew', 'release', 'leave', 'deleteUser'),
  limits: record,
  workerService: objectWith('report', 'list'),
  engine: objectWith('wake'),
  credentialExchangers: {
    expects: 'an object of functions, by the name of a custom scheme',
    accepts: (value) => record.accepts(value) && Object.values(value as object).every(callback.accepts),
  },
  allowedRedirectUris: {
    expects: 'a list of URLs',
    accepts: (value) => Array.isArray(value) && value.every((one) => typeof one === 'string' && URL.canParse(one)),
  },
  plugins: { expects: 'a list of plugins', accepts: (value) => Array.isArray(value) && value.every(record.accepts) },
  observers: OBSERVERS,
  model: { expects: 'a model, such as gemini(name)', accepts: isModel, hint: aiSdkHint },
  models: {
    expects: 'an object of functions, by pattern',
    accepts: (value) =>
      record.accepts(value) && Object.values(value as object).every((make) => typeof make === 'function'),
  },
  phases: { expects: 'the result of conversationPhases()', accepts: objectWith('start').accepts },
  whilePaused: oneOf('reject', 'cancel', 'continue'),
  toolTimeoutMs: anything,
  agentToolTimeoutMs: anything,
  maxResultBytes: anything,
  maxArgsBytes: anything,
  maxCallsPerReply: anything,
  media: record,
  logger: objectWith('warn', 'error'),
  ports: record,
}

const LIMITS_RULES: OptionRules<RunnerLimits> = { runs: record, waiting: record }

const SCOPE_RULES: OptionRules<RunLimits> = { perApp: wholeNumber(1), perUser: wholeNumber(1) }

const MEDIA_RULES: OptionRules<MediaOptions> = {
  earlierTurns: {
    expects: 'a whole number >= 0, or Infinity',
    accepts: (value) => value === Number.POSITIVE_INFINITY || (Number.isInteger(value) && Number(value) >= 0),
  },
  maxBytesPerRequest: wholeNumber(0),
  maxFilesPerRequest: wholeNumber(0),
}
