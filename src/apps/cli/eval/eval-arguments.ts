import type { Minimums } from '../../../adapters/eval/results/judge-results.ts'
import type { EvalMode } from '../../../adapters/eval/run/run-case.ts'
import type { CommandLine, Flags, StringOptions } from '../command/command.ts'
import { readCount } from '../serve/serve-arguments.ts'
import { UsageError } from '../terminal.ts'

type EvalOptions = StringOptions<
  'agent' | 'config' | 'repeat' | 'min' | 'baseline' | 'concurrency' | 'time-limit' | 'seed'
> &
  Flags<'replay' | 'recorded-tools' | 'live' | 'json' | 'junit'>

/** The options of `toolwright eval`. */
export const evalOptions: EvalOptions = {
  agent: {
    type: 'string',
    value: '<file>',
    description: 'The agent of sets that have none (default: agent.ts beside the file)',
  },
  config: {
    type: 'string',
    value: '<file>',
    description: 'The criteria of JSON files, as ADK writes them (default: test_config.json beside the file)',
  },
  replay: { type: 'boolean', description: 'Models and tools give what was recorded; nothing uses the network' },
  'recorded-tools': { type: 'boolean', description: 'The real model, with recorded results' },
  live: { type: 'boolean', description: 'The real model and the real tools (default)' },
  repeat: { type: 'string', value: '<n>', description: 'Run each case n times (default: 1)' },
  min: { type: 'string', value: '<pass^k=p,...>', description: 'The least share of cases whose k runs all pass' },
  baseline: { type: 'string', value: '<file>', description: 'Results of --json: a case that passed there must pass' },
  concurrency: { type: 'string', value: '<n>', description: 'Runs at the same time (default: 4)' },
  'time-limit': { type: 'string', value: '<seconds>', description: 'How long a run may take (default: 120)' },
  seed: { type: 'string', value: '<text>', description: 'Decides which calls have injected faults (default: 1)' },
  json: { type: 'boolean', description: 'Print JSON' },
  junit: { type: 'boolean', description: 'Print JUnit XML' },
}

/** The arguments of `toolwright eval`. */
export interface EvalArguments {
  /** The files. */
  readonly files: readonly string[]
  /** `--agent`. */
  readonly agent: string | undefined
  /** `--config`. */
  readonly config: string | undefined
  /** What `runEvals()` gets. */
  readonly run: {
    readonly mode: EvalMode
    readonly repeat: number
    readonly concurrency: number | undefined
    readonly timeLimitMs: number | undefined
    readonly seed: string | undefined
  }
  /** `--min`. */
  readonly minimums: Minimums
  /** `--baseline`. */
  readonly baseline: string | undefined
  /** What is printed. */
  readonly format: 'table' | 'json' | 'junit'
}

/** Reads the command line of `toolwright eval`; throws a `UsageError` when it is invalid. */
export function readEvalArguments({ values, positionals }: CommandLine<EvalOptions>): EvalArguments {
  if (positionals.length === 0) throw new UsageError('No file given. Usage: toolwright eval <files>')
  if (values.json && values.junit) throw new UsageError('Pass --json or --junit, not both.')
  const repeat = readCount('repeat', values.repeat) ?? 1
  const seconds = readCount('time-limit', values['time-limit'])
  return {
    files: positionals,
    agent: values.agent,
    config: values.config,
    run: {
      mode: modeOf(values),
      repeat,
      concurrency: readCount('concurrency', values.concurrency),
      timeLimitMs: seconds === undefined ? undefined : seconds * 1000,
      seed: values.seed,
    },
    minimums: readMinimums(values.min, repeat),
    baseline: values.baseline,
    format: values.json ? 'json' : values.junit ? 'junit' : 'table',
  }
}

function modeOf(values: CommandLine<EvalOptions>['values']): EvalMode {
  const modes = (['replay', 'recorded-tools', 'live'] as const).filter((mode) => values[mode])
  if (modes.length > 1) throw new UsageError(`Pass one of ${modes.map((mode) => `--${mode}`).join(' and ')}.`)
  return modes[0] ?? 'live'
}

function readMinimums(given: string | undefined, repeat: number): Minimums {
  const minimums = new Map<number, number>()
  for (const item of given?.split(',') ?? []) {
    const [, power = '', least = ''] = /^pass[\^@]([1-9]\d*)=(\d*\.?\d+)$/.exec(item.trim()) ?? []
    const [k, share] = [Number(power), Number(least)]
    if (power === '' || share > 1) throw new UsageError(`--min takes items such as pass^1=0.9, got "${item}".`)
    if (item.includes('@') && k > 1) throw new UsageError(`--min knows pass@1 and pass^k, got "${item}".`)
    if (k > repeat) throw new UsageError(`--min ${item} needs --repeat ${k} or more.`)
    minimums.set(k, share)
  }
  return minimums
}
