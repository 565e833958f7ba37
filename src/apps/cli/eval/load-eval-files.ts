// Loads files with cases, and the agents that they are about.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, extname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { checkEvalSet } from '../../../adapters/eval/cases/check-eval-set.ts'
import type { EvalSet } from '../../../adapters/eval/cases/eval-set.ts'
import { readEvalSet } from '../../../adapters/eval/cases/read-eval-set.ts'
import { judgesOf } from '../../../adapters/eval/criteria/criteria.ts'
import { readTestConfig } from '../../../adapters/eval/criteria/read-test-config.ts'
import type { EvalTarget } from '../../../adapters/eval/run/eval-target.ts'
import { isRecord } from '../../../core/base/json.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import { LlmAgent } from '../../../engine/agent/agents/llm-agent.ts'
import type { Models } from '../../../engine/runner/models.ts'
import { Runner } from '../../../engine/runner/runner.ts'
import { isToolset } from '../../../engine/tool/toolset.ts'
import { installInferHooks } from '../../infer/node-hooks.ts'
import { loadAgentFile } from '../load/agent-file.ts'
import { collectAgents } from '../load/collect-agents.ts'
import { describeImportError } from '../load/import-error.ts'
import { modelsFor } from '../models.ts'
import type { EvalArguments } from './eval-arguments.ts'

/** Sets that can run. */
export interface LoadedEvals {
  /** The number of cases. */
  readonly total: number
  /** What `runEvals()` gets. */
  readonly run: { readonly sets: readonly EvalSet[]; readonly models: Models | undefined }
  /** Closes the toolsets and plugins of the agents. */
  close(): Promise<void>
}

const AGENT_FILES = ['agent.ts', 'agent.mts', 'agent.js', 'agent.mjs']

/** Loads all files. Throws with what to change if one is not valid, before any case runs. */
export async function loadEvalFiles({ files, agent, config, run }: EvalArguments): Promise<LoadedEvals> {
  const sets: EvalSet[] = []
  for (const file of files) {
    const set = extname(file) === '.json' ? readJsonFile(file, config) : await importSet(file)
    sets.push({ ...set, agent: set.agent ?? (await loadTarget(agent ?? findAgentFile(file))) })
  }
  checkIds(sets)
  const targets = sets.flatMap(({ agent: target }) => target ?? [])
  const models =
    run.mode === 'replay'
      ? undefined
      : await modelsOfAll(
          targets,
          sets.flatMap(({ criteria }) => judgesOf(criteria ?? {})),
        )
  return {
    total: sets.reduce((sum, { cases }) => sum + cases.length, 0),
    run: { sets, models },
    close: () => closeTargets(targets),
  }
}

/** The models that agents name, where their runner does not make them, and those of these names. */
export async function modelsOfAll(
  targets: readonly EvalTarget[],
  names: readonly string[] = [],
): Promise<Models | undefined> {
  const agents = targets.flatMap((target) => (target instanceof Runner ? [] : target))
  if (agents.length === 0) return undefined
  const found = await Promise.all(agents.map((one) => modelsFor(one, undefined, names)))
  return Object.assign({}, ...found) as Models // patterns of the same provider make the same models
}

/** Closes what the targets hold open: runners, and toolsets of agents. */
export async function closeTargets(targets: readonly EvalTarget[]): Promise<void> {
  for (const target of new Set(targets)) {
    if (target instanceof Runner) {
      await target.close()
      continue
    }
    const sources = collectAgents(target).flatMap((one) => (one instanceof LlmAgent ? one.dynamicTools : []))
    for (const source of sources) if (isToolset(source)) await source.shutdown?.()
  }
}

/** `config`: the file with the criteria. Default: the one that ADK's tests use. */
function readJsonFile(file: string, config = findTestConfig(file)): EvalSet {
  const set = readEvalSet(readFileSync(file, 'utf8'), file)
  return config === undefined ? set : { ...set, criteria: readTestConfig(readFileSync(config, 'utf8'), config) }
}

function findTestConfig(file: string): string | undefined {
  const config = join(dirname(file), 'test_config.json')
  return existsSync(config) ? config : undefined
}

/** Two files with one id would give cases with the same name. */
function checkIds(sets: readonly EvalSet[]): void {
  const seen = new Set<string>()
  for (const { id } of sets) {
    if (seen.has(id)) throw invalid(`Two files have the eval set "${id}". Give each set an id of its own.`)
    seen.add(id)
  }
}

async function importSet(file: string): Promise<EvalSet> {
  const path = resolve(file)
  if (!existsSync(path)) throw invalid(`"${file}" does not exist. Pass *.evalset.json or *.eval.ts files.`)
  installInferHooks({ requireCompiler: false })
  let module: unknown
  try {
    module = await import(pathToFileURL(path).href)
  } catch (error) {
    throw new ToolwrightError('INVALID_CONFIG', describeImportError(file, path, error), { cause: error })
  }
  const set = isRecord(module) ? module.default : undefined
  if (!isRecord(set)) throw invalid(`"${file}" exports no cases. Write \`export default defineEval({ ... })\`.`)
  const found = set as object as EvalSet // checked in the next line
  checkEvalSet(found, `"${file}"`)
  return found
}

function findAgentFile(file: string): string {
  const folders = [dirname(file), dirname(dirname(resolve(file)))]
  const found = folders
    .flatMap((folder) => AGENT_FILES.map((name) => join(folder, name)))
    .find((path) => existsSync(path))
  if (found !== undefined) return found
  throw invalid(`"${file}" names no agent, and there is no agent.ts beside it. Pass --agent <file>.`)
}

/** The agent or runner that a file exports. */
export async function loadTarget(file: string): Promise<EvalTarget> {
  return (await loadAgentFile(file)).root
}

function invalid(message: string): ToolwrightError {
  return new ToolwrightError('INVALID_CONFIG', message)
}
