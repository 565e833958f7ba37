// Builds the example with each bundler and watches it, in one process, because a process for each takes long. Prints a report as
// JSON for bundlers.test.ts. Needs --conditions=toolwright:source --enable-source-maps.
import { writeSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'
import { rollup } from 'rollup'
import inferRolldown from 'toolwright/infer/rolldown'
import inferRollup from 'toolwright/infer/rollup'
import { createToolContext } from 'toolwright/testing'
import { builds, stripTypes } from './builds.ts'
import { TOOLS, TYPES, writeExample } from './example-project.ts'
import { watchChanges } from './watch-changes.ts'
import { vitestResult, watches } from './watches.ts'

/** The built example: its declarations, and the stack of the error that its tool throws. */
export interface Built {
  readonly declarations: string
  readonly stack: string
}

/** What the bundlers did, by the name of the bundler. A failure is a text. */
export interface Report {
  readonly built: Record<string, Built | string>
  /** The error of a build of the example with a mistake. */
  readonly mistakes: Record<string, string>
  /** The declarations, or the error, after the start and after each change of a file. */
  readonly watched: Record<string, readonly string[]>
  /** The error of rollup when the plugin that removes types runs first. */
  readonly strippedFirst: string
  /** The code of the agent file if `include` leaves it out, and the files that `include` was asked for. */
  readonly excluded: { readonly code: string; readonly asked: readonly string[] }
}

const folder = process.argv[2] ?? ''
const withMistake = TYPES.replace('city: string', 'city: any')

const project = writeExample(folder, 'build')
const built = await forEach(builds, async (build) => await runBuilt(await build(project)))
const projectWithMistake = writeExample(folder, 'mistake', withMistake)
const mistakes = await forEach(builds, async (build) => await build(projectWithMistake))
const changes = [
  { 'types.ts': TYPES },
  { 'types.ts': TYPES.replace('city:', 'town:') },
  { 'tools.ts': TOOLS.replace('Get the current', 'Look up the') },
  { 'types.ts': withMistake },
  { 'tools.ts': TOOLS, 'types.ts': TYPES },
]
const watchedProject = writeExample(folder, 'watch', withMistake)
const watched = await watchChanges(watchedProject, watches, changes)
built.vitest = await vitestResult(watchedProject.outputFolder).catch(String)
const report: Report = {
  built,
  mistakes,
  watched,
  strippedFirst: await buildStrippedFirst().catch(String),
  excluded: await buildExcluded(),
}
writeSync(1, JSON.stringify(report))
process.exit(0) // bundlers keep handles open after their watch mode was closed, and vitest sets the exit code for a failed test

/** Imports a built file and calls its tool that fails. */
async function runBuilt(file: string): Promise<Built> {
  const { declarations, failing } = await import(pathToFileURL(file).href)
  try {
    await failing.run({ city: 'Atlantis' }, createToolContext())
  } catch (error) {
    return { declarations, stack: String((error as Error).stack) }
  }
  return { declarations, stack: 'no error' }
}

async function buildStrippedFirst(): Promise<string> {
  const { agent } = writeExample(folder, 'stripped-first')
  const plugins = [stripTypes('pre'), inferRollup({ cache: false })]
  await rollup({ input: agent, external: /^toolwright/, plugins })
  return 'no error'
}

async function buildExcluded(): Promise<Report['excluded']> {
  const { agent } = writeExample(folder, 'excluded')
  const asked: string[] = []
  const include = (file: string): boolean => {
    asked.push(file)
    return false
  }
  const build = await rolldown({ input: agent, external: /^toolwright/, plugins: [inferRolldown({ include })] })
  const { output } = await build.generate()
  await build.close()
  return { code: output[0].code, asked }
}

/** Runs the action for all entries at the same time. A failure is a text. */
async function forEach<T, R>(
  entries: Record<string, T>,
  action: (value: T) => Promise<R>,
): Promise<Record<string, R | string>> {
  const run = async ([name, value]: [string, T]) => [name, await action(value).catch(String)] as const
  return Object.fromEntries(await Promise.all(Object.entries(entries).map(run)))
}
