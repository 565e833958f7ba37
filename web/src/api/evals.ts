import type { CaseResult } from '../../../src/adapters/eval/results/results.ts'
import { readStream } from './read-stream.ts'
import { pathOf, requestJson } from './request.ts'
import type { SessionKey } from './types.ts'

/** Where models and tools come from. */
export type EvalMode = 'replay' | 'recorded-tools' | 'live'

/** A part of the results. */
export interface EvalFrame {
  /** The number of cases: first. */
  readonly cases?: number
  /** Cases that have ended. */
  readonly results?: readonly CaseResult[]
  /** pass^k: last. */
  readonly passRates?: readonly PassRate[]
}

/** How likely k runs of a case all pass. */
export interface PassRate {
  /** The number of runs. */
  readonly k: number
  /** From 0 to 1. */
  readonly rate: number
}

/** What to run. */
export interface EvalRequest {
  /** The app. */
  readonly app: string
  /** The set. */
  readonly set: string
  /** How. */
  readonly mode: EvalMode
  /** How often each case runs. */
  readonly repeat: number
}

const setPath = (app: string, set: string): string => `/dev${pathOf('apps', app, 'eval-sets', set)}`

/** Lists the sets of cases beside the agent. */
export async function listEvalSets(app: string): Promise<readonly string[]> {
  const path = `/dev${pathOf('apps', app, 'eval-sets')}`
  return (await requestJson<{ evalSetIds: readonly string[] }>(path)).evalSetIds
}

/** Runs a set. A closed request ends the run. */
export function runEvalSet({ app, set, mode, repeat }: EvalRequest, signal: AbortSignal): AsyncGenerator<EvalFrame> {
  return readStream(`${setPath(app, set)}/evaluate`, { body: { mode, repeat }, signal })
}

/** Makes a case of a session. Returns the name of the file that has it. */
export async function recordSession(
  { app, userId, sessionId }: SessionKey,
  { set, evalId, replace }: { readonly set: string; readonly evalId: string; readonly replace: boolean },
): Promise<string> {
  const body = { userId, sessionId, evalId, replace }
  return (await requestJson<{ file: string }>(`${setPath(app, set)}/record`, { body })).file
}
