import './graph.css'
import type { JSX } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { describeError } from '../api/api-error.ts'
import { getGraph } from '../api/dev.ts'
import type { GraphAgent } from '../api/types.ts'
import { userId } from '../state/preferences.ts'
import { server } from '../state/server.ts'
import { useSignal } from '../state/signal.ts'
import { Icon, type IconName } from '../ui/Icon.tsx'
import { visibleLine } from '../ui/visible-text.ts'
import { layOut, type PlacedAgent, type ToolRow, transferPath } from './layout.ts'
import { type ListedTools, listToolsets, rowsOf } from './list-toolsets.ts'
import type { Position } from './position.ts'

/** Props of a graph. */
export interface AgentGraphProps {
  /** The app. */
  readonly app: string
  /** Where the run is. */
  readonly position?: Position | undefined
  /** Is the run under way? */
  readonly isRunning?: boolean
}

/** The agents of an app with their tools: a drawing, which is a nested list for screen readers and on narrow pages. */
export function AgentGraph({ app, position, isRunning = false }: AgentGraphProps): JSX.Element {
  const [root, listed] = useAgents(app)
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set())
  const box = useRef<HTMLElement>(null)
  const drawing = useMemo(
    () =>
      root instanceof Error || !root ? undefined : layOut(root, { opened, rowsOf: (agent) => rowsOf(agent, listed) }),
    [root, opened, listed],
  )
  const here = position?.agent
  useEffect(() => {
    if (isRunning) box.current?.querySelector('.here')?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [here, isRunning, drawing !== undefined])
  if (root instanceof Error) return <p class="empty">{describeError(root)}</p>
  if (!drawing) return <p class="empty">Loading…</p>
  const { width, height, edges } = drawing
  const transfers = position?.transfers ?? []
  const isTaken = (from: string, to: string): boolean => transfers.some(([one, other]) => one === from && other === to)
  const curves = transfers.filter(([from, to]) => !edges.some((edge) => edge.from === from && edge.to === to))
  const lines = edges.toSorted((one, other) => +isTaken(one.from, one.to) - +isTaken(other.from, other.to)) // taken ones on top
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the drawing is scrolled with the keyboard
    <section class="graph" aria-label="Agents" ref={box} tabIndex={0}>
      <div
        class={isRunning ? 'graph-space running' : 'graph-space'}
        style={{ width: `${width}px`, height: `${height}px` }}
      >
        <svg viewBox={`-.5 -.5 ${width} ${height}`} width={width} height={height} aria-hidden="true" focusable="false">
          {lines.map(({ kind, from, to, d }) => (
            <path key={d} class={`edge ${kind}${isTaken(from, to) ? ' taken' : ''}`} d={d} />
          ))}
          {curves.map(([from, to]) => (
            <path key={`${from} ${to}`} class="edge taken" d={transferPath(drawing.root, from, to)} />
          ))}
        </svg>
        <ul>
          <Agent
            placed={drawing.root}
            position={position}
            onOpen={(key) => setOpened((before) => new Set([...before, key]))}
          />
        </ul>
      </div>
    </section>
  )
}

/** The agent tree, and what its toolsets list. Both are read again when the server has started again. */
function useAgents(app: string): readonly [GraphAgent | Error | undefined, ListedTools] {
  const [root, setRoot] = useState<GraphAgent | Error>()
  const [listed, setListed] = useState<ListedTools>(new Map())
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    const show = async (): Promise<void> => {
      const { root_agent } = await getGraph(app, signal)
      setRoot(root_agent)
      for await (const lists of listToolsets(root_agent, { app, userId: userId.value, signal })) setListed(lists)
    }
    show().catch((error) => signal.aborted || setRoot(error))
    return () => controller.abort()
  }, [app, useSignal(server)])
  return [root, listed]
}

const TYPES: ReadonlyMap<string, string> = new Map([
  ['LlmAgent', 'LLM agent'],
  ['SequentialAgent', 'in sequence'],
  ['ParallelAgent', 'in parallel'],
  ['LoopAgent', 'in a loop'],
  ['BaseAgent', 'custom agent'],
])

interface AgentProps {
  readonly placed: PlacedAgent
  readonly position: Position | undefined
  onOpen(key: string): void
}

function Agent({ placed, position, onOpen }: AgentProps): JSX.Element {
  const { key, agent, step, rows, hidden, children, texts, x, y, height } = placed
  const { name, type, description, model } = agent
  const isHere = position?.agent === name
  const classes = ['agent-card', type, isHere && 'here', position?.path.includes(name) && 'on-path']
  return (
    <li>
      <div
        class={classes.filter(Boolean).join(' ')}
        style={{ left: `${x}px`, top: `${y}px`, height: `${height}px` }}
        aria-current={isHere ? 'step' : undefined}
      >
        <p>
          {step !== undefined && <span class="agent-step">{step}</span>}
          <strong title={visibleLine(name)}>{visibleLine(name)}</strong>
        </p>
        <p class="agent-kind">
          <span class="agent-type">{TYPES.get(type) ?? visibleLine(type)}</span>
          {model && <span class="muted">{visibleLine(model)}</span>}
        </p>
        {description && (
          <p
            class="agent-text muted"
            style={{ height: `${texts * 18}px`, WebkitLineClamp: texts }}
            title={visibleLine(description)}
          >
            {visibleLine(description)}
          </p>
        )}
        {rows.length > 0 && (
          <ul class="agent-tools" aria-label={`Tools of ${visibleLine(name)}`}>
            {rows.map((row, at) => (
              <Tool key={`${at} ${row.name}`} row={row} isActive={isHere && position.tools.has(row.name)} />
            ))}
          </ul>
        )}
        {hidden > 0 && (
          <button type="button" class="tree-more" onClick={() => onOpen(key)}>
            {hidden} more tools<span class="visually-hidden"> of {visibleLine(name)}</span>
          </button>
        )}
      </div>
      {children.length > 0 && (
        <ul>
          {children.map((child) => (
            <Agent key={child.key} placed={child} position={position} onOpen={onOpen} />
          ))}
        </ul>
      )}
    </li>
  )
}

const ICONS: ReadonlyMap<string, IconName> = new Map([
  ['AgentTool', 'chat'],
  ['LongRunningFunctionTool', 'clock'],
  ['Toolset', 'menu'],
])

const KINDS: ReadonlyMap<string, string> = new Map([
  ['AgentTool', 'agent'],
  ['LongRunningFunctionTool', 'long-running'],
  ['Toolset', 'toolset'],
])

function Tool({ row, isActive }: { readonly row: ToolRow; readonly isActive: boolean }): JSX.Element {
  const { name, type, isListed } = row
  const kind = KINDS.get(type)
  return (
    <li
      class={`agent-tool${isActive ? ' active' : ''}${isListed ? ' listed' : ''}`}
      aria-current={isActive ? 'step' : undefined}
      title={visibleLine(name)}
    >
      {type !== '' && <Icon name={ICONS.get(type) ?? 'wrench'} />}
      <span>{visibleLine(name)}</span>
      {kind && <small>{kind}</small>}
    </li>
  )
}
