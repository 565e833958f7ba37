// What a chat says about its agents: the header and the lists of the commands.
import { type Agent, subAgentsOf } from '../agent/agents/agent.ts'
import { agentOf } from '../agent/agents/agent-tool.ts'
import { LlmAgent } from '../agent/agents/llm-agent.ts'
import type { Tool } from '../tool/tool.ts'
import { cut, hardWrap } from './columns.ts'
import { COMMANDS } from './commands.ts'
import type { Paint } from './paint.ts'
import { exactly, inOneLine } from './visible.ts'

export interface Overview {
  readonly width: number
  readonly paint: Paint
}

/** The first lines of a chat: the agent, its model, its tools, the session, and how to leave. */
export function headerOf(agent: Agent, session: string, { width, paint }: Overview): string {
  const tools = agentsIn(agent).flatMap(toolsOf)
  const others = agentsIn(agent).slice(1)
  const rows: [string, string][] = [
    ['agent', agent.name + (others.length > 0 ? `, with ${others.map(({ name }) => name).join(', ')}` : '')],
    ['model', [...new Set(agentsIn(agent).flatMap(modelNameOf))].join(', ') || 'none'],
    ['tools', tools.map(({ name }) => name).join(', ') || 'none'],
    ['session', session],
  ]
  const shown = rows.map(
    ([name, value]) =>
      `${paint(['dim'], name.padEnd(9))}${paint(name === 'agent' ? ['bold'] : [], cut(inOneLine(value), width - 9))}\n`,
  )
  return `${shown.join('')}${paint(['dim'], cut('/help for commands, Ctrl+D leaves', width))}\n\n`
}

export function helpText({ width, paint }: Overview): string {
  const commands = [...COMMANDS].map(([name, what]) => [`/${name}`, what] as const)
  const keys = [
    ['Enter', 'send; Alt+Enter starts a new line'],
    ['Up, Down', 'earlier messages'],
    ['Ctrl+C', 'cancel the turn; at the prompt clear the line, then leave'],
    ['Ctrl+D', 'leave; what is asked stays open'],
  ] as const
  const rows = [...commands, ...keys].map(([key, what]) => {
    const [first = '', ...more] = hardWrap(`${key.padEnd(10)}${what}`, width, ' '.repeat(10)).split('\n')
    return `${[paint(['bold'], first.slice(0, 10)) + first.slice(10), ...more].join('\n')}\n`
  })
  return `${rows.join('')}${paint(['dim'], 'To send a message that is one /word, type //word.')}\n`
}

/** The tools of each agent with what they say about themselves. */
export function toolsText(agent: Agent, { width, paint }: Overview): string {
  const lists = agentsIn(agent).map((one) => {
    const rows = toolsOf(one).map(({ name, description }) => {
      const shown = cut(inOneLine(name), 40).padEnd(18)
      return `  ${paint(['bold'], shown)} ${paint(['dim'], cut(inOneLine(description), Math.max(width - shown.length - 3, 12)))}\n`
    })
    return `${inOneLine(one.name)}\n${rows.join('') || '  no tools\n'}${hasMoreTools(one) ? '  and tools that depend on who asks\n' : ''}`
  })
  return lists.join('')
}

export function stateText(state: { readonly [key: string]: unknown }): string {
  const rows = Object.entries(state).map(([key, value]) => `${inOneLine(key)}: ${exactly(value)}\n`)
  return rows.join('') || 'The state is empty.\n'
}

function agentsIn(root: Agent, seen: Set<Agent> = new Set()): Agent[] {
  if (seen.has(root)) return []
  seen.add(root)
  const used = toolsOf(root).flatMap((tool) => agentOf(tool)?.agent ?? [])
  return [root, ...[...subAgentsOf(root), ...used].flatMap((agent) => agentsIn(agent, seen))]
}

function toolsOf(agent: Agent): Tool[] {
  return agent instanceof LlmAgent ? [...agent.table.tools.values()] : []
}

function hasMoreTools(agent: Agent): boolean {
  return agent instanceof LlmAgent && agent.dynamicTools.length > 0
}

function modelNameOf(agent: Agent): string[] {
  if (!(agent instanceof LlmAgent) || agent.model === undefined) return []
  return [typeof agent.model === 'string' ? agent.model : agent.model.name]
}
