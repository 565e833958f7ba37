import { depthOf } from '../../../src/core/event/scope.ts'
import type { Lane, Step } from './timeline.ts'

/**
 * Puts steps into rows in which they do not overlap: per agent a row of model calls, then a row per tool. Calls that run in
 * parallel get rows of their own. The rounds of a loop, and repeated calls of an agent, share their rows.
 */
export function assignLanes(steps: readonly Step[]): readonly Lane[] {
  const agents = new Map<string, { lanes: OpenLane[]; depth: number }>()
  for (const step of steps) {
    const { path, agent, kind } = step
    const key = `${path.replace(/@[^/]*/g, '')} ${agent}`
    let group = agents.get(key)
    if (!group) {
      group = { lanes: [], depth: depthOf(path) - 1 }
      agents.set(key, group)
    }
    const label = kind === 'tool' ? step.name : agent
    const of = kind === 'tool' ? 'tool' : 'agent'
    const same = group.lanes.filter((lane) => lane.kind === of && lane.label === label)
    const free = same.find((lane) => (lane.steps.at(-1)?.to ?? 0) <= step.from)
    if (free) free.steps.push(step)
    else
      group.lanes.push({
        id: `${key} ${of} ${label} ${same.length}`,
        label,
        kind: of,
        depth: group.depth,
        steps: [step],
      })
  }
  return [...agents.values()].flatMap(({ lanes }) => lanes.sort(byKindAndLabel))
}

interface OpenLane extends Lane {
  readonly steps: Step[]
}

/** Model calls first; the rows of one tool stay together, in the order in which the tools were called. */
function byKindAndLabel(one: OpenLane, other: OpenLane): number {
  if (one.kind !== other.kind) return one.kind === 'agent' ? -1 : 1
  return 0
}
