import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { ExampleProject } from './example-project.ts'

/** Starts to watch a project. Calls `onBuild` with the declarations of each build. Returns a function that stops. */
export type Watch = (
  project: ExampleProject,
  onBuild: (declarations: Promise<string>) => void,
) => Promise<() => unknown>

/** New texts of files of the project, by name. */
export type Change = Readonly<Record<string, string>>

/** How long a bundler may take to notice a change. */
const DEADLINE_MS = 20_000

/**
 * Watches a project with all bundlers while its files change. Returns by bundler the outcome of the first build, and of
 * the first different build after each change: the declarations, or the error.
 */
export async function watchChanges(
  project: ExampleProject,
  watches: Record<string, Watch>,
  changes: readonly Change[],
): Promise<Record<string, string[]>> {
  const watched = await Promise.all(Object.values(watches).map(async (watch) => await Watched.start(project, watch)))
  await Promise.all(watched.map((one) => one.nextOutcome()))
  for (const change of changes) {
    // A watcher can miss a change while it starts to watch, so the change is repeated.
    const write = (): void => {
      for (const [file, text] of Object.entries(change))
        writeFileSync(join(project.folder, file), `${text}// ${performance.now()}\n`)
    }
    const outcomes = watched.map((one) => one.nextOutcome())
    write()
    const writing = setInterval(write, 3_000)
    await Promise.all(outcomes)
    clearInterval(writing)
  }
  await Promise.all(watched.map((one) => one.stop()))
  return Object.fromEntries(Object.keys(watches).map((name, at) => [name, watched[at]?.outcomes ?? []]))
}

/** A watch mode of one bundler. */
class Watched {
  readonly outcomes: string[] = []
  #current = 'no build'
  #onOutcome = (): void => {}
  #stop: () => unknown = () => {}

  static async start(project: ExampleProject, watch: Watch): Promise<Watched> {
    const watched = new Watched()
    watched.#stop = await watch(project, async (declarations) => {
      watched.#current = await declarations.catch(String)
      watched.#onOutcome()
    })
    return watched
  }

  /** Waits for an outcome that differs from the last one. */
  async nextOutcome(): Promise<void> {
    const previous = this.outcomes.at(-1) ?? 'no build'
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#onOutcome = () => {
      if (this.#current !== previous) resolve()
    }
    this.#onOutcome()
    await Promise.race([promise, setTimeout(DEADLINE_MS, undefined, { ref: false })])
    this.outcomes.push(this.#current)
  }

  stop(): unknown {
    return this.#stop()
  }
}
