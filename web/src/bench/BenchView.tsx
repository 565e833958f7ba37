import './bench.css'
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { describeError } from '../api/api-error.ts'
import { type AgentTool, type AgentTools, loadTools } from './load-tools.ts'
import { ToolCallForm } from './ToolCallForm.tsx'
import { ToolPicker } from './ToolPicker.tsx'

/** The tool bench of an app: calls any tool of any agent through its gates. */
export function BenchView({ app, userId }: { readonly app: string; readonly userId: string }): JSX.Element {
  const [lists, setLists] = useState<readonly AgentTools[] | Error>()
  const [chosen, setChosen] = useState<AgentTool>()
  useEffect(() => {
    loadTools(app, userId).then(
      (loaded) => {
        setLists(loaded)
        setChosen(firstOf(loaded))
      },
      (error: unknown) => setLists(error instanceof Error ? error : new Error(String(error))),
    )
  }, [app, userId])
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
          {chosen && <ToolCallForm key={`${chosen.agent} ${chosen.tool.name}`} {...chosen} app={app} userId={userId} />}
        </div>
      )}
    </div>
  )
}

function firstOf(lists: readonly AgentTools[]): AgentTool | undefined {
  for (const { agent, tools } of lists) {
    const tool = tools instanceof Error ? undefined : tools[0]
    if (tool) return { agent, tool }
  }
  return undefined
}
