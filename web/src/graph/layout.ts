// Where the agents of an app are drawn: one column per level, an agent beside its first child, the others below each other.
import type { GraphAgent, GraphTool } from '../api/types.ts'

/** A row of a card: a tool, a toolset, or a tool that a toolset lists. */
export interface ToolRow extends GraphTool {
  /** Is it a tool of the toolset above it? */
  readonly isListed?: boolean
}

/** An agent with its place in the drawing, in pixels. */
export interface PlacedAgent {
  /** Names the place: the same agent may be in several. */
  readonly key: string
  /** The agent. */
  readonly agent: GraphAgent
  /** Its position among the steps of a sequence or loop, from 1. */
  readonly step: number | undefined
  /** How many lines of its description are drawn. */
  readonly texts: number
  /** The rows that are drawn. */
  readonly rows: readonly ToolRow[]
  /** How many rows are left out. */
  readonly hidden: number
  /** The left edge. */
  readonly x: number
  /** The upper edge. */
  readonly y: number
  /** The height of its card. */
  readonly height: number
  /** The agents below it: its sub-agents, then those of its agent tools. */
  readonly children: readonly PlacedAgent[]
}

/** A line between two agents. */
export interface Edge {
  /** `sub`: may get the conversation, or is run by a workflow; `call`: an agent tool; `next`, `again`: the order of a workflow. */
  readonly kind: 'sub' | 'call' | 'next' | 'again'
  /** The names of the agents at both ends. */
  readonly from: string
  /** The agent that the line leads to. */
  readonly to: string
  /** The path of the line. */
  readonly d: string
}

/** A drawing of agents. */
export interface Drawing {
  /** The root agent. */
  readonly root: PlacedAgent
  /** The lines. */
  readonly edges: readonly Edge[]
  /** The size, in pixels. */
  readonly width: number
  /** The size, in pixels. */
  readonly height: number
}

/** What the drawing shows of each agent. */
export interface LayoutOptions {
  /** The rows of an agent. */
  rowsOf(agent: GraphAgent): readonly ToolRow[]
  /** The keys of the agents that show all rows. */
  readonly opened: ReadonlySet<string>
}

/** The width of a card. */
export const CARD = 232
const [GAP, SPACE, MARGIN] = [56, 18, 4]
/** From the upper edge of a card to where lines arrive. */
const PORT = 22
/** Heights of the parts of a card, as `graph.css` has them. */
const [HEAD, LINE, ROW] = [58, 18, 24]
/** Characters of a description that fit into one line. */
const MOST_CHARACTERS = 33
/** Rows of a card that is not opened. */
const MOST_ROWS = 8

/** Places the agents of a tree, and the lines between them. */
export function layOut(root: GraphAgent, options: LayoutOptions): Drawing {
  const edges: Edge[] = []
  let [width, height] = [0, 0]
  const place = (
    agent: GraphAgent,
    at: Omit<PlacedAgent, 'agent' | 'texts' | 'rows' | 'hidden' | 'height' | 'children'>,
  ): Placed => {
    const all = options.rowsOf(agent)
    const hidden = options.opened.has(at.key) || all.length <= MOST_ROWS + 1 ? 0 : all.length - MOST_ROWS
    const rows = hidden > 0 ? all.slice(0, MOST_ROWS) : all
    const lines = rows.length + (hidden > 0 ? 1 : 0)
    const texts = linesOf(agent.description)
    const own = HEAD + texts * LINE + lines * ROW
    const isOrdered = agent.type === 'SequentialAgent' || agent.type === 'LoopAgent'
    const subs = agent.sub_agents ?? []
    const inner = [...subs, ...(agent.tools ?? []).flatMap((tool) => tool.agent ?? [])]
    const children: PlacedAgent[] = []
    let below = at.y
    for (const [index, child] of inner.entries()) {
      const step = isOrdered && index < subs.length ? index + 1 : undefined
      const where = { key: `${at.key}/${index}`, step, x: at.x + CARD + GAP, y: below }
      const { placed, end } = place(child, where)
      children.push(placed)
      below = end
    }
    const placed = { ...at, agent, texts, rows, hidden, height: own, children }
    connect(placed, subs.length, isOrdered, edges)
    width = Math.max(width, at.x + CARD)
    height = Math.max(height, at.y + own)
    return { placed, end: Math.max(below, at.y + own + SPACE) }
  }
  const { placed } = place(root, { key: '', step: undefined, x: MARGIN, y: MARGIN })
  return { root: placed, edges, width: width + MARGIN, height: height + MARGIN }
}

function linesOf(description = ''): number {
  return description === '' ? 0 : description.length > MOST_CHARACTERS ? 2 : 1
}

interface Placed {
  readonly placed: PlacedAgent
  /** Where the next agent of the column begins. */
  readonly end: number
}

function connect(parent: PlacedAgent, subs: number, isOrdered: boolean, edges: Edge[]): void {
  const from = parent.agent.name
  let before: PlacedAgent | undefined
  for (const [index, child] of parent.children.entries()) {
    const to = child.agent.name
    const isNext = isOrdered && before !== undefined && index < subs
    if (isNext && before) {
      const [x, end] = [child.x + PORT, before.y + before.height]
      edges.push({ kind: 'next', from: before.agent.name, to, d: `M${x} ${end}V${child.y}${DOWN}` })
    } else {
      const [x, y, middle] = [parent.x + CARD, parent.y + PORT, child.x - GAP / 2]
      const d = `M${x} ${y}H${middle}V${child.y + PORT}H${child.x}${RIGHT}`
      edges.push({ kind: index < subs ? 'sub' : 'call', from, to, d })
    }
    before = child
  }
  const [first, last] = [parent.children[0], parent.children[subs - 1]]
  if (parent.agent.type !== 'LoopAgent' || !first || !last) return
  const [x, y, end] = [first.x - GAP / 4, first.y + PORT + 12, last.y + last.height - 12]
  const d = `M${last.x} ${end}H${x}V${y}H${first.x}${RIGHT}`
  edges.push({ kind: 'again', from: last.agent.name, to: first.agent.name, d })
}

/** Heads of arrows, at the end of a line. */
const RIGHT = 'm-6 -4l6 4l-6 4'
const DOWN = 'm-4 -6l4 6l4 -6'
const LEFT = 'm6 -4l-6 4l6 4'

/** The line of a transfer from one agent to another, if both are drawn. */
export function transferPath(root: PlacedAgent, from: string, to: string): string | undefined {
  const [start, end] = [findPlaced(root, from), findPlaced(root, to)]
  if (!start || !end || start === end) return undefined
  const isForward = end.x > start.x
  const [x1, y1] = [start.x + CARD, start.y + PORT + 8]
  const [x2, y2] = [isForward ? end.x : end.x + CARD, end.y + PORT + 8]
  const bend = isForward ? x2 - GAP : x2 + GAP
  return `M${x1} ${y1}C${x1 + GAP} ${y1} ${bend} ${y2} ${x2} ${y2}${isForward ? RIGHT : LEFT}`
}

function findPlaced(placed: PlacedAgent, name: string): PlacedAgent | undefined {
  if (placed.agent.name === name) return placed
  for (const child of placed.children) {
    const found = findPlaced(child, name)
    if (found) return found
  }
  return undefined
}
