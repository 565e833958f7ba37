import { escapeLine } from '../../../core/base/escape.ts'
import type { Observer } from '../../../engine/observe/observer.ts'
import type { Operation, OperationEnd } from '../../../engine/observe/operation.ts'

/** An operation that has ended, and those inside it. */
interface Branch {
  readonly operation: Operation
  readonly end: OperationEnd
  readonly milliseconds: number
  readonly inside: readonly Branch[]
}

/** Writes each run as a tree of agents, model calls and tool calls, with times and tokens, once it has ended. */
export class TraceTree implements Observer {
  readonly #write: (text: string) => void
  /** Ended operations, by the operation around them. */
  readonly #ended: Map<Operation, Branch[]> = new Map()

  constructor(write: (text: string) => void) {
    this.#write = write
  }

  async around(operation: Operation, next: () => Promise<OperationEnd>): Promise<void> {
    const startedAt = performance.now()
    const end = await next()
    const waited =
      'startedAt' in operation && operation.startedAt !== undefined ? Date.now() - operation.startedAt : undefined
    const milliseconds = waited ?? performance.now() - startedAt
    const inside = this.#ended.get(operation) ?? []
    this.#ended.delete(operation)
    const branch: Branch = { operation, end, milliseconds, inside }
    if (operation.type === 'run') this.#write(`${linesOf(branch).join('\n')}\n`)
    else if (operation.parent) this.#add(operation.parent, branch)
  }

  #add(parent: Operation, branch: Branch): void {
    const known = this.#ended.get(parent)
    if (known) known.push(branch)
    else this.#ended.set(parent, [branch])
  }
}

/** The line of an operation, and those of the operations inside it. */
function linesOf(branch: Branch): string[] {
  const lines = [escapeLine(`${nameOf(branch.operation)}  ${factsOf(branch).join('  ')}`)]
  for (const [at, one] of branch.inside.entries()) {
    const isLast = at === branch.inside.length - 1
    for (const [index, line] of linesOf(one).entries()) {
      const lead = index > 0 ? (isLast ? '   ' : '│  ') : isLast ? '└─ ' : '├─ '
      lines.push(lead + line)
    }
  }
  return lines
}

function nameOf(operation: Operation): string {
  switch (operation.type) {
    case 'run':
    case 'agent':
      return operation.agent
    case 'model':
      return operation.model
    case 'request':
      return `${operation.kind} for ${operation.tool}`
    default:
      return operation.type === 'tool' && operation.attempt > 1
        ? `${operation.tool} (attempt ${operation.attempt})`
        : operation.tool
  }
}

function factsOf(branch: Branch): string[] {
  const { end, milliseconds } = branch
  const { input, output } = tokensOf(branch)
  const facts = [durationText(milliseconds)]
  if (input + output > 0)
    facts.push(`${input.toLocaleString('en-US')} tokens in, ${output.toLocaleString('en-US')} out`)
  if (end.outcome !== 'completed')
    facts.push(end.errorCode === undefined ? end.outcome : `${end.outcome}: ${end.errorCode}`)
  return facts
}

/** The tokens of a model call, or of all model calls inside. */
function tokensOf({ end, inside }: Branch): { readonly input: number; readonly output: number } {
  const { promptTokenCount, candidatesTokenCount, thoughtsTokenCount, toolUsePromptTokenCount } =
    end.response?.usageMetadata ?? {}
  let input = count(promptTokenCount) + count(toolUsePromptTokenCount)
  let output = count(candidatesTokenCount) + count(thoughtsTokenCount)
  for (const one of inside) {
    const tokens = tokensOf(one)
    input += tokens.input
    output += tokens.output
  }
  return { input, output }
}

function count(tokens: unknown): number {
  return typeof tokens === 'number' && Number.isFinite(tokens) && tokens > 0 ? Math.round(tokens) : 0
}

function durationText(milliseconds: number): string {
  return milliseconds < 1_000
    ? `${milliseconds.toFixed(milliseconds < 10 ? 1 : 0)} ms`
    : `${(milliseconds / 1_000).toFixed(1)} s`
}
