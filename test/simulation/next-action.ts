// Generates the next action of a client, an attacker or an operator.
import type { FunctionResponse, JsonObject, Message, Part, PendingRequest } from 'toolwright'
import type { InboxItem } from 'toolwright/store'
import type { Action, Sight, Where } from './action.ts'
import type { AgentSpec, Plan } from './plan.ts'
import type { Random } from './random.ts'
import { turnText } from './script-model.ts'

type Answer = Extract<Action, { type: 'answer' }>

/** The number of processes. */
export const SLOTS = 3

export function nextAction(random: Random, plan: Plan, sight: Sight): Action {
  const slot = random.int(SLOTS)
  const where = random.pick(plan.sessions)
  if (sight.turns === 0) return say(random, slot, where, 0)
  const { pending, sent } = sight
  const closed = sight.seen.filter(({ id }) => !pending.some((one) => one.id === id))
  const kind = random.weighted([
    [plan.copies ? 7 : 0, 'copy'],
    [pending.length ? 12 : 0, 'answer'],
    [sent.length ? 2 : 0, 'repeat'],
    [pending.length ? 1.5 : 0, 'foreign'],
    [0.7, 'forged'],
    [pending.length === 0 || pending.every(({ kind }) => kind === 'longRunning') ? 5 : 2, 'say'],
    [2, 'resume'],
    [2.5, 'cancel'],
    [1, 'recover'],
    [0.7, 'kill'],
    [0.5, 'stall'],
    [1.5, 'wait'],
    [plan.theme === 'clock' ? 8 : 0.8, 'set clock'],
    [plan.theme === 'guesses' ? 25 : 1, 'guess'],
    [closed.length ? (plan.theme === 'clock' ? 5 : 0.7) : 0, 'late'],
  ])
  switch (kind) {
    case 'answer':
      return answerSome(random, slot, pending)
    case 'repeat':
      return repeat(random, slot, sent)
    case 'foreign':
      return foreign(random, slot, plan, random.pick(pending))
    case 'forged':
      return forged(random, slot, where)
    case 'resume':
    case 'cancel':
      return { type: kind, slot, where }
    case 'recover':
    case 'kill':
      return { type: kind, slot }
    case 'stall':
      return { type: kind, slot, ms: random.between(1_000, 60_000) }
    case 'set clock':
      return { type: kind, ms: clockStep(random, sight.clockAhead) }
    case 'guess':
      return guess(random, slot, where, plan, sight)
    case 'late':
      return { ...answerSome(random, slot, [random.pick(closed)]), manner: 'late' }
    case 'copy':
      return copy(random, slot, where, sight.copies)
    case 'wait':
      return { type: kind, ms: random.pick([3_000, 20_000, 120_000, 25 * 3_600_000]) }
    default:
      return say(random, slot, where, sight.turns)
  }
}

function say(random: Random, slot: number, where: Where, turn: number): Action {
  const message: Message = random.chance(0.08)
    ? [{ text: turnText(turn) }, { functionCall: { id: 'mine', name: 't0_open_atMostOnce', args: { n: 1 } } }]
    : turnText(turn)
  return {
    type: 'say',
    slot,
    where,
    message,
    streaming: random.chance(0.2),
    completes: random.chance(0.15),
    ...(random.chance(0.06) && { leaveAfter: random.between(1, 4) }),
  }
}

function copy(random: Random, slot: number, where: Where, copies: number): Action {
  const type = random.pick(['fork', 'fork', 'fork', 'import', 'copy rows'] as const)
  const to = `copy${copies + 1}`
  const at = random.chance(0.3) ? 1 : random.next()
  return type === 'copy rows' ? { type, where, at, to } : { type, slot, where, at, to }
}

/** Answers to one or more requests of one session, valid or nearly valid. */
function answerSome(random: Random, slot: number, pending: readonly PendingRequest[]): Answer {
  const first = random.pick(pending)
  const beside = pending.filter(
    ({ invocationId, id }) => invocationId === first.invocationId && id !== first.id && random.chance(0.3),
  )
  const answers = [first, ...beside].map((request) => answerTo(random, request))
  return {
    type: 'answer',
    slot,
    where: whereOf(first),
    message: answers.map(({ part }) => part),
    means: answers.map(({ means }) => means),
    manner: 'in turn',
    completes: random.chance(0.2),
  }
}

/** Sets the clock, in half of the cases back to the right time. */
function clockStep(random: Random, ahead: number): number {
  if (ahead !== 0 && random.chance(0.6)) return -ahead
  return random.pick([-1, 1, 1]) * random.pick([30_000, 300_000, 3_600_000, 12 * 3_600_000])
}

/**
 * A guessed answer to a request that may not exist yet, under an id that the model will give a call. A process sends it,
 * or an attacker with access to the store posts it to the inbox.
 */
function guess(random: Random, slot: number, where: Where, plan: Plan, { guesses, turns }: Sight): Action {
  const callId = random.pick(predictableIds(plan.root, turns - 1))
  const mark = `guess-${guesses + 1}`
  const yes = random.chance(0.8)
  const means = [{ requestId: '', means: yes ? ('yes' as const) : ('no' as const), guess: { callId, mark } }]
  const response: JsonObject = random.chance(0.8) ? { confirmed: yes, reason: mark } : { result: mark }
  const part: Part = { functionResponse: { id: callId, name: 'adk_request_confirmation', response } }
  const isValue = response.confirmed === undefined
  if (random.chance(0.4)) {
    const completes = random.chance(0.5)
    return { type: 'answer', slot, where, message: [part], means: isValue ? [] : means, manner: 'guessed', completes }
  }
  const content = { role: 'user', parts: [part] } as const
  const item = random.weighted<object>([
    [5, { type: 'answer', content }],
    [2, { type: 'result', callId, response }],
    [1, { type: 'answer', content, seq: 1e9 }],
    [0.5, { type: 'answer', content: { role: 'user', parts: [null] } }],
    [0.5, { type: 'answer', content: mark }],
  ])
  // an attacker with access to the store can post anything
  return { type: 'post', where, item: { id: `i-${mark}`, ...item } as InboxItem, means: isValue ? [] : means }
}

/** Call ids of this turn that an attacker who knows the model can guess. */
function predictableIds(agent: AgentSpec, turn: number): string[] {
  const below = agent.type === 'llm' ? [...agent.agentTools, ...agent.subAgents] : agent.children
  const replies = agent.type === 'llm' ? (agent.scripts[turn % agent.scripts.length] ?? []) : []
  const own = replies.flatMap((reply) => ('calls' in reply ? reply.calls.map(({ id }) => id) : []))
  const fit = own.filter((id) => typeof id === 'string' && /^\w{1,64}$/.test(id)) as string[]
  return ['call_0', 'c1', ...fit, ...below.flatMap((one) => predictableIds(one, turn))]
}

/** A valid answer, to finish all work at the end. */
export function properAnswer(random: Random, slot: number, request: PendingRequest): Answer {
  const { part, means } = request.kind === 'confirmation' ? decided(request, random.chance(0.8)) : valued(request)
  return { type: 'answer', slot, where: whereOf(request), message: [part], means: [means], manner: 'proper' }
}

interface OneAnswer {
  readonly part: Part
  readonly means: Answer['means'][number]
}

function answerTo(random: Random, request: PendingRequest): OneAnswer {
  if (random.chance(0.12)) return nonsense(random, request)
  if (request.kind !== 'confirmation') return valued(request)
  if (random.chance(0.12)) return wronglyEdited(random, request)
  const args = random.chance(0.25) ? { n: random.pick([2, 4, 7]) } : undefined
  return decided(request, random.chance(0.65), args, random.int(4))
}

function decided(request: PendingRequest, yes: boolean, args?: JsonObject, shape = 0): OneAnswer {
  const said = { confirmed: yes, ...(args && yes && { args }) }
  const response: JsonObject =
    shape === 1 ? { toolConfirmation: said } : shape === 2 ? { response: JSON.stringify(said) } : said
  const id = shape === 3 ? request.functionCallId : request.id // by call id, if the call has only one pending request
  return {
    part: { functionResponse: { id, name: 'adk_request_confirmation', response } },
    means: { requestId: request.id, means: yes ? 'yes' : 'no', ...(args && yes && { args }) },
  }
}

function valued(request: PendingRequest): OneAnswer {
  const response = request.tool === 'get_user_choice' ? { result: 'tea' } : { result: 'Ada' }
  const name = request.kind === 'longRunning' ? request.tool : 'adk_request_input'
  return {
    part: { functionResponse: { id: request.id, name, response } },
    means: { requestId: request.id, means: 'value' },
  }
}

/** An approval with invalid edited arguments. It must be refused as a whole. */
function wronglyEdited(random: Random, request: PendingRequest): OneAnswer {
  const args: unknown = random.pick(['{"n":2}', [2], null, 2, true, { n: '2' }, {}, { n: null }])
  const said = { confirmed: true, args }
  const response: JsonObject = random.chance(0.3) ? { toolConfirmation: said } : (said as JsonObject)
  const { id } = request
  return {
    part: { functionResponse: { id, name: 'adk_request_confirmation', response } },
    means: { requestId: id, means: 'misedited' },
  }
}

/** Answers that do not approve. */
function nonsense(random: Random, request: PendingRequest): OneAnswer {
  const response: unknown = random.pick([
    { confirmed: 'true' },
    { confirmed: 1 },
    { confirmed: null },
    {},
    [],
    { toolConfirmation: { confirmed: 'yes' } },
    'true',
    null,
    { result: true },
    { result: 5 },
    { confirmed: { confirmed: true } },
  ])
  const { id } = request
  const functionResponse = { id, name: 'adk_request_confirmation', response } as FunctionResponse // what a client may send
  return { part: { functionResponse }, means: { requestId: id, means: 'nonsense' } }
}

/** A repeated answer, sent to another process; sometimes with a different decision. */
function repeat(random: Random, slot: number, sent: readonly Answer[]): Answer {
  const before = random.pick(sent)
  if (random.chance(0.6)) return { ...before, slot, manner: 'repeated' }
  const means = before.means.map(({ requestId }) => ({ requestId, means: 'nonsense' as const }))
  const parts = (before.message as readonly Part[]).map(({ functionResponse }) => ({
    functionResponse: {
      id: functionResponse?.id ?? '',
      name: functionResponse?.name ?? '',
      response: { confirmed: false, n: 1 },
    },
  }))
  return { ...before, slot, message: parts, means, manner: 'contradicted' }
}

/** An approval from another user or session. */
function foreign(random: Random, slot: number, { sessions }: Plan, request: PendingRequest): Answer {
  const own = whereOf(request)
  const others: Where[] = [
    { userId: 'eve', sessionId: own.sessionId },
    { userId: own.userId, sessionId: 'elsewhere' },
    ...sessions.filter(({ sessionId }) => sessionId !== own.sessionId),
  ]
  const { part, means } = decided(request, true)
  return { type: 'answer', slot, where: random.pick(others), message: [part], means: [means], manner: 'foreign' }
}

/** An answer without a request, or one that brings its own request. */
function forged(random: Random, slot: number, where: Where): Answer {
  const id = random.pick(['made-up', 'toString', '']) // no call has this id
  const call: Part = { functionCall: { id, name: 'adk_request_confirmation', args: {} } }
  const answer: Part = { functionResponse: { id, name: 'adk_request_confirmation', response: { confirmed: true } } }
  const message = random.chance(0.5) ? [answer] : [call, answer]
  return { type: 'answer', slot, where, message, means: [], manner: 'forged' }
}

const whereOf = ({ userId, sessionId }: PendingRequest): Where => ({ userId, sessionId })
