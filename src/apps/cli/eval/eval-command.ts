import { readFileSync } from 'node:fs'
import {
  type Judgement,
  judgeResults,
  nameOf,
  readBaseline,
  trialsOf,
} from '../../../adapters/eval/results/judge-results.ts'
import { problemsOf, toJUnit } from '../../../adapters/eval/results/junit.ts'
import { passPower } from '../../../adapters/eval/results/pass-rates.ts'
import type { CaseResult, EvalResults } from '../../../adapters/eval/results/results.ts'
import { runEvals } from '../../../adapters/eval/run/run-evals.ts'
import { escapeLine } from '../../../core/base/escape.ts'
import { messageOf } from '../../../core/error/error.ts'
import type { Command, CommandLine } from '../command/command.ts'
import { defineCommand } from '../command/define-command.ts'
import { listenForStop } from '../input/listen-for-stop.ts'
import { loadEnvFile } from '../load/env-file.ts'
import { Screen } from '../screen/screen.ts'
import { takeStandardOutput } from '../screen/take-standard-output.ts'
import { type Terminal, UsageError } from '../terminal.ts'
import { type EvalArguments, evalOptions, readEvalArguments } from './eval-arguments.ts'
import { loadEvalFiles } from './load-eval-files.ts'
import { recordCommand } from './record-command.ts'

/** Exit code when cases could not be run. */
const NOT_RUN = 2

/** `toolwright eval`. */
export const evalCommand: Command = defineCommand({
  name: 'eval',
  summary: 'Run cases and check what the agent does',
  usage: '<files>',
  description: [
    'Runs the cases of *.evalset.json and *.eval.ts files and checks them. With --replay, models and tools give what was recorded and nothing uses the network; with --recorded-tools, the real model gets recorded results; with --live (default), everything is real. Requests are answered as the case says, and denied otherwise.',
  ],
  options: evalOptions,
  parts: [recordCommand],
  notes: [
    'A set without an agent of its own runs with --agent, else with agent.ts beside its file. The criteria of a test_config.json of ADK beside a JSON file replace what its turns expect. --min decides alone whether failures of single runs count; a case that passed in the --baseline must pass.',
  ],
  examples: [
    ['toolwright eval evals/*.evalset.json --replay', 'what did my change of the code break'],
    ['toolwright eval desk.eval.ts --repeat 4 --min pass^1=0.9,pass^4=0.7', 'how reliable is the agent'],
    ['toolwright eval desk.eval.ts --json > baseline.json', 'a baseline for later runs'],
  ],
  exitCodes: {
    0: 'all cases passed',
    1: 'a check, a minimum, or a case that passed in the baseline failed; no case was evaluated',
    [NOT_RUN]: 'invalid command line, or cases that could not be run or evaluated',
  },
  run: async (line, terminal) => await run(line, terminal),
})

async function run(line: CommandLine<typeof evalOptions>, ofProcess: Terminal): Promise<number> {
  const given = readEvalArguments(line)
  const terminal = given.format === 'table' ? ofProcess : { ...ofProcess, output: takeStandardOutput(ofProcess) }
  loadEnvFile(terminal.folder, terminal.env)
  try {
    return await evaluate(given, terminal)
  } catch (error) {
    if (error instanceof UsageError) throw error
    terminal.errors.write(`toolwright: ${escapeLine(messageOf(error))}\n`)
    return NOT_RUN
  }
}

async function evaluate(given: EvalArguments, terminal: Terminal): Promise<number> {
  const passed = given.baseline === undefined ? undefined : baselineOf(given.baseline)
  const loaded = await loadEvalFiles(given)
  const controller = new AbortController()
  const stop = listenForStop(terminal)
  void stop.requested.then(() => controller.abort(new Error('The evaluation was stopped.')))
  try {
    const results = await withBar(loaded.total, terminal, (onCase) =>
      runEvals({ ...given.run, ...loaded.run, onCase, signal: controller.signal }),
    )
    const judgement = judgeResults(results, { minimums: given.minimums, ...(passed && { passed }) })
    terminal.output.write(given.format === 'table' ? tableOf(results, judgement) : reportOf(given.format, results))
    if (given.format !== 'table') for (const line of allOf(judgement)) terminal.errors.write(`${escapeLine(line)}\n`)
    if (judgement.failures.length > 0) return 1
    return judgement.problems.length > 0 ? NOT_RUN : 0
  } finally {
    stop.close()
    await loaded.close()
  }
}

function baselineOf(file: string): Set<string> {
  let json: unknown
  try {
    json = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new UsageError(`The baseline "${file}" cannot be read: ${messageOf(error)}`)
  }
  return readBaseline(json, file)
}

/** Shows on standard error how many cases are done. */
async function withBar(
  total: number,
  terminal: Terminal,
  work: (onCase: (result: CaseResult) => void) => Promise<EvalResults>,
): Promise<EvalResults> {
  const screen = new Screen({ output: terminal.errors, errors: terminal.output, env: terminal.env })
  const since = Date.now()
  const counts = { done: 0, bad: 0 }
  const show = (): void => {
    const filled = total === 0 ? 0 : Math.floor((counts.done / total) * 20)
    const bad = counts.bad > 0 ? `, ${counts.bad} not passed` : ''
    screen.status(`${'━'.repeat(filled)}${'╌'.repeat(20 - filled)} ${counts.done}/${total}${bad}`, since)
  }
  try {
    if (screen.isLive) show()
    return await work(({ status }) => {
      counts.done++
      if (status !== 'PASSED') counts.bad++
      if (screen.isLive) show()
    })
  } finally {
    screen.status(undefined)
  }
}

function reportOf(format: 'json' | 'junit', results: EvalResults): string {
  return format === 'json' ? `${JSON.stringify(results)}\n` : toJUnit(results)
}

function allOf({ failures, problems }: Judgement): string[] {
  return [...failures, ...problems]
}

/** Of many cases only those that did not pass have a row. */
const MAX_ROWS = 50

function tableOf(results: EvalResults, judgement: Judgement): string {
  const { cases, repeat } = results
  const shown = cases.length > MAX_ROWS ? cases.filter(({ status }) => status !== 'PASSED') : cases
  const width = Math.max(4, ...shown.map((one) => nameOf(one).length))
  const rows = shown.flatMap((one) => {
    const { trials, passed } = trialsOf(one)
    const timeMs = one.trials.reduce((sum, trial) => sum + trial.timeMs, 0)
    const calls = one.trials.reduce((sum, trial) => sum + trial.calls, 0)
    const figures = `${`${passed}/${trials}`.padStart(7)} ${`${calls} calls`.padStart(11)} ${`${timeMs} ms`.padStart(11)}`
    const problems = [...new Set(one.trials.flatMap(problemsOf))].map((problem) => `    ${escapeLine(problem)}`)
    return [`${escapeLine(nameOf(one)).padEnd(width)}  ${one.status.padEnd(13)}${figures}`, ...problems]
  })
  return `${[...rows, ...(rows.length ? [''] : []), ...summaryOf(results, repeat), ...allOf(judgement)].join('\n')}\n`
}

function summaryOf({ cases }: EvalResults, repeat: number): string[] {
  const passed = cases.filter(({ status }) => status === 'PASSED').length
  const lines = [`${passed} of ${cases.length} cases passed`]
  if (repeat === 1 || cases.length === 0) return lines
  const powers = [1, repeat].map((k) => `pass^${k} ${passPower(cases.map(trialsOf), k)?.toFixed(3)}`)
  return [...lines, powers.join(', ')]
}
