/**
 * Evaluations of agents: cases from ADK's files, from code and from recorded sessions, run with real or recorded models and tools.
 *
 * @module
 */

export { defineEval } from './cases/define-eval.ts'
export type { EvalAnswer, EvalCase, EvalScenario, EvalSession, EvalSet, EvalTurn } from './cases/eval-set.ts'
export { readEvalSet } from './cases/read-eval-set.ts'
export { type SaveOptions, saveCase } from './cases/write-eval-set.ts'
export type {
  CallsCheck,
  CaseOutcome,
  Check,
  CheckResult,
  CustomCheck,
  ExpectedCall,
  ExpectedRequest,
  Limits,
  Status,
  TurnOutcome,
  Verdict,
} from './checks/check.ts'
export { type JudgeOptions, judge } from './checks/judge.ts'
export type { Expected } from './checks/matches.ts'
export { rouge1 } from './checks/rouge.ts'
export type { Criterion, EvalCriteria } from './criteria/criteria.ts'
export { readTestConfig } from './criteria/read-test-config.ts'
export type { Difference, DifferentEntries } from './recording/difference.ts'
export { type RecordedSession, type RecordOptions, recordCase } from './recording/record-case.ts'
export type {
  BodyStep,
  RecordedModel,
  RecordedStep,
  RecordedTool,
  Recording,
  RequestStep,
} from './recording/recording.ts'
export { passPower, type Trials } from './results/pass-rates.ts'
export type { CaseResult, EvalResults, TrialResult } from './results/results.ts'
export type { EvalTarget } from './run/eval-target.ts'
export type { Fault } from './run/faults.ts'
export type { EvalMode } from './run/run-case.ts'
export { type RunEvalsOptions, runEvals } from './run/run-evals.ts'
