// Coverage of the simulation: the rare cases that must occur in a large number of seeds.
import { type AuditedCall, type AuditedLog, finalOf, readLogs } from './audit/log.ts'
import { type ActionEvidence, type Evidence, markIn } from './evidence.ts'

interface Facts extends Evidence {
  readonly logs: readonly AuditedLog[]
  readonly calls: readonly AuditedCall[]
}

type Happened = (facts: Facts) => boolean

/** All cases that must occur, each with a predicate over the evidence. */
export const kinds: ReadonlyMap<string, Happened> = new Map<string, Happened>([
  // approvals and answers
  ['an approved body ran', ({ calls, ledger }) => calls.some((call) => isApproved(call) && ran(ledger, call))],
  [
    'a body ran with edited arguments',
    ({ calls, answers, ledger }) => calls.some((call) => isEdited(call, answers) && ran(ledger, call)),
  ],
  [
    'a denied call got a denial as its response',
    ({ calls }) => calls.some((call) => /rejected by the user/.test(errorOf(call))),
  ],
  ['an unreadable decision denied', ({ calls }) => calls.some((call) => /could not be read/.test(errorOf(call)))],
  ['a request expired', ({ calls }) => calls.some(({ asked }) => asked.some(({ denied }) => denied !== undefined))],
  [
    'five calls of one reply',
    ({ calls }) =>
      [...Map.groupBy(calls, ({ invocationId, seq }) => `${invocationId} ${seq}`).values()].some(
        (group) => group.length >= 5,
      ),
  ],
  [
    'two requests were pending at the same time',
    ({ calls }) =>
      [
        ...Map.groupBy(
          calls.filter(({ asked }) => asked.length),
          ({ invocationId }) => invocationId,
        ).values(),
      ].some((group) => group.length >= 2),
  ],
  [
    'a body requested a confirmation',
    ({ calls }) =>
      calls.some(({ asked }) =>
        asked.some(({ request }) => request.origin === 'body' && request.kind === 'confirmation'),
      ),
  ],
  [
    'a body requested input',
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
    'a repeated answer was accepted as the same',
    ({ actions }) => actions.some((one) => is(one, 'answer (repeated)') && one.outcome === 'ended'),
  ],
  [
    'a different answer to the same request was refused',
    ({ actions }) => refused(actions, 'answer (contradicted)', 'ALREADY_ANSWERED'),
  ],
  ['an answer of another user was refused', ({ actions }) => refused(actions, 'answer (foreign)', 'NOT_FOUND')],
  ['a forged answer was refused', ({ actions }) => refused(actions, 'answer (forged)', 'NOT_FOUND', 'INVALID_REQUEST')],
  ['an answer came too late', ({ actions }) => refused(actions, 'answer', 'EXPIRED')],
  ['a message was refused while a request was pending', ({ actions }) => refused(actions, 'say', 'PAUSED')],
  [
    'a message cancelled pending requests',
    ({ actions }) => actions.some(({ type, yielded }) => type === 'say' && yielded[0]?.event.content?.role === 'tool'),
  ],
  ['a caller was refused by a busy session', ({ actions }) => refused(actions, '', 'SESSION_BUSY')],
  ['the run that held the session accepted answers', ({ actions }) => followedAnother(actions)],
  [
    'answers were posted to the inbox for another process',
    ({ journal, actions }) =>
      journal.some(
        ({ method, done, session, process }) =>
          method === 'post' &&
          done &&
          actions.some((one) => one.type === 'answer' && one.session === session && one.process === process),
      ),
  ],
  ['two invocations were unfinished at the same time', ({ logs }) => logs.some(interleaved)],
  [
    'a guessed answer was posted before its request, and decided nothing',
    ({ journal, logs }) => guessesOf(journal, logs, ({ asked }) => asked.map(({ seq }) => seq)).some(isUnused),
  ],
  [
    'a guessed result was posted before its handle, and was ignored',
    ({ journal, logs }) =>
      guessesOf(journal, logs, ({ responses }) =>
        responses.slice(0, 1).flatMap(({ seq, isFinal }) => (isFinal ? [] : seq)),
      ).some(isUnused),
  ],
  [
    'a process posted a guessed answer while another held the session',
    ({ journal }) => journal.some(({ posted, done, process }) => done && posted?.mark && process !== 'intruder'),
  ],
  [
    'a guessed answer arrived after its request, and counted',
    ({ calls }) => calls.some(({ asked }) => asked.some(({ answer }) => markIn(answer?.response))),
  ],
  [
    'an approval with invalid arguments was refused',
    ({ actions, answers }) =>
      refused(actions, 'answer (in turn)', 'INVALID_REQUEST') && answers.some(({ means }) => means === 'misedited'),
  ],
  // copies of sessions
  ['a fork was completed', ({ copies }) => copies.some(({ kind, exists }) => kind === 'fork' && exists)],
  [
    'a process died while it copied a session, and another one removed the copy',
    ({ copies, journal, mishaps }) =>
      copies.some(({ kind, session }) => {
        const calls = journal.filter((one) => one.session === session && one.done)
        const creator = calls.find(({ method }) => method === 'createCopy')?.process
        if (kind !== 'fork' || !mishaps.some(({ process, type }) => type === 'died' && process === creator))
          return false
        return calls.some(({ method, process }) => method === 'release' && process !== creator)
      }),
  ],
  [
    'a process lost its unfinished copy while it stalled',
    ({ actions }) => refused(actions, 'fork', 'LEASE_LOST', 'SESSION_GONE'),
  ],
  ['a session was imported', ({ copies }) => copies.some(({ kind, exists }) => kind === 'import' && exists)],
  [
    'a call went on in copied rows',
    ({ copies }) => copies.some(({ kind, ledger }) => kind === 'rows' && ledger.length),
  ],
  // clocks
  ['the clock was set back by an hour or more', ({ clockSteps }) => clockSteps.some(({ ms }) => ms <= -3_600_000)],
  ['the clock was set forward by an hour or more', ({ clockSteps }) => clockSteps.some(({ ms }) => ms >= 3_600_000)],
  [
    'the clock was set while a process held a session',
    ({ clockSteps, journal }) => clockSteps.some(({ tick }) => isHeldAt(journal, tick)),
  ],
  [
    'the session of a dead holder was claimed after the clock was set',
    ({ clockSteps, journal, mishaps }) =>
      journal.some(
        ({ method, done, tick }) =>
          method === 'claim' &&
          done &&
          mishaps.some(
            (one) => one.type === 'died' && clockSteps.some((step) => one.tick < step.tick && step.tick < tick),
          ),
      ),
  ],
  [
    'a request expired because the clock was set',
    ({ clockSteps, calls, logs }) =>
      calls.some(({ asked }) =>
        asked.some(({ denied }) =>
          logs.some(({ stored }) =>
            clockSteps.some(({ tick, ms }) => ms > 0 && tick < (stored(denied ?? -1)?.tick ?? 0)),
          ),
        ),
      ),
  ],
  // limits
  [
    'a result was cut',
    ({ calls }) => calls.some(({ responses }) => responses.some(({ response }) => response.truncated === true)),
  ],
  ['arguments that are too large were refused', ({ calls }) => calls.some((call) => /bytes/.test(errorOf(call)))],
  [
    'calls beyond the limit of their reply were not run',
    ({ calls }) => calls.some((call) => /of one reply are run/.test(errorOf(call))),
  ],
  [
    'an invocation used up its model calls',
    ({ logs }) => events(logs).some(({ errorCode }) => errorCode === 'MAX_LLM_CALLS'),
  ],
  [
    'an agent used up its model calls',
    ({ logs }) => events(logs).some(({ errorCode }) => errorCode === 'MAX_ITERATIONS'),
  ],
  ['an agent tool timed out', ({ logs }) => events(logs).some(({ errorCode }) => errorCode === 'TIMEOUT')],
  [
    'an agent tool was tried again after its agent had failed',
    ({ logs }) => {
      const opened = events(logs).flatMap(({ isolationScope, content, invocationId }) =>
        isolationScope !== undefined && content?.role === 'user' ? [`${invocationId} ${isolationScope}`] : [],
      )
      return new Set(opened).size < opened.length
    },
  ],
  // ids
  ...(['call', 'request', 'elsewhere'] as const).map((reuse): [string, Happened] => [
    `a model reused an id: ${reuse}`,
    ({ reused }) => reused.includes(reuse),
  ]),
  [
    'code and a call of one reply had the same id',
    ({ plan, logs }) =>
      /"native":/.test(JSON.stringify(plan.root)) &&
      logs.some(({ replies }) =>
        replies.some(
          ({ event }) =>
            event.content?.parts.some(({ executableCode }) => executableCode) &&
            event.content.parts.some(({ functionCall }) => functionCall),
        ),
      ),
  ],
  ['a call has an id of 64 characters', ({ calls }) => calls.some(({ id }) => id.length === 64)],
  // plugins
  ...(['in place', 'later', 'returned'] as const).map((how): [string, Happened] => [
    `a plugin tampered with a call: ${how}`,
    ({ plan, calls }) => plan.tampering === how && calls.length > 0,
  ]),
  [
    'a plugin tampered with a denial',
    ({ plan, calls }) =>
      plan.tampering !== undefined && calls.some((call) => /rejected by the user/.test(errorOf(call))),
  ],
  // processes
  [
    'recover continued the work of a dead process',
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
    'a stalled process lost its lease',
    ({ journal, mishaps }) =>
      journal.some(
        ({ error, process }) =>
          error === 'LEASE_LOST' && mishaps.some((one) => one.process === process && one.type === 'stalled'),
      ),
  ],
  [
    'a late append of a dead process was refused',
    ({ journal, mishaps }) =>
      journal.some(
        ({ error, process, tick, method }) =>
          method === 'append' &&
          error === 'LEASE_LOST' &&
          mishaps.some((one) => one.process === process && one.type === 'died' && one.tick < tick),
      ),
  ],
  [
    'a late append of a dead process was stored',
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
    'an append was stored and not acknowledged',
    ({ journal }) => journal.some(({ method, fault, done }) => method === 'append' && fault === 'lost ack' && done),
  ],
  [
    'an append arrived twice',
    ({ journal }) => journal.some(({ method, fault }) => method === 'append' && fault === 'repeat'),
  ],
  [
    'a claim succeeded and was not acknowledged',
    ({ journal }) => journal.some(({ method, fault, done }) => method === 'claim' && fault === 'lost ack' && done),
  ],
  // effects
  [
    'an interrupted call got an unknown outcome',
    ({ calls }) => calls.some((call) => finalOf(call)?.response.errorCode === 'UNKNOWN_OUTCOME'),
  ],
  [
    'a hanging body got an unknown outcome',
    ({ calls }) =>
      calls.some(
        (call) =>
          finalOf(call)?.response.errorCode === 'TIMEOUT' && finalOf(call)?.response.status === 'unknown_outcome',
      ),
  ],
  ['an idempotent effect was repeated', ({ ledger }) => ledger.some(({ repeated }) => repeated)],
  [
    'a reconcilable effect was reconciled as done',
    ({ calls }) => calls.some((call) => call.responses[0]?.response.reconciled === true),
  ],
  [
    'a reconcilable effect was reconciled as not done, and ran',
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
    'a result was stored before a slow call of its batch ended',
    ({ calls }) =>
      [...Map.groupBy(calls, ({ invocationId, seq }) => `${invocationId} ${seq}`).values()].some(
        (group) => new Set(group.filter(({ asked }) => !asked.length).map((call) => call.responses[0]?.seq)).size > 1,
      ),
  ],
  [
    'repeated equal failures ended the run',
    ({ logs }) => events(logs).some(({ errorCode }) => errorCode === 'REPEATED_CALL'),
  ],
  // agents and code
  [
    'agent tools were nested three deep',
    ({ calls }) => calls.some(({ path }) => path.split('/').filter((step) => /@adk-/.test(step)).length >= 3),
  ],
  ['a loop continued in another process', (facts) => loopsOverProcesses(facts)],
  [
    'a loop was exited',
    ({ calls, logs }) =>
      calls.some(({ name }) => name === 'exit_loop') && events(logs).some(({ actions }) => actions.escalate),
  ],
  [
    'an agent transferred to another agent',
    ({ logs }) => events(logs).some(({ actions }) => actions.transferToAgent !== undefined),
  ],
  ['an agent transferred to a workflow', ({ calls }) => calls.some(({ path }) => /@t\d/.test(path))],
  ['code made two calls at once', ({ calls }) => calls.some(({ path }) => /\/call@2$/.test(path))],
  ['code called an agent', ({ calls }) => calls.some(({ path }) => /\/call@\d+\//.test(path))],
  ['code called a tool', ({ calls }) => calls.some(({ path }) => /\/call@\d+$/.test(path))],
  [
    'code waited for an answer',
    ({ calls }) => calls.some(({ path, asked }) => /\/call@\d+$/.test(path) && asked.length > 0),
  ],
  ['branches ran in parallel', ({ logs }) => events(logs).some(({ branch }) => branch !== undefined)],
  ['a model failed', ({ logs }) => events(logs).some(({ errorCode }) => errorCode === 'MODEL_ERROR')],
  [
    'a call named an unknown tool',
    ({ calls }) => calls.some((call) => finalOf(call)?.response.errorCode === 'NOT_FOUND'),
  ],
  [
    'a call had invalid arguments',
    ({ calls }) => calls.some((call) => finalOf(call)?.response.errorCode === 'INVALID_ARGS'),
  ],
  [
    'a call had the id of an object member',
    ({ calls }) => calls.some(({ id }) => id === '__proto__' || id === 'constructor'),
  ],
  [
    'started work was cancelled',
    ({ calls, ledger }) =>
      calls.some(
        (call) => isCancelledWork(call) && ledger.some(({ key, step }) => key === call.key && step === 'cancelled'),
      ),
  ],
  [
    'started work without an effect was cancelled',
    ({ calls }) => calls.some((call) => isCancelledWork(call) && finalOf(call)?.response.errorCode === 'CANCELLED'),
  ],
  [
    'work was cancelled whose handle was not in the log',
    ({ calls }) => calls.some((call) => isCancelledWork(call) && call.responses.length === 1),
  ],
  // clients
  [
    'a pending call was cancelled',
    ({ calls }) =>
      calls.some(
        (call) =>
          call.asked.length > 0 &&
          finalOf(call)?.response.errorCode === 'CANCELLED' &&
          /run was cancelled/.test(errorOf(call)),
      ),
  ],
  [
    'a running call was cancelled',
    ({ calls }) => calls.some((call) => /cancelled while this call was running/.test(errorOf(call))),
  ],
  [
    'a cancel was posted to the inbox for another process',
    ({ journal }) => journal.some(({ method, done }) => method === 'post' && done),
  ],
  ['a client stopped iterating', ({ actions }) => actions.some(({ outcome }) => outcome === 'left')],
  ['deltas were yielded', ({ actions }) => actions.some(({ yielded }) => yielded.some(({ event }) => event.partial))],
  [
    'a process resumed the work of another process',
    ({ actions }) => actions.some(({ type, yielded }) => type === 'resume' && yielded.length > 0),
  ],
])

export function happenedIn(evidence: Evidence): string[] {
  const logs = readLogs(evidence)
  const facts: Facts = { ...evidence, logs, calls: logs.flatMap((log) => [...log.calls.values()]) }
  return [...kinds].flatMap(([name, happened]) => (happened(facts) ? [name] : []))
}

/** A guessed answer under the id of a call, and the entries with the requests of that call. */
interface Guess {
  readonly call: AuditedCall
  readonly mark: string
}

/** Guessed answers that were posted before the entry with their request. */
function guessesOf(
  journal: Evidence['journal'],
  logs: readonly AuditedLog[],
  askedAt: (call: AuditedCall) => readonly number[],
): Guess[] {
  return journal.flatMap(({ posted, done, session, tick }) => {
    const log = logs.find((one) => one.session === session)
    if (!done || !posted?.mark || !log) return []
    const { ids, mark } = posted
    const named = [...log.calls.values()].filter(({ id }) => ids.includes(id))
    return named.filter((call) => askedAt(call).some((seq) => seq > log.lengthAt(tick))).map((call) => ({ call, mark }))
  })
}

function isUnused({ call, mark }: Guess): boolean {
  const given = [...call.asked.map(({ answer }) => answer?.response), ...call.responses.map(({ response }) => response)]
  return given.every((one) => markIn(one) !== mark)
}

function isHeldAt(journal: Evidence['journal'], tick: number): boolean {
  const last = journal.findLast(
    (one) => one.tick < tick && one.done && (one.method === 'claim' || one.method === 'release'),
  )
  return last?.method === 'claim'
}

function isCancelledWork(call: AuditedCall): boolean {
  const { response } = finalOf(call) ?? {}
  return response !== undefined && Object.hasOwn(response, 'handle')
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

/** Whether two clients of one process received the events of a run: one started it, the answers of the other joined it. */
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

/** Whether entries of one invocation are between those of another. */
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
