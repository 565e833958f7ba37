import './bench.css'
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { describeError, isOffline } from '../api/api-error.ts'
import type { ToolInfo } from '../api/types.ts'
import { notify } from '../state/notices.ts'
import { server } from '../state/server.ts'
import { useSignal } from '../state/signal.ts'
import { visibleLine } from '../ui/visible-text.ts'
import { type AgentTool, type AgentTools, loadTools } from './load-tools.ts'
import { type CallToRepeat, callToRepeat } from './RerunButton.tsx'
import { ToolCallForm } from './ToolCallForm.tsx'
import { ToolPicker } from './ToolPicker.tsx'

/** The tool bench of an app: calls any tool of any agent through its gates. */
export function BenchView({ app, userId }: { readonly app: string; readonly userId: string }): JSX.Element {
  const [lists, setLists] = useState<readonly AgentTools[] | Error>()
  const [chosen, setChosen] = useState<AgentTool>()
  const wanted = useSignal(callToRepeat)
  const info = useSignal(server)
  useEffect(() => {
    loadTools(app, userId).then(
      (loaded) => {
        setLists(loaded)
        setChosen((now) => findAgain(loaded, now) ?? firstOf(loaded))
      },
      (error: unknown) =>
        setLists((now) => {
          if (Array.isArray(now) && isOffline(error)) return now // read again when the server is back
          return error instanceof Error ? error : new Error(String(error))
        }),
    )
  }, [app, userId, info])
  useEffect(() => {
    if (!wanted || !Array.isArray(lists)) return
    const found = findCall(lists, wanted)
    if (found) setChosen(found)
    else notify(`Agent "${visibleLine(wanted.agent)}" has no tool "${visibleLine(wanted.name)}" now.`, 'error')
    callToRepeat.set(undefined)
  }, [wanted, lists])
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
          {chosen && (
            <ToolCallForm key={formKey(chosen)} {...chosen} {...{ app, userId, readers: readersOf(lists, chosen) }} />
          )}
        </div>
      )}
    </div>
  )
}

/** A form belongs to a schema: what was typed stays if a restart has not changed the tool. */
function formKey({ agent, tool, args }: AgentTool): string {
  return `${agent} ${tool.name} ${JSON.stringify([tool.declaration, args])}`
}

function findCall(lists: readonly AgentTools[], { agent, name, args }: CallToRepeat): AgentTool | undefined {
  const tool = toolsOf(lists, agent).find((one) => one.name === name)
  return tool && { agent, tool, args }
}

/** The tools of the same agent that can show what the chosen tool has done. */
function readersOf(lists: readonly AgentTools[], { agent, tool }: AgentTool): readonly string[] {
  return toolsOf(lists, agent)
    .filter((one) => one !== tool && one.effect === 'none' && one.needsConfirmation === 'never' && !one.hasAuth)
    .filter(({ declaration }) => !Object(declaration?.parametersJsonSchema?.required).length) // it is called without arguments
    .map(({ name }) => name)
}

function toolsOf(lists: readonly AgentTools[], agent: string): readonly ToolInfo[] {
  const tools = lists.find((one) => one.agent === agent)?.tools
  return tools instanceof Error ? [] : (tools ?? [])
}

/** The chosen tool, as it is after a restart of the server. */
function findAgain(lists: readonly AgentTools[], chosen: AgentTool | undefined): AgentTool | undefined {
  const tool = chosen && toolsOf(lists, chosen.agent).find(({ name }) => name === chosen.tool.name)
  return tool && { ...chosen, tool }
}

function firstOf(lists: readonly AgentTools[]): AgentTool | undefined {
  return lists.flatMap(({ agent }) => toolsOf(lists, agent).map((tool) => ({ agent, tool })))[0]
}
