// Draws agents and tools in the DOT language of Graphviz, which adk-web renders.
import type { AgentNode } from './agent-tree.ts'

/** How a graph is drawn. */
export interface DotOptions {
  /** Colors for a dark page. Default false. */
  readonly isDark?: boolean
  /** Edges to highlight, from an agent to a tool or back. */
  readonly highlights?: readonly (readonly [from: string, to: string])[]
}

/** The graph of an agent, its tools and everything below it. */
export function toDot(root: AgentNode, { isDark = false, highlights = [] }: DotOptions = {}): string {
  const color = isDark ? '#cccccc' : '#444444'
  const lines: string[] = []
  const drawn = new Set<string>()
  const isLit = (name: string): boolean => highlights.some((pair) => pair.includes(name))
  const node = (name: string, shape: string): void => {
    if (drawn.has(name)) return
    drawn.add(name)
    lines.push(`${quote(name)} [${attributes({ shape, ...(isLit(name) && LIT_NODE) })}]`)
  }
  const edge = (from: string, to: string): void => {
    const forward = highlights.some(([start, end]) => start === from && end === to)
    const back = highlights.some(([start, end]) => start === to && end === from)
    const lit = forward || back ? { ...LIT_EDGE, ...(back && !forward && { dir: 'back' }) } : {}
    lines.push(`${quote(from)} -> ${quote(to)} [${attributes({ color, ...lit })}]`)
  }
  const draw = (agent: AgentNode): void => {
    node(agent.name, 'ellipse')
    for (const { name } of agent.tools) {
      node(name, 'box')
      edge(agent.name, name)
    }
    for (const child of agent.sub_agents) {
      draw(child)
      edge(agent.name, child.name)
    }
  }
  draw(root)
  const defaults = attributes({ color, fontcolor: color, style: 'rounded' })
  return ['digraph {', 'graph [bgcolor="transparent", rankdir="LR"]', `node [${defaults}]`, ...lines, '}'].join('\n')
}

const LIT_NODE = { color: '#0f5223', fillcolor: '#69cb87', style: 'filled,rounded', fontcolor: '#000000' }
const LIT_EDGE = { color: '#69cb87', penwidth: '2' }

function attributes(values: { readonly [name: string]: string }): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}=${quote(value)}`)
    .join(', ')
}

/** A quoted name: no character of it can end the quotes. */
function quote(text: string): string {
  return `"${text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replace(/[\r\n]/g, ' ')}"`
}
