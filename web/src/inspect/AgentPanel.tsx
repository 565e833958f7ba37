import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { describeError } from '../api/api-error.ts'
import { getGraph } from '../api/dev.ts'
import type { GraphAgent } from '../api/types.ts'
import type { SessionTabProps } from '../session/session-tab.ts'
import { server } from '../state/server.ts'
import { useSignal } from '../state/signal.ts'
import { Icon, type IconName } from '../ui/Icon.tsx'
import { visibleLine } from '../ui/visible-text.ts'
import { type Position, positionOf } from './position.ts'

/** The agents of the app as a tree, with the position of the run. */
export function AgentPanel({ log }: SessionTabProps): JSX.Element {
  const [root, setRoot] = useState<GraphAgent | Error>()
  const view = useSignal(log.view)
  useEffect(() => {
    getGraph(log.key.app).then(({ root_agent }) => setRoot(root_agent), setRoot)
  }, [log.key.app, useSignal(server)])
  if (root === undefined) return <p class="empty">Loading…</p>
  if (root instanceof Error) return <p class="empty">{describeError(root)}</p>
  const position = positionOf(view)
  return (
    <div class="agents">
      <p class="position" role="status">
        {position ? positionText(position, view.isRunning) : 'No agent has run in this session yet.'}
      </p>
      <ul class="agent-tree">
        <AgentNode agent={root} position={position} isRunning={view.isRunning} />
      </ul>
    </div>
  )
}

function positionText({ path, agent, tools }: Position, isRunning: boolean): string {
  const where = path.at(-1) === agent ? path : [...path, agent]
  const doing = tools.size > 0 ? `, ${isRunning ? 'calling' : 'waiting for'} ${[...tools].join(', ')}` : ''
  return visibleLine(`${isRunning ? 'Running' : 'Last position'}: ${where.join(' › ')}${doing}`)
}

const TYPES: ReadonlyMap<string, string> = new Map([
  ['LlmAgent', 'LLM agent'],
  ['SequentialAgent', 'in sequence'],
  ['ParallelAgent', 'in parallel'],
  ['LoopAgent', 'in a loop'],
  ['BaseAgent', 'custom agent'],
])

/** Props of an agent. */
export interface NodeProps {
  /** The agent. */
  readonly agent: GraphAgent
  /** Where the run is. */
  readonly position: Position | undefined
  /** Is the run under way? */
  readonly isRunning: boolean
}

/** An agent, its tools, and the agents below it. */
export function AgentNode({ agent, position, isRunning }: NodeProps): JSX.Element {
  const { name, type, description, model, tools = [], sub_agents: children = [] } = agent
  const isHere = position?.agent === name
  const isOnPath = position?.path.includes(name) === true
  const classes = ['agent-card', isHere && 'here', isOnPath && 'on-path', isRunning && 'running']
  return (
    <li class={`agent-node ${type}`}>
      <div class={classes.filter(Boolean).join(' ')} aria-current={isHere ? 'step' : undefined}>
        <p>
          <strong>{visibleLine(name)}</strong>
          <span class="agent-type">{TYPES.get(type) ?? visibleLine(type)}</span>
          {model && <span class="muted">{visibleLine(model)}</span>}
        </p>
        {description && <p class="muted">{visibleLine(description)}</p>}
        {tools.length > 0 && (
          <ul class="agent-tools" aria-label={`Tools of ${visibleLine(name)}`}>
            {tools.map((tool) => (
              <Tool key={tool.name} {...tool} isActive={isHere && position.tools.has(tool.name)} />
            ))}
          </ul>
        )}
      </div>
      {children.length > 0 && (
        <ul>
          {children.map((child) => (
            <AgentNode key={child.name} agent={child} position={position} isRunning={isRunning} />
          ))}
        </ul>
      )}
    </li>
  )
}

const ICONS: ReadonlyMap<string, IconName> = new Map([
  ['AgentTool', 'chat'],
  ['LongRunningFunctionTool', 'clock'],
  ['Toolset', 'link'],
])

interface ToolProps {
  readonly name: string
  readonly type: string
  readonly isActive: boolean
}

function Tool({ name, type, isActive }: ToolProps): JSX.Element {
  return (
    <li class={isActive ? 'agent-tool active' : 'agent-tool'} aria-current={isActive ? 'step' : undefined} title={type}>
      <Icon name={ICONS.get(type) ?? 'wrench'} />
      {visibleLine(name)}
    </li>
  )
}
