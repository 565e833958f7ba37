import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { describeError } from '../api/api-error.ts'
import type { ToolInfo } from '../api/types.ts'
import { Icon } from '../ui/Icon.tsx'
import { visibleLine } from '../ui/visible-text.ts'
import type { AgentTool, AgentTools } from './load-tools.ts'

/** Props of the list of tools. */
export interface ToolPickerProps {
  /** The agents and their tools. */
  readonly lists: readonly AgentTools[]
  /** The chosen tool. */
  readonly chosen: AgentTool | undefined
  /** Called with the tool that the user chooses. */
  onChange(tool: AgentTool): void
}

/** More tools are found with the filter. */
const MOST_TOOLS = 200

/** All tools, by agent and toolset. */
export function ToolPicker({ lists, chosen, onChange }: ToolPickerProps): JSX.Element {
  const [text, setText] = useState('')
  const isFound = ({ name, description }: ToolInfo): boolean =>
    `${name} ${description}`.toLowerCase().includes(text.toLowerCase())
  return (
    <nav class="tool-picker" aria-label="Tools">
      <label>
        <span class="visually-hidden">Filter tools</span>
        <input
          type="search"
          placeholder="Filter tools"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      {lists.map(({ agent, tools }) => (
        <section key={agent} aria-label={visibleLine(agent)}>
          <h2>{visibleLine(agent)}</h2>
          {tools instanceof Error ? (
            <p class="field-issue">{describeError(tools)}</p>
          ) : (
            groupsOf(tools.filter(isFound).slice(0, MOST_TOOLS)).map(([toolset, group]) => (
              <div key={toolset}>
                {toolset !== '' && <h3>{visibleLine(toolset)}</h3>}
                <ul>
                  {group.map((tool) => (
                    <li key={tool.name}>
                      <button
                        type="button"
                        aria-pressed={chosen?.agent === agent && chosen.tool.name === tool.name}
                        onClick={() => onChange({ agent, tool })}
                      >
                        <span>{visibleLine(tool.name)}</span>
                        {tool.needsConfirmation !== 'never' && <Icon name="shield" />}
                        {tool.hasAuth && <Icon name="key" />}
                        {tool.isLongRunning && <Icon name="clock" />}
                      </button>
                    </li>
                  ))}
                </ul>
              </div>
            ))
          )}
        </section>
      ))}
    </nav>
  )
}

/** The tools of an agent by toolset; those that it has itself are in the first group, without a name. */
function groupsOf(tools: readonly ToolInfo[]): readonly (readonly [toolset: string, tools: readonly ToolInfo[]])[] {
  const names = new Set(tools.map(({ toolset = '' }) => toolset))
  return [...names]
    .toSorted((one, other) => Number(one !== '') - Number(other !== ''))
    .map((name) => [name, tools.filter(({ toolset = '' }) => toolset === name)] as const)
}
