// An app whose background tools begin, report progress, and end when the test says so.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  agentTool,
  background,
  type Effect,
  LlmAgent,
  Runner,
  type RunnerOptions,
  type Tool,
  type ToolContext,
  tool,
} from 'toolwright'

/** What a process has done, in the order of all processes. */
export interface Deed {
  readonly what: 'began' | 'aborted' | 'ended' | 'reconciled'
  readonly tool: string
  readonly sessionId: string
  readonly key: string
  readonly pid: number
}

const effects: readonly Effect[] = ['none', 'idempotent', 'reconcilable', 'atMostOnce']

/** What all processes have done. */
export function deedsIn(folder: string): readonly Deed[] {
  const file = join(folder, 'deeds')
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => (line ? [JSON.parse(line) as Deed] : []))
}

/** The file that ends the bodies of a session. */
export function endFile(folder: string, sessionId: string): string {
  return join(folder, `end-${sessionId}`)
}

/** A runner of the app. A message is the name of the tools that its model calls. */
export function openDesk(folder: string, options: Omit<RunnerOptions, 'appName' | 'agent'>): Runner {
  const note = (deed: Omit<Deed, 'pid'>): void =>
    appendFileSync(join(folder, 'deeds'), `${JSON.stringify({ ...deed, pid: process.pid })}\n`)
  const bodyOf = (name: string) => async (_: unknown, context: ToolContext) => {
    const { idempotencyKey: key, signal, invocation } = context
    const sessionId = invocation.session.id
    note({ what: 'began', tool: name, sessionId, key })
    while (!existsSync(endFile(folder, sessionId))) {
      if (signal.aborted) {
        note({ what: 'aborted', tool: name, sessionId, key })
        throw signal.reason
      }
      context.progress({ by: process.pid })
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    note({ what: 'ended', tool: name, sessionId, key })
    return { by: process.pid }
  }
  const made = (name: string, effect: Effect): Tool => {
    const common = { name, description: `Waits: ${effect}`, run: bodyOf(name), timeoutMs: 120_000 }
    if (effect !== 'reconcilable') return tool({ ...common, effect })
    const reconcile = ({ idempotencyKey: key }: { idempotencyKey: string }) => {
      note({ what: 'reconciled', tool: name, sessionId: '', key })
      return { status: 'done', result: { found: true } } as const
    }
    return tool({ ...common, effect, reconcile })
  }
  const clerk = new LlmAgent({ name: 'clerk', description: 'Waits', model: caller, tools: [made('slow', 'none')] })
  const tools = [
    ...effects.map((effect) => background(made(effect, effect))),
    made('slow', 'none'),
    background(agentTool(clerk)),
  ]
  const agent = new LlmAgent({ name: 'desk', model: caller, tools })
  return new Runner({ ...options, appName: 'background', agent })
}

/** Calls the tools that a message names, and says "done" when it has a result. */
const caller: LlmAgent['model'] = {
  name: 'caller',
  async *generate({ contents }) {
    const last = contents.at(-1)
    const text = last?.parts.find((part) => part.text !== undefined)?.text
    const names = last?.role === 'user' && text ? text.split(' ') : []
    const isCall = names.every((name) => [...effects, 'slow', 'clerk'].includes(name))
    const parts =
      names.length > 0 && isCall
        ? names.map((name) => ({ functionCall: { name, args: name === 'clerk' ? { request: 'slow' } : {} } }))
        : [{ text: 'done' }]
    yield { content: { role: 'model', parts } }
  },
}
