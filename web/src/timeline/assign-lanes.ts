import { agentAt } from '../../../src/core/event/scope.ts'
import { merge } from './time-scale.ts'
import type { Lane, Step } from './timeline.ts'

/** Deeper agents are shown as if they were at this level. */
const MOST_LEVELS = 50

/** An agent in one place of the tree. The rounds of a loop, and repeated calls of an agent, are one place. */
interface Place {
  readonly key: string
  readonly label: string
  /** The rows of its own steps: model calls, then a row per tool. Calls that run in parallel get rows of their own. */
  readonly lanes: OpenLane[]
  /** The places below it: in a tool, by its name, or as a sub-agent, under the empty name. */
  readonly below: Map<string, Place[]>
  /** When it, or what is below it, worked. */
  readonly spans: { from: number; to: number }[]
}

interface OpenLane extends Pick<Lane, 'id' | 'label' | 'kind'> {
  readonly steps: Step[]
}

/**
 * Puts steps into rows in which they do not overlap: per agent a row of model calls, then a row per tool. The agent of an agent tool is
 * below the row of the tool, and an agent without steps has a row for the agents below it.
 */
export function assignLanes(steps: readonly Step[]): readonly Lane[] {
  const places = new Map<string, Place>()
  const roots: Place[] = []
  const tools = new Map(steps.map(({ id, name }) => [id, name]))
  const placeOf = (path: string, agent: string, tool: string): Place => {
    const key = `${path.replace(/@[^/]*/g, '')} ${agent}`
    const known = places.get(key)
    if (known) return known
    const place: Place = { key, label: agent, lanes: [], below: new Map(), spans: [] }
    places.set(key, place)
    const end = path.lastIndexOf('/')
    const above = path.slice(0, end)
    const siblings = end < 0 ? roots : listOf(placeAt(above), tool)
    siblings.push(place)
    return place
  }
  // agents that took over a scope share its path: the first of them has what is below it
  const firsts = new Map<string, Place>()
  const placeAt = (path: string, agent = agentAt(path), tool = ''): Place => {
    const at = path.replace(/@[^/]*/g, '')
    const place = firsts.get(at) ?? placeOf(path, agent, tool)
    firsts.set(at, place)
    return place
  }
  for (const step of steps) {
    const { agent, parent, from, to } = step
    const path = step.path.split('/', MOST_LEVELS).join('/')
    const tool = parent !== undefined && path.endsWith(`@${parent}`) ? (tools.get(parent) ?? '') : ''
    placeAt(path, agent, tool)
    addTo(placeOf(path, agent, tool), step)
    for (let above = path; above.includes('/'); ) {
      above = above.slice(0, above.lastIndexOf('/'))
      placeAt(above).spans.push({ from, to })
    }
  }
  return roots.flatMap((place) => lanesOf(place, 0))
}

function listOf({ below }: Place, tool: string): Place[] {
  const list = below.get(tool) ?? []
  below.set(tool, list)
  return list
}

function addTo({ key, lanes, label: agent }: Place, step: Step): void {
  const kind = step.kind === 'tool' ? 'tool' : 'agent'
  const label = kind === 'tool' ? step.name : agent
  const same = lanes.filter((lane) => lane.kind === kind && lane.label === label)
  const free = same.find((lane) => (lane.steps.at(-1)?.to ?? 0) <= step.from)
  if (free) free.steps.push(step)
  else lanes.push({ id: `${key} ${kind} ${label} ${same.length}`, label, kind, steps: [step] })
}

/** The rows of a place: model calls first, then the rows of each tool with the agents inside it, then sub-agents. */
function lanesOf({ key, label, lanes, below, spans }: Place, depth: number): Lane[] {
  const own = lanes.filter(({ kind }) => kind === 'agent').map((lane) => ({ ...lane, depth, spans: [] }))
  const heads: Lane[] =
    own.length > 0 ? own : [{ id: key, label, kind: 'agent', depth, steps: [], spans: merge(spans) }]
  const inside = (tool: string, at: number): Lane[] => (below.get(tool) ?? []).flatMap((place) => lanesOf(place, at))
  const names = new Set([...lanes.flatMap((lane) => (lane.kind === 'tool' ? lane.label : [])), ...below.keys()])
  names.delete('')
  const tools = [...names].flatMap((name) => [
    ...lanes
      .filter((lane) => lane.kind === 'tool' && lane.label === name)
      .map((lane) => ({ ...lane, depth, spans: [] })),
    ...inside(name, depth + 1),
  ])
  return [...heads, ...tools, ...inside('', depth + 1)]
}
