// What tools schedule through their context: only if their agent allows it, only for their user, and not too much.

import { ToolError, ToolwrightError } from '../../../core/error/error.ts'
import { digestOf } from '../../../services/auth/digest.ts'
import type { StoredSchedule } from '../../../services/schedule/service.ts'
import type { AgentTree } from '../../agent/agents/agent-tree.ts'
import { LlmAgent } from '../../agent/agents/llm-agent.ts'
import type {
  SchedulingCall,
  SchedulingLimits,
  ToolSchedule,
  ToolScheduleOptions,
} from '../../context/tool-scheduling.ts'
import { createSchedule, deleteSchedule, type ScheduleParts } from './schedule-operations.ts'
import { toTiming } from './schedule-rules.ts'
import { ticksOf } from './ticks.ts'

/** Marks the schedules of tools: a tool deletes no other ones. */
const PREFIX = 'tool-'
const MAX_SCHEDULES = 20
const MIN_EVERY_MS = 60_000
/** How many ticks of a cron line are compared with `minEveryMs`. */
const COMPARED_TICKS = 50

interface Parts extends ScheduleParts {
  /** The agents of the runner. */
  readonly tree: AgentTree
}

/** Stores the schedule of a call. */
export async function scheduleForTool(
  call: SchedulingCall,
  options: ToolScheduleOptions,
  parts: Parts,
): Promise<ToolSchedule> {
  const { maxSchedules = MAX_SCHEDULES, minEveryMs = MIN_EVERY_MS } = limitsOf(call, parts.tree)
  const { message, newSession = false, at, every, cron, timeZone, missed } = options
  const times = { at, every, cron, timeZone, missed }
  await checkInterval(times, minEveryMs, parts)
  // the id must not tell the invocation: a tool may show it to the model
  const id = `${PREFIX}${(await digestOf(call.key)).slice(0, 32)}`
  const others = (await schedulesOf(call, parts)).filter((one) => one.id !== id)
  if (others.length >= maxSchedules) throw tooMany(others.length)
  const owner = { userId: call.userId, sessionId: newSession ? undefined : call.sessionId }
  const { nextAt } = await createSchedule({ ...owner, ...times, message, id }, parts, call.sessionId)
  // counted again: calls at the same time do not see each other's schedules before they are stored
  const place = (await schedulesOf(call, parts)).findIndex((one) => one.id === id)
  if (place < maxSchedules) return { id, nextAt }
  await deleteSchedule(id, call.userId, parts)
  throw tooMany(place)
}

function tooMany(count: number): ToolError {
  return new ToolError(`The user has ${count} schedules, and an agent may create no more. Delete one first.`)
}

/** Deletes a schedule of the user that a tool has created. */
export async function unscheduleForTool(call: SchedulingCall, id: string, parts: Parts): Promise<boolean> {
  limitsOf(call, parts.tree)
  return typeof id === 'string' && id.startsWith(PREFIX) && (await deleteSchedule(id, call.userId, parts))
}

/** The limits of the agent. Agents of one name must all allow it: a context knows the name only. */
function limitsOf({ agentName }: SchedulingCall, tree: AgentTree): SchedulingLimits {
  const named = tree.agents().filter(({ name }) => name === agentName)
  const allowed = named.map((agent) => (agent instanceof LlmAgent ? agent.options.allowScheduling : undefined))
  if (allowed.length > 0 && allowed.every(Boolean)) return typeof allowed[0] === 'object' ? allowed[0] : {}
  throw new ToolwrightError(
    'INVALID_CONFIG',
    `Agent "${agentName}" must not schedule runs. Set its option \`allowScheduling\` to let its tools do so.`,
  )
}

async function checkInterval(
  times: Parameters<typeof toTiming>[0],
  minEveryMs: number,
  { services }: Parts,
): Promise<void> {
  const now = services.ports.now()
  const timing = toTiming(times, now)
  if (timing.type === 'at') return
  const next = await ticksOf(timing)
  let tick = next(now)
  for (let compared = 0; tick !== undefined && compared < COMPARED_TICKS; compared++) {
    const following = next(tick)
    if (following !== undefined && following - tick < minEveryMs)
      throw new ToolError(`An agent may schedule runs at least ${minEveryMs} ms apart. Choose fewer times.`)
    tick = following
  }
}

async function schedulesOf({ userId }: SchedulingCall, { appName, services }: Parts): Promise<StoredSchedule[]> {
  const found: StoredSchedule[] = []
  let after: string | undefined
  do {
    const page = await services.scheduleService.listSchedules({ appName, userId, limit: 100, after })
    found.push(...page.items.filter(({ id, state }) => id.startsWith(PREFIX) && state.type !== 'ended'))
    after = page.next
  } while (after !== undefined)
  return found
}
