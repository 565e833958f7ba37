import { CallRunner } from '../../../engine/runner/single-call/call-runner.ts'
import type { Toolset } from '../../../engine/tool/toolset.ts'
import { InMemorySessionService } from '../../../services/session/in-memory.ts'
import { type PinsOfApp, readOnly } from './pins-of-app.ts'

/** What a toolset lists for a new session. */
export type ListedToolset =
  | { readonly type: 'listed'; readonly tools: number; readonly warnings: readonly string[] }
  | { readonly type: 'needs-credential' }
  | { readonly type: 'failed'; readonly reason: string }

/** Lists the tools of toolsets as a run of the app does, with their filters and prefixes. Stores nothing. */
export class ToolsetLister {
  readonly #app: PinsOfApp
  readonly #runners: CallRunner[] = []

  constructor(app: PinsOfApp) {
    this.#app = app
  }

  /** Lists the tools of a toolset for a user without credentials. */
  async list(toolset: Toolset): Promise<ListedToolset> {
    const { appName, pins } = this.#app
    const warnings: string[] = []
    const logger = { warn: (message: string) => void warnings.push(message), error: () => {} }
    // the definitions that are trusted, without trusting others
    const sessionService = Object.assign(new InMemorySessionService(), {
      pins: readOnly(pins),
    })
    const runner = new CallRunner({ appName, agentName: 'doctor', tools: [toolset], sessionService, logger })
    this.#runners.push(runner)
    const listed = await withWarnings(logger, () => runner.list({ userId: 'user' }))
    const failure = warnings.find((message) => message.startsWith(LEFT_OUT))
    if (failure !== undefined) return { type: 'failed', reason: failure.replace(/^.*? are left out: /, '') }
    if (listed.size === 0 && warnings.length === 0 && toolset.authConfig) return { type: 'needs-credential' }
    const prefix = `Toolset "${toolset.name}": `
    const told = warnings.map((message) => (message.startsWith(prefix) ? message : `${prefix}${message}`))
    return { type: 'listed', tools: listed.size, warnings: [...new Set(told)] }
  }

  /** Closes the toolsets. */
  async close(): Promise<void> {
    await Promise.all(this.#runners.map((runner) => runner.close()))
  }
}

/** How the warning about a toolset starts whose tools cannot be listed. */
const LEFT_OUT = 'The tools of toolset '

/** Collects what toolsets without a logger of their own write to the console. */
async function withWarnings<Result>(
  { warn }: { warn(message: string): void },
  work: () => Promise<Result>,
): Promise<Result> {
  const original = console.warn
  console.warn = (...words: unknown[]) => warn(words.map(String).join(' '))
  try {
    return await work()
  } finally {
    console.warn = original
  }
}
