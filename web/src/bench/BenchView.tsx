import './bench.css'
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { describeError, isOffline } from '../api/api-error.ts'
import { server } from '../state/server.ts'
import { useSignal } from '../state/signal.ts'
import { type AgentTool, type AgentTools, loadTools } from './load-tools.ts'
import { ToolCallForm } from './ToolCallForm.tsx'
import { ToolPicker } from './ToolPicker.tsx'

/** Props of the tool bench. */
export interface BenchViewProps {
  /** The app. */
  readonly app: string
  /** The user. */
  readonly userId: string
  /** The tool to show first, as `agent/tool`. Default: the first one. */
  readonly tool: string | undefined
}

/** The tool bench of an app: calls any tool of any agent through its gates. */
export function BenchView({ app, userId, tool }: BenchViewProps): JSX.Element {
  const [lists, setLists] = useState<readonly AgentTools[] | Error>()
  const [chosen, setChosen] = useState<AgentTool>()
  const info = useSignal(server)
  useEffect(() => {
    loadTools(app, userId).then(
      (loaded) => {
        setLists(loaded)
        setChosen((now) => findAgain(loaded, now) ?? firstOf(loaded, tool) ?? firstOf(loaded))
      },
      (error: unknown) =>
        setLists((now) => {
          if (Array.isArray(now) && isOffline(error)) return now // read again when the server is back
          return error instanceof Error ? error : new Error(String(error))
        }),
    )
  }, [app, userId, info])
  return (
    <div class="view bench">
      <header class="view-head">
        <h1>Tool bench</h1>
      </header>
      {lists === undefined && <p class="empty">Loading…</p>}
      {lists instanceof Error && <p class="empty">{describeError(lists)}</p>}
      {Array.isArray(lists) && lists.length === 0 && <p class="empty">The agents of this app have no tools.</p>}
      {Array.isArray(lists) && lists.length > 0 && (
        <div class="bench-body">
          <ToolPicker lists={lists} chosen={chosen} onChange={setChosen} />
          {chosen && <ToolCallForm key={formKey(chosen)} {...chosen} app={app} userId={userId} />}
        </div>
      )}
    </div>
  )
}

/** A form belongs to a schema: what was typed stays if a restart has not changed the tool. */
function formKey({ agent, tool }: AgentTool): string {
  return `${agent} ${tool.name} ${JSON.stringify(tool.declaration)}`
}

/** The chosen tool, as it is after a restart of the server. */
function findAgain(lists: readonly AgentTools[], chosen: AgentTool | undefined): AgentTool | undefined {
  const tools = lists.find(({ agent }) => agent === chosen?.agent)?.tools
  const tool = tools instanceof Error ? undefined : tools?.find(({ name }) => name === chosen?.tool.name)
  return chosen && tool && { agent: chosen.agent, tool }
}

/** The first tool; with a name, the first one of this name. */
function firstOf(lists: readonly AgentTools[], wanted?: string): AgentTool | undefined {
  for (const { agent, tools } of lists) {
    const all = tools instanceof Error ? [] : tools
    const tool = wanted === undefined ? all[0] : all.find(({ name }) => `${agent}/${name}` === wanted)
    if (tool) return { agent, tool }
  }
  return undefined
}
