import '../inspect/inspect.css'
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { describeError } from '../api/api-error.ts'
import { getGraph } from '../api/dev.ts'
import type { GraphAgent } from '../api/types.ts'
import { AgentNode } from '../inspect/AgentPanel.tsx'
import { server } from '../state/server.ts'
import { useSignal } from '../state/signal.ts'

/** The agents of an app with their tools, before a session begins. */
export function AgentOverview({ app }: { readonly app: string }): JSX.Element {
  const [root, setRoot] = useState<GraphAgent | Error>()
  useEffect(() => {
    getGraph(app).then(({ root_agent }) => setRoot(root_agent), setRoot)
  }, [app, useSignal(server)])
  if (root instanceof Error) return <p class="empty">{describeError(root)}</p>
  return (
    <section class="agents" aria-label="Agents">
      <ul class="agent-tree">{root && <AgentNode agent={root} position={undefined} isRunning={false} />}</ul>
    </section>
  )
}
