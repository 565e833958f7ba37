// What really happened: a simulator that never makes the hard cases finds nothing in them.
import { type AuditedCall, type AuditedLog, finalOf, readLogs } from './audit/log.ts'
import type { ActionEvidence, Evidence } from './evidence.ts'

interface Facts extends Evidence {
  readonly logs: readonly AuditedLog[]
  readonly calls: readonly AuditedCall[]
}

type Happened = (facts: Facts) => boolean

/** Everything that must happen now and then, each with how it is known. */
export const kinds: ReadonlyMap<string, Happened> = new Map<string, Happened>([
  // humans
  ['an approved body ran', ({ calls, ledger }) => calls.some((call) => isApproved(call) && ran(ledger, call))],
  [
    'a body ran with edited arguments',
    ({ calls, answers, ledger }) => calls.some((call) => isEdited(call, answers) && ran(ledger, call)),
  ],
  ['a denied call was answered so', ({ calls }) => calls.some((call) => /rejected by the user/.test(errorOf(call)))],
  ['an unreadable decision denied', ({ calls }) => calls.some((call) => /could not be read/.test(errorOf(call)))],
  ['a question expired', ({ calls }) => calls.some(({ asked }) => asked.some(({ denied }) => denied !== undefined))],
  [
    'five calls of one reply',
    ({ calls }) =>
      [...Map.groupBy(calls, ({ invocationId, seq }) => `${invocationId} ${seq}`).values()].some(
        (group) => group.length >= 5,
      ),
  ],
  [
    'two questions open at once',
    ({ calls }) =>
      [
        ...Map.groupBy(
          calls.filter(({ asked }) => asked.length),
          ({ invocationId }) => invocationId,
        ).values(),
      ].some((group) => group.length >= 2),
  ],
  [
    'a body asked for a yes',
    ({ calls }) =>
      calls.some(({ asked }) =>
        asked.some(({ request }) => request.origin === 'body' && request.kind === 'confirmation'),
      ),
  ],
  [
    'a body asked for a value',
    ({ calls, ledger }) =>
      calls.some(
        (call) => call.asked.some(({ request, answer }) => request.kind === 'input' && answer) && ran(ledger, call),
      ),
  ],
  [
    'a choice was made',
    ({ calls }) => calls.some((call) => call.name === 'get_user_choice' && finalOf(call)?.event.author === 'user'),
  ],
  [
    'a long-running call got its result',
    ({ calls }) => calls.some((call) => /longRunning/.test(call.name) && finalOf(call)?.event.author === 'user'),
  ],
  [
    'the same answer again was taken for the same',
    ({ actions }) => actions.some((one) => is(one, 'answer (repeated)') && one.outcome === 'ended'),
  ],
  [
    'another answer to the same question was refused',
    ({ actions }) => refused(actions, 'answer (contradicted)', 'ALREADY_ANSWERED'),
  ],
  ["somebody else's answer was refused", ({ actions }) => refused(actions, 'answer (foreign)', 'NOT_FOUND')],
  ['a forged answer was refused', ({ actions }) => refused(actions, 'answer (forged)', 'NOT_FOUND', 'INVALID_REQUEST')],
  ['an answer came too late', ({ actions }) => refused(actions, 'answer', 'EXPIRED')],
  ['text was refused while a question was open', ({ actions }) => refused(actions, 'say', 'PAUSED')],
  [
    'text ended what was open',
    ({ actions }) => actions.some(({ type, yielded }) => type === 'say' && yielded[0]?.event.content?.role === 'tool'),
  ],
  ['somebody was sent away from a busy session', ({ actions }) => refused(actions, '', 'SESSION_BUSY')],
  ['answers were taken in by the run that held the session', ({ actions }) => followedAnother(actions)],
  [
    'answers were left for another process',
    ({ journal, actions }) =>
      journal.some(
        ({ method, done, session, process }) =>
          method === 'post' &&
          done &&
          actions.some((one) => one.type === 'answer' && one.session === session && one.process === process),
      ),
  ],
  ['two invocations were unfinished at a time', ({ logs }) => logs.some(interleaved)],
  // processes
  [
    'recover went on with what the dead had left',
    ({ actions }) => actions.some(({ type, yielded }) => type === 'recover' && yielded.length > 0),
  ],
  ...[
    'message',
    'call',
    'intent',
    'response',
    'question',
    'answer',
    'handle',
    'reply',
    'opening',
    'error CANCELLED',
  ].flatMap((kind) =>
    ['before', 'after'].map((when): [string, Happened] => [
      `a death ${when} an append of ${kind}`,
      ({ mishaps }) =>
        mishaps.some((one) => one.type === 'died' && one.when.startsWith(`${when} append [`) && inList(one.when, kind)),
    ]),
  ),
  ['a death in a body', ({ mishaps }) => mishaps.some(({ type, when }) => type === 'died' && / works/.test(when))],
  [
    'a death while a model thinks',
    ({ mishaps }) => mishaps.some(({ type, when }) => type === 'died' && /thinks/.test(when)),
  ],
  ['a death before a claim', ({ mishaps }) => mishaps.some(({ when }) => when === 'before claim')],
  ['a death after a claim', ({ mishaps }) => mishaps.some(({ when }) => when === 'after claim')],
  [
    'a process that stood still lost its lease',
    ({ journal, mishaps }) =>
      journal.some(
        ({ error, process }) =>
          error === 'LEASE_LOST' && mishaps.some((one) => one.process === process && one.type === 'stalled'),
      ),
  ],
  [
    'the dead wrote, and were refused',
    ({ journal, mishaps }) =>
      journal.some(
        ({ error, process, tick, method }) =>
          method === 'append' &&
          error === 'LEASE_LOST' &&
          mishaps.some((one) => one.process === process && one.type === 'died' && one.tick < tick),
      ),
  ],
  [
    'the dead wrote, and it counted',
    ({ journal, mishaps }) =>
      journal.some(
        ({ done, process, tick, method }) =>
          method === 'append' &&
          done &&
          mishaps.some((one) => one.process === process && one.type === 'died' && one.tick < tick),
      ),
  ],
  [
    'an append failed',
    ({ journal }) => journal.some(({ method, fault }) => method === 'append' && fault === 'storage'),
  ],
  [
    'an append was done and not acknowledged',
    ({ journal }) => journal.some(({ method, fault, done }) => method === 'append' && fault === 'lost ack' && done),
  ],
  [
    'an append came twice',
    ({ journal }) => journal.some(({ method, fault }) => method === 'append' && fault === 'repeat'),
  ],
  [
    'a claim was done and not acknowledged',
    ({ journal }) => journal.some(({ method, fault, done }) => method === 'claim' && fault === 'lost ack' && done),
  ],
  // effects
  [
    'an interrupted call is of unknown outcome',
    ({ calls }) => calls.some((call) => finalOf(call)?.response.errorCode === 'UNKNOWN_OUTCOME'),
  ],
  [
    'a body that hung is of unknown outcome',
    ({ calls }) =>
      calls.some(
        (call) =>
          finalOf(call)?.response.errorCode === 'TIMEOUT' && finalOf(call)?.response.status === 'unknown_outcome',
      ),
  ],
  ['an idempotent effect was repeated', ({ ledger }) => ledger.some(({ repeated }) => repeated)],
  [
    'a reconcilable effect was found done',
    ({ calls }) => calls.some((call) => call.responses[0]?.response.reconciled === true),
  ],
  [
    'a reconcilable effect was found not done, and done',
    ({ ledger }) =>
      ledger.some(
        ({ step, key, tick }) =>
          step === 'reconciled' && ledger.some((one) => one.key === key && one.step === 'effect' && one.tick > tick),
      ),
  ],
  [
    'two calls of a reply wrote the same key',
    ({ logs }) =>
      events(logs).some(
        ({ actions, content }) =>
          actions.stateDelta && (content?.parts.length ?? 0) > 1 && 'shared' in actions.stateDelta,
      ),
  ],
  [
    'a result did not wait for its slow sibling',
    ({ calls }) =>
      [...Map.groupBy(calls, ({ invocationId, seq }) => `${invocationId} ${seq}`).values()].some(
        (group) => new Set(group.filter(({ asked }) => !asked.length).map((call) => call.responses[0]?.seq)).size > 1,
      ),
  ],
  [
    'the same failure again and again ended the run',
    ({ logs }) => events(logs).some(({ errorCode }) => errorCode === 'REPEATED_CALL'),
  ],
  // who speaks
  [
    'agents as tools, three deep',
    ({ calls }) => calls.some(({ path }) => path.split('/').filter((step) => /@adk-/.test(step)).length >= 3),
  ],
  ['a loop went on in another process', (facts) => loopsOverProcesses(facts)],
  [
    'a loop was left',
    ({ calls, logs }) =>
      calls.some(({ name }) => name === 'exit_loop') && events(logs).some(({ actions }) => actions.escalate),
  ],
  ['control was handed over', ({ logs }) => events(logs).some(({ actions }) => actions.transferToAgent !== undefined)],
  ['control was handed to a workflow', ({ calls }) => calls.some(({ path }) => /@t\d/.test(path))],
  ['code made two calls at once', ({ calls }) => calls.some(({ path }) => /\/call@2$/.test(path))],
  ['code called an agent', ({ calls }) => calls.some(({ path }) => /\/call@\d+\//.test(path))],
  ['code called a tool', ({ calls }) => calls.some(({ path }) => /\/call@\d+$/.test(path))],
  [
    'code waited for somebody',
    ({ calls }) => calls.some(({ path, asked }) => /\/call@\d+$/.test(path) && asked.length > 0),
  ],
  ['branches beside each other', ({ logs }) => events(logs).some(({ branch }) => branch !== undefined)],
  ['a model failed', ({ logs }) => events(logs).some(({ errorCode }) => errorCode === 'MODEL_ERROR')],
  ['a call nobody can answer', ({ calls }) => calls.some((call) => finalOf(call)?.response.errorCode === 'NOT_FOUND')],
  [
    'arguments that do not fit',
    ({ calls }) => calls.some((call) => finalOf(call)?.response.errorCode === 'INVALID_ARGS'),
  ],
  [
    'a call named like a part of every object',
    ({ calls }) => calls.some(({ id }) => id === '__proto__' || id === 'constructor'),
  ],
  // clients
  [
    'what waited was cancelled',
    ({ calls }) =>
      calls.some(
        (call) =>
          call.asked.length > 0 &&
          finalOf(call)?.response.errorCode === 'CANCELLED' &&
          /run was cancelled/.test(errorOf(call)),
      ),
  ],
  [
    'what ran was cancelled',
    ({ calls }) => calls.some((call) => /cancelled while this call was running/.test(errorOf(call))),
  ],
  [
    'a cancel was left for another process',
    ({ journal }) => journal.some(({ method, done }) => method === 'post' && done),
  ],
  ['a client left', ({ actions }) => actions.some(({ outcome }) => outcome === 'left')],
  ['deltas were shown', ({ actions }) => actions.some(({ yielded }) => yielded.some(({ event }) => event.partial))],
  [
    'somebody resumed what another process had begun',
    ({ actions }) => actions.some(({ type, yielded }) => type === 'resume' && yielded.length > 0),
  ],
])

export function happenedIn(evidence: Evidence): string[] {
  const logs = readLogs(evidence)
  const facts: Facts = { ...evidence, logs, calls: logs.flatMap((log) => [...log.calls.values()]) }
  return [...kinds].flatMap(([name, happened]) => (happened(facts) ? [name] : []))
}

const is = ({ says }: ActionEvidence, what: string): boolean => says.startsWith(what)

function refused(actions: readonly ActionEvidence[], what: string, ...codes: readonly string[]): boolean {
  return actions.some((one) => is(one, what) && codes.includes(one.error?.code ?? ''))
}

const isApproved = ({ asked }: AuditedCall): boolean =>
  asked.some(({ request, answer }) => request.kind === 'confirmation' && answer)

function isEdited({ asked }: AuditedCall, answers: Evidence['answers']): boolean {
  return asked.some(({ request, answer }) => answer && answers.some((one) => one.requestId === request.id && one.args))
}

function ran(ledger: Evidence['ledger'], { key, args }: AuditedCall): boolean {
  return ledger.some((one) => one.key === key && one.step === 'ended' && one.args.n !== undefined && args !== undefined)
}

const errorOf = (call: AuditedCall): string => String(finalOf(call)?.response.error ?? '')

const inList = (when: string, kind: string): boolean =>
  when
    .slice(when.indexOf('[') + 1, when.indexOf(']'))
    .split(', ')
    .includes(kind)

function events(logs: readonly AuditedLog[]) {
  return logs.flatMap(({ evidence }) => evidence.entries.flatMap(({ event }) => (event ? [event] : [])))
}

/** Shown to two clients of one process as it happened: one began the run, the other's answers joined it. */
function followedAnother(actions: readonly ActionEvidence[]): boolean {
  return actions.some(
    (one) =>
      is(one, 'answer (in turn)') &&
      one.yielded.some(({ event }) =>
        actions.some(
          (other) =>
            other !== one && other.process === one.process && other.yielded.some((shown) => shown.event === event),
        ),
      ),
  )
}

/** Entries of one invocation stand between those of another. */
function interleaved({ evidence }: AuditedLog): boolean {
  const seen: string[] = []
  for (const { event, record } of evidence.entries) {
    const { invocationId } = event ?? record
    if (seen.at(-1) === invocationId) continue
    if (seen.includes(invocationId)) return true
    seen.push(invocationId)
  }
  return false
}

function loopsOverProcesses({ logs, plan }: Facts): boolean {
  if (!JSON.stringify(plan.root).includes('"loop"')) return false
  return logs.some(({ evidence, stored }) => {
    const rounds = evidence.entries.filter(({ event }) => /@[23]$/.test(event?.nodeInfo?.path ?? ''))
    return rounds.some(({ seq, event }) => {
      const first = evidence.entries.find((one) => one.event?.invocationId === event?.invocationId)
      return first && stored(first.seq)?.process !== stored(seq)?.process
    })
  })
}
