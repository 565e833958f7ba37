import type { JSX } from 'preact'
import { AgentGraph } from '../graph/AgentGraph.tsx'
import { type Position, positionOf } from '../graph/position.ts'
import type { SessionTabProps } from '../session/session-tab.ts'
import { useSignal } from '../state/signal.ts'
import { visibleLine } from '../ui/visible-text.ts'

/** The agents of the app, with the position of the run. */
export function AgentPanel({ log }: SessionTabProps): JSX.Element {
  const view = useSignal(log.view)
  const position = positionOf(view)
  return (
    <>
      <p class="position" role="status">
        {position ? positionText(position, view.isRunning) : 'No agent has run in this session yet.'}
      </p>
      <AgentGraph app={log.key.app} position={position} isRunning={view.isRunning} />
    </>
  )
}

function positionText({ path, agent, tools, transfers }: Position, isRunning: boolean): string {
  const where = path.at(-1) === agent ? path : [...path, agent]
  const doing = tools.size > 0 ? `, ${isRunning ? 'calling' : 'waiting for'} ${[...tools].join(', ')}` : ''
  const moved = transfers.length > 0 ? `. Transfers: ${transfers.map((pair) => pair.join(' → ')).join(', ')}` : ''
  return visibleLine(`${isRunning ? 'Running' : 'Last position'}: ${where.join(' › ')}${doing}${moved}`)
}
