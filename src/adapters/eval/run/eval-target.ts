// Makes the runner of one case: the agent with replaced parts, and stores of its own.
import type { Ports } from '../../../core/base/ports.ts'
import type { Agent } from '../../../engine/agent/agents/agent.ts'
import type { Logger } from '../../../engine/dispatch/host.ts'
import type { Model } from '../../../engine/model/model.ts'
import { type Models, modelResolver } from '../../../engine/runner/models.ts'
import { Runner } from '../../../engine/runner/runner.ts'
import type { RunnerOptions } from '../../../engine/runner/runner-options.ts'
import { InMemoryArtifactService } from '../../../services/artifact/in-memory.ts'
import { InMemoryCredentialService } from '../../../services/credential/in-memory.ts'
import { InMemoryLimitService } from '../../../services/limit/in-memory.ts'
import { InMemoryMemoryService } from '../../../services/memory/in-memory.ts'
import { InMemoryScheduleService } from '../../../services/schedule/in-memory.ts'
import { InMemorySessionService } from '../../../services/session/in-memory.ts'
import { type Replacements, replaceParts } from '../parts/replace-parts.ts'

/** What is evaluated: an agent, or a runner with its plugins, models and limits. Its stores are not used. */
export type EvalTarget = Agent | Runner

/** What the runner of a case needs besides the target. */
export interface CaseRunnerOptions {
  /** The app. Default: that of the runner, or `eval`. */
  readonly appName?: string | undefined
  /** Makes models for the names that agents have. Default: those of the runner. */
  readonly models?: Models | undefined
  /** What is replaced. Default: nothing. */
  readonly parts?: Replacements | undefined
  /** Where problems are reported. Default: nowhere, results and errors are in the report of the case. */
  readonly logger?: Logger | undefined
  /** The clock. Default: that of the runner. */
  readonly ports?: Partial<Ports> | undefined
}

/** Stand for services of each case's own: the command line gives agents both. */
const NO_ARTIFACTS = new InMemoryArtifactService()
const NO_MEMORY = new InMemoryMemoryService()

const SILENT: Logger = { warn: () => {}, error: () => {} }

/**
 * A runner for one case. It is never closed: it shares toolsets and plugins with the target, and the caller closes those once. `engine`
 * is left out, so that no other process continues a case, and so is `workerService`.
 */
export function caseRunner(target: EvalTarget, options: CaseRunnerOptions): Runner {
  const { parts, logger = SILENT } = options
  const given: RunnerOptions =
    target instanceof Runner
      ? target.options
      : { appName: 'eval', agent: target, artifactService: NO_ARTIFACTS, memoryService: NO_MEMORY }
  const { engine: _, workerService: __, ...rest } = given
  const models = options.models ?? given.models
  return new Runner({
    ...rest,
    appName: options.appName ?? given.appName,
    agent: parts ? replaceParts(given.agent, parts) : given.agent,
    sessionService: new InMemorySessionService(),
    ...(given.artifactService && { artifactService: new InMemoryArtifactService() }),
    ...(given.memoryService && { memoryService: new InMemoryMemoryService() }),
    scheduleService: new InMemoryScheduleService(),
    credentialService: new InMemoryCredentialService(),
    limitService: new InMemoryLimitService(),
    ...(given.model && parts && { model: parts.model(given.model, '') }),
    ...(models && { models }),
    ports: { ...given.ports, ...options.ports },
    logger,
  })
}

/** Finds the models of a target that agents name. Throws for a name that no pattern matches. */
export function modelsOf(
  target: EvalTarget,
  models: Models | undefined,
): (given: Model | string, agent: string) => Model {
  const resolve = modelResolver(models ?? (target instanceof Runner ? target.options.models : undefined) ?? {})
  return (given, agent) => (typeof given === 'string' ? resolve(given, agent) : given)
}
