// P10: calls, results and replies stay within the limits of the runner, and every model call counts.
import type { JsonObject } from 'toolwright'
import type { Evidence } from '../evidence.ts'
import type { AgentSpec, Limits } from '../plan.ts'
import type { AuditedLog } from './log.ts'
import { agentsOf } from './one-dispatcher.ts'
import type { Violation } from './violation.ts'

/** The bytes that a cut result adds to its two ends. */
const WORDS_OF_A_CUT = 200

export function* bounded(evidence: Evidence, logs: readonly AuditedLog[]): Iterable<Violation> {
  const { limits, root } = evidence.plan
  for (const { session, tool, key, step, args } of evidence.ledger) {
    if (step !== 'began') continue
    if (typeof args.n !== 'number' || bytesOf(args) > limits.argsBytes)
      yield { promise: 'P10', says: `${session}: ${tool} (${key}) ran with arguments over the limit` }
  }
  for (const log of logs) {
    yield* sizes(log, limits)
    yield* callsPerReply(evidence, log, limits.callsPerReply)
    yield* modelCalls(evidence, log, root)
  }
}

function* sizes({ session, calls }: AuditedLog, limits: Limits): Iterable<Violation> {
  const { argsBytes, resultBytes } = limits
  for (const { name, key, args, asked, intents, responses } of calls.values()) {
    const shown = [args, ...asked.map(({ request }) => request.args), ...intents.map((intent) => intent.args ?? {})]
    for (const one of shown)
      if (bytesOf(one) > argsBytes)
        yield {
          promise: 'P10',
          says: `${session}: ${name} (${key}) is in the log with ${bytesOf(one)} bytes of arguments`,
        }
    for (const { response, event } of responses)
      if (event.author !== 'user' && bytesOf(response) > resultBytes + WORDS_OF_A_CUT)
        yield {
          promise: 'P10',
          says: `${session}: ${name} (${key}) is in the log with ${bytesOf(response)} bytes of result`,
        }
  }
}

/** No more calls of one reply run than the limit allows. */
function* callsPerReply({ ledger }: Evidence, log: AuditedLog, most = Number.POSITIVE_INFINITY): Iterable<Violation> {
  const ran = new Set(ledger.map(({ key }) => key))
  for (const [seq, calls] of Map.groupBy(log.calls.values(), (call) => call.seq)) {
    const running = calls.filter(({ key }) => ran.has(key)).length
    if (running > most) yield { promise: 'P10', says: `${log.session}: ${running} calls of the reply ${seq} ran` }
  }
}

/** Counts the replies of one agent in one scope, and of a whole invocation. */
function* modelCalls(evidence: Evidence, log: AuditedLog, root: AgentSpec): Iterable<Violation> {
  const most = new Map([...agentsOf(root)].map((one) => [one.name, (one.type === 'llm' && one.maxIterations) || 16]))
  // each attempt of an agent tool opens its scope again, and has its own limit
  const openings = log.evidence.entries.flatMap(({ seq, event }) =>
    event?.isolationScope !== undefined && event.content?.role === 'user' ? [{ seq, scope: event.isolationScope }] : [],
  )
  const inScope = Map.groupBy(log.replies, ({ event, seq }) => {
    const attempt = openings.filter(({ scope, seq: at }) => scope === event.isolationScope && at < seq).length
    return `${event.invocationId} ${event.nodeInfo?.path} ${attempt} ${event.author}`
  })
  for (const [where, { length }] of inScope) {
    const limit = most.get(where.split(' ').at(-1) ?? '') ?? 0
    if (length > limit)
      yield { promise: 'P10', says: `${log.session}: ${length} replies in ${where}, at most ${limit}` }
  }
  const { llmCalls = 500 } = evidence.plan.limits
  for (const [invocationId, own] of Map.groupBy(log.replies, ({ event }) => event.invocationId)) {
    // recover() has no option for the limit and uses the default
    if (own.length <= llmCalls || own.some(({ seq }) => hasRecovered(evidence, log, seq))) continue
    yield { promise: 'P10', says: `${log.session}: ${own.length} replies in ${invocationId}, at most ${llmCalls}` }
  }
}

function hasRecovered({ actions }: Evidence, { stored }: AuditedLog, seq: number): boolean {
  const by = stored(seq)
  return actions.some(({ type, process, tick }) => type === 'recover' && process === by?.process && tick < by.tick)
}

function bytesOf(value: JsonObject): number {
  return Buffer.byteLength(JSON.stringify(value))
}
