// Text about the agents of a chat: the header, /help, /tools and /state.

import { escapeJson, escapeLine } from '../../../core/base/escape.ts'
import type { Agent } from '../../../engine/agent/agents/agent.ts'
import { LlmAgent } from '../../../engine/agent/agents/llm-agent.ts'
import { collectAgents, fixedToolsOf } from '../load/collect-agents.ts'
import type { Paint } from '../screen/paint.ts'
import { hardWrap, truncate } from '../screen/text-width.ts'
import { COMMANDS } from './commands.ts'

/** How the text is laid out. */
interface InfoTextOptions {
  /** Columns of the terminal. */
  readonly width: number
  /** Applies styles. */
  readonly paint: Paint
}

/** The header of a chat: agent, model, tools, session and how to exit. */
export function headerText(agent: Agent, session: string, { width, paint }: InfoTextOptions): string {
  const tools = collectAgents(agent).flatMap(fixedToolsOf)
  const others = collectAgents(agent).slice(1)
  const rows: [string, string][] = [
    ['agent', agent.name + (others.length > 0 ? `, with ${others.map(({ name }) => name).join(', ')}` : '')],
    ['model', [...new Set(collectAgents(agent).flatMap(modelNameOf))].join(', ') || 'none'],
    ['tools', tools.map(({ name }) => name).join(', ') || 'none'],
    ['session', session],
  ]
  const shown = rows.map(
    ([name, value]) =>
      `${paint(['dim'], name.padEnd(9))}${paint(name === 'agent' ? ['bold'] : [], truncate(escapeLine(value), width - 9))}\n`,
  )
  return `${shown.join('')}${paint(['dim'], truncate('/help lists the commands, Ctrl+D exits', width))}\n\n`
}

/** The output of /help: commands and keys. */
export function helpText({ width, paint }: InfoTextOptions): string {
  const commands = [...COMMANDS].map(([name, what]) => [`/${name}`, what] as const)
  const keys = [
    ['Enter', 'Send the message; Alt+Enter starts a new line'],
    ['Up, Down', 'Earlier messages'],
    ['Ctrl+C', 'Cancel the turn; at the prompt clear the line, then exit'],
    ['Ctrl+D', 'Exit; open requests stay pending'],
  ] as const
  const rows = [...commands, ...keys].map(([key, what]) => {
    const [first = '', ...more] = hardWrap(`${key.padEnd(10)}${what}`, width, ' '.repeat(10)).split('\n')
    return `${[paint(['bold'], first.slice(0, 10)) + first.slice(10), ...more].join('\n')}\n`
  })
  return `${rows.join('')}${paint(['dim'], 'To send a message such as /word, type //word.')}\n`
}

/** The output of /tools: the tools of each agent with their descriptions. */
export function toolsText(agent: Agent, { width, paint }: InfoTextOptions): string {
  const lists = collectAgents(agent).map((one) => {
    const rows = fixedToolsOf(one).map(({ name, description }) => {
      const shown = truncate(escapeLine(name), 40).padEnd(18)
      return `  ${paint(['bold'], shown)} ${paint(['dim'], truncate(escapeLine(description), Math.max(width - shown.length - 3, 12)))}\n`
    })
    return `${escapeLine(one.name)}\n${rows.join('') || '  no tools\n'}${hasDynamicTools(one) ? '  and tools that are listed per invocation\n' : ''}`
  })
  return lists.join('')
}

/** The output of /state. */
export function stateText(state: { readonly [key: string]: unknown }): string {
  const rows = Object.entries(state).map(([key, value]) => `${escapeLine(key)}: ${escapeJson(value)}\n`)
  return rows.join('') || 'The state is empty.\n'
}

function hasDynamicTools(agent: Agent): boolean {
  return agent instanceof LlmAgent && agent.dynamicTools.length > 0
}

function modelNameOf(agent: Agent): string[] {
  if (!(agent instanceof LlmAgent) || agent.model === undefined) return []
  return [typeof agent.model === 'string' ? agent.model : agent.model.name]
}
